#include "jit/spirv/subgroup_combiner.h"

#include <cstdint>

namespace ember::jit::spirv {

using tensor::Update;

Id SubgroupCombiner::Subgroup() {
  c_.module().Require(spv::Capability::GroupNonUniform);
  return c_.module().ConstantId(static_cast<uint32_t>(spv::Scope::Subgroup));
}

Value SubgroupCombiner::IsElected() {
  return c_.Result(spv::Op::OpGroupNonUniformElect, Scalar::kBool,
                   {Subgroup()});
}

// Converts a key back to a float. A key is an integer with the same order as
// the floats: the bits of the float, of which all but the sign are flipped if
// it is negative. In this order -0 is less than +0, which is allowed, since the
// two count as equal.
Value SubgroupCombiner::FromKey(Value key) {
  const Value sign =
      c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32, key, c_.Int(31));
  return c_.Unary(spv::Op::OpBitcast, Scalar::kF32,
                  c_.BitXor(key, c_.BitAnd(sign, c_.Int(INT32_MAX))));
}

Value SubgroupCombiner::KeyOf(Update update, Value value) {
  const Value bits = c_.Unary(spv::Op::OpBitcast, Scalar::kI32, value);
  const Value sign = c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32,
                               bits, c_.Int(31));
  const Value key = c_.BitXor(bits, c_.BitAnd(sign, c_.Int(INT32_MAX)));
  const Value nan =
      c_.Int(update == Update::kMaximum ? INT32_MAX : int64_t{INT32_MIN});
  return c_.Select(c_.Unary(spv::Op::OpIsNan, Scalar::kBool, value), nan, key);
}

Value SubgroupCombiner::Combine(DType type, Update update, Value value) {
  c_.module().Require(spv::Capability::GroupNonUniformArithmetic);
  const Id scope = Subgroup();
  const auto reduce = [&](spv::Op op, Value of) {
    return c_.Result(
        op, of.type,
        {scope, static_cast<uint32_t>(spv::GroupOperation::Reduce), of.id});
  };
  const bool is_float = IsFloatingPoint(value.type);
  const bool is_maximum = update == Update::kMaximum;
  switch (update) {
    case Update::kAdd:
      value = reduce(is_float ? spv::Op::OpGroupNonUniformFAdd
                              : spv::Op::OpGroupNonUniformIAdd,
                     value);
      break;
    case Update::kMultiply:
      value = reduce(is_float ? spv::Op::OpGroupNonUniformFMul
                              : spv::Op::OpGroupNonUniformIMul,
                     value);
      break;
    case Update::kAssign:
    case Update::kMinimum:
    case Update::kMaximum: {
      if (is_float) {
        return FromKey(reduce(is_maximum ? spv::Op::OpGroupNonUniformSMax
                                         : spv::Op::OpGroupNonUniformSMin,
                              KeyOf(update, value)));
      }
      if (IsSigned(type)) {
        return reduce(is_maximum ? spv::Op::OpGroupNonUniformSMax
                                 : spv::Op::OpGroupNonUniformSMin,
                      value);
      }
      return reduce(is_maximum ? spv::Op::OpGroupNonUniformUMax
                               : spv::Op::OpGroupNonUniformUMin,
                    value);
    }
  }
  return arithmetic_.conversions().Wrap(type, value);
}

}  // namespace ember::jit::spirv
