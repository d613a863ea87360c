// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "progress/execution/operation.hpp"

namespace weft::progress {

// The operations of one team that are posted and have no slot yet, by sequence number, linked through their
// `next`. Thousands may wait, but they come in order, except for those that several threads post at once: an
// operation goes behind the last one without a search, else it looks for its place.
class waiting_list {
public:
  bool empty() const { return first_ == nullptr; }
  operation& first() { return *first_; }

  void insert(operation& op) {
    if (empty() || op.seq < first_->seq) {
      op.next = first_;
      first_ = &op;
      if (last_ == nullptr) last_ = &op;
      return;
    }
    operation* before = last_->seq < op.seq ? last_ : first_;
    while (before->next != nullptr && before->next->seq < op.seq)
      before = before->next;
    op.next = before->next;
    before->next = &op;
    if (before == last_) last_ = &op;
  }

  operation& take_first() {
    operation& op = *first_;
    first_ = op.next;
    if (first_ == nullptr) last_ = nullptr;
    return op;
  }

private:
  operation* first_ = nullptr;
  operation* last_ = nullptr;
};

} // namespace weft::progress
