// Imports elementwise operators, with PyTorch's promotion of types.
#include <cmath>
#include <limits>

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// The two operands of an operator, cast to the type of its result.
struct Operands {
  Tensor a, b;
};
Operands Promoted(Call& c) {
  const DType type = ResultType(c, {"self", "other"});
  return {c.scalar("self", type), c.scalar("other", type)};
}
Operands PromotedFloats(Call& c) {
  const DType type = FloatResultType(c, {"self", "other"});
  return {c.scalar("self", type), c.scalar("other", type)};
}

Tensor Add(Call& c) {
  const Operands x = Promoted(c);
  if (!c.ok()) return x.a;
  if (x.a.dtype() == DType::kBool) return ops::Or(x.a, x.b);
  const Value& alpha = c.value("alpha");
  if (alpha.is_known_number() && alpha.known_number() == 1) return x.a + x.b;
  return x.a + x.b * c.scalar("alpha", x.a.dtype());
}
Tensor Subtract(Call& c) {
  const Operands x = Promoted(c);
  if (!c.ok()) return x.a;
  const Value& alpha = c.value("alpha");
  if (alpha.is_known_number() && alpha.known_number() == 1) return x.a - x.b;
  return x.a - x.b * c.scalar("alpha", x.a.dtype());
}
Tensor SubtractFrom(Call& c) {
  const Operands x = Promoted(c);
  if (!c.ok()) return x.a;
  return x.b - x.a * c.scalar("alpha", x.a.dtype());
}
Tensor Multiply(Call& c) {
  const Operands x = Promoted(c);
  if (!c.ok()) return x.a;
  if (x.a.dtype() == DType::kBool) return ops::And(x.a, x.b);
  return x.a * x.b;
}

// Returns Python's floor division. The remainder is subtracted from a float
// before it is divided, so that -7 // 0.7 is -11: the f32 0.7 is a little less
// than 0.7.
Tensor FloorQuotient(Tensor a, Tensor b) {
  if (!a.is_float()) return ops::Binary(Opcode::kFloorDivide, a, b);
  const DType type = a.dtype();
  a = ops::Cast(a, ComputeType(type));
  b = ops::Cast(b, a.dtype());
  const Tensor rest = ops::Binary(Opcode::kRemainder, a, b);
  const Tensor truncated = ops::Round((a - rest) / b);
  const Tensor is_above =
      ops::And(ops::NotEqual(rest, 0),
               ops::NotEqual(ops::Less(b, 0), ops::Less(rest, 0)));
  const Tensor quotient = ops::Select(is_above, truncated - 1.0, truncated);
  return ops::Cast(ops::Select(ops::Equal(b, 0), a / b, quotient), type);
}
Tensor TruncatedQuotient(Tensor a, Tensor b) {
  if (a.is_float()) return ops::Truncate(a / b);
  return a / b;
}
Tensor Divide(Call& c) {
  // In archives whose operator version is below 4, integers are divided as in
  // C.
  const bool is_old =
      c.version() < 4 && !IsFloat(ResultType(c, {"self", "other"}));
  const Operands x = is_old ? Promoted(c) : PromotedFloats(c);
  if (!c.ok()) return x.a;
  return x.a / x.b;
}
Tensor DivideWithMode(Call& c) {
  if (!c.has("rounding_mode")) return Divide(c);
  const Operands x = Promoted(c);
  const std::string mode = c.text("rounding_mode");
  if (!c.ok()) return x.a;
  return mode == "floor" ? FloorQuotient(x.a, x.b)
                         : TruncatedQuotient(x.a, x.b);
}
Tensor FloorDivide(Call& c) {
  const Operands x = Promoted(c);
  return c.ok() ? FloorQuotient(x.a, x.b) : x.a;
}
Tensor Remainder(Call& c) {
  const Operands x = Promoted(c);
  return c.ok() ? ops::Modulo(x.a, x.b) : x.a;
}
Tensor Fmod(Call& c) {
  const Operands x = Promoted(c);
  return c.ok() ? ops::Binary(Opcode::kRemainder, x.a, x.b) : x.a;
}

// Raises `self` to the power `exponent`; both are cast to `type` first.
Tensor PowerIn(Call& c, DType type) {
  const Tensor a = c.scalar("self", type);
  const Value& exponent = c.value("exponent");
  if (!c.ok()) return a;
  if (exponent.is_known_number() && IsFloat(type)) {
    const double power = exponent.known_number();
    if (power == 1) return a;
    if (power == 2) return a * a;
    if (power == 3) return a * a * a;
    if (power == 0.5) return ops::Sqrt(a);
    if (power == -1) return 1.0 / a;
    if (power == -0.5) return 1.0 / ops::Sqrt(a);
  }
  return ops::Power(a, c.scalar("exponent", type));
}
Tensor Power(Call& c) {
  return PowerIn(c, ResultType(c, {"self", "exponent"}));
}
// PyTorch computes float_power in f64, whatever the operands are.
Tensor FloatPower(Call& c) { return PowerIn(c, DType::kF64); }

Tensor Maximum(Call& c) {
  const Operands x = Promoted(c);
  return c.ok() ? ops::Maximum(x.a, x.b) : x.a;
}
Tensor Minimum(Call& c) {
  const Operands x = Promoted(c);
  return c.ok() ? ops::Minimum(x.a, x.b) : x.a;
}
// Imports fmax (or fmin): the larger (or smaller) of two elements. If one of
// them is NaN, the result is the other one.
Tensor ExtremeNumber(Call& c, bool is_largest) {
  const Operands x = Promoted(c);
  if (!c.ok()) return x.a;
  const Tensor best =
      is_largest ? ops::Maximum(x.a, x.b) : ops::Minimum(x.a, x.b);
  if (!x.a.is_float()) return best;
  return ops::Select(ops::IsNan(x.a), x.b,
                     ops::Select(ops::IsNan(x.b), x.a, best));
}
Tensor Fmax(Call& c) { return ExtremeNumber(c, true); }
Tensor Fmin(Call& c) { return ExtremeNumber(c, false); }

Tensor Atan2(Call& c) {
  const Operands x = PromotedFloats(c);
  return c.ok() ? ops::Binary(Opcode::kAtan2, x.a, x.b) : x.a;
}
Tensor Hypot(Call& c) {
  const Operands x = PromotedFloats(c);
  if (!c.ok()) return x.a;
  // Imports hypot as large * sqrt(1 + (small / large)^2), so that no square
  // overflows.
  const Tensor a = ops::Absolute(x.a);
  const Tensor b = ops::Absolute(x.b);
  const Tensor large = ops::Maximum(a, b);
  const Tensor small = ops::Minimum(a, b);
  const Tensor ratio =
      ops::Select(ops::Equal(large, 0), large.Like(0), small / large);
  return large * ops::Sqrt(1.0 + ratio * ratio);
}
Tensor LogAddExp(Call& c) {
  const Operands x = PromotedFloats(c);
  if (!c.ok()) return x.a;
  const Tensor large = ops::Maximum(x.a, x.b);
  const Tensor distance = ops::Absolute(x.a - x.b);
  return ops::Select(ops::Equal(x.a, x.b), large + std::log(2.0),
                     large + ops::Log1p(ops::Exp(-distance)));
}
Tensor Xlogy(Call& c) {
  const Operands x = PromotedFloats(c);
  if (!c.ok()) return x.a;
  return ops::Select(ops::Equal(x.a, 0), x.a.Like(0), x.a * ops::Log(x.b));
}
Tensor CopySign(Call& c) {
  const Operands x = PromotedFloats(c);
  if (!c.ok()) return x.a;
  // The sign of b decides, and that of -0 is negative: 1 / -0 is -infinity.
  const Tensor negative = ops::Or(
      ops::Less(x.b, 0), ops::And(ops::Equal(x.b, 0), ops::Less(1.0 / x.b, 0)));
  const Tensor a = ops::Absolute(x.a);
  return ops::Select(negative, -a, a);
}

// Returns both operands in a type in which they can be compared. If an integer
// tensor is compared with a number that its type cannot hold, the number must
// not wrap around, so the type is i64.
Operands Comparable(Call& c) {
  DType type = ResultType(c, {"self", "other"});
  if (!c.ok()) return Promoted(c);
  for (const std::string_view name : {"self", "other"}) {
    const Value& value = c.value(name);
    if (!IsInteger(type) || !value.is_known_number()) continue;
    const double number = value.known_number();
    if (Wrapped(number, type) != number || std::abs(number) > 0x1p53)
      type = DType::kI64;
  }
  return {c.scalar("self", type), c.scalar("other", type)};
}
// The order in which a comparison passes its operands to the opcode. With
// kSwapped, a > b is computed as b < a.
enum class Order { kGiven, kSwapped };
template <Opcode opcode, Order order = Order::kGiven>
Tensor Compare(Call& c) {
  const Operands x = Comparable(c);
  if (!c.ok()) return x.a;
  return order == Order::kGiven ? ops::Binary(opcode, x.a, x.b)
                                : ops::Binary(opcode, x.b, x.a);
}

// Imports a unary function of floats. Integers are converted to f32.
template <Tensor (*kFunction)(Tensor)>
Tensor FloatFunction(Call& c) {
  const Tensor x = c.tensor("self");
  return c.ok() ? kFunction(AsFloat(x)) : x;
}
// Imports a unary function, such as a rounding, that returns integers
// unchanged.
template <Tensor (*kFunction)(Tensor)>
Tensor Rounding(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || !x.is_float()) return x;
  return kFunction(x);
}
template <Tensor (*kFunction)(Tensor)>
Tensor Numeric(Call& c) {
  const Tensor x = c.tensor("self");
  return c.ok() ? kFunction(x) : x;
}
// Imports a unary function of numbers that returns booleans unchanged.
template <Tensor (*kFunction)(Tensor)>
Tensor OfNumbers(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || x.dtype() == DType::kBool) return x;
  return kFunction(x);
}
// Imports square. The square of a boolean is an i64.
Tensor Square(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok()) return x;
  return ops::Square(x.dtype() == DType::kBool ? ops::Cast(x, DType::kI64) : x);
}
Tensor RoundTo(Call& c) {
  const Tensor x = c.tensor("self");
  const double scale =
      std::pow(10.0, static_cast<double>(c.integer("decimals")));
  if (!c.ok() || !x.is_float()) return x;
  return ops::Round(x * scale) / scale;
}
Tensor Logit(Call& c) {
  Tensor x = AsFloat(c.tensor("self"));
  if (!c.ok()) return x;
  if (c.has("eps")) {
    const double eps = c.number("eps");
    x = ops::Minimum(ops::Maximum(x, eps), 1 - eps);
  }
  return ops::Log(x / (1.0 - x));
}
Tensor Sinc(Call& c) {
  const Tensor x = AsFloat(c.tensor("self"));
  if (!c.ok()) return x;
  const Tensor angle = x * M_PI;
  return ops::Select(ops::Equal(x, 0), x.Like(1), ops::Sin(angle) / angle);
}
Tensor NanToNum(Call& c) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || !x.is_float()) return x;
  const double most =
      x.dtype() == DType::kF64    ? std::numeric_limits<double>::max()
      : x.dtype() == DType::kF16  ? 65504
      : x.dtype() == DType::kBF16 ? 3.3895313892515355e38
                                  : std::numeric_limits<float>::max();
  const double nan = c.has("nan") ? c.number("nan") : 0;
  const double high = c.has("posinf") ? c.number("posinf") : most;
  const double low = c.has("neginf") ? c.number("neginf") : -most;
  const Tensor infinite =
      ops::Select(ops::Less(x, 0), x.Like(low), x.Like(high));
  const Tensor finite = ops::Select(ops::IsInfinite(x), infinite, x);
  return ops::Select(ops::IsNan(x), x.Like(nan), finite);
}

Tensor ClassifyAs(Call& c, bool of_integers, Tensor (*of_floats)(Tensor)) {
  const Tensor x = c.tensor("self");
  if (!c.ok() || x.is_float()) return c.ok() ? of_floats(x) : x;
  return ops::Broadcast(c.Number(of_integers ? 1 : 0, DType::kBool), x.shape());
}
Tensor IsNan(Call& c) { return ClassifyAs(c, false, ops::IsNan); }
Tensor IsInfinite(Call& c) { return ClassifyAs(c, false, ops::IsInfinite); }
Tensor IsFinite(Call& c) { return ClassifyAs(c, true, ops::IsFinite); }

Tensor AsBool(const Tensor& x) {
  if (x.dtype() == DType::kBool) return x;
  return ops::NotEqual(x, x.Like(0));
}
Tensor LogicalNot(Call& c) {
  const Tensor x = c.tensor("self");
  return c.ok() ? ops::Not(AsBool(x)) : x;
}
template <Opcode opcode>
Tensor Logical(Call& c) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor("other");
  return c.ok() ? ops::Binary(opcode, AsBool(a), AsBool(b)) : a;
}
template <Opcode opcode>
Tensor Bitwise(Call& c) {
  const Operands x = Promoted(c);
  if (!c.ok()) return x.a;
  if (x.a.is_float()) {
    c.FailInvalid("expected integers or booleans, found floats");
    return x.a;
  }
  return ops::Binary(opcode, x.a, x.b);
}

// Imports clamp. The bounds may be numbers, tensors or None.
Tensor Clamp(Call& c) {
  const DType type = ResultType(c, {"self", "min", "max"});
  Tensor x = c.scalar("self", type);
  if (!c.ok()) return x;
  // A bound beyond the range of an integer type is replaced by the end of the
  // range; it does not wrap around.
  const auto bound = [&](std::string_view name) {
    const Value& value = c.value(name);
    return value.is_known_number() ? c.Number(value.known_number(), type)
                                   : c.scalar(name, type);
  };
  if (c.has("min")) x = ops::Maximum(x, bound("min"));
  if (c.has("max")) x = ops::Minimum(x, bound("max"));
  return x;
}

Tensor Where(Call& c) {
  const Tensor condition = c.tensor("condition");
  const DType type = ResultType(c, {"self", "other"});
  if (!c.ok()) return condition;
  return ops::Select(AsBool(condition), c.scalar("self", type),
                     c.scalar("other", type));
}
// Returns the argument `name`, a mask of booleans. If it is an input of the
// model that was assumed to be a float, the import is tried again with bool as
// its type.
Tensor MaskOf(Call& c, std::string_view name) {
  const Tensor mask = c.tensor(name);
  if (c.ok() && mask.is_float()) {
    c.machine().Want(mask, DType::kBool);
    c.FailInvalid(std::string(name) + ": expected booleans, found " +
                  std::string(DTypeName(mask.dtype())));
  }
  return c.ok() ? AsBool(mask) : mask;
}
Tensor MaskedFill(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor mask = MaskOf(c, "mask");
  if (!c.ok()) return x;
  return ops::Select(mask, c.scalar("value", x.dtype()), x);
}

Tensor Lerp(Call& c) {
  const Tensor a = c.tensor("self");
  const Tensor b = c.tensor("end");
  if (!c.ok()) return a;
  return a + c.scalar("weight", a.dtype()) * (b - a);
}
Tensor AddCMul(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor a = c.tensor("tensor1");
  const Tensor b = c.tensor("tensor2");
  if (!c.ok()) return x;
  return x + a * b * c.scalar("value", a.dtype());
}
Tensor AddCDiv(Call& c) {
  const Tensor x = c.tensor("self");
  const Tensor a = c.tensor("tensor1");
  const Tensor b = c.tensor("tensor2");
  if (!c.ok()) return x;
  return x + a / b * c.scalar("value", a.dtype());
}

constexpr OperatorRow kRows[] = {
    {"add(Operand self, Operand other, *, Scalar alpha=1)", Add},
    {"sub(Operand self, Operand other, *, Scalar alpha=1)", Subtract},
    {"subtract(Operand self, Operand other, *, Scalar alpha=1)", Subtract},
    {"rsub(Operand self, Operand other, Scalar alpha=1)", SubtractFrom},
    {"mul(Operand self, Operand other)", Multiply},
    {"multiply(Operand self, Operand other)", Multiply},
    {"div(Operand self, Operand other)", Divide},
    {"div(Operand self, Operand other, *, str? rounding_mode)", DivideWithMode},
    {"divide(Operand self, Operand other)", Divide},
    {"true_divide(Operand self, Operand other)", Divide},
    {"floor_divide(Operand self, Operand other)", FloorDivide},
    {"floordiv(Operand self, Operand other)", FloorDivide},
    {"remainder(Operand self, Operand other)", Remainder},
    {"fmod(Operand self, Operand other)", Fmod},
    {"pow(Operand self, Operand exponent)", Power},
    {"float_power(Operand self, Operand exponent)", FloatPower},
    {"max(Tensor self, Tensor other)", Maximum},
    {"min(Tensor self, Tensor other)", Minimum},
    {"maximum(Tensor self, Tensor other)", Maximum},
    {"minimum(Tensor self, Tensor other)", Minimum},
    {"fmax(Tensor self, Tensor other)", Fmax},
    {"fmin(Tensor self, Tensor other)", Fmin},
    {"atan2(Tensor self, Tensor other)", Atan2},
    {"arctan2(Tensor self, Tensor other)", Atan2},
    {"hypot(Tensor self, Tensor other)", Hypot},
    {"logaddexp(Tensor self, Tensor other)", LogAddExp},
    {"xlogy(Operand self, Operand other)", Xlogy},
    {"copysign(Operand self, Operand other)", CopySign},
    {"eq(Operand self, Operand other)", Compare<Opcode::kEqual>},
    {"ne(Operand self, Operand other)", Compare<Opcode::kNotEqual>},
    {"not_equal(Operand self, Operand other)", Compare<Opcode::kNotEqual>},
    {"lt(Operand self, Operand other)", Compare<Opcode::kLess>},
    {"less(Operand self, Operand other)", Compare<Opcode::kLess>},
    {"le(Operand self, Operand other)", Compare<Opcode::kLessEqual>},
    {"less_equal(Operand self, Operand other)", Compare<Opcode::kLessEqual>},
    {"gt(Operand self, Operand other)",
     Compare<Opcode::kLess, Order::kSwapped>},
    {"greater(Operand self, Operand other)",
     Compare<Opcode::kLess, Order::kSwapped>},
    {"ge(Operand self, Operand other)",
     Compare<Opcode::kLessEqual, Order::kSwapped>},
    {"greater_equal(Operand self, Operand other)",
     Compare<Opcode::kLessEqual, Order::kSwapped>},
    {"neg(Tensor self)", Numeric<ops::Negate>},
    {"negative(Tensor self)", Numeric<ops::Negate>},
    {"abs(Tensor self)", OfNumbers<ops::Absolute>},
    {"absolute(Tensor self)", OfNumbers<ops::Absolute>},
    {"sign(Tensor self)", OfNumbers<ops::SignNanZero>},
    {"sgn(Tensor self)", OfNumbers<ops::SignNanZero>},
    {"floor(Tensor self)", Rounding<ops::Floor>},
    {"ceil(Tensor self)", Rounding<ops::Ceil>},
    {"round(Tensor self)", Rounding<ops::Round>},
    {"round(Tensor self, *, int decimals)", RoundTo},
    {"trunc(Tensor self)", Rounding<ops::Truncate>},
    {"fix(Tensor self)", Rounding<ops::Truncate>},
    {"frac(Tensor self)", Numeric<ops::Fraction>},
    {"sqrt(Tensor self)", FloatFunction<ops::Sqrt>},
    {"rsqrt(Tensor self)", FloatFunction<ops::Rsqrt>},
    {"reciprocal(Tensor self)", FloatFunction<ops::Reciprocal>},
    {"square(Tensor self)", Square},
    {"exp(Tensor self)", FloatFunction<ops::Exp>},
    {"exp2(Tensor self)", FloatFunction<ops::Exp2>},
    {"expm1(Tensor self)", FloatFunction<ops::Expm1>},
    {"log(Tensor self)", FloatFunction<ops::Log>},
    {"log1p(Tensor self)", FloatFunction<ops::Log1p>},
    {"log2(Tensor self)", FloatFunction<ops::Log2>},
    {"log10(Tensor self)", FloatFunction<ops::Log10>},
    {"logit(Tensor self, float? eps=None)", Logit},
    {"sin(Tensor self)", FloatFunction<ops::Sin>},
    {"cos(Tensor self)", FloatFunction<ops::Cos>},
    {"tan(Tensor self)", FloatFunction<ops::Tan>},
    {"asin(Tensor self)", FloatFunction<ops::Asin>},
    {"arcsin(Tensor self)", FloatFunction<ops::Asin>},
    {"acos(Tensor self)", FloatFunction<ops::Acos>},
    {"arccos(Tensor self)", FloatFunction<ops::Acos>},
    {"atan(Tensor self)", FloatFunction<ops::Atan>},
    {"arctan(Tensor self)", FloatFunction<ops::Atan>},
    {"sinh(Tensor self)", FloatFunction<ops::Sinh>},
    {"cosh(Tensor self)", FloatFunction<ops::Cosh>},
    {"tanh(Tensor self)", FloatFunction<ops::Tanh>},
    {"asinh(Tensor self)", FloatFunction<ops::Asinh>},
    {"acosh(Tensor self)", FloatFunction<ops::Acosh>},
    {"atanh(Tensor self)", FloatFunction<ops::Atanh>},
    {"sinc(Tensor self)", Sinc},
    {"erf(Tensor self)", FloatFunction<ops::Erf>},
    {"special_expm1(Tensor self)", FloatFunction<ops::Expm1>},
    {"deg2rad(Tensor self)", FloatFunction<ops::Radians>},
    {"rad2deg(Tensor self)", FloatFunction<ops::Degrees>},
    {"nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
     "float? neginf=None)",
     NanToNum},
    {"isnan(Tensor self)", IsNan},
    {"isinf(Tensor self)", IsInfinite},
    {"isfinite(Tensor self)", IsFinite},
    {"logical_not(Tensor self)", LogicalNot},
    {"logical_and(Tensor self, Tensor other)", Logical<Opcode::kAnd>},
    {"logical_or(Tensor self, Tensor other)", Logical<Opcode::kOr>},
    {"logical_xor(Tensor self, Tensor other)", Logical<Opcode::kXor>},
    {"bitwise_not(Tensor self)", Numeric<ops::Not>},
    {"bitwise_and(Operand self, Operand other)", Bitwise<Opcode::kAnd>},
    {"bitwise_or(Operand self, Operand other)", Bitwise<Opcode::kOr>},
    {"bitwise_xor(Operand self, Operand other)", Bitwise<Opcode::kXor>},
    {"bitwise_left_shift(Operand self, Operand other)",
     Bitwise<Opcode::kShiftLeft>},
    {"bitwise_right_shift(Operand self, Operand other)",
     Bitwise<Opcode::kShiftRight>},
    {"__and__(Operand self, Operand other)", Bitwise<Opcode::kAnd>},
    {"__or__(Operand self, Operand other)", Bitwise<Opcode::kOr>},
    {"__xor__(Operand self, Operand other)", Bitwise<Opcode::kXor>},
    {"__lshift__(Operand self, Operand other)", Bitwise<Opcode::kShiftLeft>},
    {"__rshift__(Operand self, Operand other)", Bitwise<Opcode::kShiftRight>},
    {"clamp(Tensor self, Operand? min=None, Operand? max=None)", Clamp},
    {"clip(Tensor self, Operand? min=None, Operand? max=None)", Clamp},
    {"clamp_min(Tensor self, Operand min, Operand? max=None)", Clamp},
    {"clamp_max(Tensor self, Operand max, Operand? min=None)", Clamp},
    {"where(Tensor condition, Operand self, Operand other)", Where},
    {"masked_fill(Tensor self, Tensor mask, Operand value)", MaskedFill},
    {"lerp(Tensor self, Tensor end, Operand weight)", Lerp},
    {"addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, "
     "Scalar value=1)",
     AddCMul},
    {"addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, "
     "Scalar value=1)",
     AddCDiv},
};

}  // namespace

std::span<const OperatorRow> ElementwiseRows() { return kRows; }

}  // namespace ember::torchscript
