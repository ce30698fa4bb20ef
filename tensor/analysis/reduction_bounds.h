// Bounds a sum or product of floats for every order of accumulation.
//
//   SumBounds sum(DType::kF32);
//   for (const ValueRange& term : terms) sum.Add(term);
//   const ValueRange result = sum.Result(1);
#ifndef EMBER_TENSOR_ANALYSIS_REDUCTION_BOUNDS_H_
#define EMBER_TENSOR_ANALYSIS_REDUCTION_BOUNDS_H_

#include <cstdint>

#include "tensor/analysis/value_range.h"

namespace ember::tensor {

class SumBounds {
 public:
  explicit SumBounds(DType type) : type_(type) {}
  void Add(const ValueRange& term);
  // Returns the range of the sum. BoundsOptions::error_growth describes
  // `growth`.
  ValueRange Result(double growth) const;

 private:
  const DType type_;
  double low_ = 0, high_ = 0, magnitude_ = 0;
  int64_t terms_ = 0;
  bool is_known_ = true;
  // True if all terms so far are exactly known integers. Small sums of integers
  // are exact in every order.
  bool is_whole_ = true;
  // Sum of those terms that are infinite or NaN. If there are any, this sum is
  // the result in every order of accumulation.
  double special_ = 0;
};

class ProductBounds {
 public:
  explicit ProductBounds(DType type);
  void Add(const ValueRange& term);
  ValueRange Result() const;

 private:
  const DType type_, wide_;  // type_ is the type of the terms, wide_ that of
                             // the accumulators.
  ValueRange product_;
  // Product of all factors with a magnitude above 1, and product of those below
  // 1: no order of the factors has an intermediate result beyond these two.
  double most_ = 1, least_ = 1;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_REDUCTION_BOUNDS_H_
