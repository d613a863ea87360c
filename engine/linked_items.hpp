// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <deque>
#include <new>

namespace weft::engine {

// Items in the order of their coming, linked by their own member `next`: nothing is allocated.
template <class Item> class fifo {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  Item* front() const noexcept { return first_; }
  void push(Item& i) noexcept {
    i.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &i;
    last_ = &i;
  }
  Item& pop() noexcept {
    Item& i = *first_;
    first_ = i.next;
    return i;
  }

private:
  Item* first_ = nullptr;
  Item* last_ = nullptr;
};

// Items that are made when first needed, never move, and are used again, the last given back first. While one
// is free it is linked by its own member `next`.
template <class Item> class item_pool {
public:
  // Null if there is no memory for another one.
  Item* take() noexcept {
    if (Item* const i = free_; i != nullptr) [[likely]] {
      free_ = static_cast<Item*>(i->next);
      return i;
    }
    try {
      return &all_.emplace_back();
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  void give_back(Item& i) noexcept {
    i.next = free_;
    free_ = &i;
  }

  bool has_free() const noexcept { return free_ != nullptr; }
  // All that were ever made, in the order of their making.
  std::size_t size() const noexcept { return all_.size(); }
  Item& operator[](std::size_t k) noexcept { return all_[k]; }

private:
  std::deque<Item> all_;
  Item* free_ = nullptr;
};

} // namespace weft::engine
