// The bound on the error of a float sum of any length, which every tier and
// back end keeps.
//
//   |computed - exact| <= SumErrorBound(n, type, sum of |x|)
//
// A sum is a tree of additions. Each term goes through at most c of them, and
// each addition rounds by a factor of 1 + u. So the error is at most c * u / (1
// - c * u) times the sum of the magnitudes, whatever their signs. Every
// executor bounds c as follows:
//
//   - one accumulator takes at most kSumBlock terms before its value is added to a
//     total and it starts at 0 again;
//   - a total adds at most kMaxPlainBlocks blocks by plain addition; a total
//     that may have to add more is compensated (below), so that c does not
//     depend on the number of blocks;
//   - partial results are then combined: those of at most 64 lanes, or of the
//     invocations of a workgroup, by a tree. A CPU that runs a GPU's schedule
//     combines at most kSumBlock invocations one by one.
//
// Together these are at most kSumBlock + kSumExtra. A schedule may make two
// stages of a sum (rfactor), each of which is such a tree. So
//
//   c(n) = min(n, 2 * (kSumBlock + kSumExtra))
//
// which includes the rounding of a product, where products are added up. For
// comparison: pairwise summation in blocks of that size has c = size + log2(n /
// size), which grows. A kernel or the interpreter may be more exact than the
// bound; sums along contiguous memory are far more exact.
//
// A compensated total is two floats: `sum`, and `rest`, the part that is too
// small for the digits of `sum`. A block x is added as follows, with each
// operation rounded by itself:
//
//   next = sum + x
//   seen = next - sum                              // the part of x in next
//   lost = (sum - (next - seen)) + (x - seen)      // exactly
//   rest = rest + lost,  sum = next + rest,  rest = rest - (sum - next)
//
// `rest` stays 0 if `next` is not finite, so that infinities and NaNs give the
// same result as plain addition. Its error for b blocks is u + 2 b u^2, which
// is negligible up to 2^30 blocks.
//
// The bound does not cover folds, scans and updates of memory (+=), whose order
// is part of their meaning. Products of f16 matrices by subgroups of a GPU
// (loops::LoopKind::kMatrix) accumulate up to kMaxMatrixTerms terms in
// sequence.
#ifndef EMBER_TENSOR_SUM_ERROR_H_
#define EMBER_TENSOR_SUM_ERROR_H_

#include <algorithm>
#include <cstdint>

#include "base/dtype.h"

namespace ember::tensor {

// Largest number of terms that are added to one accumulator before it is added
// to a total.
inline constexpr int64_t kSumBlock = 1024;
// Largest number of blocks whose sums are added up without compensation.
inline constexpr int64_t kMaxPlainBlocks = 32;
// Number of additions that a term goes through after those of its block:
// additions of blocks, then of the partial results of lanes or invocations.
inline constexpr int64_t kSumExtra = 128;
// Largest number of terms that a matrix product on a GPU accumulates in
// sequence.
inline constexpr int64_t kMaxMatrixTerms = 8192;

// Returns c(n): the number of roundings that a term of a sum of n goes through.
constexpr int64_t SumRoundings(int64_t terms) {
  return std::min(terms, 2 * (kSumBlock + kSumExtra));
}

// Returns u: the relative rounding error of one addition in the accumulator's
// type. Sums of f16 and bf16 accumulate in f32; the final rounding to 16 bits
// is not part of the bound.
constexpr double UnitRoundoff(DType type) {
  return type == DType::kF64 ? 0x1p-53 : 0x1p-24;
}

// Returns the bound on the error of a float sum, or sum of products, of this
// number of terms. `magnitudes` is the sum of the terms' absolute values.
constexpr double SumErrorBound(int64_t terms, DType type, double magnitudes) {
  const double steps =
      static_cast<double>(SumRoundings(terms)) * UnitRoundoff(type);
  return steps / (1 - steps) * magnitudes;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_SUM_ERROR_H_
