#include "jit/spirv/dot_products.h"

#include <utility>

namespace ember::jit::spirv {

using tensor::Node;

Value DotProducts::Emit(const loops::DotProduct& dot) {
  Node a = nest_.pool[dot.a.load], b = nest_.pool[dot.b.load];
  // OpSUDot takes the signed factor first.
  if (a.type != DType::kI8) std::swap(a, b);
  const Value x = expressions_.EmitBytes(a);
  const Value y = expressions_.EmitBytes(b);
  ModuleBuilder& module = c_.module();
  module.Require(spv::Capability::DotProductKHR);
  module.Require(spv::Capability::DotProductInput4x8BitPackedKHR);
  module.RequireExtension("SPV_KHR_integer_dot_product");
  if (a.type != DType::kI8) return Dot(spv::Op::OpUDotKHR, x, y);
  if (b.type == DType::kI8) return Dot(spv::Op::OpSDotKHR, x, y);
  if (!target_.fast_dot || target_.fast_mixed_dot)
    return Dot(spv::Op::OpSUDotKHR, x, y);
  const Value flip = c_.Constant(Scalar::kI32, 0x80808080);
  return c_.Subtract(Dot(spv::Op::OpSDotKHR, x, c_.BitXor(y, flip)),
                     Dot(spv::Op::OpSDotKHR, x, flip));
}

Value DotProducts::Dot(spv::Op op, Value a, Value b) {
  constexpr auto kPacked = static_cast<uint32_t>(
      spv::PackedVectorFormat::PackedVectorFormat4x8BitKHR);
  return c_.Pure(op, Scalar::kI32, {a.id, b.id, kPacked});
}

}  // namespace ember::jit::spirv
