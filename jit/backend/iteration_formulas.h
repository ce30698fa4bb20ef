// How often the loops of one invocation turn in a task of each phase, as
// formulas over a call's parameters: what jit/loops/iterations.h counts, for
// those who have the kernel's image and not its nest. Some drivers end loops
// after so many turns without a word, so launchers compare.
//
//   AddIterations(nest, image);
//   image.iterations[phase];   // the number of a formula
//
// Upper bounds, of at most kMostIterations. Where extents of loops depend on
// constants and parameters only they are what MostIterations counts. Where they
// depend on variables of other loops they follow from the ranges of those, by
// sums, differences, multiples, minima and the like; what has another form
// counts as kMostIterations. Thread-safe.
#ifndef EMBER_JIT_BACKEND_ITERATION_FORMULAS_H_
#define EMBER_JIT_BACKEND_ITERATION_FORMULAS_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_image.h"

namespace ember::jit {

inline constexpr int64_t kMostIterations = int64_t{1} << 31;

// image: DescribeNest of the nest. Its formulas grow.
void AddIterations(const loops::LoopNest& nest, vm::KernelImage& image);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_ITERATION_FORMULAS_H_
