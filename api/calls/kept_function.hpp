#pragma once
#include "engine/plan/task.hpp"

namespace weft::api {

// What was kept for the operation is given up if it is not begun.
class kept_function {
public:
  explicit kept_function(const graph::task& t) : task_(t) {}
  kept_function(const kept_function&) = delete;
  kept_function& operator=(const kept_function&) = delete;
  ~kept_function() {
    if (!handed_on_ && task_.release != nullptr) task_.release(task_);
  }
  void hand_on() { handed_on_ = true; }

private:
  const graph::task& task_;
  bool handed_on_ = false;
};

} // namespace weft::api
