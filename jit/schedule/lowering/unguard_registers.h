// Removes guards around stores that only move registers. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_UNGUARD_REGISTERS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_UNGUARD_REGISTERS_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// Removes conditions around register stores that read only registers, if no
// other statement stores to the same buffer:
//
//   if i * 16 + lane < 136 { %conv[0, lane] = %conv.part[0, lane] }
//   if i * 16 + lane < 136 { %y[i * 16 + lane] = %conv[0, lane] }
//
// Here the first condition is removed, because the elements that it excludes
// are never read. Such a condition is a branch for each vector of a tile.
// Compilers then compute each vector's value in its branch, and the operands of
// all of them wait in more registers than exist. Runs after PromoteRegisters.
void UnguardRegisters(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_UNGUARD_REGISTERS_H_
