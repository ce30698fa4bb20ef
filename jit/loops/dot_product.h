// What the body of a dot loop is (LoopKind::kDot): the one place that says so,
// for the verifier, lowering, and back ends.
//
//   dot q < 4 { %y[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//
//   - the loop has 4 values, and the factors are i8 or u8, in any pairing, or
//     2, and they are i8, u8 or i16, in any pairing: i32, or both bf16: f32;
//   - each factor is a cast of a load; neighbouring values of the loop read
//     neighbouring elements along the last dim: the last index is the variable
//     plus something that does not depend on it, and no other index does;
//   - neither does the element that is updated, by +.
#ifndef EMBER_JIT_LOOPS_DOT_PRODUCT_H_
#define EMBER_JIT_LOOPS_DOT_PRODUCT_H_

#include <cstdint>
#include <optional>
#include <span>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Signed bytes in -kSmallByte..kSmallByte are small: a sum of two products of
// them by any unsigned bytes fits 16 bits, which is what x86 without VNNI has
// an instruction for.
inline constexpr int64_t kSmallByte = 64;

struct DotProduct {
  int64_t count = 4;
  const Store* store = nullptr;  // of the statement's body
  NodeId a = 0;                  // the loads; may be the same one
  NodeId b = 0;
};

// kInvalidArgument with what is wrong where the loop is none.
StatusOr<DotProduct> DotProductOf(const LoopNest& nest, const Statement& loop);

// Whether there are sums of `count` products of the types in the type.
bool IsDotProductType(int64_t count, DType a, DType b, DType sum);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_DOT_PRODUCT_H_
