// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/shim/check.hpp"
#include "mpi/shim/start.hpp"

#include <cstdio>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

namespace weft::mpi {

namespace {

bool is_on() {
  static const bool on = weft_setting("WEFT_CHECK") != 0;
  return on;
}

std::string_view view_of(const std::byte* buffer, std::size_t bytes) {
  return {reinterpret_cast<const char*>(buffer), bytes};
}
std::string_view given(const call& c) {
  return view_of(c.in, c.in_blocks * c.bytes);
}
std::string_view taken(const call& c) {
  return view_of(c.out, c.out_bytes);
}

bool overlap(std::string_view a, std::string_view b) {
  return a.data() < b.data() + b.size() && b.data() < a.data() + a.size();
}

bool is_mapped(std::string_view buffer) {
  if (buffer.empty()) return true;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data()) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(buffer.data() + buffer.size()) - begin;
  std::vector<unsigned char> pages(length / page + 1);
  return mincore(reinterpret_cast<void*>(begin), length, pages.data()) == 0;
}

std::size_t sum_of(std::string_view buffer) {
  return std::hash<std::string_view>{}(buffer);
}

[[noreturn]] void refuse(const carried& c, const char* side, std::string_view buffer, const char* what) {
  char text[320];
  std::snprintf(
      text, sizeof text,
      "MPI_%s on rank %d of its communicator: the %s buffer %p of %zu bytes has been %s since the call was "
      "posted: leave it as it is until the request is complete",
      name_of(c).c_str(), c.way->rank(), side, static_cast<const void*>(buffer.data()), buffer.size(), what);
  end_job(text);
}

} // namespace

void remember_buffers(carried& c) {
  if (is_on() && !overlap(given(c.op.c), taken(c.op.c))) c.sum = sum_of(given(c.op.c));
}

void require_buffers(const carried& c) {
  if (!is_on()) return;
  const std::string_view in = given(c.op.c), out = taken(c.op.c);
  if (!is_mapped(in)) refuse(c, "send", in, "freed");
  if (!is_mapped(out)) refuse(c, "receive", out, "freed");
  if (!overlap(in, out) && sum_of(in) != c.sum) refuse(c, "send", in, "changed or freed");
}

} // namespace weft::mpi
