// Software pipelining: loads tiles of operands one or more iterations before
// they are read, as the primitive double_buffer asks. Internal to lowering.
//
//   for k < 8 {                        load(0 -> half 0)
//     load(k)                    ->    for k < 8 {
//     arithmetic(k)                      if k + 1 < 8 { load(k + 1 -> other) }
//   }                                    arithmetic(k of half k mod 2)
//                                      }
//
// The tile gets a first dim of 2, its halves. An iteration reads the half that
// the previous one loaded, and loads the other. So a device needs one barrier
// per iteration instead of two (jit/gpu/barriers.h), and loads overlap with
// arithmetic. By registers, each invocation loads its elements at the begin of
// an iteration and stores them to the tile at its end; directly, they are
// copied at its end.
//
// Asynchronously, with n slots, copies are n - 1 iterations ahead, and an await
// leaves the last n - 2 groups of copies in flight:
//
//   async load(0 -> slot 0)  await 1  async load(1 -> slot 1)         // n = 3
//   for k < 8 {
//     await 1
//     if k + 2 < 8 { async load(k + 2 -> slot (k + 2) mod 3) }
//     arithmetic(k of slot k mod 3)
//   }
//
// The copies come after the arithmetic if `late` is set: asynchronous
// operations that it starts, such as products of matrices, have started by
// then. Copies are n - 2 iterations ahead if `spare` is set: the slot that an
// iteration reads may still be read until the next iteration's arithmetic has
// started.
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
  // number of ring slots; 0: not asynchronous. All tiles of a loop have the
  // same number.
  int64_t slots = 0;
  // true if copies start after the iteration's arithmetic; the same for all
  // tiles of a loop
  bool is_late = false;
  // true if one slot is kept for the previous iteration, which may still read
  // it; the same for all tiles of a loop
  bool has_spare = false;
};

// Returns the tiles that double_buffer loads ahead in a loop of the stage. The
// tiles' buffers have the same numbers in the schedule's computation and in the
// nest.
std::vector<AheadTile> TilesAhead(const Schedule& schedule, int stage,
                                  int loop);

// Makes the loop load the tiles one or more iterations ahead. loop: a complete
// serial loop that is not in its block yet. Its body contains the statements
// that store to the tiles, each to one tile. Only conditions are around these
// statements, and checks of their indices may be right before them (not if
// tiles are loaded through registers). They read nothing that the loop stores.
// No statement outside of the loop accesses a tile. before: the block to which
// the loop will be added; gets the statements that fill the tiles for the first
// iterations.
//
// A loop that provably has at most one iteration stays as it is. `by_registers`
// has no effect if the bound loop of a copy has only one invocation.
void LoadAhead(std::span<const AheadTile> tiles, loops::Statement& loop,
               loops::Block& before, loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_LOAD_AHEAD_H_
