#include <iterator>

#include "jit/math/coefficients.h"
#include "jit/math/functions.h"

namespace ember::jit {
namespace {

// Returns erf x: x + x P(x^2) for |x| < 0.9, otherwise 1 - 2^(|x| P(|x|)) with
// the sign of x. Both polynomials have the same degree, so one evaluation is
// enough, with coefficients chosen at run time.
Term ErfF32(Term x) {
  // For |x| above 4 the result rounds to 1 or -1, so |x| is limited to 4.
  const Term a = AtMost(Absolute(x), 4);
  const Term is_near = a < 0.9;
  const Term position = Select(is_near, a * a, a);
  const auto coefficient = [&](size_t i) {
    return Select(is_near, x.Number(kErfF32[i]), kErfcF32[i]);
  };
  size_t i = std::size(kErfF32) - 1;
  Term sum = coefficient(i);
  while (i-- > 0) sum = sum * position + coefficient(i);
  const Term product = a * sum;
  const Term result = Select(is_near, a + product, 1.0 - Exp2OfSmall(product));
  return WithSign(result, x);
}

// Returns erf x: x + x P(x^2) for |x| < 1; otherwise 1 - erfc|x| with the sign
// of x, where erfc a = e^(-a^2) Q((a - 3) / (a + 3)). P and Q are polynomials.
Term ErfF64(Term x) {
  const Term a = Absolute(x);
  const Term z = x * x;
  const Term near = x + x * Polynomial(z, kErfF64);
  const Term bounded = AtMost(a, 6);
  const Term position = (bounded - 3.0) / (bounded + 3.0);
  const Term complement =
      ExpOfSmall(-(bounded * bounded)) * Polynomial(position, kErfcF64);
  return Select(a < 1.0, near, WithSign(1.0 - complement, x));
}

}  // namespace

Term ExpandErf(Term x) { return x.is_f32() ? ErfF32(x) : ErfF64(x); }

}  // namespace ember::jit
