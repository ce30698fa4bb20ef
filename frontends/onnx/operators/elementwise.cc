// Imports arithmetic, comparison, logic and conversion: elementwise operators
// with broadcasting.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/float_format.h"
#include "frontends/onnx/node/carried_types.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "frontends/onnx/operators/families.h"

namespace ember::onnx {
namespace {

// Returns both operands in shapes that broadcast. Before opset 7, the dims of
// the second operand correspond to those of the first from the attribute `axis`
// on.
std::pair<Tensor, Tensor> BinaryOperands(NodeContext& c) {
  Tensor a = c.Input(0);
  Tensor b = c.Input(1);
  if (c.opset() >= 7 || c.Integer("broadcast", 0) == 0 ||
      !c.HasAttribute("axis"))
    return {a, b};
  const int axis = c.Axis(c.Integer("axis", 0), a.rank());
  std::vector<int64_t> trailing;
  for (int i = axis + b.rank(); i < a.rank(); ++i) trailing.push_back(i - axis);
  return {a, trailing.empty() ? b : Unsqueeze(b, trailing)};
}

template <Opcode opcode>
void ImportBinary(NodeContext& c) {
  auto [a, b] = BinaryOperands(c);
  c.SetOutput(0, Binary(opcode, a, b));
}

// Imports Greater and GreaterOrEqual as Less and LessEqual with swapped
// operands.
template <Opcode opcode>
void ImportSwapped(NodeContext& c) {
  auto [a, b] = BinaryOperands(c);
  c.SetOutput(0, Binary(opcode, b, a));
}

template <Opcode opcode>
void ImportVariadic(NodeContext& c) {
  Tensor result = c.Input(0);
  for (int i = 1; i < c.input_count(); ++i) {
    if (!c.Input(i))
      return c.FailInvalid("input " + std::to_string(i) + " is missing");
    result = Binary(opcode, result, c.Input(i));
  }
  c.SetOutput(0, result);
}

void ImportMean(NodeContext& c) {
  ImportVariadic<Opcode::kAdd>(c);
  if (c.ok())
    c.SetOutput(0, c.outputs()[0] / static_cast<double>(c.input_count()));
}

void ImportMod(NodeContext& c) {
  const bool truncated = c.Integer("fmod", 0) != 0;
  c.SetOutput(0, Binary(truncated ? Opcode::kRemainder : Opcode::kModulo,
                        c.Input(0), c.Input(1)));
}

// Returns base ^ exponent as a product of powers if the base is a float and the
// exponent is one small constant; otherwise an absent tensor.
Tensor SmallPower(NodeContext& c, Tensor base, Tensor exponent) {
  if (!base.is_float() || !c.ok()) return Tensor();
  for (const Dim& dim : exponent.shape()) {
    if (dim != Dim(1)) return Tensor();
  }
  if (exponent.rank() > base.rank()) return Tensor();
  const auto value = c.builder().ConstantContents(exponent.value());
  if (!value || value->size() != 1) return Tensor();
  const double power = value->front();
  if (power == 1) return base;
  if (power == 2) return Square(base);
  if (power == 3) return Cube(base);
  return Tensor();
}

void ImportPow(NodeContext& c) {
  auto [base, exponent] = BinaryOperands(c);
  if (Tensor product = SmallPower(c, base, exponent))
    return c.SetOutput(0, product);
  const DType result = base.dtype();
  // The result of Pow has the base's type. An integer base with a fractional
  // exponent is computed in f64.
  const DType type =
      !base.is_float() && exponent.is_float() ? DType::kF64 : result;
  c.SetOutput(0, Cast(Power(Cast(base, type), Cast(exponent, type)), result));
}

void ImportClip(NodeContext& c) {
  Tensor x = c.Input(0);
  // Clip has its bounds as attributes before opset 11, and as operands from
  // then on. Some models state a wrong opset, so a bound is read from wherever
  // it is present.
  const auto bound = [&](std::string_view name, int input) {
    const bool is_attribute =
        c.HasAttribute(name) && (c.opset() < 11 || !c.Input(input));
    return is_attribute ? x.Like(c.Float(name, 0)) : c.Input(input);
  };
  const Tensor low = bound("min", 1);
  const Tensor high = bound("max", 2);
  if (low) x = Maximum(x, low);
  if (high) x = Minimum(x, high);
  c.SetOutput(0, x);
}

// Returns operand 0. A carried type, such as an 8-bit float that is stored as
// codes, is decoded to f32; other operands are unchanged.
Tensor Numbers(NodeContext& c) {
  Tensor x = c.Input(0);
  return x.carried_type() != 0 ? DecodeCarried(x, DType::kF32) : x;
}

void ImportIsNan(NodeContext& c) { c.SetOutput(0, IsNan(Numbers(c))); }

void ImportIsInf(NodeContext& c) {
  Tensor x = Numbers(c);
  Tensor result = IsInfinite(x);
  const bool negative = c.Integer("detect_negative", 1) != 0;
  const bool positive = c.Integer("detect_positive", 1) != 0;
  if (!negative && !positive) result = And(result, result.Like(0));
  if (negative && !positive) result = And(result, Less(x, 0));
  if (positive && !negative) result = And(result, Less(0, x));
  c.SetOutput(0, result);
}

void ImportBitShift(NodeContext& c) {
  const std::string direction = c.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT") {
    return c.FailInvalid(
        "attribute 'direction': expected LEFT or RIGHT, found '" + direction +
        "'");
  }
  const Opcode opcode =
      direction == "LEFT" ? Opcode::kShiftLeft : Opcode::kShiftRight;
  c.SetOutput(0, Binary(opcode, c.Input(0), c.Input(1)));
}

// Imports Equal. It works for strings, too: two handles are equal exactly if
// their strings are.
void ImportEqual(NodeContext& c) {
  auto [a, b] = BinaryOperands(c);
  if (Status status = CheckSameCarriedType({a, b}); !status.ok())
    return c.Fail(status);
  if (a.carried_type() != 0 && a.carried_type() != TensorProto::STRING) {
    a = DecodeCarried(a, DType::kF32);
    b = DecodeCarried(b, DType::kF32);
  }
  c.SetOutput(0, Equal(a, b));
}

void ImportWhere(NodeContext& c) {
  c.SetOutput(0, Select(c.Input(0), c.Input(1), c.Input(2)));
}

Tensor ParseNumbers(Tensor x, DType type) {
  return Apply("string_to_number", {x}, {{"dtype", type}});
}

// Returns the attribute `saturate`: if true, a number that is too large for an
// 8-bit float becomes its largest value, otherwise infinity or NaN.
bool Saturates(NodeContext& c) { return c.Integer("saturate", 1) != 0; }

Tensor CastToCarried(NodeContext& c, const CarriedFormat& format) {
  Tensor x = c.Input(0);
  if (x.carried_type() == format.onnx_type) return x;
  Tensor numbers = x;
  if (x.carried_type() == TensorProto::STRING) {
    numbers = ParseNumbers(x, format.is_float() ? DType::kF32 : format.storage);
  } else if (x.carried_type() != 0) {
    numbers = DecodeCarried(x, DType::kF32);
  }
  // Conversions to integers of 2 and 4 bits never saturate: they round and
  // wrap, as in the specification's test cases.
  const bool saturate = format.is_float() && Saturates(c);
  return EncodeCarried(numbers, format, saturate, c.String("round_mode", "up"));
}

// Casts numbers. Casts saturate (docs/arithmetic.md), with one exception: a
// negative float becomes the unsigned integer with the same lower bits, so that
// -1 as u8 is 255. The specification leaves this open, all engines do so, and
// models rely on it.
Tensor CastNumbers(Tensor x, DType type) {
  if (!x.is_float() || !IsInteger(type) || IsSigned(type)) return Cast(x, type);
  if (type == DType::kU64) {
    const Tensor signed_bits = Cast(Cast(x, DType::kI64), type);
    const Tensor is_negative =
        And(Less(x, 0), Less(-std::ldexp(1.0, 63), Cast(x, DType::kF64)));
    return Select(is_negative, signed_bits, Cast(x, type));
  }
  const Tensor wide = Cast(x, type == DType::kU32 ? DType::kI64 : DType::kI32);
  const double most = std::ldexp(1.0, 8 * DTypeByteSize(type)) - 1;
  return Cast(Minimum(wide, most), type);
}

Tensor CastToString(Tensor x) {
  if (x.carried_type() == TensorProto::STRING) return x;
  if (IsFloat8(x.dtype())) x = Cast(x, DType::kF32);
  const CarriedFormat* format = FindCarriedFormat(x.carried_type());
  if (format != nullptr) {
    x = DecodeCarried(x, format->is_float() ? DType::kF32 : format->storage);
  }
  return Apply("number_to_string", {x}, {}).Marked(TensorProto::STRING);
}

void CastTo(NodeContext& c, int32_t onnx_type) {
  if (onnx_type == TensorProto::STRING)
    return c.SetOutput(0, CastToString(c.Input(0)));
  if (const CarriedFormat* format = FindCarriedFormat(onnx_type)) {
    return c.SetOutput(0, CastToCarried(c, *format));
  }
  const StatusOr<DType> type = DTypeFromOnnx(onnx_type);
  if (!type.ok()) return c.Fail(type.status().WithContext("attribute 'to'"));
  Tensor x = c.Input(0);
  // Numbers for an 8-bit float are first cast to f32, then rounded.
  const DType numbers = IsFloat8(*type) ? DType::kF32 : *type;
  if (x.carried_type() == TensorProto::STRING) {
    x = ParseNumbers(x, numbers);
  } else if (x.carried_type() != 0) {
    x = DecodeCarried(x, numbers);
  }
  c.SetOutput(0, IsFloat8(*type) ? RoundToFloat8(x, *type, Saturates(c))
                                 : CastNumbers(x, *type));
}

void ImportCast(NodeContext& c) {
  if (!c.HasAttribute("to")) return c.FailInvalid("attribute 'to' is missing");
  if (c.opset() >= 6)
    return CastTo(c, static_cast<int32_t>(c.Integer("to", 0)));
  // In opset 1 the attribute `to` is the name of the type.
  const std::string name = c.String("to", "");
  TensorProto::DataType type;
  if (!TensorProto::DataType_Parse(name, &type))
    return c.FailInvalid("attribute 'to': unknown type '" + name + "'");
  CastTo(c, type);
}

void ImportCastLike(NodeContext& c) {
  Tensor like = c.Input(1);
  CastTo(c, like.carried_type() != 0 ? like.carried_type()
                                     : DTypeToOnnx(like.dtype()));
}

// Returns the bit patterns of values of a narrow type (such as f4 or i4) that
// is held in a wider one. Floats are already held as bit patterns. Integers are
// held as values, of which this takes the low bits.
Tensor CodeOf(Tensor x, const CarriedFormat& format) {
  if (format.is_float()) return x.Marked(0);
  Tensor bits = Cast(x.Marked(0), DType::kU8);
  return And(bits, bits.Like((1 << format.bits) - 1));
}

void ImportBitCast(NodeContext& c) {
  if (!c.HasAttribute("to")) return c.FailInvalid("attribute 'to' is missing");
  const auto to = static_cast<int32_t>(c.Integer("to", 0));
  Tensor x = c.Input(0);
  const CarriedFormat* from_carried = FindCarriedFormat(x.carried_type());
  const CarriedFormat* to_carried = FindCarriedFormat(to);
  const StatusOr<DType> storage = StorageFromOnnx(to);
  if (!storage.ok())
    return c.Fail(storage.status().WithContext("attribute 'to'"));
  const DType type = *storage;
  const int from_bits =
      from_carried ? from_carried->bits : DTypeByteSize(x.dtype()) * 8;
  const int to_bits = to_carried ? to_carried->bits : DTypeByteSize(type) * 8;
  if (from_bits != to_bits) {
    return c.FailInvalid("expected a type of " + std::to_string(from_bits) +
                         " bits, found " + OnnxTypeName(to));
  }
  if (from_carried) x = CodeOf(x, *from_carried);
  const auto as = [](Tensor bits, DType dtype) {
    return bits.dtype() == dtype ? bits
                                 : Apply("bitcast", {bits}, {{"dtype", dtype}});
  };
  // BitCast treats a bool as a byte that is 0 or 1.
  if (x.dtype() == DType::kBool) x = Cast(x, DType::kU8);
  if (type == DType::kBool)
    return c.SetOutput(0, Cast(as(x, DType::kU8), DType::kBool));
  if (to_carried && !to_carried->is_float())
    return c.SetOutput(0, EncodeCarried(x, *to_carried, false));
  c.SetOutput(0, as(x, type).Marked(to_carried ? to : 0));
}

constexpr OperatorRow kRows[] = {
    {"Abs", 1, 1, 1, ImportScalar<ops::Absolute>},
    {"Acos", 7, 1, 1, ImportScalar<ops::Acos>},
    {"Acosh", 9, 1, 1, ImportScalar<ops::Acosh>},
    {"Add", 1, 2, 2, ImportBinary<Opcode::kAdd>},
    {"And", 1, 2, 2, ImportBinary<Opcode::kAnd>},
    {"Asin", 7, 1, 1, ImportScalar<ops::Asin>},
    {"Asinh", 9, 1, 1, ImportScalar<ops::Asinh>},
    {"Atan", 7, 1, 1, ImportScalar<ops::Atan>},
    {"Atanh", 9, 1, 1, ImportScalar<ops::Atanh>},
    {"BitCast", 26, 1, 1, ImportBitCast, "", CarriedTypes::kNumbers},
    {"BitShift", 11, 2, 2, ImportBitShift},
    {"BitwiseAnd", 18, 2, 2, ImportBinary<Opcode::kAnd>},
    {"BitwiseNot", 18, 1, 1, ImportScalar<ops::Not>},
    {"BitwiseOr", 18, 2, 2, ImportBinary<Opcode::kOr>},
    {"BitwiseXor", 18, 2, 2, ImportBinary<Opcode::kXor>},
    {"Cast", 1, 1, 1, ImportCast, "", CarriedTypes::kHandled},
    {"CastLike", 15, 2, 2, ImportCastLike, "", CarriedTypes::kHandled},
    {"Ceil", 1, 1, 1, ImportScalar<ops::Ceil>},
    {"Clip", 1, 1, 3, ImportClip},
    {"Cos", 7, 1, 1, ImportScalar<ops::Cos>},
    {"Cosh", 9, 1, 1, ImportScalar<ops::Cosh>},
    {"Div", 1, 2, 2, ImportBinary<Opcode::kDivide>},
    {"Equal", 1, 2, 2, ImportEqual, "", CarriedTypes::kHandled},
    {"Erf", 9, 1, 1, ImportScalar<ops::Erf>},
    {"Exp", 1, 1, 1, ImportScalar<ops::Exp>},
    {"Floor", 1, 1, 1, ImportScalar<ops::Floor>},
    {"Greater", 1, 2, 2, ImportSwapped<Opcode::kLess>},
    {"GreaterOrEqual", 12, 2, 2, ImportSwapped<Opcode::kLessEqual>},
    {"IsInf", 10, 1, 1, ImportIsInf, "", CarriedTypes::kNumbers},
    {"IsNaN", 9, 1, 1, ImportIsNan, "", CarriedTypes::kNumbers},
    {"Less", 1, 2, 2, ImportBinary<Opcode::kLess>},
    {"LessOrEqual", 12, 2, 2, ImportBinary<Opcode::kLessEqual>},
    {"Log", 1, 1, 1, ImportScalar<ops::Log>},
    {"Max", 1, 1, kVariadic, ImportVariadic<Opcode::kMaximum>},
    {"Mean", 1, 1, kVariadic, ImportMean},
    {"Min", 1, 1, kVariadic, ImportVariadic<Opcode::kMinimum>},
    {"Mod", 10, 2, 2, ImportMod},
    {"Mul", 1, 2, 2, ImportBinary<Opcode::kMultiply>},
    {"Neg", 1, 1, 1, ImportScalar<ops::Negate>},
    {"Not", 1, 1, 1, ImportScalar<ops::Not>},
    {"Or", 1, 2, 2, ImportBinary<Opcode::kOr>},
    {"Pow", 1, 2, 2, ImportPow},
    {"Reciprocal", 1, 1, 1, ImportScalar<ops::Reciprocal>},
    {"Round", 11, 1, 1, ImportScalar<ops::Round>},
    {"Sign", 9, 1, 1, ImportScalar<ops::Sign>},
    {"Sin", 7, 1, 1, ImportScalar<ops::Sin>},
    {"Sinh", 9, 1, 1, ImportScalar<ops::Sinh>},
    {"Sqrt", 1, 1, 1, ImportScalar<ops::Sqrt>},
    {"Sub", 1, 2, 2, ImportBinary<Opcode::kSubtract>},
    {"Sum", 1, 1, kVariadic, ImportVariadic<Opcode::kAdd>},
    {"Tan", 7, 1, 1, ImportScalar<ops::Tan>},
    {"Tanh", 1, 1, 1, ImportScalar<ops::Tanh>},
    {"Where", 9, 3, 3, ImportWhere, "", Moves({1, 2})},
    {"Xor", 1, 2, 2, ImportBinary<Opcode::kXor>},
};

}  // namespace

std::span<const OperatorRow> ElementwiseOperators() { return kRows; }

}  // namespace ember::onnx
