#include "tests/soak/complete.hpp"

#include <coroutine>
#include <exception>
#include <sched.h>
#include <weft/weft.hpp>

namespace soak {

namespace {

// Some test without a break, others let somebody else run.
class patience {
public:
  explicit patience(dice& d) : yields_(d.chance(60)) {}
  void wait() {
    if (yields_ || ++turns_ % 1000 == 0) sched_yield();
  }

private:
  const bool yields_;
  unsigned turns_ = 0;
};

int count(const handles& open) {
  return static_cast<int>(open.size());
}
bool any(const handles& open) {
  for (const auto h : open)
    if (h != UPC_HANDLE_COMPLETE) return true;
  return false;
}

void by_wait(handles& open, bool all, dice& d) {
  const std::size_t first = d.below(open.size());
  for (std::size_t k = 0; k < (all ? open.size() : 1); ++k)
    upc_wait(open[(first + k) % open.size()]);
}

void by_test(handles& open, bool all, dice& d) {
  patience p(d);
  const std::size_t first = d.below(open.size());
  for (std::size_t k = 0; k < (all ? open.size() : 1); ++k)
    while (upc_test(open[(first + k) % open.size()]) < 0)
      p.wait();
}

void by_waitany(handles& open, bool all, dice&) {
  while (upc_waitany(count(open), open.data()) >= 0 && all) {
  }
}

void by_waitsome(handles& open, bool all, dice& d) {
  std::vector<int> which(open.size());
  const bool tell = d.chance(50);
  while ((tell ? weft_waitsome_indices(count(open), open.data(), which.data())
               : upc_waitsome(count(open), open.data())) > 0 &&
         all) {
  }
}

void by_waitall(handles& open, bool, dice&) {
  upc_waitall(count(open), open.data());
}

void by_testany(handles& open, bool all, dice& d) {
  patience p(d);
  for (int i = -1; i != -2; i = upc_testany(count(open), open.data())) {
    if (i >= 0 && !all) return;
    if (i < 0) p.wait();
  }
}

void by_testsome(handles& open, bool all, dice& d) {
  patience p(d);
  while (any(open)) {
    if (upc_testsome(count(open), open.data()) == 0)
      p.wait();
    else if (!all)
      return;
  }
}

void by_testall(handles& open, bool, dice& d) {
  patience p(d);
  while (upc_testall(count(open), open.data()) < 0)
    p.wait();
}

void by_status(handles& open, bool, dice& d) {
  patience p(d);
  for (auto& h : open) {
    while (upc_get_status(h) < 0)
      p.wait();
    upc_wait(h);
  }
}

struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
detached await(unsigned long long& handle, std::size_t& left) {
  weft::pending mine(std::exchange(handle, UPC_HANDLE_COMPLETE));
  co_await mine;
  --left;
}

void by_coroutines(handles& open, bool, dice& d) {
  std::size_t left = open.size();
  const bool polls = d.chance(40);
  patience p(d);
  for (auto& h : open)
    await(h, left);
  while (polls && left != 0)
    if (weft::poll() == 0) p.wait();
  weft::run_all();
}

struct style {
  const char* name;
  void (*run)(handles&, bool, dice&);
};
constexpr style all_styles[styles] = {
    {"wait", by_wait},         {"test", by_test},
    {"waitany", by_waitany},   {"waitsome", by_waitsome},
    {"waitall", by_waitall},   {"testany", by_testany},
    {"testsome", by_testsome}, {"testall", by_testall},
    {"get_status", by_status}, {"coroutines", by_coroutines},
};

} // namespace

const char* name_of_style(unsigned s) {
  return all_styles[s].name;
}

void complete(handles& open, unsigned s, bool all, dice& d) {
  if (open.empty()) return;
  all_styles[s].run(open, all, d);
}

} // namespace soak
