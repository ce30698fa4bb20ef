// Finds phases that copy elements of an input to the same positions of an
// output. A dispatch may be called with both in the same memory (vm::MayAlias);
// such a phase then has nothing to do.
//
//   if (std::optional<SelfCopy> copy = SelfCopyOf(nest, phase)) …
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_SELF_COPY_H_
#define EMBER_JIT_LOOPS_ANALYSIS_SELF_COPY_H_

#include <cstdint>
#include <optional>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

struct SelfCopy {
  uint32_t input = 0, output = 0;  // numbers of buffers

  bool operator==(const SelfCopy&) const = default;
};

// Returns the buffers if the phase stores nothing else than elements of one
// input, each to its own position in one output. The answer is conservative.
std::optional<SelfCopy> SelfCopyOf(const LoopNest& nest, const Phase& phase);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_SELF_COPY_H_
