// The formulas that ExpandMath chooses from, for f32 and f64. Internal to
// jit/math. Each source file explains its functions.
#ifndef EMBER_JIT_MATH_FUNCTIONS_H_
#define EMBER_JIT_MATH_FUNCTIONS_H_

#include "jit/math/term.h"

namespace ember::jit {

// exponential.cc
Term ExpandExp(Term x);
Term ExpandExpm1(Term x);
// e^x / 2, which overflows later than e^x. x: 0 or more.
Term HalfExp(Term x);
// e^x for x from -80 to 80.
Term ExpOfSmall(Term x);
// 2^x for x from -120 to 120.
Term Exp2OfSmall(Term x);
// e^x - 1 for x from -80 to 80. The sign of 0 is lost.
Term Expm1OfSmall(Term x);

// logarithm.cc
Term ExpandLog(Term x);
Term ExpandLog1p(Term x);
// x = m * 2^exponent with m from low to 2 low; x must be positive and normal,
// low between 1/2 and 1.
struct Mantissa {
  Term m;
  Term exponent;  // the exponent as a float
  // The biased exponent, at the place of a float's exponent.
  Term exponent_bits;
};
Mantissa SplitMantissa(Term x, double low, Term exponent_bias);
// The exponent_bias of SplitMantissa for an x that was not scaled.
double ExponentBias(Term x);
// x, or x * 2^mantissa_bits if it is subnormal, and the exponent bias to use
// then.
struct Normalized {
  Term x;
  Term exponent_bias;
};
Normalized Normalize(Term x);

// trigonometric.cc
Term ExpandSin(Term x);
Term ExpandCos(Term x);
Term ExpandTan(Term x);

// inverse_trigonometric.cc
Term ExpandAsin(Term x);
Term ExpandAcos(Term x);
Term ExpandAtan(Term x);
Term ExpandAtan2(Term y, Term x);

// hyperbolic.cc
Term ExpandSinh(Term x);
Term ExpandCosh(Term x);
Term ExpandTanh(Term x);
Term ExpandAsinh(Term x);
Term ExpandAcosh(Term x);
Term ExpandAtanh(Term x);

// error_function.cc
Term ExpandErf(Term x);

// power.cc
Term ExpandPower(Term x, Term y);         // f32, f64
Term ExpandIntegerPower(Term x, Term y);  // every integer type

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_FUNCTIONS_H_
