// Returns texts of nests with matrix loops, for any type of matrix product that
// a device has. Tests of back ends run them.
//
//   std::string text = TextOf(MatrixNest::kByColumns, type);
//   std::string text = ForMatrices("loops @p(%a: input TA[M, K], …", type);
#ifndef EMBER_JIT_LOOPS_TESTING_MATRIX_NESTS_H_
#define EMBER_JIT_LOOPS_TESTING_MATRIX_NESTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "jit/loops/analysis/matrix_operation.h"

namespace ember::loops {

enum class MatrixNest : uint8_t {
  // Two subgroups compute two tiles each. Operands and results are in device
  // memory.
  kFromDeviceMemory,
  // All matrices are stored by columns in device memory.
  kByColumns,
  // All matrices are stored by columns in memory that invocations share.
  kByColumnsFromSharedMemory,
  // Invocations load three parts of the sum's dim one after the other into a
  // buffer of two slots in shared memory. A condition is around a product.
  // Invocations read results from shared memory and change them.
  kFromSharedMemory,
  // The phase has one subgroup, but 40 invocations, which copy vectors of four
  // elements to shared memory.
  kOfVectors,
  // One phase of the nest has matrix loops, and the other phases have none.
  kInOnePhase,
  // The products 127 * 127 and 128 * 128 are added to large numbers, so that
  // sums of i32 wrap. Only for product types whose sum is i32.
  kSumsThatWrap,
};

std::string TextOf(MatrixNest form, const MatrixType& type);

// Replaces names in a text. M, N and K become the numbers of rows, columns and
// depth; 2M, 2N and 3K become multiples of them. TA, TB and SUM become the
// types. CAST becomes the cast from a factor to the type of the sum, which may
// be empty.
std::string ForMatrices(std::string_view text, const MatrixType& type);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TESTING_MATRIX_NESTS_H_
