// Guards around what only moves in registers. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_UNGUARD_REGISTERS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_UNGUARD_REGISTERS_H_

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// Removes conditions of register stores that read registers alone, where
// nothing else stores to them:
//
//   if i * 16 + lane < 136 { %conv[0, lane] = %conv.part[0, lane] }
//   if i * 16 + lane < 136 { %y[i * 16 + lane] = %conv[0, lane] }
//
// loses the first one: what it keeps from being stored has no value, so nobody
// reads it. A condition there is a branch for each vector of a tile, in each of
// which compilers compute what it stores, while all that this needs waits in
// registers that are not there. Behind PromoteRegisters.
void UnguardRegisters(loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_UNGUARD_REGISTERS_H_
