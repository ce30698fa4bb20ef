// How many vector instructions a loop nest executes: a figure of its schedule
// that is the same each time and on each machine, where times are not.
//
//   loops @scale(%x: input f32[64], %y: output f32[64]) {
//     phase i < 4 { vector l < 16 { %y[i * 16 + l] = %x[i * 16 + l] * 2.0 } }
//   }
//
//   CountInstructions(nest, {}, 32)   // arithmetic 8, accesses 16
//
// Counted is what a compiler that decides nothing makes of the nest for vectors
// of so many bytes. Control flow is followed exactly (a branch that depends on
// data counts as taken). A statement costs, for each value of the loops around
// it:
//   - one instruction per vector for each arithmetic instruction of its value;
//     a product that is added is one with the sum, a dot loop is one in all;
//   - one per vector for each access of neighbouring elements, one per element
//     for others, one where all lanes read the same. Registers cost nothing.
// In unrolled loops directly around it, what does not depend on their variables
// is done once: a tile of products loads each operand once.
//
// Not counted: index arithmetic, branches, loops, prefetches, checks, the
// prologue (which runs once), and registers that do not suffice. So it
// tells twice the work from the same work, not the last percent. Thread-safe.
#ifndef EMBER_TESTS_PERFORMANCE_COUNT_INSTRUCTIONS_H_
#define EMBER_TESTS_PERFORMANCE_COUNT_INSTRUCTIONS_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::tests {

struct InstructionCount {
  double arithmetic = 0;
  double accesses = 0;  // of memory

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

// The nest is verified. Of all its phases, once. Errors: loops of devices
// (subgroups, matrices), and extents that depend on data.
StatusOr<InstructionCount> CountInstructions(
    const loops::LoopNest& nest, std::span<const int64_t> parameters,
    int64_t vector_bytes);

}  // namespace ember::tests

#endif  // EMBER_TESTS_PERFORMANCE_COUNT_INSTRUCTIONS_H_
