#pragma once
#include "tests/differential/dice.hpp"
#include "tests/differential/report.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

// The operations that are in flight on this rank, completed by every function that there is, in any order.
namespace differential {

inline constexpr std::size_t no_call = static_cast<std::size_t>(-1);

class completions {
public:
  // `left` is told of every call whose exit has been seen.
  completions(dice& d, report& tell, std::function<void(std::size_t)> left)
      : d_(d), tell_(tell), left_(std::move(left)) {}

  void add(unsigned long long handle, std::size_t call);        // for upc_wait and its family
  void add_nb(unsigned long long handle, std::size_t call);     // for upc_sync
  void add_nbi(std::size_t call) { implicit_.push_back(call); } // for upc_synci

  // One call of a completion function, drawn by the dice.
  void turn();
  // All of it.
  void finish();
  // What has been completed, for the message of a hang.
  std::string open() const;

private:
  struct operation {
    unsigned long long handle;
    std::size_t call;
    bool resting; // nobody looks at it before the end
  };
  struct selection {
    std::vector<unsigned long long> handles, before;
    std::size_t active = 0;
  };

  std::vector<operation*> awake();
  void turn_one(operation& one);
  void turn_several();
  void turn_nb();
  void turn_nbi();
  selection select();
  void any(selection& some, bool wait);
  void all(selection& some, bool wait);
  void some(selection& some, bool wait, bool indices);
  void expect(bool ok, const char* what);
  std::size_t close_zeroed(const selection& some);
  void close(unsigned long long handle);

  dice& d_;
  report& tell_;
  std::function<void(std::size_t)> left_;
  std::vector<operation> open_;
  std::vector<operation> nb_;
  std::vector<std::size_t> implicit_;
  std::vector<unsigned long long> stale_;
};

} // namespace differential
