// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "tests/api/fixture.hpp"

#include <functional>
#include <string>
#include <vector>

// The collectives of V1.0 in all their forms, as calls of one shape.

using whole_form = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, size_t, upc_flag_t);
using team_form = upc_coll_handle_t (*)(upc_shared_ptr_t, upc_shared_ptr_t, size_t, upc_flag_t, upc_team_t);

struct family {
  std::string name;
  whole_form whole;
  team_form overload, named;
  weft::collectives::operation op;
  bool any_dst = false, any_src = false; // which pointer may be on any thread, the root
  bool rooted() const { return any_dst || any_src; }
};

// What the calls of permute below take for perm.
inline upc_shared_ptr_t the_permutation{};

inline upc_coll_handle_t permute(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes, upc_flag_t mode) {
  return upc_all_permute(dst, src, the_permutation, nbytes, mode);
}
inline upc_coll_handle_t permute_overload(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                          upc_flag_t mode, upc_team_t team) {
  return upc_all_permute(dst, src, the_permutation, nbytes, mode, team);
}
inline upc_coll_handle_t permute_named(upc_shared_ptr_t dst, upc_shared_ptr_t src, size_t nbytes,
                                       upc_flag_t mode, upc_team_t team) {
  return upc_all_permute_team(dst, src, the_permutation, nbytes, mode, team);
}

inline const std::vector<family>& families() {
  using weft::collectives::operation;
  static const std::vector<family> all{
      {"upc_all_broadcast", upc_all_broadcast, upc_all_broadcast, upc_all_broadcast_team,
       operation::broadcast, false, true},
      {"upc_all_scatter", upc_all_scatter, upc_all_scatter, upc_all_scatter_team, operation::scatter, false,
       true},
      {"upc_all_gather", upc_all_gather, upc_all_gather, upc_all_gather_team, operation::gather, true, false},
      {"upc_all_gather_all", upc_all_gather_all, upc_all_gather_all, upc_all_gather_all_team,
       operation::gather_all},
      {"upc_all_exchange", upc_all_exchange, upc_all_exchange, upc_all_exchange_team, operation::exchange},
      {"upc_all_permute", permute, permute_overload, permute_named, operation::permute}};
  return all;
}

// One form of one of them: with a team where the form has one, else for UPC_TEAM_ALL only.
struct form {
  std::string name;
  const family* of;
  std::function<upc_coll_handle_t(upc_shared_ptr_t, upc_shared_ptr_t, size_t, upc_flag_t)> call;
};

inline std::vector<form> forms_on(upc_team_t team) {
  std::vector<form> all;
  for (const family& f : families()) {
    if (team == UPC_TEAM_ALL) all.push_back({f.name, &f, f.whole});
    const auto with_team = [team](team_form call) {
      return [=](auto dst, auto src, auto nbytes, auto mode) { return call(dst, src, nbytes, mode, team); };
    };
    all.push_back({f.name, &f, with_team(f.overload)});
    all.push_back({f.name + "_team", &f, with_team(f.named)});
  }
  return all;
}

// Memory for the calls: 1000 bytes for each thread on every thread.
class collective_test : public api_test {
protected:
  fake_runtime& begin(std::uint32_t threads = 4, std::uint32_t mythread = 0) {
    fake_runtime& rt = start(threads, mythread);
    dst = upc_all_alloc(threads, 1000 * threads);
    src = upc_all_alloc(threads, 1000 * threads);
    the_permutation = upc_all_alloc(threads, sizeof(int));
    return rt;
  }
  static upc_shared_ptr_t on(upc_shared_ptr_t p, std::uint32_t thread) {
    p.thread = thread;
    return p;
  }
  static upc_shared_ptr_t behind(upc_shared_ptr_t p, std::uint64_t bytes) {
    p.addr += bytes;
    return p;
  }
  upc_shared_ptr_t dst{}, src{};
};
