// Flash attention: computes a softmax and the product that combines its rows in
// blocks of the rows, without a matrix of weights in memory (online softmax).
//
//   %most[i]    = maximum(k < K) x(i, k)
//   %power[i,k] = exp(x(i, k) - %most[i])
//   %total[i]   = sum(k < K) %power[i, k]
//   %p[i, k]    = %power[i, k] / %total[i]
//   %y[i, j]    = sum(k < K) %p[i, k] * v(k, j)
//
// becomes, with K = B * blocks and m' = m, but 0 where m is -inf:
//
//   %most[i, b]     = maximum(k < B) x(i, b * B + k)
//   %power[i, b, k] = exp(x(i, b * B + k) - %most'[i, b])
//   %total[i, b]    = sum(k < B) %power[i, b, k]
//   %p[i, b, j]     = sum(k < B) %power[i, b, k] * v(b * B + k, j)
//   for i, j fold b {  // (sum, total, m) starts as (0, 0, -inf)
//     m1  = max(m, %most[i, b])
//     old = exp(m - m1'), new = exp(%most[i, b] - m1')
//     sum = sum * old + %p[i, b, j] * new
//     total = total * old + %total[i, b] * new
//   }
//   %y[i, j] = %sum[i, j] / %sums_total[i, j]
//
// This is the running form. The alternative (all blocks first, then weights
// exp(m_b - m) for each) needs %most and %total of a block both in the block's
// loop and after all of them. In the running form only the fold reads a block's
// results. So `compute_at` can put a block's stages into the fold's loop over
// blocks, and they need room for B elements of a row instead of K. `rfactor`
// divides the blocks into parts and folds each part by itself: the state of one
// fold is to another fold what a block is.
//
// Cost: maxima and totals are kept, and their powers computed, per j. These are
// two powers for each j and block, compared with B for the block.
//
// Narrow weights: where %p is rounded to f16 or bf16, and widened again in the
// product, %p stays a stage. It rounds %power, before any division. The
// products of a block are then a stage of their own, named after the sum:
// %sum.blocks. The relative error of a rounded power is that of its rounded
// quotient by the total. Powers below 2^-14 lose bits in f16, but their error
// is at most 2^-25, compared with the largest power of a block, which is 1.
//
// Infinite x: in a block with only -inf the powers are exp(-inf) = 0, and so
// are total and sums: it adds nothing. A row with only -inf ends as 0 / 0, NaN,
// as it does in the dispatch; so does a row with NaN or +inf. Where v has an
// infinity or NaN, results may be NaN instead of inf or the reverse, because
// powers that are 0 in the dispatch may be small numbers in their block.
//
// Rows are padded with elements that are -inf, and v with zeros, if B does not
// divide K (padded_keys.h).
//
// With `skip`, blocks that no row of a loop's iteration sees are not computed.
// The visible keys are derived from the dispatch (hidden_keys.h): x is -inf for
// all keys from some key on, by a comparison of their index with the row's. A
// hidden block has maximum -inf, powers, total and sums 0. So the fold would
// keep sum, total and m bit for bit, except for the sign of a sum that is 0: m1
// is m, and old is exp(0) = 1, or m is -inf, and sum and total are 0. The proof
// assumes that v is finite there: 0 * inf, which would be NaN, is not computed
// for keys that are skipped, but it is for keys that are hidden within a
// computed block. `skip` is refused if no block is provably skipped, and if an
// index is checked while the program runs, because a skipped block would not
// check it. The fold's loop over blocks then ends earlier (UsefulElements), if
// it is a serial loop that is neither split nor fused. If the fold has parts
// (rfactor), the loop of each part ends earlier, and parts that no row sees
// have no iteration.
//
// Errors, with u = 2^-24 for f32 and S the sum of |p| * |v| that %y would be
// without rounding: each power is exact to (2 + d) u, where d is the distance
// of x from its block's maximum (the dispatch: from the row's, which is no
// less). Each scaling of a sum by 'old' or 'new' adds (4 + D) u, where D is the
// distance by which the maximum moved (0 if it did not move: exp(0) is 1). The
// distances add up to that of a single step, so the result is within
//
//   (K / 8 + 5 * blocks + 2 * range of the row's x + 8) u S
//
// of the exact one. The first term is that of any sum of K products in 8 lanes,
// and the third occurs in the dispatch, too. There are fewer divisions: one for
// each result instead of one for each weight. With parts, `blocks` counts the
// elements of both folds.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_ONLINE_SOFTMAX_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_ONLINE_SOFTMAX_H_

#include <cstdint>

#include "base/dtype.h"
#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// The numbers of the stages of a softmax and its product, which online_softmax
// replaces (the first form at the top of this file).
struct SoftmaxOfProduct {
  int most = 0;
  int power = 0;
  int total = 0;
  int weight = 0;  // number of the stage of weights, %p
  int product = 0;
  int64_t length = 0;  // number of keys in a row, K; 0 if it is not constant
  // Number, among the two factors of the product, of the one that loads the
  // weights %p.
  size_t weights = 0;
  // Type of the weights %p: f32; or f16 or bf16, which the product converts to
  // f32.
  DType weight_type = DType::kF32;
};

// Says if the number of keys must be constant.
enum class KeyCount : uint8_t { kConstant, kAny };

// Finds the stages of the softmax whose rows the product combines. If there are
// none, the error says in which point the stages differ.
StatusOr<SoftmaxOfProduct> MatchSoftmaxOfProduct(
    const Schedule& schedule, int product, KeyCount keys = KeyCount::kConstant);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_ONLINE_SOFTMAX_H_
