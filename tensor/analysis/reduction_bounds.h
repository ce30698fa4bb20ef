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
  // Returns the range of the sum. growth: see BoundsOptions::error_growth.
  ValueRange Result(double growth) const;

 private:
  const DType type_;
  double low_ = 0, high_ = 0, magnitude_ = 0;
  int64_t terms_ = 0;
  bool is_known_ = true;
  // true: all terms are integers, and their sum is exact
  bool is_whole_ = true;
  // Sum of the infinities and NaNs among the terms, which determine the result
  // in every order.
  double special_ = 0;
};

class ProductBounds {
 public:
  explicit ProductBounds(DType type);
  void Add(const ValueRange& term);
  ValueRange Result() const;

 private:
  const DType type_, wide_;  // type of the terms, and type of the accumulators
  ValueRange product_;
  // Products of all large factors, and of all small ones: the extreme values
  // that some order reaches.
  double most_ = 1, least_ = 1;
};

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_ANALYSIS_REDUCTION_BOUNDS_H_
