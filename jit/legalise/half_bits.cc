#include "jit/legalise/half_bits.h"

namespace ember::jit::legalise {

Term EncodeHalf(Term single) {
  const Term bits = Bitcast(single, DType::kU32);
  const Term sign = (bits >> 16) & 0x8000;
  const Term size = bits & 0x7fffffff;
  // 2^-14 and above: the exponent is less by 112, 13 bits are rounded off.
  const Term odd = (size >> 13) & 1;
  const Term normal = ((size - ((112 << 23) - 0xfff)) + odd) >> 13;
  // Below, an ulp of 0.5 is 2^-24, so that adding it rounds to units of that.
  const Term half = single.Number(0.5);
  const Term sum = Bitcast(size, DType::kF32) + half;
  const Term units = Bitcast(sum, DType::kU32) - Bitcast(half, DType::kU32);
  Term result = Select(size < 113 << 23, units, normal);
  // 65520 and above.
  result = Select(size < 0x477ff000, result, size.Integer(0x7c00));
  const Term nan = ((size >> 13) & 0x3ff) | 0x7e00;
  result = Select(size < 0x7f800001, result, nan);
  return result | sign;
}

Term DecodeHalf(Term bits) {
  const Term sign = (bits & 0x8000) << 16;
  const Term size = bits & 0x7fff;
  const Term shifted = size << 13;
  const Term normal = shifted + (112 << 23);
  const Term large = shifted + (224 << 23);  // infinities and NaNs
  // Machines convert signed integers.
  const Term units = Cast(RawCast(size, DType::kI32), DType::kF32);
  const Term subnormal = Bitcast(units * units.Number(0x1p-24), DType::kU32);
  Term result = Select(size < 0x400, subnormal, normal);
  result = Select(size < 0x7c00, result, large);
  return Bitcast(result | sign, DType::kF32);
}

}  // namespace ember::jit::legalise
