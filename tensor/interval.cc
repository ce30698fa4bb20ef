#include "tensor/interval.h"

#include "base/checked_math.h"

namespace ember::tensor {

Interval FloorDivide(Interval a, Interval divisor) {
  if (divisor.low <= 0) return Interval::Full();
  // The quotient is monotonic in a and, for a fixed a, in the divisor. So its
  // least and largest value occur at ends of the two ranges.
  const int64_t corners[4] = {
      FloorQuotient(a.low, divisor.low), FloorQuotient(a.low, divisor.high),
      FloorQuotient(a.high, divisor.low), FloorQuotient(a.high, divisor.high)};
  return {*std::min_element(corners, corners + 4),
          *std::max_element(corners, corners + 4)};
}

Interval Modulo(Interval a, Interval divisor) {
  if (divisor.low <= 0) return Interval::Full();
  if (divisor.IsConstant() &&
      FloorQuotient(a.low, divisor.low) == FloorQuotient(a.high, divisor.low)) {
    return {FloorRemainder(a.low, divisor.low),
            FloorRemainder(a.high, divisor.low)};
  }
  if (a.low >= 0 && a.high < divisor.low) return a;
  const int64_t high = divisor.high - 1;
  return {0, a.low >= 0 ? std::min(high, a.high) : high};
}

}  // namespace ember::tensor
