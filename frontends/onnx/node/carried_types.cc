#include "frontends/onnx/node/carried_types.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/float_format.h"
#include "tensor/scalar.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {
namespace {

constexpr CarriedFormat kFormats[] = {
    {TensorProto::INT4, DType::kI8, 4},
    {TensorProto::UINT4, DType::kU8, 4},
    {TensorProto::INT2, DType::kI8, 2},
    {TensorProto::UINT2, DType::kU8, 2},
    {TensorProto::FLOAT4E2M1, DType::kU8, 4, 2, 1, 1, 0x7, 0x8, 0x7, false},
    {TensorProto::FLOAT8E4M3FNUZ, DType::kU8, 8, 4, 3, 8, 0x7f, 0x80, 0x80,
     true},
    {TensorProto::FLOAT8E5M2FNUZ, DType::kU8, 8, 5, 2, 16, 0x7f, 0x80, 0x80,
     true},
    // FLOAT8E8M0 holds only a power of two: 8 bits of exponent, no sign, no
    // mantissa.
    {TensorProto::FLOAT8E8M0, DType::kU8, 8, 8, 0, 127, 0xfe, 0xff, 0xff,
     false},
};

bool IsPowerOfTwo(const CarriedFormat& format) { return format.exponent == 8; }

float ValueOf(const CarriedFormat& format, int code) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  if (IsPowerOfTwo(format))
    return code == 0xff ? nan : std::ldexp(1.0f, code - format.bias);
  const int sign_bit = 1 << (format.bits - 1);
  const bool negative = (code & sign_bit) != 0;
  const int magnitude = code & (sign_bit - 1);
  if (format.unsigned_zero && code == sign_bit) return nan;
  if (magnitude > format.largest) {
    return magnitude == format.overflow && format.overflow != format.nan
               ? std::copysign(std::numeric_limits<float>::infinity(),
                               negative ? -1.0f : 1.0f)
               : nan;
  }
  const int exponent = magnitude >> format.mantissa;
  const int fraction = magnitude & ((1 << format.mantissa) - 1);
  const int significand =
      exponent == 0 ? fraction : fraction + (1 << format.mantissa);
  const float value =
      std::ldexp(static_cast<float>(significand),
                 std::max(exponent, 1) - format.bias - format.mantissa);
  return negative ? -value : value;
}

Tensor EncodeInteger(Tensor x, const CarriedFormat& format, bool saturate) {
  const bool is_signed = IsSigned(format.storage);
  if (saturate) {
    const double span = std::ldexp(1.0, format.bits);
    const double low = is_signed ? -span / 2 : 0;
    return Cast(Maximum(Minimum(x, low + span - 1), low), format.storage);
  }
  // Floats are rounded to the nearest integer, ties to even, as the
  // specification's page about these types says.
  if (x.is_float()) x = Round(x);
  // The cast to i64 makes a number that is too large wrap instead of saturate.
  // The left shift then drops the upper bits, and the right shift extends the
  // sign.
  Tensor wide = Cast(Cast(x, DType::kI64), format.storage);
  Tensor shift = wide.Like(8 - format.bits);
  return Binary(Opcode::kShiftRight, Binary(Opcode::kShiftLeft, wide, shift),
                shift);
}

// Returns the codes (bit patterns) of floats in an 8-bit or 4-bit format. Codes
// of growing |x| are consecutive: each exponent has as many codes as the
// mantissa has values. So a code is the first code of its exponent plus the
// rounded mantissa, and a carry from the rounding into the exponent is right
// too.
Tensor EncodeFloat(Tensor x, const CarriedFormat& format, bool saturate) {
  Tensor wide = Cast(x, DType::kF32);
  Tensor bits = Apply("bitcast", {wide}, {{"dtype", DType::kI32}});
  Tensor negative = Less(bits, 0);
  Tensor magnitude = Absolute(wide);
  const int lowest = 1 - format.bias;
  Tensor all = Binary(Opcode::kAnd, bits, bits.Like(0x7fffffff));
  Tensor exponent =
      Maximum(Binary(Opcode::kShiftRight, all, bits.Like(23)) - 127.0, lowest);
  Tensor unit_bits = Binary(
      Opcode::kShiftLeft, exponent + (127.0 - format.mantissa), bits.Like(23));
  Tensor unit = Apply("bitcast", {unit_bits}, {{"dtype", DType::kF32}});
  Tensor significand = Cast(Round(magnitude / unit), DType::kI32);
  Tensor code = (exponent - static_cast<double>(lowest)) *
                    static_cast<double>(1 << format.mantissa) +
                significand;
  // The comparison with `largest` does not find infinity, because the code that
  // is computed from its exponent overflows; so infinity is tested separately.
  const int too_large = saturate ? format.largest : format.overflow;
  code = Select(Less(static_cast<double>(format.largest), code),
                code.Like(too_large), code);
  code = Select(IsInfinite(wide), code.Like(too_large), code);
  const double sign_bit = 1 << (format.bits - 1);
  Tensor signs = negative;
  // The "FNUZ" formats have no negative zero, so the sign of -0 is dropped.
  // NaN's code already has the sign bit set.
  if (format.unsigned_zero) signs = And(signs, Less(0, code));
  Tensor has_sign_bit = LessEqual(sign_bit, code);
  code = Select(And(signs, Not(has_sign_bit)), code + sign_bit, code);
  Tensor is_nan = IsNan(wide);
  return Cast(Select(is_nan, code.Like(format.nan), code), format.storage);
}

// Returns the codes of numbers in FLOAT8E8M0, which holds powers of two. The
// code is the exponent field of the number as f32; the mantissa only decides
// whether it is rounded up.
Tensor EncodePower(Tensor x, bool saturate, std::string_view round_mode) {
  Tensor bits =
      Apply("bitcast", {Cast(x, DType::kF32)}, {{"dtype", DType::kU32}});
  Tensor fraction = And(bits, bits.Like(0x7fffff));
  Tensor exponent =
      And(Binary(Opcode::kShiftRight, bits, bits.Like(23)), bits.Like(0xff));
  Tensor up;
  if (round_mode == "up") {
    up = Less(0, fraction);
  } else if (round_mode == "nearest") {
    // A number in the middle of two powers rounds up. If the exponent field is
    // 0, that number is 2^-127 itself, the power with the code 0.
    constexpr double kHalf = 0x400000;
    up = Or(Less(kHalf, fraction),
            And(Equal(fraction, kHalf), Less(0, exponent)));
  } else if (round_mode == "down") {
    up = Less(fraction, 0);
  } else {
    x.builder().Fail(InvalidArgumentError(
        "attribute 'round_mode': expected up, down or nearest, found '" +
        std::string(round_mode) + "'"));
    return x;
  }
  // The code 0xff means NaN: infinity and NaN become NaN. So does a number that
  // rounds up beyond the largest power, unless the conversion saturates.
  const double last = saturate ? 0xfe : 0xff;
  Tensor code = Minimum(exponent + Cast(up, DType::kU32), last);
  return Cast(Select(Equal(exponent, 0xff), exponent, code), DType::kU8);
}

}  // namespace

const CarriedFormat* FindCarriedFormat(int32_t onnx_type) {
  for (const CarriedFormat& format : kFormats) {
    if (format.onnx_type == onnx_type) return &format;
  }
  return nullptr;
}

std::string LogicalTypeName(int32_t onnx_type) {
  switch (onnx_type) {
    case TensorProto::INT4:
      return "i4";
    case TensorProto::UINT4:
      return "u4";
    case TensorProto::INT2:
      return "i2";
    case TensorProto::UINT2:
      return "u2";
    case TensorProto::FLOAT4E2M1:
      return "f4e2m1";
    case TensorProto::FLOAT8E4M3FNUZ:
      return "f8e4m3fnuz";
    case TensorProto::FLOAT8E5M2FNUZ:
      return "f8e5m2fnuz";
    case TensorProto::FLOAT8E8M0:
      return "f8e8m0";
    case TensorProto::STRING:
      return "string";
    default:
      return "";
  }
}

Status CheckSameCarriedType(const std::vector<Tensor>& operands) {
  const auto name = [](const Tensor& x) {
    return x.carried_type() != 0 ? LogicalTypeName(x.carried_type())
                                 : std::string(DTypeName(x.dtype()));
  };
  for (const Tensor& operand : operands) {
    const Tensor& first = operands.front();
    if (!operand || operand.carried_type() == first.carried_type()) continue;
    return InvalidArgumentError("expected operands of one type, found " +
                                name(first) + " and " + name(operand));
  }
  return OkStatus();
}

Tensor DecodeCarried(Tensor x, DType type) {
  const CarriedFormat* format = FindCarriedFormat(x.carried_type());
  if (format == nullptr || !format->is_float()) return Cast(x, type).Marked(0);
  std::vector<float> values;
  for (int code = 0; code < 1 << format->bits; ++code)
    values.push_back(ValueOf(*format, code));
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  graph::GraphBuilder& builder = x.builder();
  Tensor table(
      &builder,
      builder.Constant(
          DType::kF32, {static_cast<int64_t>(values.size())},
          graph::ConstantData::Copy({bytes, values.size() * sizeof(float)})));
  // Codes are stored as bytes, and a damaged one may be no valid index of the
  // table. The modulo keeps it in range.
  Tensor index =
      Modulo(Cast(x, DType::kI64), static_cast<double>(values.size()));
  return Cast(Gather(table, index, 0), type);
}

Tensor RoundToFloat8(Tensor x, DType type, bool saturate) {
  if (x.dtype() == type || !saturate) return Cast(x, type);
  // The number is clamped as f32. The cast to f32 may round an integer, but
  // only integers far above the largest 8-bit float, which are clamped anyway.
  if (x.dtype() != DType::kF64) x = Cast(x, DType::kF32);
  const double most =
      tensor::BitsToDouble(tensor::LargestFiniteBits(type), type);
  return Cast(Maximum(Minimum(x, most), -most), type);
}

Tensor EncodeCarried(Tensor x, const CarriedFormat& format, bool saturate,
                     std::string_view round_mode) {
  if (IsPowerOfTwo(format))
    return EncodePower(x, saturate, round_mode).Marked(format.onnx_type);
  Tensor code = format.is_float() ? EncodeFloat(x, format, saturate)
                                  : EncodeInteger(x, format, saturate);
  return code.Marked(format.onnx_type);
}

}  // namespace ember::onnx
