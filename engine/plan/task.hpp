// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace weft::graph {

class topology;
class call_fields;

// The segments of other ranks of my host. Not for code of users: it is found by any thread that drives.
struct near_memory {
  void* net = nullptr;
  std::byte* (*find)(void* net, std::uint32_t thread) = nullptr;
  std::byte* operator()(std::uint32_t thread) const { return find(net, thread); }
};

// What a rank has to do for a stage of a task: whose data they are, and how much of it is to be done now.
struct work {
  std::uint32_t stage = 0;
  std::uint32_t me = 0, members = 1;      // ranks of the team
  const std::uint32_t* threads = nullptr; // of the job, by rank of the team
  const topology* where = nullptr;        // the members are
  std::byte* segment = nullptr;           // mine; dst and src count from its beginning
  std::uint64_t segment_bytes = 0;        // of that, and of any other member's
  near_memory near;
  std::uint64_t dst = 0, src = 0;
  std::byte* scratch = nullptr; // of the operation, as its plan lays it out
  std::uint64_t scratch_bytes = 0;
  std::byte* room = nullptr; // as much as the task has asked for
  std::uint64_t block = 0;   // bytes that a member contributes
  std::uint64_t message = 0; // bytes of the longest message that is no block; see plan::packed
  std::uint64_t budget = 0;  // bytes to touch, about; at least a little is done
  std::uint64_t done = 0;    // how far the stage is: 0 when it begins, then what the task makes of it
  bool alone = false;        // the root has chosen to work alone
};

// Bytes that another member has and I work on, or the other way round: where in its segment, and where I have
// them.
struct part {
  std::uint64_t at = 0;
  std::byte* mine = nullptr;
  std::uint64_t bytes = 0;
  static constexpr std::uint64_t alike = ~std::uint64_t{0};
  std::uint64_t given = alike; // or so many bytes the other says: nothing is moved, and the operation fails
  bool gone = false;           // where I want them is no memory any more: as well
  bool second = false;         // another member has them for me, too: as well
  bool last_of_none = false;   // no member has any: as well
};

// Memory of the library that stands for operands of the program while the operation goes on. Both functions
// are called under progress ownership. The end is called before the operation is complete; it says whether
// results are where the program wants them.
struct stand_in {
  struct outcome {
    const std::byte* gone = nullptr; // there is no memory there any more
    std::uint64_t bytes = 0;
    bool source = false; // it is what was to be given
  };
  outcome (*end)(stand_in&, bool went_well) = nullptr;
  // What must be done before the operation begins on its rank: about so many bytes of it. `waits`: for the
  // end of another operation; `soon`: not even for that, if time goes by. Null: nothing.
  enum class readiness : std::uint8_t { ready, moved, soon, waits };
  readiness (*begin)(stand_in&, std::uint64_t budget) = nullptr;
};

// What the ranks compute in an operation, in stages between which its plan moves data. It lives as long as
// the operation is not complete; a post keeps a copy, byte by byte.
struct task {
  // Does some of a stage; true when it is through. `user`: it may throw.
  bool (*run)(const task&, work&) = nullptr;
  // What `peer` has, or is to have, of what I work on in a stage; of a payload all of it, and where I have
  // it.
  part (*part_of)(const task&, const work&, std::uint32_t peer) = nullptr;
  // A piece of what the members of a host may share: see operations/reduce.hpp.
  void (*combine)(const task&, void* into, const void* from, std::uint64_t bytes) = nullptr;
  // Of these blocks a member gets all; or, in the order of the ranks, those up to its own, or in front of it.
  enum class share : std::uint8_t { all, up_to_own, before_own } gets = share::all;
  void (*release)(const task&) = nullptr; // the operation is over
  // What a member of my host has for the members of another host, behind each other, by the note that it has
  // published. Returns its bytes: `message` of them at most, and the first 4 say how many. For my host: that
  // note of mine, and behind it the same, as much as an eager payload has room for; or 0 in the place of
  // the 4.
  std::uint64_t (*pack)(const task&, const work&, std::uint32_t member, std::uint32_t host,
                        const std::byte* note, std::byte* to) = nullptr;
  // The same of a member of another host, or of mine, for the members of mine: I take my own. True if nothing
  // is left of it.
  bool (*unpack)(const task&, const work&, std::uint32_t member, std::span<const std::byte> packed) = nullptr;
  // How many blocks from there I bring still; of me: how many members bring a block of mine.
  std::uint64_t (*brought)(const task&, const work&, std::uint32_t member) = nullptr;
  // What the members must give alike, beside what their request and operands say.
  void (*say)(const task&, call_fields&) = nullptr;
  std::uint64_t room = 0;             // bytes
  std::uint64_t room_alone = 0;       // instead, of a root that works alone; 0: it waits for all
  std::uint64_t patience = 0;         // of a root that may, in ns: besides that of the plan
  std::uint32_t bytes = sizeof(task); // of the whole object
  bool along = false;      // what I get of members of my host comes with payloads: I answer none of them
  bool user = false;       // runs code of users: never while the right to drive is held
  std::uint64_t plain = 0; // and the stages that run none of it, a bit each
  stand_in* aside = nullptr;
};

} // namespace weft::graph
