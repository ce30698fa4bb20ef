// Writes the number of an element in its buffer, in row-major order, as a sum.
//
//   ElementSum(pool, {64, 8}, {i, j * 4 + l})       // i * 8 + j * 4 + l
//   ElementSum(pool, {64, N}, {i + 1, l})           // (i * N) * 1 + N * 1 + l
//
// Thread-safe, if each thread has a pool of its own.
#ifndef EMBER_JIT_GPU_ELEMENT_SUM_H_
#define EMBER_JIT_GPU_ELEMENT_SUM_H_

#include <span>

#include "tensor/builder/expression_pool.h"
#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

// Returns the number of the element with these indices. Products with extents
// that are not constant are nodes, which are added to the pool.
tensor::LinearSum ElementSum(tensor::ExpressionPool& pool,
                             std::span<const tensor::NodeId> extents,
                             std::span<const tensor::NodeId> indices);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_ELEMENT_SUM_H_
