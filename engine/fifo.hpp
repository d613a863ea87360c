// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

} // namespace weft::engine
