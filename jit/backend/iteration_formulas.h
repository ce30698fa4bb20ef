// Computes the number of iterations of one invocation's loops in a task of each
// phase, as formulas over a call's parameters. jit/loops/analysis/iterations.h
// counts the same for a nest; these are for code that has only the kernel's
// image. Some drivers silently end loops after a number of iterations, so
// launchers compare a call's number with that limit.
//
//   AddIterations(nest, image);
//   image.iterations[phase];   // the number of a formula
//
// The formulas are upper bounds, of at most kMaxIterations. If extents of loops
// depend on constants and parameters only, the formulas give what
// MostIterations counts. If extents depend on variables of other loops, the
// formulas follow from the ranges of those variables by sums, differences,
// multiples, minima and the like; other forms count as kMaxIterations.
// Thread-safe.
#ifndef EMBER_JIT_BACKEND_ITERATION_FORMULAS_H_
#define EMBER_JIT_BACKEND_ITERATION_FORMULAS_H_

#include <cstdint>

#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_image.h"

namespace ember::jit {

inline constexpr int64_t kMaxIterations = int64_t{1} << 31;

// Adds the formulas for the numbers of iterations to the image, which
// DescribeNest must have made of the same nest.
void AddIterations(const loops::LoopNest& nest, vm::KernelImage& image);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_ITERATION_FORMULAS_H_
