// Imports elementwise operators: arithmetic, comparisons, logic, selection,
// casts and functions of one operand. Operands are broadcast.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/ops/fixed_point.h"
#include "frontends/tf_common/images.h"
#include "frontends/tflite/activation.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

using Activation = schema::ActivationFunctionType;

void SetScalar(OperatorContext& c, Tensor (*function)(Tensor)) {
  c.SetOutput(0, function(c.Input(0)));
}

void SetBinary(OperatorContext& c, Opcode opcode) {
  c.SetOutput(0, Binary(opcode, c.Input(0), c.Input(1)));
}

void SetActivated(OperatorContext& c, Tensor y, Activation activation) {
  c.SetOutput(0, Activated(c, y, activation));
}

// True if operands and result are quantized, with one scale each; fails, and
// returns false, if only some of them are, or if one has several scales. If no
// operand is quantized or the result is no stored integer, dequantizes the
// operands and returns false.
bool IsQuantizedPair(OperatorContext& c) {
  if (!c.AnyQuantized() || !IsStoredType(c.OutputType(0))) {
    c.DequantizeOperands();
    return false;
  }
  return CheckPerTensor(c, 2);
}

// Sets result 0 to the sum or difference of quantized operands. Both are
// converted to a common scale, twice the larger of their scales, with 20 more
// bits (15 for i16).
void SetQuantizedSum(OperatorContext& c, Opcode opcode, Activation activation) {
  const Quantization& a = *c.InputQuantization(0);
  const Quantization& b = *c.InputQuantization(1);
  const Quantization& y = *c.OutputQuantization(0);
  const int bits = c.OutputType(0) == DType::kI16 ? 15 : 20;
  const double common = 2 * std::max(static_cast<double>(a.scale()),
                                     static_cast<double>(b.scale()));
  const double step = static_cast<double>(int64_t{1} << bits);
  const auto scaled = [&](int input, const Quantization& q) {
    const Tensor raised = CenteredStored(c.Input(input), q) * step;
    return ops::MultiplyByFixedPoint(
        raised, ops::FixedPointOf(static_cast<double>(q.scale()) / common));
  };
  const Tensor sum = Binary(opcode, scaled(0, a), scaled(1, b));
  SetRequantized(c, sum, {common / (step * static_cast<double>(y.scale()))},
                 activation);
}

void ImportSumOf(OperatorContext& c, Opcode opcode, Activation activation) {
  if (!c.ok()) return;
  if (IsQuantizedPair(c)) return SetQuantizedSum(c, opcode, activation);
  if (c.ok())
    SetActivated(c, Binary(opcode, c.Input(0), c.Input(1)), activation);
}

// Sets result 0 to the maximum or minimum. If the scales differ, stored
// integers are converted to the result's scale first.
void ImportExtreme(OperatorContext& c, Opcode opcode) {
  const Quantization* a = c.InputQuantization(0);
  const Quantization* b = c.InputQuantization(1);
  const Quantization* y = c.OutputQuantization(0);
  const bool same =
      a == nullptr || (b != nullptr && y != nullptr && *a == *b && *a == *y);
  if (same) return SetBinary(c, opcode);
  const DType type = c.OutputType(0);
  const auto stored = [&](int i) {
    const Quantization* q = c.InputQuantization(i);
    return q != nullptr && y != nullptr ? Requantized(c.Input(i), *q, *y, type)
                                        : c.Input(i);
  };
  c.SetOutput(0, Binary(opcode, stored(0), stored(1)));
}

// Sets result 0 to a comparison. Quantized operands with one scale each are
// compared as fixed-point numbers with 8 binary places, others as real numbers.
void SetCompared(OperatorContext& c, Opcode opcode, bool swapped) {
  const bool is_quantized = c.InputQuantization(0) != nullptr &&
                            c.InputQuantization(1) != nullptr &&
                            c.InputQuantization(0)->per_tensor() &&
                            c.InputQuantization(1)->per_tensor();
  if (!is_quantized) c.DequantizeOperands();
  const auto scaled = [&](int input) {
    if (!is_quantized) return c.Input(input);
    const Quantization& q = *c.InputQuantization(input);
    return ops::MultiplyByFixedPoint(
        CenteredStored(c.Input(input), q) * 256.0,
        ops::FixedPointOf(static_cast<double>(q.scale())));
  };
  const Tensor a = scaled(0), b = scaled(1);
  c.SetOutput(0, swapped ? Binary(opcode, b, a) : Binary(opcode, a, b));
}

// Returns the stored integer for 1 / sqrt(value), where `value` is a stored
// integer minus its zero point. The root has 20 binary places before it is
// converted to the result's scale. A value that is not positive gives the
// largest stored integer.
int64_t InverseRootOf(int64_t value, const ops::FixedPoint& scale,
                      const Quantization& out, DType type) {
  constexpr int kFractionBits = 20;
  if (value <= 0) return HighestOf(type);
  ops::FixedPoint root = ops::InverseRootOf(static_cast<int32_t>(value));
  root.shift += kFractionBits;
  ops::FixedPoint to_result = scale;
  to_result.shift -= kFractionBits;
  const int32_t result =
      ops::MultiplyByFixedPoint(ops::MultiplyByFixedPoint(1, root), to_result);
  return std::clamp(result + out.zero_point(), LowestOf(type), HighestOf(type));
}

// Returns the quotient rounded down, for integers and floats.
Tensor FloorQuotient(Tensor a, Tensor b) {
  return a.is_float() ? Floor(a / b) : Binary(Opcode::kFloorDivide, a, b);
}

// Returns elements of a where the condition is true, and of b elsewhere. By
// TensorFlow's old rule, a condition with one dim selects whole rows.
Tensor ChosenBy(OperatorContext& c, Tensor condition, Tensor a, Tensor b,
                bool rows) {
  if (rows && condition.rank() == 1 && a.rank() > 1)
    condition = AlongAxis(condition, 0, a.rank());
  return c.ok() ? Select(condition, a, b) : a;
}

void ImportChoice(OperatorContext& c, bool rows) {
  if (!c.CheckRank(0, 0) || !c.CheckRank(1, 0) || !c.CheckRank(2, 0)) return;
  Tensor a = c.Input(1), b = c.Input(2);
  if (const Quantization* y = c.OutputQuantization(0)) {
    const DType type = c.OutputType(0);
    if (const Quantization* q = c.InputQuantization(1))
      a = Requantized(a, *q, *y, type);
    if (const Quantization* q = c.InputQuantization(2))
      b = Requantized(b, *q, *y, type);
  }
  c.SetOutput(0, ChosenBy(c, c.Input(0), a, b, rows));
}

}  // namespace

void ImportAdd(OperatorContext& c) {
  ImportSumOf(c, Opcode::kAdd,
              c.Options<schema::AddOptions>().fused_activation_function());
}

void ImportSub(OperatorContext& c) {
  ImportSumOf(c, Opcode::kSubtract,
              c.Options<schema::SubOptions>().fused_activation_function());
}

void ImportMul(OperatorContext& c) {
  const Activation activation =
      c.Options<schema::MulOptions>().fused_activation_function();
  if (!c.ok()) return;
  if (!IsQuantizedPair(c)) {
    if (c.ok()) SetActivated(c, c.Input(0) * c.Input(1), activation);
    return;
  }
  const Quantization& a = *c.InputQuantization(0);
  const Quantization& b = *c.InputQuantization(1);
  const double scale =
      ScaleIn32Bits(a.scale() * b.scale(), *c.OutputQuantization(0));
  SetRequantized(c,
                 CenteredStored(c.Input(0), a) * CenteredStored(c.Input(1), b),
                 {scale}, activation);
}

void ImportDiv(OperatorContext& c) {
  SetActivated(c, c.Input(0) / c.Input(1),
               c.Options<schema::DivOptions>().fused_activation_function());
}

// Imports SQUARED_DIFFERENCE. Quantized operands are subtracted on a common
// scale, twice the larger of their scales; 8-bit operands get 7 more bits.
void ImportSquaredDifference(OperatorContext& c) {
  if (!IsPerTensor(c, 2)) {
    c.DequantizeOperands();
    const Tensor difference = c.Input(0) - c.Input(1);
    return SetReal(c, difference * difference);
  }
  const auto a = static_cast<double>(c.InputQuantization(0)->scale());
  const auto b = static_cast<double>(c.InputQuantization(1)->scale());
  const int bits = c.OutputType(0) == DType::kI16 ? 0 : 7;
  const double step = static_cast<double>(1 << bits);
  const double common = 2 * std::max(a, b);
  const auto scaled = [&](int input, double scale) {
    return ops::MultiplyByFixedPoint(
        CenteredStored(c.Input(input), *c.InputQuantization(input)) * step,
        ops::FixedPointOf(scale / common));
  };
  const Tensor difference = scaled(0, a) - scaled(1, b);
  const double squares =
      common * common /
      static_cast<double>(static_cast<float>(1 << (2 * bits)) *
                          c.OutputQuantization(0)->scale());
  SetRequantized(c, difference * difference, {squares}, Activation::NONE);
}

void ImportAddN(OperatorContext& c) {
  Tensor sum = c.Input(0);
  for (int i = 1; i < c.input_count(); ++i) sum = sum + c.Input(i);
  c.SetOutput(0, sum);
}

void ImportMaximum(OperatorContext& c) { ImportExtreme(c, Opcode::kMaximum); }
void ImportMinimum(OperatorContext& c) { ImportExtreme(c, Opcode::kMinimum); }
void ImportPow(OperatorContext& c) { SetBinary(c, Opcode::kPower); }
void ImportAtan2(OperatorContext& c) { SetBinary(c, Opcode::kAtan2); }
void ImportFloorMod(OperatorContext& c) { SetBinary(c, Opcode::kModulo); }
void ImportFloorDiv(OperatorContext& c) {
  c.SetOutput(0, FloorQuotient(c.Input(0), c.Input(1)));
}
void ImportLogicalAnd(OperatorContext& c) { SetBinary(c, Opcode::kAnd); }
void ImportLogicalOr(OperatorContext& c) { SetBinary(c, Opcode::kOr); }
void ImportBitwiseXor(OperatorContext& c) { SetBinary(c, Opcode::kXor); }
void ImportRightShift(OperatorContext& c) {
  // The shift distance is clamped to 0 … bits of the type - 1.
  const Tensor x = c.Input(0);
  const double most = 8 * DTypeByteSize(x.dtype()) - 1;
  const Tensor shift = Minimum(Maximum(c.Input(1), 0), most);
  c.SetOutput(0, Binary(Opcode::kShiftRight, x, shift));
}

void ImportEqual(OperatorContext& c) { SetCompared(c, Opcode::kEqual, false); }
void ImportNotEqual(OperatorContext& c) {
  SetCompared(c, Opcode::kNotEqual, false);
}
void ImportLess(OperatorContext& c) { SetCompared(c, Opcode::kLess, false); }
void ImportLessEqual(OperatorContext& c) {
  SetCompared(c, Opcode::kLessEqual, false);
}
void ImportGreater(OperatorContext& c) { SetCompared(c, Opcode::kLess, true); }
void ImportGreaterEqual(OperatorContext& c) {
  SetCompared(c, Opcode::kLessEqual, true);
}

void ImportAbs(OperatorContext& c) {
  if (!IsPerTensor(c, 1)) {
    c.DequantizeOperands();
    return SetReal(c, Absolute(c.Input(0)));
  }
  const Quantization& q = *c.InputQuantization(0);
  const Quantization& y = *c.OutputQuantization(0);
  const Tensor x = Absolute(CenteredStored(c.Input(0), q));
  if (q.scale() == y.scale()) return SetStored(c, x, Activation::NONE);
  SetRequantized(c, x, {ScaleIn32Bits(q.scale(), y)}, Activation::NONE);
}
void ImportNeg(OperatorContext& c) { SetScalar(c, ops::Negate); }
void ImportSqrt(OperatorContext& c) { SetScalar(c, ops::Sqrt); }
void ImportSin(OperatorContext& c) { SetScalar(c, ops::Sin); }
void ImportCos(OperatorContext& c) { SetScalar(c, ops::Cos); }
void ImportFloor(OperatorContext& c) { SetScalar(c, ops::Floor); }
void ImportCeil(OperatorContext& c) { SetScalar(c, ops::Ceil); }
void ImportRound(OperatorContext& c) { SetScalar(c, ops::Round); }
void ImportSign(OperatorContext& c) { SetScalar(c, ops::Sign); }
void ImportLogicalNot(OperatorContext& c) { SetScalar(c, ops::Not); }
void ImportSquare(OperatorContext& c) { SetScalar(c, ops::Square); }
void ImportRsqrt(OperatorContext& c) {
  const bool has_table = IsPerTensor(c, 1) &&
                         DTypeByteSize(c.Input(0).dtype()) == 1 &&
                         DTypeByteSize(c.OutputType(0)) == 1;
  if (!has_table) {
    c.DequantizeOperands();
    return SetReal(c, Rsqrt(c.Input(0)));
  }
  const Quantization& in = *c.InputQuantization(0);
  const Quantization& out = *c.OutputQuantization(0);
  const DType type = c.OutputType(0);
  const ops::FixedPoint scale = ops::FixedPointOf(
      1.0 / static_cast<double>(std::sqrt(in.scale()) * out.scale()));
  c.SetOutput(0, ThroughTable(c, c.Input(0), type, [&](int64_t stored) {
                return InverseRootOf(stored - in.zero_point(), scale, out,
                                     type);
              }));
}

void ImportExp(OperatorContext& c) {
  SetFunction(c, [](float x) { return std::exp(x); }, ops::Exp);
}
void ImportLog(OperatorContext& c) {
  SetFunction(c, [](float x) { return std::log(x); }, ops::Log);
}

void ImportZerosLike(OperatorContext& c) {
  const Tensor x = c.Input(0);
  c.SetOutput(0, Broadcast(x.Like(0), x.shape()));
}

void ImportSelect(OperatorContext& c) { ImportChoice(c, /*rows=*/true); }
void ImportSelectV2(OperatorContext& c) { ImportChoice(c, /*rows=*/false); }

void ImportCast(OperatorContext& c) {
  c.SetOutput(0, Cast(c.Input(0), c.OutputType(0)));
}

void ImportBitcast(OperatorContext& c) {
  const DType from = c.Input(0).dtype(), to = c.OutputType(0);
  if (DTypeByteSize(from) != DTypeByteSize(to)) {
    return c.FailUnsupported("expected types of one width, found " +
                             std::string(DTypeName(from)) + " and " +
                             std::string(DTypeName(to)));
  }
  c.SetOutput(0, Apply("bitcast", {c.Input(0)}, {{"dtype", to}}));
}

// Imports FAKE_QUANT: rounds real numbers to the quantization steps of a range.
void ImportFakeQuant(OperatorContext& c) {
  const auto& o = c.Options<schema::FakeQuantOptions>();
  const auto range = tf_common::NudgedRange(c, o.min(), o.max(), o.num_bits(),
                                            o.narrow_range());
  if (!range) return;
  const Tensor x = c.Input(0);
  c.SetOutput(
      0, tf_common::FakeQuantized(x, x.Like(range->low), x.Like(range->high),
                                  x.Like(range->step)));
}

}  // namespace ember::tflite
