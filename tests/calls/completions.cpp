// SPDX-License-Identifier: BSD-3-Clause
#include "tests/calls/completions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <weft/weft.hpp>

namespace calls {

void completions::add(unsigned long long handle, std::size_t call) {
  open_.push_back({handle, call, d_.chance(25), nullptr});
}

void completions::add_nb(unsigned long long handle, std::size_t call) {
  nb_.push_back({handle, call, d_.chance(25), nullptr});
}

std::string completions::open() const {
  std::string calls;
  for (const operation& one : open_)
    calls += fmt::format(" {}", one.call);
  return fmt::format("open calls:{}, {} for upc_sync, {} implicit", calls, nb_.size(), implicit_.size());
}

std::vector<completions::operation*> completions::awake() {
  std::vector<operation*> list;
  for (operation& one : open_)
    if (!one.resting && one.given == nullptr) list.push_back(&one);
  return list;
}

void completions::close(unsigned long long handle) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const operation& o) { return o.handle == handle; });
  if (found == open_.end()) return; // a stale copy
  const std::size_t call = found->call;
  open_.erase(found);
  if (stale_.size() < 8) stale_.push_back(handle);
  left_(call);
}

template <class Call> void completions::with(handles list, Call&& call) {
  const handles before = list;
  completing calls(d_);
  call(calls, list);
  if (calls.wrong() != nullptr) tell_.wrong(calls.wrong());
  for (std::size_t i = 0; i != list.size(); ++i)
    if (list[i] != before[i]) close(before[i]);
}

void completions::turn() {
  collect(false);
  if (others_.any() && d_.chance(20)) return give_away();
  if (d_.chance(15)) return turn_nb();
  if (d_.chance(10)) return turn_nbi();
  const std::vector<operation*> list = awake();
  if (!list.empty() && d_.chance(45))
    return with({d_.pick(list)->handle}, [](completing& calls, handles& h) { calls.one(h[0]); });
  if (d_.chance(70)) turn_several();
}

// Some of the handles in any order, with inactive and stale ones between.
void completions::turn_several() {
  handles list;
  for (const operation* one : awake())
    if (d_.chance(60)) list.push_back(one->handle);
  if (!stale_.empty() && d_.chance(20)) list.push_back(d_.pick(stale_));
  for (std::size_t zeroes = d_.below(4); zeroes != 0; --zeroes)
    list.push_back(UPC_HANDLE_COMPLETE);
  d_.shuffle(list);
  with(std::move(list), [](completing& calls, handles& some) { calls.several(some); });
}

void completions::give_away() {
  const auto b = std::make_shared<batch>(batch{{}, dice{d_.next()}});
  for (operation* one : awake())
    if (d_.chance(50)) {
      one->given = b;
      b->open.push_back(one->handle);
    }
  if (!b->open.empty()) others_.give(b);
}

// What helpers have completed.
void completions::collect(bool wait) {
  for (std::size_t i = 0; i < open_.size();) {
    const operation one = open_[i];
    if (one.given == nullptr || (!wait && !others_.is_done(*one.given))) {
      ++i;
      continue;
    }
    if (wait && d_.chance(30)) upc_wait_value(one.handle); // together with the helper
    others_.wait(*one.given);
    if (one.given->wrong != nullptr) tell_.wrong(one.given->wrong);
    close(one.handle);
  }
}

void completions::turn_nb() {
  if (nb_.empty()) return;
  const std::size_t i = d_.below(nb_.size());
  if (nb_[i].resting || (d_.chance(50) && upc_sync_attempt(nb_[i].handle) == 0)) return;
  sync(i);
}

void completions::sync(std::size_t i) {
  const operation one = nb_[i];
  upc_sync(one.handle);
  nb_.erase(nb_.begin() + static_cast<std::ptrdiff_t>(i));
  if (one.call != no_call) left_(one.call);
}

void completions::turn_nbi() {
  if (d_.chance(50))
    upc_synci();
  else if (upc_synci_attempt() == 0)
    return;
  for (const std::size_t call : std::exchange(implicit_, {}))
    left_(call);
}

void completions::finish_one() {
  collect(false);
  if (!nb_.empty() && (open_.empty() || d_.chance(20))) return sync(d_.below(nb_.size()));
  if (open_.empty()) return;
  const operation one = d_.pick(open_);
  if (one.given != nullptr) return collect(true);
  upc_wait_value(one.handle);
  close(one.handle);
}

void completions::finish() {
  for (operation& one : open_)
    one.resting = false;
  for (std::size_t turns = d_.below(6); turns != 0 && !open_.empty(); --turns)
    turn();
  collect(true);
  if (d_.chance(50)) {
    handles rest;
    for (const operation& one : open_)
      rest.push_back(one.handle);
    d_.shuffle(rest);
    with(std::move(rest), [](completing& calls, handles& all) { calls.all(all, true); });
  }
  while (size() != 0)
    finish_one();
  upc_synci();
  for (const std::size_t call : std::exchange(implicit_, {}))
    left_(call);
}

} // namespace calls
