// Computes quantiles with the definition that ort_bench.mjs uses, so that times
// of Ember and of ONNX Runtime can be compared.
//
//   Quantiles times(std::move(milliseconds));   // times.At(0.5) is the median
#ifndef EMBER_TOOLS_LIB_REPORT_STATISTICS_H_
#define EMBER_TOOLS_LIB_REPORT_STATISTICS_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ember::tools {

class Quantiles {
 public:
  explicit Quantiles(std::vector<double> values) : values_(std::move(values)) {
    EMBER_CHECK(!values_.empty()) << "quantiles of nothing";
    std::sort(values_.begin(), values_.end());
  }
  // Returns a quantile: the value below which the part `share` of all values
  // lies. At(0.5) is the median.
  double At(double share) const {
    const auto index =
        static_cast<size_t>(share * static_cast<double>(values_.size()));
    return values_[std::min(values_.size() - 1, index)];
  }

 private:
  std::vector<double> values_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_STATISTICS_H_
