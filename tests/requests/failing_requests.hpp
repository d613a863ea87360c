// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace requests {

// One request of this process to UCX fails: a put, get, flush or message.
enum class failure {
  refused,   // at the call
  exhausted, // at the call, for want of memory: what belongs to a collective is made again
  undone,    // later, and nothing was done
  done,      // later, although all was done; not of messages, which a broken connection does not both
             // deliver and report
};
// By name; ends the program at another one.
failure failure_named(const std::string& name);

// The n-th from now on; 0: none.
void fail_request(long n, failure how);
// The n-th, since it was told so.
bool has_failed();

} // namespace requests
