#include "tests/soak/issue.hpp"

namespace soak {

namespace {

using std::uint32_t, std::uint64_t;

// This thread's elements of the arrays of an _x form.
void prepare_rows(const call& c, const berths::view& b, uint32_t me) {
  const members& who = *c.who;
  auto* const src = berths::mine<upc_shared_ptr_t>(b.src_row);
  auto* const dst = berths::mine<upc_shared_ptr_t>(b.dst_row);
  auto* const size = berths::mine<std::size_t>(b.sizes);
  const uint64_t from = c.in_place ? b.dst : b.src;
  const auto on = [&](uint32_t rank, uint64_t place) { return berths::on(who[rank], place); };
  switch (c.what) {
  case kind::broadcast_x:
    dst[0] = on(me, b.dst + target_place(c, c.root, me));
    break;
  case kind::scatter_x:
    src[0] = on(c.root, from + source_place(c, c.root, me));
    dst[0] = on(me, b.dst + target_place(c, c.root, me));
    size[0] = length(c, c.root, me);
    break;
  case kind::gather_x:
    src[0] = on(me, from + source_place(c, me, c.root));
    dst[0] = on(c.root, b.dst + target_place(c, me, c.root));
    size[0] = length(c, me, c.root);
    break;
  case kind::gather_all_x:
    src[0] = on(me, from + source_place(c, me, me));
    size[0] = length(c, me, me);
    for (uint32_t i = 0; i < c.size(); ++i)
      dst[who[i]] = on(me, b.dst + target_place(c, i, me));
    break;
  case kind::exchange_x:
    for (uint32_t i = 0; i < c.size(); ++i) {
      src[who[i]] = on(me, from + source_place(c, me, i));
      dst[who[i]] = on(me, b.dst + target_place(c, i, me));
      size[who[i]] = length(c, me, i);
    }
    break;
  case kind::permute_x:
  case kind::permute_xi:
    src[0] = on(me, from + source_place(c, me, target_of(c, me)));
    dst[0] = on(me, b.dst + target_place(c, me, me));
    size[0] = length(c, me, 0);
    break;
  default:
    break;
  }
}

bool differs(const image& wanted, const unsigned char* found, const char* where, std::string& text) {
  if (wanted.empty() || std::memcmp(wanted.data(), found, wanted.size()) == 0) return false;
  std::size_t k = 0;
  while (wanted[k] == found[k])
    ++k;
  text = std::string("byte ") + std::to_string(k) + " of the " + where + " is " + std::to_string(found[k]) +
         ", not " + std::to_string(wanted[k]);
  return true;
}

} // namespace

void prepare(const call& c, const berths::view& b, uint32_t me) {
  if (!c.moves()) return;
  const image src = source_image(c, me), dst = target_before(c, me);
  std::memcpy(berths::mine<void>(b.src), src.data(), src.size());
  std::memcpy(berths::mine<void>(b.dst), dst.data(), dst.size());
  if (c.x()) prepare_rows(c, b, me);
  const members& who = *c.who;
  if (c.what == kind::permute) *berths::mine<int>(b.perm) = static_cast<int>(target_of(c, me));
  if (c.what == kind::permute_xi) *berths::mine<int>(b.perm) = static_cast<int>(who[target_of(c, me)]);
  if (c.what == kind::permute_x) *berths::mine<std::size_t>(b.perm) = who[target_of(c, me)];
}

unsigned long long issue(const call& c, const berths::view& b, upc_team_t team) {
  const upc_flag_t mode = c.mode | (c.blocking ? 0 : UPC_ASYNC) | (c.in_place ? upc_flag_t(UPC_IN_PLACE) : 0);
  const auto first = [&](uint64_t place) { return berths::on(c.who->front(), place); };
  const auto root = [&](uint64_t place) { return berths::on((*c.who)[c.root], place); };
  const auto array = [&](uint64_t place) { return berths::on(0, place); };
  const upc_shared_ptr_t src = c.in_place ? UPC_SHARED_NULL : first(b.src);
  const upc_shared_ptr_t rows = c.in_place ? UPC_SHARED_NULL : array(b.src_row);
  const upc_shared_ptr_t places = array(b.dst_row), sizes = array(b.sizes), perm = array(b.perm);
  switch (c.what) {
  case kind::broadcast:
    return upc_all_broadcast(first(b.dst), root(b.src), c.bytes, mode, team);
  case kind::scatter:
    return upc_all_scatter(first(b.dst), root(b.src), c.bytes, mode, team);
  case kind::gather:
    return upc_all_gather(root(b.dst), first(b.src), c.bytes, mode, team);
  case kind::gather_all:
    return upc_all_gather_all(first(b.dst), src, c.bytes, mode, team);
  case kind::exchange:
    return upc_all_exchange(first(b.dst), src, c.bytes, mode, team);
  case kind::permute:
    return upc_all_permute(first(b.dst), src, first(b.perm), c.bytes, mode, team);
  case kind::broadcast_x:
    return upc_all_broadcast_x(places, root(b.src + source_place(c, c.root, 0)), c.bytes, mode, team);
  case kind::scatter_x:
    return upc_all_scatter_x(places, rows, sizes, mode, team);
  case kind::gather_x:
    return upc_all_gather_x(places, rows, sizes, mode, team);
  case kind::gather_all_x:
    return upc_all_gather_all_x(places, rows, sizes, mode, team);
  case kind::exchange_x:
    return upc_all_exchange_x(places, rows, sizes, mode, team);
  case kind::permute_x:
    return upc_all_permute_x(places, rows, perm, sizes, mode, team);
  case kind::permute_xi:
    return upc_all_permute_xi(places, rows, perm, sizes, mode, team);
  case kind::cray_blocking:
    cray_upc_team_alltoall(first(b.dst), first(b.src), c.bytes, team);
    return 0;
  case kind::cray_nb:
    return cray_upc_team_alltoall_nb(first(b.dst), first(b.src), c.bytes, team);
  case kind::cray_barrier:
    return cray_upc_team_barrier_nb(team);
  }
  return 0;
}

std::string wrong_byte(const call& c, const berths::view& b, uint32_t me) {
  std::string text;
  if (!c.moves()) return text;
  if (!differs(source_image(c, me), berths::mine<unsigned char>(b.src), "source", text))
    differs(target_after(c, me), berths::mine<unsigned char>(b.dst), "destination", text);
  return text;
}

} // namespace soak
