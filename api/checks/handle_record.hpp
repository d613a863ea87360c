// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "api/runtime/runtime.hpp"

// Checked mode: the handles that the program has. One that no call has completed is lost: its operation is
// abandoned at the end of the job. One that is completed a second time by its value is used twice: no harm is
// done, since a complete handle stays complete, but a loop that does it waits for nothing. Both are told at
// the end of the job, in a line each. weft_waitany_for is for copies, of which several threads may wait for
// one each: what it completes may be completed again.
namespace weft::api::handle_record {

extern bool on;

void open(const runtime& rt);
// What is wrong, for weft_finalize to say before the end of the job.
void tell(std::uint32_t rank);
void close() noexcept;

void note(const char* call, handle h);
// Returns the handle that this call gives to the program.
inline handle issued(const char* call, handle h) {
  if (on && h != 0) [[unlikely]]
    note(call, h);
  return h;
}
// The same of a collective, which calls may have to move on; copies go on by themselves.
inline handle issued_collective(const char* call, handle h) {
  if (runtime::with_reach != nullptr) [[unlikely]]
    runtime::with_reach->note_posted(h);
  return issued(call, h);
}

void begin_completing(const char* call, handle h);
void end_completing(const char* call, handle h);

// The call of the program that completes this handle. It counts as completed however the call ends, unless it
// says that the operation is still under way.
class completing {
public:
  completing(const char* call, handle h) : call_(call), handle_(on ? h : 0) {
    if (handle_ != 0) [[unlikely]]
      begin_completing(call, h);
  }
  completing(const completing&) = delete;
  completing& operator=(const completing&) = delete;
  ~completing() {
    if (handle_ != 0) [[unlikely]]
      end_completing(call_, handle_);
  }
  void still_pending() noexcept { handle_ = 0; }

private:
  const char* call_;
  handle handle_;
};

} // namespace weft::api::handle_record
