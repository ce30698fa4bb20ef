#include "tune/model/error_memory.h"

#include <algorithm>
#include <cmath>

namespace ember::tune {
namespace {

// Share of the error's variance that the features explain. The rest is noise of
// the measurements and effects that no feature describes.
constexpr double kSignal = 0.8;
// Length scale of the kernel: if the features of two candidates differ by this
// distance or more, their errors are hardly correlated.
constexpr double kLength = 4;

double Square(double x) { return x * x; }

// Solves lower * x = b, where `lower` is a lower triangular matrix; b becomes
// x.
void SolveLower(const std::vector<std::vector<double>>& lower,
                std::vector<double>& b) {
  for (size_t i = 0; i < lower.size(); ++i) {
    for (size_t j = 0; j < i; ++j) b[i] -= lower[i][j] * b[j];
    b[i] /= lower[i][i];
  }
}

// Solves transpose(lower) * x = b, where `lower` is a lower triangular matrix;
// b becomes x.
void SolveUpper(const std::vector<std::vector<double>>& lower,
                std::vector<double>& b) {
  for (size_t i = lower.size(); i-- > 0;) {
    for (size_t j = i + 1; j < lower.size(); ++j) b[i] -= lower[j][i] * b[j];
    b[i] /= lower[i][i];
  }
}

}  // namespace

void ErrorMemory::Add(std::span<const float> features, double error) {
  errors_.push_back({{features.begin(), features.end()}, error});
  if (errors_.size() > kMaxErrors) errors_.pop_front();
}

double ErrorMemory::Covariance(std::span<const float> a,
                               std::span<const float> b) const {
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i)
    distance += Square(static_cast<double>(a[i] - b[i]));
  return kSignal * Square(deviation_) *
         std::exp(-distance / (2 * Square(kLength)));
}

void ErrorMemory::Learn() {
  const double noise = (1 - kSignal) * Square(deviation_) + 1e-6;
  factor_.clear();
  weights_.clear();
  for (size_t i = 0; i < errors_.size(); ++i) {
    std::vector<double> row;
    for (size_t j = 0; j <= i; ++j) {
      double value = Covariance(errors_[i].features, errors_[j].features);
      const std::vector<double>& other = j < i ? factor_[j] : row;
      for (size_t k = 0; k < j; ++k) value -= row[k] * other[k];
      row.push_back(j < i ? value / other[j]
                          : std::sqrt(std::max(value + noise, noise / 2)));
    }
    factor_.push_back(std::move(row));
    weights_.push_back(errors_[i].error);
  }
  SolveLower(factor_, weights_);
  SolveUpper(factor_, weights_);
}

ErrorMemory::Expected ErrorMemory::At(std::span<const float> features) const {
  std::vector<double> covariances;
  Expected expected;
  for (size_t i = 0; i < weights_.size(); ++i) {
    covariances.push_back(Covariance(features, errors_[i].features));
    expected.mean += covariances.back() * weights_[i];
  }
  SolveLower(factor_, covariances);
  double variance = Square(deviation_);
  for (double known : covariances) variance -= Square(known);
  expected.deviation = std::sqrt(std::max(variance, 0.0));
  return expected;
}

}  // namespace ember::tune
