// The formulas that ExpandMath chooses from, for f32 and f64. Internal to
// jit/math. Each source file explains its functions.
#ifndef EMBER_JIT_MATH_FUNCTIONS_H_
#define EMBER_JIT_MATH_FUNCTIONS_H_

#include "jit/math/term.h"

namespace ember::jit {

// Functions that exponential.cc defines:
Term ExpandExp(Term x);
Term ExpandExpm1(Term x);
// Returns e^x / 2, which overflows later than e^x. x: 0 or more.
Term HalfExp(Term x);
// Returns e^x for x from -80 to 80.
Term ExpOfSmall(Term x);
// Returns 2^x for x from -120 to 120.
Term Exp2OfSmall(Term x);
// Returns e^x - 1 for x from -80 to 80. The sign of 0 is lost.
Term Expm1OfSmall(Term x);

// Functions that logarithm.cc defines:
Term ExpandLog(Term x);
Term ExpandLog1p(Term x);
// A positive normal number x as the product m * 2^exponent, with m from `low`
// (between 1/2 and 1) to 2 `low`.
struct Mantissa {
  Term m;
  Term exponent;  // the exponent, as a float
  // the exponent with the float's bias added, in those bits in which a float
  // has its exponent
  Term exponent_bits;
};
Mantissa SplitMantissa(Term x, double low, Term exponent_bias);
// Returns the argument `exponent_bias` with which SplitMantissa splits a number
// that Normalize has not scaled.
double ExponentBias(Term x);
// A normal number to use instead of a number x that may be subnormal: x itself,
// or x * 2^mantissa_bits if x is subnormal. exponent_bias is the argument with
// which SplitMantissa corrects the scaling.
struct Normalized {
  Term x;
  Term exponent_bias;
};
Normalized Normalize(Term x);

// Functions that trigonometric.cc defines:
Term ExpandSin(Term x);
Term ExpandCos(Term x);
Term ExpandTan(Term x);

// Functions that inverse_trigonometric.cc defines:
Term ExpandAsin(Term x);
Term ExpandAcos(Term x);
Term ExpandAtan(Term x);
Term ExpandAtan2(Term y, Term x);

// Functions that hyperbolic.cc defines:
Term ExpandSinh(Term x);
Term ExpandCosh(Term x);
Term ExpandTanh(Term x);
Term ExpandAsinh(Term x);
Term ExpandAcosh(Term x);
Term ExpandAtanh(Term x);

// Functions that error_function.cc defines:
Term ExpandErf(Term x);

// Functions that power.cc defines:
Term ExpandPower(Term x, Term y);         // powers of f32 and f64
Term ExpandIntegerPower(Term x, Term y);  // powers of integers of every type

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_FUNCTIONS_H_
