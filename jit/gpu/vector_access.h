// Which accesses move neighbouring elements together: code of vector and
// unrolled loops is written out, so that all values of such a loop's variable
// are there, one after the other, in one invocation. Where elements follow the
// variable and begin at a multiple of what a vector has, one load of a vector
// is what several of its values need.
//
//   // vector l < 4 { %y[i, j * 8 + l] = ... }, of rows of 64 elements, l = 1
//   FindVector(pool, i * 64 + j * 8 + l, {2, 4}, known);
//     // vector number i * 16 + j * 2 of 4 elements, its lane 1
#ifndef EMBER_JIT_GPU_VECTOR_ACCESS_H_
#define EMBER_JIT_GPU_VECTOR_ACCESS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "jit/loops/loop_nest.h"
#include "tensor/linear.h"

namespace ember::jit::gpu {

// Elements of a vector: powers of two.
struct VectorLimits {
  uint32_t least = 1;
  uint32_t most = 1;  // less than 2: no vectors
};

struct VectorAccess {
  uint32_t width = 1;        // elements of the vector
  uint32_t lane = 0;         // this element among them
  tensor::LinearSum number;  // of the vector: this, shifted right
  uint32_t shift = 0;
  loops::NodeId variable = 0;  // of the loop whose values share it
  // As many values of the loop as the vector has lanes have it to themselves.
  bool is_whole = false;
};

// element: its number in a buffer that begins at a multiple of limits.most and
// ends at one. value_of: of variables whose values are constants here. nullopt
// where the alignment is not proved, or no other value of a loop needs the
// vector.
std::optional<VectorAccess> FindVector(
    const tensor::ExpressionPool& pool, const tensor::LinearSum& element,
    VectorLimits limits,
    const std::function<std::optional<int64_t>(loops::NodeId)>& value_of);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_VECTOR_ACCESS_H_
