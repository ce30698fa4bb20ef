#include "jit/spirv/combiner.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/rounding.h"
#include "tensor/scalar.h"

namespace ember::jit::spirv {

using tensor::Update;

Value Combiner::Neutral(DType type, Update update) {
  uint64_t bits = tensor::ZeroBits(type);
  switch (update) {
    case Update::kMultiply:
      bits = tensor::OneBits(type);
      break;
    case Update::kMinimum:
      bits = tensor::LargestBits(type);
      break;
    case Update::kMaximum:
      bits = tensor::SmallestBits(type);
      break;
    case Update::kAdd:
    case Update::kAssign:
      break;
  }
  return arithmetic_.conversions().Constant(type, bits);
}

Value Combiner::Apply(DType type, Update update, Value a, Value b) {
  return arithmetic_.EmitUpdate(update, type, a, b);
}

Value Combiner::Combine(DType type, const loops::Store& store, Value value,
                        Value invocation) {
  if (workgroup_.invocations == 1) return value;
  if (store.combining == loops::Combining::kBySubgroups)
    return BySubgroups(type, store.update, value, invocation);
  return ByHalves(type, store.update, value, invocation);
}

// --- Memory of the workgroup. ---

Id Combiner::PartAt(Scalar type, Value index) {
  ModuleBuilder& module = c_.module();
  Id& parts = parts_[static_cast<size_t>(type)];
  if (parts == 0) {
    parts = module.Variable(
        spv::StorageClass::Workgroup,
        module.ArrayType(module.TypeOf(type),
                         static_cast<uint32_t>(workgroup_.parts)),
        "parts");
    interface_.push_back(parts);
  }
  return c_.Pointer(spv::StorageClass::Workgroup, module.TypeOf(type), parts,
                    {index});
}

// --- by subgroups

Value Combiner::BuiltInWord(spv::BuiltIn which, const char* name) {
  ModuleBuilder& module = c_.module();
  const Id variable = module.BuiltIn(which, module.TypeOf(Scalar::kI32), name);
  if (std::ranges::find(interface_, variable) == interface_.end())
    interface_.push_back(variable);
  return c_.Load(Scalar::kI32, variable, 0);
}

// Converts a key back to a float. Keys are integers in the order of the floats:
// all bits but the sign of negative floats are flipped. -0 is less than +0,
// which is as good as treating them as equal.
Value Combiner::FromKey(Value key) {
  const Value sign =
      c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32, key, c_.Int(31));
  return c_.Unary(spv::Op::OpBitcast, Scalar::kF32,
                  c_.BitXor(key, c_.BitAnd(sign, c_.Int(INT32_MAX))));
}

Value Combiner::KeyOf(Update update, Value value) {
  const Value bits = c_.Unary(spv::Op::OpBitcast, Scalar::kI32, value);
  const Value sign = c_.Binary(spv::Op::OpShiftRightArithmetic, Scalar::kI32,
                               bits, c_.Int(31));
  const Value key = c_.BitXor(bits, c_.BitAnd(sign, c_.Int(INT32_MAX)));
  const Value nan =
      c_.Int(update == Update::kMaximum ? INT32_MAX : int64_t{INT32_MIN});
  return c_.Select(c_.Unary(spv::Op::OpIsNan, Scalar::kBool, value), nan, key);
}

Value Combiner::OfSubgroup(DType type, Update update, Value value) {
  ModuleBuilder& module = c_.module();
  module.Require(spv::Capability::GroupNonUniform);
  module.Require(spv::Capability::GroupNonUniformArithmetic);
  const Id scope =
      module.ConstantId(static_cast<uint32_t>(spv::Scope::Subgroup));
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

Value Combiner::BySubgroups(DType type, Update update, Value value,
                            Value invocation) {
  value = OfSubgroup(type, update, value);
  if (workgroup_.invocations <= target_.subgroup_size) return value;
  ModuleBuilder& module = c_.module();
  const Value elected = c_.Result(
      spv::Op::OpGroupNonUniformElect, Scalar::kBool,
      {module.ConstantId(static_cast<uint32_t>(spv::Scope::Subgroup))});
  const Value number = BuiltInWord(spv::BuiltIn::SubgroupId, "subgroup");
  c_.If(elected, [&] { StorePart(number, value); });
  memory_.EmitBarrier();
  const Value is_first = c_.Equal(invocation, c_.Int(0));
  const Scalar scalar = value.type;
  return c_.ValueIf(is_first, Neutral(type, update), [&] {
    Value all = LoadPart(scalar, c_.Int(0));
    const int64_t count =
        DivideRoundingUp(workgroup_.invocations, target_.subgroup_size);
    for (int64_t i = 1; i < count; ++i)
      all = Apply(type, update, all, LoadPart(scalar, c_.Int(i)));
    return all;
  });
}

// --- by halves

Value Combiner::ByHalves(DType type, Update update, Value value,
                         Value invocation) {
  const Scalar scalar = value.type;
  StorePart(invocation, value);
  const auto all = static_cast<uint64_t>(workgroup_.invocations);
  for (uint64_t half = std::bit_ceil(all) / 2; half > 0; half /= 2) {
    memory_.EmitBarrier();
    const auto count = static_cast<int64_t>(half);
    // If the number of invocations is not a power of two, not all invocations
    // have a partner in the first step.
    const int64_t busy = std::min(count, workgroup_.invocations - count);
    c_.If(c_.Less(invocation, c_.Int(busy), true), [&] {
      const Value own = LoadPart(scalar, invocation);
      const Value other = LoadPart(scalar, c_.Add(invocation, c_.Int(count)));
      StorePart(invocation, Apply(type, update, own, other));
    });
  }
  return LoadPart(scalar, invocation);
}

}  // namespace ember::jit::spirv
