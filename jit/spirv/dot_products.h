// Dot loops (loops::LoopKind::kDot) as the device's own instructions
// (SPV_KHR_integer_dot_product): four products of bytes, which lie in a word of
// memory, and their sum.
//
//   dot q < 4 { %y[l] += i32(%a[i, k * 4 + q]) * i32(%b[k, l, q]) }
//     // y = y + OpSUDot(b, a), of i8 %b and u8 %a, a word of each
//
// Machines that have products of one sign only get those of two from them: with
// the unsigned factor less 128, and 128 times the sum of the signed one, which
// is the same for all that it is multiplied with:
//
//   y = y + OpSDot(b, a ^ 0x80808080) - OpSDot(b, 0x80808080)
//
// The sum is exact in 32 bits, and added by an addition that wraps: what a
// serial loop gives. Not thread-safe.
#ifndef EMBER_JIT_SPIRV_DOT_PRODUCTS_H_
#define EMBER_JIT_SPIRV_DOT_PRODUCTS_H_

#include <optional>
#include <spirv/unified1/spirv.hpp11>

#include "jit/loops/dot_product.h"
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

  // What the loop is, where the device has an instruction for its types.
  // nullopt: it is written out.
  std::optional<loops::DotProduct> Find(const loops::Statement& loop) const;

  // The sum of the products, with the loop's variable bound to 0. nullopt where
  // it is not proved that both factors are words, or lanes are off; code that
  // was made is then not used.
  std::optional<Value> Emit(const loops::DotProduct& dot);

 private:
  Value Dot(spv::Op op, Value a, Value b);

  const loops::LoopNest& nest_;
  const Target& target_;
  CodeBuilder& c_;
  ExpressionEmitter& expressions_;
};

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_DOT_PRODUCTS_H_
