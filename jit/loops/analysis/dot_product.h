// Recognises the body of a dot loop (LoopKind::kDot). The verifier, lowering
// and back ends all rely on this one definition.
//
//   dot q < 4 { %y[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//
//   - Types: 4 values with factors i8 or u8 in any pairing, or 2 values with
//     factors i8, u8 or i16 in any pairing, sum to i32; 2 values with bf16
//     factors sum to f32.
//   - Each factor is a cast of a load, or of a value that is unpacked from loads
//     (dot_factor.h). Neighbouring values of the loop read neighbouring elements
//     along the last dim: the last index is the variable plus something that
//     does not depend on it, and no other index depends on it.
//   - The updated element does not depend on the variable. The update is +.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_DOT_PRODUCT_H_
#define EMBER_JIT_LOOPS_ANALYSIS_DOT_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "jit/loops/analysis/dot_factor.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// A signed byte is small if it is in -kSmallByte..kSmallByte. The sum of two
// products of a small byte and any unsigned byte fits 16 bits, so x86 without
// VNNI computes it by one instruction (vpmaddubsw).
inline constexpr int64_t kSmallByte = 64;

struct DotProduct {
  int64_t count = 4;
  const Store* store = nullptr;  // the only store of the dot loop's body
  // The two factors of the product; their loads may be the same node.
  DotFactor a, b;

  bool is_unpacked() const { return a.is_unpacked() || b.is_unpacked(); }
};

// Returns the dot product of the loop. Errors: kInvalidArgument with a message
// that says what is wrong if the loop is no dot product.
StatusOr<DotProduct> DotProductOf(const LoopNest& nest, const Statement& loop);

// True if a dot loop may add `count` products of factors of types a and b to a
// sum of this type.
bool IsDotProductType(int64_t count, DType a, DType b, DType sum);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_DOT_PRODUCT_H_
