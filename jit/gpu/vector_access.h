// Finds accesses that can move neighbouring elements together. Code of vector
// and unrolled loops is written out: all values of such a loop's variable
// follow each other in one invocation. Where elements follow the variable and
// begin at a multiple of a vector's size, one load of a vector serves several
// of its values.
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
#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

// Smallest and largest number of elements of a vector; both are powers of two.
struct VectorLimits {
  uint32_t least = 1;
  // The largest number; less than 2: the buffer has no vectors.
  uint32_t most = 1;
};

struct VectorAccess {
  // Number of elements of the vector that contains the element.
  uint32_t width = 1;
  uint32_t lane = 0;  // position of the element in the vector
  // The vector's number in the buffer is the value of `number`, shifted right
  // by `shift` bits.
  tensor::LinearSum number;
  uint32_t shift = 0;
  // variable of the loop whose values share the vector
  loops::NodeId variable = 0;
  // True if the vector has as many lanes as values of the loop share it.
  bool is_whole = false;
};

// Returns the vector that contains an element. element: the element's number in
// a buffer whose begin and end are multiples of limits.most. value_of: the
// values of variables that are constants here. Returns nothing if the alignment
// is not proved, or if no other value of a loop needs the vector.
std::optional<VectorAccess> FindVector(
    const tensor::ExpressionPool& pool, const tensor::LinearSum& element,
    VectorLimits limits,
    const std::function<std::optional<int64_t>(loops::NodeId)>& value_of);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_VECTOR_ACCESS_H_
