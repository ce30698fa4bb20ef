// Finds accesses that can move neighbouring elements together. Code of vector
// and unrolled loops is written out: all values of such a loop's variable
// follow each other in one invocation. Where elements follow the variable and
// begin at a multiple of a vector's size, one load of a vector serves several
// of its values.
//
//   // vector l < 4 { %y[i, j * 8 + l] = ... }, of rows of 64 elements
//   FindVector(pool, i * 64 + j * 8 + l, {2, 4}, is_l);   // 4 elements, of l
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_VECTOR_ACCESS_H_
#define EMBER_JIT_GPU_VECTOR_ACCESS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "jit/loops/loop_nest.h"
#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

// Smallest and largest number of elements that one vector of a buffer may have.
// Both are powers of two.
struct VectorLimits {
  uint32_t least = 1;
  // largest number of elements; less than 2 if the buffer has no vectors
  uint32_t most = 1;
};

struct VectorAccess {
  // number of elements of the vector that contains the accessed element
  uint32_t width = 1;
  // variable of the written-out loop whose iterations access elements of the
  // same vector
  loops::NodeId variable = 0;
  // True if iteration 0 of this variable's loop, and every `width`-th one after
  // it, accesses the first element of a vector.
  bool is_whole = false;
};

// Returns the vector with which an element can be accessed. element: number of
// the element in its buffer, whose begin and end are multiples of limits.most.
// is_known: returns true for the variables of loops whose code is written out.
// Returns nothing if the alignment is not proved, if no other iteration of such
// a loop accesses an element of the vector, or if the vector would have fewer
// elements than limits.least.
std::optional<VectorAccess> FindVector(
    const tensor::ExpressionPool& pool, const tensor::LinearSum& element,
    VectorLimits limits, const std::function<bool(loops::NodeId)>& is_known);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_VECTOR_ACCESS_H_
