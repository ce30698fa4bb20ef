// Nests with matrix loops for any product of matrices, for tests of back ends.
//
//   std::string text = TextOf(MatrixNest::kByColumns, type);
//   std::string text = ForMatrices("loops @p(%a: input TA[M, K], …", type);
#ifndef EMBER_JIT_LOOPS_MATRIX_NESTS_H_
#define EMBER_JIT_LOOPS_MATRIX_NESTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "jit/loops/matrix_operation.h"

namespace ember::loops {

enum class MatrixNest : uint8_t {
  // Two subgroups of two tiles each, from device memory and back.
  kFromDeviceMemory,
  // Each matrix by columns, from device memory.
  kByColumns,
  // By columns, from memory that invocations share.
  kByColumnsFromSharedMemory,
  // Slices that all invocations load, more of them than the subgroups have; a
  // condition around a product; results that invocations change in memory that
  // they share.
  kFromSharedMemory,
  // Fewer subgroups than invocations need; vectors of what may lie in words.
  kOfVectors,
  // Phases without matrices beside one that has them.
  kInOnePhase,
  // 127 * 127 and 128 * 128, added to large numbers: sums of i32, for products
  // with such sums alone.
  kSumsThatWrap,
};

std::string TextOf(MatrixNest form, const MatrixType& type);

// Replaces in a text: M, N, K, 2M, 2N, 3K by the numbers of rows, columns and
// depth, or so many times them; TA, TB, SUM by the types; CAST by what factors
// are cast to the type of the sum with, which may be nothing.
std::string ForMatrices(std::string_view text, const MatrixType& type);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_MATRIX_NESTS_H_
