// Loops in which tiles of operands are there one iteration ahead: what
// double_buffer asks for. Internal to lowering.
//
//   for k < 8 {                        load(0 -> half 0)
//     load(k)                    ->    for k < 8 {
//     arithmetic(k)                      if k + 1 < 8 { load(k + 1 -> other) }
//   }                                    arithmetic(k of half k mod 2)
//                                      }
//
// The tile gets a first dim of 2, its halves. What is loaded meets what is read
// only in the next iteration, in both directions: so a device needs one barrier
// per iteration instead of two (jit/gpu/barriers.h), and loads run while
// arithmetic does. By registers, each invocation loads its elements at the
// begin of an iteration and stores them at its end; directly, they are copied
// at its end.
//
// Asynchronously, with n slots, copies are n - 1 iterations ahead, and an await
// leaves those of the last n - 2 on their way:
//
//   async load(0 -> slot 0)  await 1  async load(1 -> slot 1)         // n = 3
//   for k < 8 {
//     await 1
//     if k + 2 < 8 { async load(k + 2 -> slot (k + 2) mod 3) }
//     arithmetic(k of slot k mod 3)
//   }
//
// Late, the copies stand behind the arithmetic: what that begins, such as
// products of matrices that go on by themselves, has begun then. With one slot
// to spare, they are n - 2 iterations ahead: what an iteration reads may be
// read until the next one's arithmetic has begun.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_LOAD_AHEAD_H_
#define EMBER_JIT_SCHEDULE_LOWERING_LOAD_AHEAD_H_

#include <cstdint>
#include <span>
#include <vector>

#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

struct AheadTile {
  uint32_t buffer = 0;
  bool by_registers = false;
  int64_t slots = 0;  // not 0: asynchronously, the same of all tiles of a loop
  bool is_late = false;    // likewise
  bool has_spare = false;  // likewise
};

// The tiles that the schedule wants ahead in a loop of the stage. Their buffers
// have the same numbers in the nest.
std::vector<AheadTile> TilesAhead(const Schedule& schedule, int stage,
                                  int loop);

// loop: serial, complete, and not in its block yet. In its body, under no more
// than conditions, stand the statements that store to the tiles, each to one
// tile, right behind the checks of its indices, if there are any (none by
// registers); they read nothing that the loop stores. No other statement of the
// nest touches a tile. before: where the loop is going to stand; gets what
// fills the first halves.
//
// A loop that is known to turn but once, or never, stays as it is. So does
// `by_registers` count for nothing where the bound loop of a copy has but one
// invocation.
void LoadAhead(std::span<const AheadTile> tiles, loops::Statement& loop,
               loops::Block& before, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_LOAD_AHEAD_H_
