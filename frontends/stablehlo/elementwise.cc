// Imports elementwise operators, with the specification's semantics where they
// differ from the graph's.
#include <cmath>

#include "frontends/ops/regions.h"
#include "frontends/stablehlo/bits.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {

void ImportNegate(OperationContext& c) { c.SetResult(-c.Operand(0)); }

#define EMBER_BINARY(function, opcode)                               \
  void function(OperationContext& c) {                               \
    c.SetResult(Binary(Opcode::opcode, c.Operand(0), c.Operand(1))); \
  }
EMBER_BINARY(ImportAnd, kAnd)
EMBER_BINARY(ImportAtan2, kAtan2)
EMBER_BINARY(ImportDivide, kDivide)
EMBER_BINARY(ImportMaximum, kMaximum)
EMBER_BINARY(ImportMinimum, kMinimum)
EMBER_BINARY(ImportOr, kOr)
EMBER_BINARY(ImportPower, kPower)
EMBER_BINARY(ImportRemainder, kRemainder)
EMBER_BINARY(ImportShiftLeft, kShiftLeft)
EMBER_BINARY(ImportSubtract, kSubtract)
EMBER_BINARY(ImportXor, kXor)
#undef EMBER_BINARY

// Imports add. For bools it is a logical or.
void ImportAdd(OperationContext& c) {
  const Tensor a = c.Operand(0), b = c.Operand(1);
  c.SetResult(a.dtype() == DType::kBool ? Or(a, b) : a + b);
}

// Imports multiply. For bools it is a logical and.
void ImportMultiply(OperationContext& c) {
  if (!c.Any(0).is_complex() && !c.Any(1).is_complex()) {
    const Tensor a = c.Operand(0), b = c.Operand(1);
    return c.SetResult(a.dtype() == DType::kBool ? And(a, b) : a * b);
  }
  const Imported& a = c.Any(0);
  const Imported& b = c.Any(1);
  if (!a.is_complex() || !b.is_complex())
    return c.FailInvalid("expected operands of one type");
  c.SetResult(
      0,
      Imported{.tensor = a.tensor * b.tensor - a.imaginary * b.imaginary,
               .imaginary = a.tensor * b.imaginary + a.imaginary * b.tensor});
}

void ImportAbs(OperationContext& c) {
  if (!c.Any(0).is_complex()) return c.SetResult(Absolute(c.Operand(0)));
  // Computes the absolute value of a complex number as large * sqrt(1 + (small
  // / large)²), so that the squares neither overflow nor become 0.
  const Tensor a = Absolute(c.Any(0).tensor), b = Absolute(c.Any(0).imaginary);
  const Tensor large = Maximum(a, b), small = Minimum(a, b);
  const Tensor ratio = small / Select(Equal(large, 0), large.Like(1), large);
  const Tensor size = large * Sqrt(ratio * ratio + 1.0);
  c.SetResult(
      Select(Or(IsInfinite(a), IsInfinite(b)), large.Like(INFINITY), size));
}

void ImportComplex(OperationContext& c) {
  c.SetResult(0, Imported{.tensor = c.Operand(0), .imaginary = c.Operand(1)});
}

void ImportReal(OperationContext& c) {
  c.SetResult(c.Any(0).is_complex() ? c.Any(0).tensor : c.Operand(0));
}

void ImportImag(OperationContext& c) {
  if (c.Any(0).is_complex()) return c.SetResult(c.Any(0).imaginary);
  const Tensor x = c.Operand(0);
  c.SetResult(Broadcast(x.Like(0), x.shape()));
}

void ImportConjugate(OperationContext& c) {
  if (!c.Any(0).is_complex()) return c.SetResult(c.Operand(0));
  c.SetResult(
      0, Imported{.tensor = c.Any(0).tensor, .imaginary = -c.Any(0).imaginary});
}

void ImportIsPositiveInfinite(OperationContext& c) {
  c.SetResult(Equal(c.Operand(0), INFINITY));
}

void ImportIsNegativeInfinite(OperationContext& c) {
  c.SetResult(Equal(c.Operand(0), -INFINITY));
}

void ImportConvert(OperationContext& c) {
  if (c.ResultType().element.starts_with("complex<")) {
    const std::string_view part(c.ResultType().element);
    const auto dtype = DTypeOf(part.substr(8, part.size() - 9));
    if (!dtype) return c.FailUnsupported("unsupported complex type");
    const Tensor real = Cast(c.Any(0).tensor, *dtype);
    const Tensor imaginary = c.Any(0).is_complex()
                                 ? Cast(c.Any(0).imaginary, *dtype)
                                 : Broadcast(real.Like(0), real.shape());
    return c.SetResult(0, Imported{.tensor = real, .imaginary = imaginary});
  }
  c.SetResult(Cast(c.Operand(0), c.ResultDType()));
}

void ImportClamp(OperationContext& c) {
  c.SetResult(Minimum(Maximum(c.Operand(1), c.Operand(0)), c.Operand(2)));
}

void ImportSelect(OperationContext& c) {
  const Tensor condition = c.Operand(0);
  if (condition.dtype() != DType::kBool)
    return c.FailInvalid("operand 0: expected i1");
  c.SetResult(Select(condition, c.Operand(1), c.Operand(2)));
}

void ImportCompare(OperationContext& c) {
  const std::string direction = c.Text("comparison_direction");
  const std::string kind = c.Text("compare_type");
  Tensor a = c.Operand(0), b = c.Operand(1);
  if (kind == "TOTALORDER" && a.is_float() && b.is_float()) {
    a = TotalOrder(c, a);
    b = TotalOrder(c, b);
  } else if (!kind.empty() && kind != "NOTYPE" && kind != "FLOAT" &&
             kind != "SIGNED" && kind != "UNSIGNED" && kind != "TOTALORDER") {
    return c.FailInvalid(
        "compare_type: expected FLOAT, TOTALORDER, SIGNED or "
        "UNSIGNED, found '" +
        kind + "'");
  }
  if (direction == "EQ") return c.SetResult(Equal(a, b));
  if (direction == "NE") return c.SetResult(NotEqual(a, b));
  if (direction == "LT") return c.SetResult(Less(a, b));
  if (direction == "LE") return c.SetResult(LessEqual(a, b));
  if (direction == "GT") return c.SetResult(Less(b, a));
  if (direction == "GE") return c.SetResult(LessEqual(b, a));
  c.FailInvalid(
      "comparison_direction: expected EQ, NE, LT, LE, GT or GE, found '" +
      direction + "'");
}

}  // namespace ember::stablehlo
