#include "tune/model/residuals.h"

#include <cmath>

#include "base/check.h"

namespace ember::tune {

Residuals::Residuals(std::span<const double> scores,
                     std::span<const double> seconds) {
  EMBER_CHECK(scores.size() == seconds.size());
  double sum = 0;
  for (size_t i = 0; i < seconds.size(); ++i) {
    if (!std::isfinite(seconds[i]) || seconds[i] <= 0) continue;
    residuals_.push_back({i, -std::log(seconds[i]) - scores[i]});
    sum += residuals_.back().error;
  }
  for (Residual& residual : residuals_)
    residual.error -= sum / static_cast<double>(residuals_.size());
}

}  // namespace ember::tune
