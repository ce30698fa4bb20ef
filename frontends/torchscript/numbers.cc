// Imports operators on numbers and booleans, which code uses for sizes, flags
// and factors.
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "frontends/torchscript/known_extents.h"
#include "frontends/torchscript/known_when_importing.h"
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

Kind ResultKind(const Value& a, const Value& b) {
  if (a.is(Kind::kFloat) || b.is(Kind::kFloat)) return Kind::kFloat;
  return Kind::kInt;
}

// The arguments a and b of an operator on numbers, as scalars of the graph in
// the type for numbers of `kind`.
struct Pair {
  Tensor a, b;
};
Pair Scalars(Call& c, Kind kind) {
  const DType dtype = kind == Kind::kFloat ? DType::kF64 : DType::kI64;
  return {ops::Cast(c.machine().ToScalar(c.value("a")), dtype),
          ops::Cast(c.machine().ToScalar(c.value("b")), dtype)};
}

// Computes an operation on two numbers: by on_floats on known floats, by
// on_dims on ints that are known or expressions of open dims, or by on_tensors
// at run time.
template <typename OnFloats, typename OnDims, typename OnTensors>
Value Arithmetic(Call& c, OnFloats on_floats, OnDims on_dims,
                 OnTensors on_tensors) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  const Kind kind = ResultKind(a, b);
  if (kind == Kind::kInt && !a.is_dynamic() && !b.is_dynamic()) {
    const std::optional<Dim> result = on_dims(a.dim, b.dim);
    if (result) return Value::Int(*result);
  }
  if (kind == Kind::kFloat && a.is_known_number() && b.is_known_number())
    return Value::Float(on_floats(a.known_number(), b.known_number()));
  const Pair scalars = Scalars(c, kind);
  if (!c.ok()) return {};
  return Value::Dynamic(kind, on_tensors(scalars.a, scalars.b));
}

Value Add(Call& c) {
  return Arithmetic(
      c, [](double a, double b) { return a + b; },
      [](const Dim& a, const Dim& b) { return std::optional(a + b); },
      [](Tensor a, Tensor b) { return a + b; });
}
Value Subtract(Call& c) {
  return Arithmetic(
      c, [](double a, double b) { return a - b; },
      [](const Dim& a, const Dim& b) { return std::optional(a - b); },
      [](Tensor a, Tensor b) { return a - b; });
}
Value Multiply(Call& c) {
  return Arithmetic(
      c, [](double a, double b) { return a * b; },
      [](const Dim& a, const Dim& b) { return std::optional(a * b); },
      [](Tensor a, Tensor b) { return a * b; });
}

bool CheckDivisor(Call& c) {
  const Value& b = c.value("b");
  if (!b.is_known_number() || b.known_number() != 0) return true;
  c.FailInvalid("expected a divisor other than 0");
  return false;
}

// Imports the division of numbers. The result is a float.
Value Divide(Call& c) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  if (a.is_known_number() && b.is_known_number()) {
    if (!CheckDivisor(c)) return {};
    return Value::Float(a.known_number() / b.known_number());
  }
  const Pair scalars = Scalars(c, Kind::kFloat);
  return Value::Dynamic(Kind::kFloat, scalars.a / scalars.b);
}
Value FloorDivide(Call& c) {
  if (!CheckDivisor(c)) return {};
  return Arithmetic(
      c, [](double a, double b) { return std::floor(a / b); },
      [](const Dim& a, const Dim& b) {
        return std::optional(FloorDivide(a, b));
      },
      [](Tensor a, Tensor b) {
        return a.is_float() ? ops::Floor(a / b)
                            : ops::Binary(Opcode::kFloorDivide, a, b);
      });
}
Value Remainder(Call& c) {
  if (!CheckDivisor(c)) return {};
  return Arithmetic(
      c, [](double a, double b) { return std::fmod(b + std::fmod(a, b), b); },
      [](const Dim& a, const Dim& b) { return std::optional(Modulo(a, b)); },
      [](Tensor a, Tensor b) {
        if (!a.is_float()) return ops::Modulo(a, b);
        const Tensor truncated = ops::Binary(Opcode::kRemainder, a, b);
        return ops::Binary(Opcode::kRemainder, b + truncated, b);
      });
}

Value Power(Call& c) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  if (a.is_known_number() && b.is_known_number()) {
    const double power = std::pow(a.known_number(), b.known_number());
    const bool is_int = ResultKind(a, b) == Kind::kInt &&
                        b.known_number() >= 0 && std::abs(power) < 1e15;
    return is_int ? Value::Int(Dim(static_cast<int64_t>(power)))
                  : Value::Float(power);
  }
  const Pair scalars = Scalars(c, Kind::kFloat);
  return Value::Dynamic(Kind::kFloat, ops::Power(scalars.a, scalars.b));
}

Value Extreme(Call& c, bool is_largest) {
  return Arithmetic(
      c,
      [&](double a, double b) {
        return is_largest ? std::max(a, b) : std::min(a, b);
      },
      [&](const Dim& a, const Dim& b) {
        return std::optional(is_largest ? LargerOf(a, b) : SmallerOf(a, b));
      },
      [&](Tensor a, Tensor b) {
        return is_largest ? ops::Maximum(a, b) : ops::Minimum(a, b);
      });
}
Value Smaller(Call& c) { return Extreme(c, false); }
Value Larger(Call& c) { return Extreme(c, true); }

Value ExtremeOfList(Call& c, bool is_largest) {
  const std::vector<Value>& items = c.value("l").list->items;
  if (items.empty()) {
    c.FailInvalid("expected a list that is not empty");
    return {};
  }
  const Value* best = &items[0];
  for (const Value& item : items) {
    if (!item.is_known_number() || !best->is_known_number()) {
      c.FailUnsupported(
          std::string("expected numbers that are known when importing") +
          kMakeItKnown);
      return {};
    }
    const bool is_better = is_largest
                               ? item.known_number() > best->known_number()
                               : item.known_number() < best->known_number();
    if (is_better) best = &item;
  }
  return *best;
}
Value SmallestOf(Call& c) { return ExtremeOfList(c, false); }
Value LargestOf(Call& c) { return ExtremeOfList(c, true); }

// The result of a comparison of two numbers a and b, as far as it is known.
// `less`: true if a < b for all values of open dims, false if for none, else
// nullopt. `equal`: the same for a = b.
struct Order {
  std::optional<bool> less, equal;
};
Order OrderOf(const Value& a, const Value& b, bool takes_not_empty) {
  if (a.is_known_number() && b.is_known_number()) {
    return {a.known_number() < b.known_number(),
            a.known_number() == b.known_number()};
  }
  if (a.is_dynamic() || b.is_dynamic() || ResultKind(a, b) != Kind::kInt)
    return {};
  Order order;
  const Dim difference = a.dim - b.dim;
  const ops::DimRange range =
      takes_not_empty ? RangeIfNotEmpty(difference) : ops::RangeOf(difference);
  if (range.high < 0) order = {true, false};
  if (range.low > 0) order = {false, false};
  if (range.low >= 0) order.less = false;
  if (difference == Dim(0)) order = {false, true};
  return order;
}

// Returns the comparison of the extent of a dim with a known number. The extent
// is 0 if `is_zero`; otherwise all that is known is that it is at least 1.
Order OrderOfExtent(bool is_zero, double number) {
  if (is_zero) return {0 < number, 0 == number};
  if (number < 1) return {false, false};
  return {number > 1 ? std::nullopt : std::optional(false), std::nullopt};
}
Order Swapped(const Order& order) {
  if (order.equal == true) return {false, true};
  if (order.less == true) return {false, false};
  if (order.less == false && order.equal == false) return {true, false};
  return {std::nullopt, order.equal};
}

// Records in `result` that a comparison with a known number only tests if an
// int of at least 0 is 0 (Value::DimTest).
template <typename Decide>
void NoteDimTest(const Value& a, const Value& b, Decide decide, Value& result) {
  const bool swapped = a.is_known_number();
  const Value& extent = swapped ? b : a;
  const Value& number = swapped ? a : b;
  if (!number.is_known_number() || !extent.is(Kind::kInt) ||
      extent.is_dynamic() || ops::RangeOf(extent.dim).low < 0)
    return;
  const auto decided = [&](bool is_zero) {
    const Order order = OrderOfExtent(is_zero, number.known_number());
    return decide(swapped ? Swapped(order) : order);
  };
  const std::optional<bool> at_zero = decided(true);
  const std::optional<bool> above = decided(false);
  if (!at_zero || !above || *at_zero == *above) return;
  result.dim = extent.dim;
  result.dim_test =
      *at_zero ? Value::DimTest::kIsZero : Value::DimTest::kIsPositive;
}

// Compares two numbers. If the facts in Order suffice for `decide`, the result
// is known at import; otherwise `on_tensors` computes it at run time.
template <typename Decide, typename OnTensors>
Value Compare(Call& c, Decide decide, OnTensors on_tensors) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  std::optional<bool> known = decide(OrderOf(a, b, false));
  if (!known) {
    known = decide(OrderOf(a, b, true));
    if (known) RequireNotEmpty(c, a.dim - b.dim);
  }
  if (known) return Value::Bool(*known);
  const Pair scalars = Scalars(c, ResultKind(a, b));
  if (!c.ok()) return {};
  Value result = Value::Dynamic(Kind::kBool, on_tensors(scalars.a, scalars.b));
  NoteDimTest(a, b, decide, result);
  return result;
}

Value Equal(Call& c) {
  return Compare(
      c, [](const Order& order) { return order.equal; },
      [](Tensor a, Tensor b) { return ops::Equal(a, b); });
}
Value NotEqual(Call& c) {
  return Compare(
      c,
      [](const Order& order) {
        return order.equal ? std::optional(!*order.equal) : std::nullopt;
      },
      [](Tensor a, Tensor b) { return ops::NotEqual(a, b); });
}
Value Less(Call& c) {
  return Compare(
      c, [](const Order& order) { return order.less; },
      [](Tensor a, Tensor b) { return ops::Less(a, b); });
}
Value GreaterEqual(Call& c) {
  return Compare(
      c,
      [](const Order& order) {
        return order.less ? std::optional(!*order.less) : std::nullopt;
      },
      [](Tensor a, Tensor b) { return ops::LessEqual(b, a); });
}
std::optional<bool> IsLessEqual(const Order& order) {
  if (order.less == true || order.equal == true) return true;
  if (order.less == false && order.equal == false) return false;
  return std::nullopt;
}
Value LessEqual(Call& c) {
  return Compare(c, IsLessEqual,
                 [](Tensor a, Tensor b) { return ops::LessEqual(a, b); });
}
Value Greater(Call& c) {
  return Compare(
      c,
      [](const Order& order) {
        const std::optional<bool> known = IsLessEqual(order);
        return known ? std::optional(!*known) : std::nullopt;
      },
      [](Tensor a, Tensor b) { return ops::Less(b, a); });
}

Value Negate(Call& c) {
  const Value& a = c.value("a");
  if (a.is_dynamic()) return Value::Dynamic(a.kind, -c.machine().ToScalar(a));
  if (a.is(Kind::kFloat)) return Value::Float(-a.number);
  return Value::Int(Dim(0) - a.dim);
}
Value Absolute(Call& c) {
  const Value& a = c.value("a");
  if (a.is(Kind::kFloat) && !a.is_dynamic())
    return Value::Float(std::abs(a.number));
  if (!a.is_dynamic()) return Value::Int(LargerOf(a.dim, Dim(0) - a.dim));
  return Value::Dynamic(a.kind, ops::Absolute(c.machine().ToScalar(a)));
}

Value NotOf(Call& c) {
  const Value& a = c.value("a");
  if (a.is_known_number()) return Value::Bool(a.known_number() == 0);
  Value result = Value::Dynamic(
      Kind::kBool, ops::Not(ops::Cast(c.machine().ToScalar(a), DType::kBool)));
  using Test = Value::DimTest;
  if (a.dim_test != Test::kNone) {
    result.dim = a.dim;
    result.dim_test =
        a.dim_test == Test::kIsZero ? Test::kIsPositive : Test::kIsZero;
  }
  return result;
}

template <typename OnInts>
Value Bitwise(Call& c, Opcode opcode, OnInts on_ints) {
  const Value& a = c.value("a");
  const Value& b = c.value("b");
  const bool is_bool = a.is(Kind::kBool) && b.is(Kind::kBool);
  if (a.is(Kind::kFloat) || b.is(Kind::kFloat)) {
    c.FailInvalid("expected ints or bools, found a float");
    return {};
  }
  if (a.is_known_number() && b.is_known_number()) {
    const int64_t result = on_ints(a.dim.constant(), b.dim.constant());
    return is_bool ? Value::Bool(result != 0) : Value::Int(Dim(result));
  }
  const DType dtype = is_bool ? DType::kBool : DType::kI64;
  return Value::Dynamic(
      is_bool ? Kind::kBool : Kind::kInt,
      ops::Binary(opcode, ops::Cast(c.machine().ToScalar(a), dtype),
                  ops::Cast(c.machine().ToScalar(b), dtype)));
}
Value AndOf(Call& c) {
  return Bitwise(c, Opcode::kAnd, [](int64_t a, int64_t b) { return a & b; });
}
Value OrOf(Call& c) {
  return Bitwise(c, Opcode::kOr, [](int64_t a, int64_t b) { return a | b; });
}
Value XorOf(Call& c) {
  return Bitwise(c, Opcode::kXor, [](int64_t a, int64_t b) { return a ^ b; });
}

// Imports a function of one number. A known number is computed by on_float,
// another one by on_tensor at run time. to_int: the result is an int.
template <typename OnFloat, typename OnTensor>
Value Function(Call& c, bool to_int, OnFloat on_float, OnTensor on_tensor) {
  const Value& a = c.value("a");
  if (to_int && !a.is(Kind::kFloat)) return a;
  if (a.is_known_number()) {
    const double result = on_float(a.known_number());
    if (!to_int) return Value::Float(result);
    if (!(std::abs(result) < 9e18)) {
      c.FailInvalid("expected a number that fits an int, found another");
      return {};
    }
    return Value::Int(Dim(static_cast<int64_t>(result)));
  }
  const Tensor x = ops::Cast(c.machine().ToScalar(a), DType::kF64);
  const Tensor y = on_tensor(x);
  if (to_int) return Value::Dynamic(Kind::kInt, ops::Cast(y, DType::kI64));
  return Value::Dynamic(Kind::kFloat, y);
}
Value CeilOf(Call& c) {
  return Function(
      c, true, [](double x) { return std::ceil(x); },
      [](Tensor x) { return ops::Ceil(x); });
}
Value FloorOf(Call& c) {
  return Function(
      c, true, [](double x) { return std::floor(x); },
      [](Tensor x) { return ops::Floor(x); });
}
Value RoundOf(Call& c) {
  return Function(
      c, false, [](double x) { return std::nearbyint(x); },
      [](Tensor x) { return ops::Round(x); });
}
Value SqrtOf(Call& c) {
  return Function(
      c, false, [](double x) { return std::sqrt(x); },
      [](Tensor x) { return ops::Sqrt(x); });
}
Value ExpOf(Call& c) {
  return Function(
      c, false, [](double x) { return std::exp(x); },
      [](Tensor x) { return ops::Exp(x); });
}
Value LogOf(Call& c) {
  return Function(
      c, false, [](double x) { return std::log(x); },
      [](Tensor x) { return ops::Log(x); });
}

// The functions below import conversions between number types. A tensor operand
// must have one element.
Value ToInt(Call& c) {
  const Value& a = c.value("a");
  if (a.is_tensor()) {
    const Tensor tensor = c.tensor("a");
    if (!c.ok()) return {};
    const Tensor scalar = ops::Reshape(tensor, {});
    const Tensor wide = ops::Cast(scalar, DType::kI64);
    if (!c.ok()) return {};
    if (const auto known = c.builder().IntegerContents(wide.value());
        known && known->size() == 1)
      return Value::Int(known->front());
    return Value::Dynamic(Kind::kInt, wide);
  }
  if (a.is(Kind::kFloat) && !a.is_dynamic()) {
    if (!(std::abs(a.number) < 9e18)) {
      c.FailInvalid("expected a float that fits an int, found another");
      return {};
    }
    return Value::Int(Dim(static_cast<int64_t>(a.number)));
  }
  if (a.is_dynamic())
    return Value::Dynamic(Kind::kInt,
                          ops::Cast(c.machine().ToScalar(a), DType::kI64));
  return Value::Int(a.dim);
}
Value ToFloat(Call& c) {
  const Value& a = c.value("a");
  if (a.is_known_number()) return Value::Float(a.known_number());
  Tensor scalar =
      a.is_tensor() ? ops::Reshape(c.tensor("a"), {}) : c.machine().ToScalar(a);
  if (!c.ok()) return {};
  if (const auto known = c.builder().ConstantContents(scalar.value());
      known && known->size() == 1)
    return Value::Float(known->front());
  return Value::Dynamic(Kind::kFloat, ops::Cast(scalar, DType::kF64));
}
Value TextToFloat(Call& c) {
  const std::string text = c.text("a");
  if (text == "inf")
    return Value::Float(std::numeric_limits<double>::infinity());
  if (text == "-inf")
    return Value::Float(-std::numeric_limits<double>::infinity());
  if (text == "nan") return Value::Float(std::nan(""));
  c.FailUnsupported("expected the text of inf or nan, found another");
  return {};
}
Value ToBool(Call& c) {
  const Value& a = c.value("a");
  if (a.is_known_number()) return Value::Bool(a.known_number() != 0);
  if (a.is(Kind::kInt) && !a.is_dynamic()) {
    if (IsNeverZero(c, a.dim)) return Value::Bool(true);
  }
  Tensor scalar =
      a.is_tensor() ? ops::Reshape(c.tensor("a"), {}) : c.machine().ToScalar(a);
  if (!c.ok()) return {};
  if (const auto known = c.builder().ConstantContents(scalar.value());
      known && known->size() == 1)
    return Value::Bool(known->front() != 0);
  if (scalar.dtype() != DType::kBool)
    scalar = ops::NotEqual(scalar, scalar.Like(0));
  return Value::Dynamic(Kind::kBool, scalar);
}
// Imports item: returns the only element of a tensor as a bool, int or float,
// by the tensor's type.
Value Item(Call& c) {
  const Tensor tensor = c.tensor("a");
  if (!c.ok()) return {};
  if (tensor.is_float()) return ToFloat(c);
  return tensor.dtype() == DType::kBool ? ToBool(c) : ToInt(c);
}
Tensor NumToTensor(Call& c) { return c.tensor("a"); }

constexpr OperatorRow kRows[] = {
    {"add(Number a, Number b)", Add},
    {"sub(Number a, Number b)", Subtract},
    {"mul(Number a, Number b)", Multiply},
    {"div(Number a, Number b)", Divide},
    {"floordiv(Number a, Number b)", FloorDivide},
    {"remainder(Number a, Number b)", Remainder},
    {"pow(Number a, Number b)", Power},
    {"eq(Number a, Number b)", Equal},
    {"ne(Number a, Number b)", NotEqual},
    {"lt(Number a, Number b)", Less},
    {"le(Number a, Number b)", LessEqual},
    {"gt(Number a, Number b)", Greater},
    {"ge(Number a, Number b)", GreaterEqual},
    {"neg(Number a)", Negate},
    {"__not__(Number a)", NotOf},
    {"__and__(Number a, Number b)", AndOf},
    {"__or__(Number a, Number b)", OrOf},
    {"__xor__(Number a, Number b)", XorOf},
    {"prim::abs(Number a)", Absolute},
    {"prim::min(Number a, Number b)", Smaller},
    {"prim::max(Number a, Number b)", Larger},
    {"prim::min(t[] l)", SmallestOf},
    {"prim::max(t[] l)", LargestOf},
    {"ceil(Number a)", CeilOf},
    {"floor(Number a)", FloorOf},
    {"round(Number a)", RoundOf},
    {"sqrt(Number a)", SqrtOf},
    {"exp(Number a)", ExpOf},
    {"log(Number a)", LogOf},
    {"Int(Operand a)", ToInt},
    {"Float(Operand a)", ToFloat},
    {"Float(str a)", TextToFloat},
    {"Bool(Operand a)", ToBool},
    {"item(Tensor a)", Item},
    {"IntImplicit(Operand a)", ToInt},
    {"FloatImplicit(Operand a)", ToFloat},
    {"ScalarImplicit(Tensor a)", Item},
    {"prim::ImplicitTensorToNum(Tensor a)", Item},
    {"prim::NumToTensor(Operand a)", NumToTensor},
};

}  // namespace

std::span<const OperatorRow> NumberRows() { return kRows; }

}  // namespace ember::torchscript
