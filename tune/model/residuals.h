// The errors (residuals) of a cost model's scores for measured candidates of
// one task, the "group".
//
//   const Residuals residuals(scores, seconds);
//   residuals[0].candidate;   // its position in the group
//   residuals[0].error;       // by how much its score was too low
//
// Only differences between scores of a task have a meaning, so the mean of the
// errors is subtracted from each error. Candidates that failed, whose time is
// not finite or not positive, are left out. Internal to cost models.
#ifndef EMBER_TUNE_MODEL_RESIDUALS_H_
#define EMBER_TUNE_MODEL_RESIDUALS_H_

#include <cstddef>
#include <span>
#include <vector>

namespace ember::tune {

struct Residual {
  size_t candidate = 0;
  double error = 0;
};

class Residuals {
 public:
  // Computes the errors. `scores` and `seconds` have one element for each
  // candidate of the group.
  Residuals(std::span<const double> scores, std::span<const double> seconds);

  size_t size() const { return residuals_.size(); }
  const Residual& operator[](size_t i) const { return residuals_[i]; }

 private:
  std::vector<Residual> residuals_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_RESIDUALS_H_
