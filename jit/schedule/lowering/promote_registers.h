// Moves small temporaries of tasks from memory to registers. Internal to
// lowering.
#ifndef EMBER_JIT_SCHEDULE_LOWERING_PROMOTE_REGISTERS_H_
#define EMBER_JIT_SCHEDULE_LOWERING_PROMOTE_REGISTERS_H_

#include <cstdint>
#include <span>

#include "jit/loops/loop_nest.h"

namespace ember::schedule {

// Makes kTask buffers kRegister if they are small, of constant extents, and
// every access has constant indices after unrolling, with lanes only in the
// last dim. If invocation loops access a buffer, all accesses must have the
// invocation in the first dim: each invocation then has registers of its own.
// in_memory: buffers that stay in memory.
void PromoteRegisters(std::span<const uint32_t> in_memory,
                      loops::LoopNest& nest);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_LOWERING_PROMOTE_REGISTERS_H_
