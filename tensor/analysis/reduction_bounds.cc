#include "tensor/analysis/reduction_bounds.h"

#include <algorithm>
#include <cmath>

#include "tensor/analysis/element_bounds.h"
#include "tensor/scalar.h"
#include "tensor/sum_error.h"

namespace ember::tensor {

void SumBounds::Add(const ValueRange& term) {
  ++terms_;
  is_known_ &= term.is_known;
  if (term.is_exact()) {
    const double number = BitsToDouble(term.bits[0], type_);
    if (!std::isfinite(number)) {
      special_ += number;
      return;
    }
  }
  low_ += term.low;
  high_ += term.high;
  magnitude_ += term.magnitude();
  is_whole_ &= term.is_exact() && term.low == std::trunc(term.low);
}

ValueRange SumBounds::Result(double growth) const {
  if (!is_known_ || std::isnan(low_) || std::isnan(high_))
    return ValueRange::Unknown();
  // If there was an infinite or NaN term, the sum is special_. (special_ != 0
  // is also true for NaN.)
  if (special_ != 0)
    return ValueRange::Exactly(DoubleToBits(special_, type_), type_);
  if (is_whole_ && magnitude_ <= 1 / UnitRoundoff(type_))
    return ValueRange::Exactly(DoubleToBits(low_, type_), type_);
  double error = SumErrorBound(terms_, type_, magnitude_);
  if (growth > 1) {
    error = std::max(
        error, kGrownRoundings * growth * UnitRoundoff(type_) * magnitude_);
  }
  // The ends low_ and high_ were themselves summed in f64; this term bounds the
  // rounding errors of those sums.
  error += static_cast<double>(terms_) * 0x1p-53 * magnitude_;
  return Widen(ValueRange::Between(low_, high_, DType::kF64), error, type_);
}

ProductBounds::ProductBounds(DType type)
    : type_(type),
      wide_(type == DType::kF64 ? type : DType::kF32),
      product_(ValueRange::Exactly(OneBits(wide_), wide_)) {}

void ProductBounds::Add(const ValueRange& term) {
  const ValueRange wide = Apply(Opcode::kCast, type_, wide_, {term, {}, {}});
  product_ = Apply(Opcode::kMultiply, wide_, wide_, {product_, wide, {}});
  most_ *= std::max(1.0, term.magnitude());
  const double least = std::min(std::abs(term.low), std::abs(term.high));
  if (least > 0) least_ *= std::min(1.0, least);
}

ValueRange ProductBounds::Result() const {
  // Executors may multiply the factors in any order. In some order an
  // intermediate product may overflow to infinity, which gives NaN if a factor
  // is zero, or underflow to zero.
  const bool may_overflow = wide_ == DType::kF64 ? most_ > 1e300 : most_ > 1e38;
  const bool may_vanish =
      wide_ == DType::kF64 ? least_ < 1e-300 : least_ < 1e-37;
  if (may_overflow || may_vanish) return ValueRange::Unknown();
  return Apply(Opcode::kCast, wide_, type_, {product_, {}, {}});
}

}  // namespace ember::tensor
