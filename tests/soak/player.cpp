#include "tests/soak/player.hpp"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace soak {

player::player(const options& chosen)
    : job_(chosen.job), me_(static_cast<std::uint32_t>(MYTHREAD)), corrupt_(chosen.corrupt), memory_(job_),
      luck_(job_.seed, 30, me_),
      watch_(chosen.pulses, me_, job_.threads, chosen.patience, chosen.hold, [this] { return report(); }),
      helpers_(job_.helpers) {
  members all(job_.threads);
  for (std::uint32_t t = 0; t < job_.threads; ++t)
    all[t] = t;
  teams_ = {all};
  team_handles_ = {UPC_TEAM_ALL};
}

void player::play_round(std::uint64_t round) {
  round_ = round;
  luck_ = dice(job_.seed, 30, me_, round);
  if (job_.splits != 0 && round % job_.era == 0) split_teams(round);
  const std::vector<call> calls = calls_of_round(job_, round, teams_);
  prepare_loose(calls);
  meet();
  for (const call& c : calls)
    if (my_rank(c) < c.size()) post(c);
  complete_all();
  meet();
  for (const call& c : calls)
    if (c.loose && my_rank(c) < c.size()) look(c);
}

std::uint32_t player::my_rank(const call& c) const {
  const auto at = std::find(c.who->begin(), c.who->end(), me_);
  return static_cast<std::uint32_t>(at - c.who->begin());
}

// Colors and keys are drawn from the seed, so everybody knows who is in which team.
void player::split_teams(std::uint64_t round) {
  doing("splitting teams");
  for (std::size_t t = 1; t < teams_.size(); ++t)
    if (team_handles_[t] != 0) cray_upc_team_free(team_handles_[t]);
  teams_.resize(1);
  team_handles_.resize(1);
  for (std::uint32_t s = 0; s < job_.splits; ++s) {
    const std::uint64_t split = mix(job_.seed, 31, round, s), colors = 1 + split % 3;
    const auto color = [&](std::uint32_t t) { return mix(split, t) % colors; };
    const auto key = [&](std::uint32_t t) { return static_cast<int>(mix(split, t, 1) % 4); };
    const std::size_t before = teams_.size();
    teams_.resize(before + colors);
    team_handles_.resize(before + colors, 0);
    for (std::uint32_t t = 0; t < job_.threads; ++t)
      teams_[before + color(t)].push_back(t);
    for (std::size_t t = before; t < teams_.size(); ++t)
      std::stable_sort(teams_[t].begin(), teams_[t].end(), [&](auto a, auto b) { return key(a) < key(b); });
    upc_team_t mine = 0;
    if (cray_upc_team_split(UPC_TEAM_ALL, static_cast<int>(color(me_)), key(me_), &mine) != CRAY_UPC_SUCCESS)
      std::abort();
    team_handles_[before + color(me_)] = mine;
  }
  std::vector<members> kept; // a color that nobody has is no team
  std::vector<upc_team_t> handles;
  for (std::size_t t = 0; t < teams_.size(); ++t) {
    if (teams_[t].empty()) continue;
    kept.push_back(std::move(teams_[t]));
    handles.push_back(team_handles_[t]);
  }
  teams_ = std::move(kept);
  team_handles_ = std::move(handles);
}

void player::prepare_loose(const std::vector<call>& calls) {
  for (const call& c : calls)
    if (const auto rank = my_rank(c); c.loose && rank < c.size()) prepare(c, memory_.at(c.berth), rank);
}

// All threads, by the whole barrier or the split one.
void player::meet() {
  doing("in a barrier");
  if (mix(job_.seed, 32, round_) % 3 != 0) {
    upc_barrier(static_cast<int>(round_));
  } else {
    upc_notify(static_cast<int>(round_));
    be_late();
    upc_wait(static_cast<int>(round_));
  }
}

void player::post(const call& c) {
  be_late();
  for (place p = open_.begin(); p != open_.end(); ++p)
    if (!c.loose && p->what.berth == c.berth) {
      finish(p);
      break;
    }
  while (open_.size() >= job_.depth)
    complete_some();
  if (!c.loose) prepare(c, memory_.at(c.berth), my_rank(c));
  {
    const std::lock_guard lock(lock_);
    posting_ = c;
    in_call_ = true;
  }
  doing("in the call");
  const unsigned long long handle = issue(c, memory_.at(c.berth), team_handles_[c.team]);
  {
    const std::lock_guard lock(lock_);
    in_call_ = false;
    if (handle != 0) open_.push_back({c, handle, nullptr});
  }
  doing("posting");
  ++calls_;
  if (handle == 0) leave(c);
  if (luck_.chance(30)) complete_some();
}

void player::be_late() {
  if (job_.late_thread != job_.threads && job_.late_thread != me_) return;
  if (!luck_.chance(job_.late_percent)) return;
  doing("late");
  const auto us = static_cast<unsigned>(1 + luck_.below(job_.late_us));
  if (luck_.chance(50)) {
    usleep(us);
    return;
  }
  volatile double work = 0;
  for (unsigned turns = us * 100; turns != 0; --turns)
    work = work + 1.0 / turns;
}

// A way to complete that this job uses.
unsigned player::style(unsigned of) {
  for (unsigned tries = 0; tries < 20; ++tries)
    if (const auto s = static_cast<unsigned>(luck_.below(of)); job_.styles >> s & 1) return s;
  return static_cast<unsigned>(luck_.below(of));
}

void player::complete_some() {
  collect(false);
  if (open_.empty()) return;
  if (helpers_.any() && luck_.chance(30)) return give_away();
  if (luck_.chance(20)) { // a single one
    place p = open_.begin();
    std::advance(p, static_cast<long>(luck_.below(open_.size())));
    return finish(p);
  }
  std::vector<place> chosen;
  handles open;
  for (place p = open_.begin(); p != open_.end(); ++p)
    if (p->given == nullptr && !p->what.cray() && luck_.chance(70)) {
      chosen.push_back(p);
      open.push_back(p->handle);
    }
  if (open.empty()) return finish(open_.begin());
  const unsigned how = style(styles);
  doing(name_of_style(how));
  complete(open, how, luck_.chance(40), luck_);
  doing("between calls");
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    if (open[k] != UPC_HANDLE_COMPLETE) continue;
    chosen[k]->handle = UPC_HANDLE_COMPLETE;
    finish(chosen[k]);
  }
}

void player::give_away() {
  auto b = std::make_shared<batch>(batch{{}, style(styles - 1), dice(luck_.below(1u << 30)), false});
  for (under_way& u : open_)
    if (u.given == nullptr && !u.what.cray() && luck_.chance(50)) {
      u.given = b;
      b->open.push_back(u.handle);
    }
  if (!b->open.empty()) helpers_.give(b);
}

// Completes what is not complete yet, and leaves the call.
void player::finish(place p) {
  if (p->given != nullptr) {
    if (luck_.chance(30)) { // together with who was asked to
      doing("waiting with a helper");
      upc_coll_handle_t copy = p->handle;
      upc_wait(copy);
    }
    doing("waiting for a helper");
    helpers_.wait(*p->given);
  } else if (p->what.cray()) {
    doing("upc_sync");
    if (luck_.chance(50))
      while (!upc_sync_attempt(p->handle)) {
      }
    upc_sync(p->handle);
  } else if (p->handle != UPC_HANDLE_COMPLETE) {
    doing("upc_wait");
    upc_wait(p->handle);
  }
  doing("between calls");
  const call c = p->what;
  {
    const std::lock_guard lock(lock_);
    open_.erase(p);
  }
  leave(c);
}

// What helpers have completed.
void player::collect(bool wait) {
  for (place p = open_.begin(); p != open_.end();) {
    const place now = p++;
    if (now->given != nullptr && (wait || helpers_.is_done(*now->given))) finish(now);
  }
}

void player::complete_all() {
  while (luck_.chance(70) && !open_.empty())
    complete_some();
  collect(true);
  while (!open_.empty())
    finish(open_.begin());
}

void player::leave(const call& c) {
  if (!c.loose) look(c);
}

void player::look(const call& c) {
  const berths::view b = memory_.at(c.berth);
  if (corrupt_ && calls_ == 40 && c.moves()) ++*berths::mine<unsigned char>(b.dst);
  const std::string wrong = wrong_byte(c, b, my_rank(c));
  if (wrong.empty()) return;
  std::fprintf(stderr, "soak: rank %u, round %llu: wrong data: %s: %s\n", me_,
               static_cast<unsigned long long>(round_), wrong.c_str(), describe(c).c_str());
  std::_Exit(1);
}

std::string player::report() {
  const std::lock_guard lock(lock_);
  std::string text = "seed " + std::to_string(job_.seed) + ", round " + std::to_string(round_) + ", " +
                     std::to_string(calls_) + " calls posted, " + doing_.load(std::memory_order_relaxed);
  if (in_call_) text += ": " + describe(posting_);
  text += "; " + std::to_string(open_.size()) + " under way";
  unsigned shown = 0;
  for (const under_way& u : open_) {
    if (++shown > 8) return text + "\n  ...";
    text += "\n  " + std::string(u.given != nullptr ? "(helper) " : "") + describe(u.what);
  }
  return text;
}

} // namespace soak
