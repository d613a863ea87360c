// SPDX-License-Identifier: BSD-3-Clause
#include "engine/transport/ucx/card.hpp"

#include <cstring>
#include <stdexcept>

namespace weft::transport::ucx {

namespace {

void append(std::vector<std::byte>& card, const void* data, std::size_t bytes) {
  const std::uint64_t length = bytes;
  const std::size_t begin = card.size();
  card.resize(begin + sizeof length + bytes);
  std::memcpy(card.data() + begin, &length, sizeof length);
  if (bytes != 0) std::memcpy(card.data() + begin + sizeof length, data, bytes);
}

// The fields of a card in order: each a length and its bytes.
class card_reader {
public:
  explicit card_reader(std::span<const std::byte> card) : card_(card) {}

  std::vector<std::byte> next() {
    std::uint64_t length = 0;
    take(&length, sizeof length);
    if (length > card_.size()) refuse();
    std::vector<std::byte> field(length);
    take(field.data(), length);
    return field;
  }
  template <class Value> Value value() {
    const std::vector<std::byte> field = next();
    Value v;
    if (field.size() != sizeof v) refuse();
    std::memcpy(&v, field.data(), sizeof v);
    return v;
  }

private:
  [[noreturn]] static void refuse() { throw std::runtime_error("a rank's card is too short"); }
  void take(void* to, std::size_t bytes) {
    if (bytes > card_.size()) refuse();
    if (bytes != 0) std::memcpy(to, card_.data(), bytes);
    card_ = card_.subspan(bytes);
  }
  std::span<const std::byte> card_;
};

} // namespace

std::vector<std::byte> packed(const card& c) {
  std::vector<std::byte> bytes;
  append(bytes, &c.version, sizeof c.version);
  append(bytes, &c.by_messages, sizeof c.by_messages);
  append(bytes, &c.base, sizeof c.base);
  append(bytes, &c.system_v_id, sizeof c.system_v_id);
  append(bytes, c.address.data(), c.address.size());
  append(bytes, c.key.data(), c.key.size());
  return bytes;
}

card unpacked_card(std::span<const std::byte> bytes) {
  card_reader fields(bytes);
  card c;
  c.version = fields.value<std::uint32_t>();
  if (c.version != wire_version) return c;
  c.by_messages = fields.value<bool>();
  c.base = fields.value<std::uint64_t>();
  c.system_v_id = fields.value<int>();
  c.address = fields.next();
  c.key = fields.next();
  return c;
}

} // namespace weft::transport::ucx
