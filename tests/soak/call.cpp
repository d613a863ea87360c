#include "tests/soak/call.hpp"

namespace soak {

namespace {

const char* const names[kinds] = {"broadcast",  "scatter",       "gather",           "gather_all",
                                  "exchange",   "permute",       "broadcast_x",      "scatter_x",
                                  "gather_x",   "gather_all_x",  "exchange_x",       "permute_x",
                                  "permute_xi", "cray alltoall", "cray alltoall_nb", "cray barrier_nb"};

enum class shape { one_to_all, scatter, gather, gather_all, exchange, permute, nothing };
shape shape_of(kind what) {
  switch (what) {
  case kind::broadcast:
  case kind::broadcast_x:
    return shape::one_to_all;
  case kind::scatter:
  case kind::scatter_x:
    return shape::scatter;
  case kind::gather:
  case kind::gather_x:
    return shape::gather;
  case kind::gather_all:
  case kind::gather_all_x:
    return shape::gather_all;
  case kind::exchange:
  case kind::exchange_x:
  case kind::cray_blocking:
  case kind::cray_nb:
    return shape::exchange;
  case kind::permute:
  case kind::permute_x:
  case kind::permute_xi:
    return shape::permute;
  case kind::cray_barrier:
    break;
  }
  return shape::nothing;
}
bool may_be_in_place(kind what) {
  const shape s = shape_of(what);
  return what < kind::cray_blocking &&
         (s == shape::gather_all || s == shape::exchange || s == shape::permute);
}

constexpr std::uint32_t gap = 8; // what the blocks of the _x forms are shifted by at most
std::uint64_t stride(const call& c) {
  return c.x() ? c.bytes + gap : c.bytes;
}

// Where block `index` of an area of `owner` lies; `which` is 0 for the source and 1 for the destination.
std::uint64_t place(const call& c, std::uint32_t which, std::uint32_t owner, std::uint32_t index) {
  const std::uint64_t shifted = c.x() ? mix(c.number, 11, which, owner, index) % gap : 0;
  return index * stride(c) + shifted;
}

void paint(image& into, const call& c, std::uint64_t at, std::uint32_t i, std::uint32_t j) {
  const shape s = shape_of(c.what);
  const bool same_for_all = s == shape::one_to_all || s == shape::gather_all;
  const auto first = static_cast<std::uint32_t>(mix(c.number, 12, i, same_for_all ? 0 : j));
  const std::uint32_t n = length(c, i, j);
  for (std::uint32_t k = 0; k < n; ++k)
    into[at + k] = static_cast<unsigned char>(first + 37 * k + 11 * (k >> 8));
}

image blank(const call& c, std::uint32_t which) {
  return image(area(c), static_cast<unsigned char>(mix(c.number, 13, which)));
}

void paint_sources(image& into, const call& c, std::uint32_t me) {
  for (std::uint32_t j = 0; j < c.size(); ++j)
    if (sends(c, me, j)) paint(into, c, source_place(c, me, j), me, j);
}

upc_flag_t mode_of(dice& d) {
  constexpr upc_flag_t in[] = {UPC_IN_NOSYNC, UPC_IN_MYSYNC, UPC_IN_MYSYNC, UPC_IN_ALLSYNC};
  constexpr upc_flag_t out[] = {UPC_OUT_NOSYNC, UPC_OUT_MYSYNC, UPC_OUT_MYSYNC, UPC_OUT_ALLSYNC};
  constexpr upc_flag_t hint[] = {0, 0, UPC_PUSH, UPC_PULL};
  return d.of(in) | d.of(out) | d.of(hint);
}

std::uint32_t bytes_of(const character& job, dice& d) {
  if (d.chance(4)) return 0;
  if (d.chance(50)) return job.largest;
  return static_cast<std::uint32_t>(1 + d.below(job.largest));
}

call one_call(const character& job, std::uint64_t number, const std::vector<members>& teams) {
  dice d{job.seed, 20, number};
  call c;
  c.number = mix(job.seed, number);
  do
    c.what = static_cast<kind>(d.below(kinds));
  while ((job.kinds >> static_cast<unsigned>(c.what) & 1) == 0 && !d.chance(2));
  c.team = d.chance(50) ? 0 : static_cast<std::uint32_t>(d.below(teams.size()));
  c.who = &teams[c.team];
  c.root = static_cast<std::uint32_t>(d.below(c.size()));
  c.shift = static_cast<std::uint32_t>(d.below(2 * c.size()));
  c.bytes = bytes_of(job, d);
  c.mode = mode_of(d);
  c.in_place = may_be_in_place(c.what) && d.chance(25);
  c.blocking = c.what == kind::cray_blocking || (!c.cray() && d.chance(10));
  const bool no_sync = (c.mode & (UPC_IN_NOSYNC | UPC_OUT_NOSYNC)) != 0;
  c.loose = c.what == kind::cray_nb || (!c.cray() && no_sync);
  return c;
}

} // namespace

std::string describe(const call& c) {
  std::string text = names[static_cast<unsigned>(c.what)];
  if (c.in_place) text += " in place";
  text += " of " + std::to_string(c.bytes) + " bytes, root " + std::to_string((*c.who)[c.root]) + ", mode " +
          std::to_string(c.mode) + ", team " + std::to_string(c.team) + " {";
  for (const auto t : *c.who)
    text += " " + std::to_string(t);
  return text + " }";
}

std::uint32_t target_of(const call& c, std::uint32_t i) {
  const std::uint32_t n = c.size(); // a rotation, or a reflection
  return c.shift < n ? (i + c.shift) % n : (c.shift - i + n) % n;
}

bool sends(const call& c, std::uint32_t i, std::uint32_t j) {
  switch (shape_of(c.what)) {
  case shape::one_to_all:
  case shape::scatter:
    return i == c.root;
  case shape::gather:
    return j == c.root;
  case shape::gather_all:
  case shape::exchange:
    return true;
  case shape::permute:
    return j == target_of(c, i);
  case shape::nothing:
    break;
  }
  return false;
}

std::uint32_t length(const call& c, std::uint32_t i, std::uint32_t j) {
  if (!c.x() || c.what == kind::broadcast_x) return c.bytes;
  const shape s = shape_of(c.what);
  const bool by_source = s == shape::gather || s == shape::gather_all || s == shape::permute;
  const std::uint64_t drawn = mix(c.number, 14, i, by_source ? 0 : j);
  return drawn % 5 == 0 ? 0 : static_cast<std::uint32_t>(drawn / 5 % (c.bytes + 1));
}

std::uint64_t source_place(const call& c, std::uint32_t i, std::uint32_t j) {
  const shape s = shape_of(c.what);
  std::uint32_t index = s == shape::scatter || s == shape::exchange ? j : 0;
  if (s == shape::gather_all && c.in_place) index = i;
  return place(c, c.in_place ? 1 : 0, i, index);
}

std::uint64_t target_place(const call& c, std::uint32_t i, std::uint32_t j) {
  const shape s = shape_of(c.what);
  const bool by_source = s == shape::gather || s == shape::gather_all || s == shape::exchange;
  return place(c, 1, j, by_source ? i : 0);
}

std::uint64_t area(const call& c) {
  return c.size() * stride(c) + gap;
}

image source_image(const call& c, std::uint32_t me) {
  image bytes = blank(c, 0);
  if (!c.in_place) paint_sources(bytes, c, me);
  return bytes;
}
image target_before(const call& c, std::uint32_t me) {
  image bytes = blank(c, 1);
  if (c.in_place) paint_sources(bytes, c, me);
  return bytes;
}
image target_after(const call& c, std::uint32_t me) {
  image bytes = target_before(c, me);
  for (std::uint32_t i = 0; i < c.size(); ++i)
    if (sends(c, i, me)) paint(bytes, c, target_place(c, i, me), i, me);
  return bytes;
}

std::vector<call> calls_of_round(const character& job, std::uint64_t round,
                                 const std::vector<members>& teams) {
  dice d{job.seed, 21, round};
  std::vector<call> calls(job.depth * 2 + d.below(24));
  std::uint32_t strict = 0, loose = 0;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    call& c = calls[k] = one_call(job, round << 20 | k, teams);
    if (c.loose && loose == job.loose) { // no berth left for it in this round
      c.what = kind::gather_all;
      c.mode = UPC_IN_MYSYNC | UPC_OUT_MYSYNC;
      c.loose = c.in_place = c.blocking = false;
    }
    c.berth = c.loose ? job.strict + loose++ : strict++ % job.strict;
  }
  return calls;
}

} // namespace soak
