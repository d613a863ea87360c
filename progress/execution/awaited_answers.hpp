// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace weft::progress {

// What a thread of this rank waits for that is no operation: the answer of a rank to a request. It lives with
// the thread that waits.
class awaited_answer {
public:
  // For the report of a wait that lasts: "a lock of thread 1 at offset 0x4000". Under progress ownership.
  virtual std::string text() const = 0;

protected:
  ~awaited_answer() = default;
};

// All of a rank, in the order of asking. Under progress ownership.
class awaited_answers {
public:
  void add(const awaited_answer& a) {
    all_.push_back({last_ + 1, &a});
    ++last_;
  }
  // What is not there any more, too.
  void remove(const awaited_answer& a) noexcept {
    std::erase_if(all_, [&](const entry& e) { return e.what == &a; });
  }

  bool none() const { return all_.empty(); }
  // The number of the one that is awaited for longest, 0 if none is; no other ever has the same.
  std::uint64_t oldest() const { return all_.empty() ? 0 : all_.front().number; }
  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const entry& e : all_)
      if (std::string text = e.what->text(); std::ranges::find(all, text) == all.end())
        all.push_back(std::move(text));
    return all;
  }

  // What others wait for here, in words: "the lock at offset 0x4000, held by thread 2; ...".
  using teller = std::function<std::vector<std::string>()>;
  void others_wait_for(teller t) { kept_ = std::move(t); }
  std::vector<std::string> kept() const { return kept_ ? kept_() : std::vector<std::string>(); }

private:
  struct entry {
    std::uint64_t number;
    const awaited_answer* what;
  };
  std::vector<entry> all_;
  std::uint64_t last_ = 0;
  teller kept_;
};

} // namespace weft::progress
