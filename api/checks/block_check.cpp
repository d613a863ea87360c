#include "api/checks/block_check.hpp"

#include "api/checks/failure.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace weft::api::block_check {

bool on = false;

namespace {

std::string bytes_text(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string text(const engine::heap::block& b) {
  std::array<char, 32> at{};
  std::snprintf(at.data(), at.size(), " at offset 0x%llx", static_cast<unsigned long long>(b.begin));
  return bytes_text(b.bytes) + at.data();
}

} // namespace

void require_one_block(const runtime& rt, const char* call, const char* argument, upc_shared_ptr_t p,
                       engine::checked bytes) {
  if (bytes == 0) return;
  const auto known = naming(call, [&] { return rt.block_below(p.thread, p.addr); });
  if (!known) return;
  const engine::heap::block b = *known;
  const std::uint64_t begin = p.addr, end = begin + bytes.plain(), end_of_block = b.begin + b.bytes;
  if (end <= end_of_block) return;
  std::string rule;
  if (begin < end_of_block) {
    rule = "the " + bytes_text(bytes.plain()) + " there go " + bytes_text(end - end_of_block) +
           " past the end of their block, " + text(b) + ": allocate more, or pass a smaller size";
  } else {
    rule = "no block is allocated there: it was freed, or never allocated";
    if (b.begin != 0)
      rule +=
          ", and the one before it, " + text(b) + ", ends " + bytes_text(begin - end_of_block) + " before";
    rule += ": pass a pointer into what an allocation returned, before it is freed";
  }
  fail_pointer(call, argument, p, rule.c_str());
}

} // namespace weft::api::block_check
