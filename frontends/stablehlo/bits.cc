#include "frontends/stablehlo/bits.h"

#include "frontends/ops/compositions.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

int BitsOf(DType dtype) { return 8 * DTypeByteSize(dtype); }

// Returns the bits of each element of x as 64-bit integers, in the low bits.
Tensor WideBits(Tensor x) {
  return Cast(Bitcast(x, UnsignedOf(x.dtype())), DType::kU64);
}

Tensor ShiftRight(const OperationContext& c, Tensor x, int64_t bits) {
  return Binary(Opcode::kShiftRight, x, c.IntegerScalar(bits, x.dtype()));
}

// Counts the ones among 64 bits: in pairs, fours and bytes, then sums the
// bytes.
Tensor CountOnes(const OperationContext& c, Tensor x) {
  const auto mask = [&](uint64_t value) {
    return c.IntegerScalar(static_cast<int64_t>(value), DType::kU64);
  };
  x = x - And(ShiftRight(c, x, 1), mask(0x5555555555555555));
  x = And(x, mask(0x3333333333333333)) +
      And(ShiftRight(c, x, 2), mask(0x3333333333333333));
  x = And(x + ShiftRight(c, x, 4), mask(0x0f0f0f0f0f0f0f0f));
  return ShiftRight(c, x * mask(0x0101010101010101), 56);
}

bool CheckIntegers(OperationContext& c) {
  if (IsInteger(c.Operand(0).dtype())) return c.ok();
  c.FailInvalid("operand 0: expected integers");
  return false;
}

}  // namespace

DType UnsignedOf(DType dtype) {
  static constexpr DType kTypes[] = {DType::kU8, DType::kU16, DType::kU32,
                                     DType::kU64};
  const int bytes = DTypeByteSize(dtype);
  return kTypes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

DType SignedOf(DType dtype) {
  static constexpr DType kTypes[] = {DType::kI8, DType::kI16, DType::kI32,
                                     DType::kI64};
  const int bytes = DTypeByteSize(dtype);
  return kTypes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

Tensor Bitcast(Tensor x, DType dtype) {
  if (x.dtype() == dtype) return x;
  if (x.dtype() == DType::kBool || dtype == DType::kBool) return Cast(x, dtype);
  return Apply("bitcast", {x}, {{"dtype", dtype}});
}

// Returns integers in the order of the floats. The bit patterns of negative
// floats fall as the floats rise, so their magnitude bits are inverted.
Tensor TotalOrder(const OperationContext& c, Tensor x) {
  const Tensor bits = Bitcast(x, SignedOf(x.dtype()));
  const int width = BitsOf(x.dtype());
  const Tensor sign = ShiftRight(c, bits, width - 1);
  const auto magnitude = static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1);
  return Binary(Opcode::kXor, bits,
                And(sign, c.IntegerScalar(magnitude, bits.dtype())));
}

void ImportShiftRightArithmetic(OperationContext& c) {
  const Tensor x = c.Operand(0), by = c.Operand(1);
  const DType type = SignedOf(x.dtype());
  if (!CheckIntegers(c)) return;
  // A shift distance that is negative or not less than the width of the type is
  // clamped to width - 1.
  const Tensor limit = c.IntegerScalar(BitsOf(type) - 1, type);
  const Tensor distance =
      Select(Less(c.IntegerScalar(BitsOf(type) - 1, UnsignedOf(type)),
                  Bitcast(by, UnsignedOf(type))),
             limit, Bitcast(by, type));
  c.SetResult(Bitcast(Binary(Opcode::kShiftRight, Bitcast(x, type), distance),
                      x.dtype()));
}

void ImportShiftRightLogical(OperationContext& c) {
  const Tensor x = c.Operand(0), by = c.Operand(1);
  if (!CheckIntegers(c)) return;
  const DType type = UnsignedOf(x.dtype());
  c.SetResult(
      Bitcast(Binary(Opcode::kShiftRight, Bitcast(x, type), Bitcast(by, type)),
              x.dtype()));
}

void ImportPopulationCount(OperationContext& c) {
  const Tensor x = c.Operand(0);
  if (!CheckIntegers(c)) return;
  c.SetResult(Cast(CountOnes(c, WideBits(x)), x.dtype()));
}

void ImportCountLeadingZeros(OperationContext& c) {
  const Tensor x = c.Operand(0);
  if (!CheckIntegers(c)) return;
  // Sets all bits below the highest set bit.
  Tensor bits = WideBits(x);
  for (const int64_t distance : {1, 2, 4, 8, 16, 32})
    bits = Or(bits, ShiftRight(c, bits, distance));
  const Tensor ones = Cast(CountOnes(c, bits), DType::kI64);
  c.SetResult(
      Cast(c.IntegerScalar(BitsOf(x.dtype()), DType::kI64) - ones, x.dtype()));
}

// Imports bitcast_convert. Between types of different widths, the result gains
// or loses a last dim.
void ImportBitcastConvert(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const DType to = c.ResultDType();
  if (!c.ok()) return;
  const int from_bits = BitsOf(x.dtype()), to_bits = BitsOf(to);
  if (x.dtype() == DType::kBool || to == DType::kBool) {
    if (x.dtype() == to) return c.SetResult(x);
    return c.FailUnsupported("bits of i1");
  }
  if (from_bits == to_bits) return c.SetResult(Bitcast(x, to));
  const int64_t parts =
      from_bits > to_bits ? from_bits / to_bits : to_bits / from_bits;
  if (from_bits > to_bits) {
    const Tensor bits = Unsqueeze(WideBits(x), {x.rank()});
    const Tensor places =
        Cast(IotaAlong(c.builder(), Dim(parts), x.rank(), x.rank() + 1),
             DType::kU64) *
        static_cast<double>(to_bits);
    const Tensor narrow =
        Cast(Binary(Opcode::kShiftRight, bits, places), UnsignedOf(to));
    return c.SetResult(Bitcast(narrow, to));
  }
  const int last = x.rank() - 1;
  if (last < 0 || x.dim(last) != Dim(parts))
    return c.FailInvalid("expected a last dim of " + std::to_string(parts) +
                         ", found " + graph::ShapeToString(x.shape()));
  const Tensor places =
      Cast(IotaAlong(c.builder(), Dim(parts), last, x.rank()), DType::kU64) *
      static_cast<double>(from_bits);
  // The shifted parts of a wide number have no bits in common, so the sum joins
  // them like a bitwise or.
  const Tensor whole = Reduce(Binary(Opcode::kShiftLeft, WideBits(x), places),
                              "sum", {last}, false);
  c.SetResult(Bitcast(Cast(whole, UnsignedOf(to)), to));
}

// Rounds to the nearest number with the given bits of exponent and mantissa.
void ImportReducePrecision(OperationContext& c) {
  const Tensor x = c.Operand(0);
  const int64_t exponent_bits = c.Integer("exponent_bits", {});
  const int64_t mantissa_bits = c.Integer("mantissa_bits", {});
  if (!c.ok()) return;
  if (!x.is_float() || exponent_bits < 1 || mantissa_bits < 0)
    return c.FailInvalid(
        "expected floats, an exponent of 1 bit or more and a "
        "mantissa of 0 or more");
  const int width = BitsOf(x.dtype());
  const int own_mantissa = x.dtype() == DType::kF16    ? 10
                           : x.dtype() == DType::kBF16 ? 7
                           : x.dtype() == DType::kF32  ? 23
                                                       : 52;
  const int own_exponent = width - 1 - own_mantissa;
  const DType type = UnsignedOf(x.dtype());
  const auto number = [&](uint64_t value) {
    return c.IntegerScalar(static_cast<int64_t>(value), type);
  };
  Tensor bits = Bitcast(x, type);
  if (mantissa_bits < own_mantissa) {
    // Rounds the bit pattern to nearest, ties to even. A carry from the
    // mantissa into the exponent gives the right number, too.
    const auto dropped = static_cast<int64_t>(own_mantissa - mantissa_bits);
    const uint64_t last = uint64_t{1} << dropped;
    const Tensor odd = And(ShiftRight(c, bits, dropped), number(1));
    bits = And(bits + odd + number((last >> 1) - 1), number(~(last - 1)));
  }
  if (exponent_bits < own_exponent) {
    const uint64_t sign = uint64_t{1} << (width - 1);
    const uint64_t exponents = ((uint64_t{1} << own_exponent) - 1)
                               << own_mantissa;
    const uint64_t own_bias = (uint64_t{1} << (own_exponent - 1)) - 1;
    const uint64_t bias = (uint64_t{1} << (exponent_bits - 1)) - 1;
    const Tensor exponent = And(bits, number(exponents));
    const Tensor above =
        Less(number((own_bias + bias) << own_mantissa), exponent);
    const Tensor below =
        LessEqual(exponent, number((own_bias - bias) << own_mantissa));
    const Tensor zero = And(bits, number(sign));
    bits =
        Select(above, Or(zero, number(exponents)), Select(below, zero, bits));
  }
  const Tensor rounded = Bitcast(bits, x.dtype());
  c.SetResult(Select(IsNan(x), x, rounded));
}

}  // namespace ember::stablehlo
