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
  // Returns the range of the sum of all terms. growth: as
  // BoundsOptions::error_growth.
  ValueRange Result(double growth) const;

 private:
  const DType type_;
  double low_ = 0, high_ = 0, magnitude_ = 0;
  int64_t terms_ = 0;
  bool is_known_ = true;
  // True if all terms so far are exactly known integers. Small sums of integers
  // are exact in every order.
  bool is_whole_ = true;
  // Sum of the terms that are infinite or NaN; 0 if there are none. If it is
  // not 0, it is the result in every order of accumulation.
  double special_ = 0;
};

class ProductBounds {
 public:
  explicit ProductBounds(DType type);
  void Add(const ValueRange& term);
  ValueRange Result() const;

 private:
  // type_: type of the terms; wide_: type in which they are accumulated
  const DType type_, wide_;
  ValueRange product_;
  // The product of the magnitudes of all factors above 1, and that of all
  // factors below 1. Intermediate results in any order lie between these two.
  double most_ = 1, least_ = 1;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_REDUCTION_BOUNDS_H_
