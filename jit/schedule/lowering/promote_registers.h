// Buffers of tasks that may live in registers. Internal to lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_PROMOTE_REGISTERS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_PROMOTE_REGISTERS_H_

#include <cstdint>
#include <span>

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// kTask buffers become kRegister where they are small, of constant extents, and
// every access is to an element that is known once loops are unrolled, lanes in
// the last dim. Where invocation loops access a buffer, all accesses have to be
// by the invocation in the first dim: each then has registers of its own.
// in_memory: buffers that stay what they are.
void PromoteRegisters(std::span<const uint32_t> in_memory,
                      loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_PROMOTE_REGISTERS_H_
