// Softmax whose rows a product combines, in blocks of the rows: attention
// without its matrix of weights.
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
// This is the running form. The other one (all blocks first, then weights
// exp(m_b - m) for each) needs %most and %total of a block both in the block's
// loop and behind all of them; in the running form everything of a block is
// read by the fold only, so that `compute_at` puts it into the fold's loop over
// blocks, and a block's stages need room for B elements of a row instead of K.
// `rfactor` makes parts of its blocks, of which each is folded by itself: what
// a fold has so far is to another one what a block is.
//
// Its price is that maxima and totals are kept, and their powers computed, per
// j: two powers for each j and block, against B for the block.
//
// Where %p is rounded to f16 or bf16, and widened again in the product, %p
// stays a stage: of %power, rounded, before any division. The products of a
// block are a stage of their own then, named after the sum: %sum.blocks.
// Rounding a power is as exact, relatively, as rounding its quotient by the
// total; powers below 2^-14 lose bits in f16, but are at most 2^-25 off beside
// a block's largest, which is 1.
//
// Infinite x. Of a block with nothing but -inf the powers are exp(-inf) = 0,
// and so are total and sums: it adds nothing. A row with nothing but -inf ends
// as 0 / 0, NaN, as it does in the dispatch; so does a row with NaN or +inf.
// Where v has an infinity or NaN, NaN may be inf and the other way round, as
// powers that are 0 in the dispatch may be small in their block.
//
// Where B does not divide K, rows are longer by elements that are -inf, and v
// by zeros (padded_keys.h).
//
// With `skip`, blocks that no row of a loop's turn sees are not computed. What
// a row sees is read off the dispatch (hidden_keys.h): x is -inf for all keys
// from some on, by a comparison of their index with the row's. Such a block has
// maximum -inf, powers, total and sums 0, so the fold would leave sum, total
// and m as they are, whatever they are, bit for bit but for the sign of a sum
// that is 0: m1 is m, and old is exp(0) = 1, or m is -inf, and sum and total
// are 0. The proof takes v to be finite there: 0 * inf, which would be NaN, is
// not computed for keys that are skipped, while it is for those that are hidden
// within a block. Refused where nothing is skipped for sure, and where an index
// is checked while the program runs, as a skipped block would not check it. The
// fold's loop over blocks ends earlier then (UsefulElements), where it is a
// serial one that is neither split nor fused; so does that of each part, if it
// is folded in parts (rfactor), and parts that no row sees have no turn.
//
// Errors, with u = 2^-24 for f32 and S the sum of |p| * |v| that %y would be
// without rounding: each power is exact to (2 + d) u, where d is the distance
// of x from its block's maximum (the dispatch: from the row's, which is no
// less), each scaling of a sum by 'old' or 'new' adds (4 + D) u with the
// distance D by which the maximum moved (none where it did not: exp(0) is 1).
// As the distances add up to what a single step would be, the result is within
//
//   (K / 8 + 5 * blocks + 2 * range of the row's x + 8) u S
//
// of the exact one, where the first term is that of any sum of K products in 8
// lanes, and the third occurs in the dispatch, too. Divisions are fewer: one
// for each result instead of one for each weight. In parts of the blocks, both
// folds' elements are `blocks`.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_ONLINE_SOFTMAX_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_ONLINE_SOFTMAX_H_

#include <cstdint>

#include "base/dtype.h"
#include "base/status.h"
#include "jit/schedule/core/schedule.h"

namespace ember::schedule {

// The stages of the first form, by number.
struct SoftmaxOfProduct {
  int most = 0;
  int power = 0;
  int total = 0;
  int weight = 0;  // %p
  int product = 0;
  int64_t length = 0;  // K
  size_t weights = 0;  // which factor of the product is the load of %p
  DType weight_type = DType::kF32;  // or f16, bf16, widened in the product
};

// Why the stage is no such product is said.
StatusOr<SoftmaxOfProduct> MatchSoftmaxOfProduct(const Schedule& schedule,
                                                 int product);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_ONLINE_SOFTMAX_H_
