// Emits dot loops (loops::LoopKind::kDot) as the device's dot product
// instructions (SPV_KHR_integer_dot_product): each adds up four products of
// bytes. The four bytes of a factor are a word in memory.
//
//   dot q < 4 { %y[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//     // y = y + OpSUDot(b, a), of i8 %b and u8 %a, a word of each
//
// Some devices only have fast products of factors with equal signedness. For a
// signed and an unsigned factor, the code subtracts 128 from the unsigned one
// and adds 128 times the sum of the signed one. That sum depends on the signed
// factor only, so it is computed once for all of its products:
//
//   y = y + OpSDot(b, a ^ 0x80808080) - OpSDot(b, 0x80808080)
//
// The sum is exact in 32 bits, and the addition to y wraps, so the result is
// that of a serial loop. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_DOT_PRODUCTS_H_
#define EMBER_JIT_SPIRV_DOT_PRODUCTS_H_

#include <spirv/unified1/spirv.hpp11>

#include "jit/loops/analysis/dot_product.h"
#include "jit/loops/loop_nest.h"
#include "jit/spirv/code_builder.h"
#include "jit/spirv/expression_emitter.h"
#include "jit/spirv/target.h"

namespace ember::jit::spirv {

class DotProducts {
 public:
  DotProducts(const loops::LoopNest& nest, const Target& target,
              CodeBuilder& code, ExpressionEmitter& expressions)
      : nest_(nest), target_(target), c_(code), expressions_(expressions) {}

  // Emits the four products of a dot loop and returns their sum. The loop's
  // variable must be bound to 0, and the factors must be marked as words
  // (jit/gpu/mark_vectors.h).
  Value Emit(const loops::DotProduct& dot);

 private:
  Value Dot(spv::Op op, Value a, Value b);

  const loops::LoopNest& nest_;
  const Target& target_;
  CodeBuilder& c_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_DOT_PRODUCTS_H_
