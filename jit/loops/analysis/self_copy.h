// Finds phases that copy elements of an input to the same positions of an
// output. If the caller gives input and output the same memory (vm::MayAlias),
// the phase has nothing to do and can be skipped.
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

// Returns the input and the output if every store of the phase copies an
// element of that input to the same position of that output. May return nullopt
// for a phase that does only that.
std::optional<SelfCopy> SelfCopyOf(const LoopNest& nest, const Phase& phase);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_SELF_COPY_H_
