// Counts the vector instructions that a loop nest executes. Unlike a time, this
// figure of a schedule is the same each time and on each machine.
//
//   loops @scale(%x: input f32[64], %y: output f32[64]) {
//     phase i < 4 { vector l < 16 { %y[i * 16 + l] = %x[i * 16 + l] * 2.0 } }
//   }
//
//   CountInstructions(nest, {}, 32)   // arithmetic 8, accesses 16
//
// It counts the code of a compiler that decides nothing, for vectors of that
// many bytes. Control flow is followed exactly (a branch that depends on data
// counts as taken). For each value of the loops around it, a statement costs:
//   - one instruction per vector for each arithmetic instruction of its value;
//     a product that is added is one with the sum, a dot loop is one in all;
//   - one per vector for each access of neighbouring elements, one per element
//     for others, one if all lanes read the same. Registers cost nothing.
// In the unrolled loops directly around a statement, what does not depend on
// their variables is done once: a tile of products loads each operand once.
//
// Not counted are index arithmetic, branches, loops, prefetches, checks, the
// prologue (which runs once), and spills. So the figure distinguishes the
// double amount of work, but not the last percent. Thread-safe.
#ifndef EMBER_TESTS_PERFORMANCE_COUNT_INSTRUCTIONS_H_
#define EMBER_TESTS_PERFORMANCE_COUNT_INSTRUCTIONS_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::tests {

struct InstructionCount {
  double arithmetic = 0;
  double accesses = 0;  // Number of instructions that read or write memory.

  double total() const { return arithmetic + accesses; }
  InstructionCount& operator+=(const InstructionCount& other) {
    arithmetic += other.arithmetic;
    accesses += other.accesses;
    return *this;
  }
  InstructionCount operator*(double times) const {
    return {arithmetic * times, accesses * times};
  }
};

// Counts all phases once. The nest must be verified. Errors: loops of devices
// (subgroups, matrices), and extents that depend on data.
StatusOr<InstructionCount> CountInstructions(
    const loops::LoopNest& nest, std::span<const int64_t> parameters,
    int64_t vector_bytes);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_COUNT_INSTRUCTIONS_H_
