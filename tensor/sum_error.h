// How far a sum of floats may be from the exact one: the bound that every tier
// and back end keeps, for sums of any length.
//
//   |computed - exact| <= SumErrorBound(n, type, sum of |x|)
//
// A sum is a tree of additions, and each term goes through some of them: c at
// most, each of which rounds by a factor of 1 + u. So the error is at most
// c * u / (1 - c * u) times the sum of the magnitudes, whatever their signs.
// What is bounded is c:
//
//   - one accumulator takes at most kSumBlock terms before what it has is
//     carried to a total of its own, and it starts at 0 again;
//   - a total takes at most kMostPlainBlocks of those as they are; one that may
//     have to take more is compensated (below), so that the number of blocks no
//     longer counts;
//   - results that were kept side by side are then combined: those of at most
//     64 lanes, or of the invocations of a workgroup, by a tree (where a CPU
//     runs a schedule for devices: one by one, kSumBlock at most).
//
// Together these are at most kSumBlock + kSumExtra. A schedule may make two
// stages of a sum (rfactor), each of which is such a tree. So
//
//   c(n) = min(n, 2 * (kSumBlock + kSumExtra))
//
// which includes the rounding of a product, where products are added up. For
// comparison: pairwise summation in blocks of that size has c = size + log2(n /
// size), which grows. A kernel or an interpreter may of course do better than
// its bound; along memory all do by far.
//
// A compensated total is two floats: the sum, and the part of it that the sum
// has no digits for. It takes a block x so, each operation rounded by itself:
//
//   next = sum + x
//   seen = next - sum                              // of x
//   lost = (sum - (next - seen)) + (x - seen)      // exactly
//   rest = rest + lost,  sum = next + rest,  rest = rest - (sum - next)
//
// where rest stays 0 if next is not finite, so that infinities and NaNs come
// out as by plain addition. Its error for b blocks is u + 2 b u^2: nothing that
// counts up to 2^30 blocks.
//
// Not bounded this way, as their order is part of what they mean: folds, scans,
// updates of memory (+=). Products of matrices of f16 by subgroups of a GPU
// (loops::LoopKind::kMatrix) take up to kMostMatrixTerms terms in a row.
#ifndef EMBER_TENSOR_SUM_ERROR_H_
#define EMBER_TENSOR_SUM_ERROR_H_

#include <algorithm>
#include <cstdint>

#include "base/dtype.h"

namespace ember::tensor {

// Terms that one accumulator takes.
inline constexpr int64_t kSumBlock = 1024;
// Blocks whose sums are added up without compensation.
inline constexpr int64_t kMostPlainBlocks = 32;
// Additions beyond those of a block: of blocks, then of lanes or invocations.
inline constexpr int64_t kSumExtra = 128;
// As above, of one product of matrices.
inline constexpr int64_t kMostMatrixTerms = 8192;

// c(n): through how many roundings a term of a sum of n goes.
constexpr int64_t SumRoundings(int64_t terms) {
  return std::min(terms, 2 * (kSumBlock + kSumExtra));
}

// u: by how much an addition of accumulators of a sum of such values rounds,
// relative. Sums of f16 and bf16 grow in f32; that the result is rounded to 16
// bits at the end is not part of the bound.
constexpr double UnitRoundoff(DType type) {
  return type == DType::kF64 ? 0x1p-53 : 0x1p-24;
}

// Of a float sum, or sum of products, of so many terms.
constexpr double SumErrorBound(int64_t terms, DType type, double magnitudes) {
  const double steps =
      static_cast<double>(SumRoundings(terms)) * UnitRoundoff(type);
  return steps / (1 - steps) * magnitudes;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_SUM_ERROR_H_
