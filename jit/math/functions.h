// The formulas that ExpandMath chooses from, for f32 and f64. Internal to
// jit/math; each file says how its functions work.
#ifndef EMBER_JIT_MATH_FUNCTIONS_H_
#define EMBER_JIT_MATH_FUNCTIONS_H_

#include "jit/math/value.h"

namespace ember::jit {

// exponential.cc
Value ExpandExp(Value x);
Value ExpandExpm1(Value x);
// e^x / 2, which overflows later than e^x. x: 0 or more.
Value HalfExp(Value x);
// e^x for x from -80 to 80.
Value ExpOfSmall(Value x);
// 2^x for x from -120 to 120.
Value Exp2OfSmall(Value x);
// e^x - 1 for x from -80 to 80. The sign of 0 is lost.
Value Expm1OfSmall(Value x);

// logarithm.cc
Value ExpandLog(Value x);
Value ExpandLog1p(Value x);
// x = m * 2^exponent with m from low to 2 low; x must be positive and normal,
// low between 1/2 and 1.
struct Mantissa {
  Value m;
  Value exponent;       // as a float
  Value exponent_bits;  // with its bias, where a float has it
};
Mantissa SplitMantissa(Value x, double low, Value exponent_bias);
// The exponent_bias of SplitMantissa for an x that was not scaled.
double ExponentBias(Value x);
// x, or x * 2^mantissa_bits if it is subnormal, and the bias for it.
struct Normalized {
  Value x;
  Value exponent_bias;
};
Normalized Normalize(Value x);

// trigonometric.cc
Value ExpandSin(Value x);
Value ExpandCos(Value x);
Value ExpandTan(Value x);

// inverse_trigonometric.cc
Value ExpandAsin(Value x);
Value ExpandAcos(Value x);
Value ExpandAtan(Value x);
Value ExpandAtan2(Value y, Value x);

// hyperbolic.cc
Value ExpandSinh(Value x);
Value ExpandCosh(Value x);
Value ExpandTanh(Value x);
Value ExpandAsinh(Value x);
Value ExpandAcosh(Value x);
Value ExpandAtanh(Value x);

// error_function.cc
Value ExpandErf(Value x);

// power.cc
Value ExpandPower(Value x, Value y);         // f32, f64
Value ExpandIntegerPower(Value x, Value y);  // every integer type

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_FUNCTIONS_H_
