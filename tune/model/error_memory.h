// Remembers by how much a model was wrong on measured candidates, and expects
// the same error on candidates with similar features.
//
//   ErrorMemory errors(0.5);        // a model with errors of about 0.5
//   errors.Add(features, 0.3);      // it was 0.3 too low there
//   errors.Learn();
//   errors.At(features).mean;       // a bit less than 0.3
//
// This is a Gaussian process with a squared exponential kernel; see Rasmussen,
// Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1.
// Only the last kMaxErrors are kept. Internal to cost models.
#ifndef EMBER_TUNE_MODEL_ERROR_MEMORY_H_
#define EMBER_TUNE_MODEL_ERROR_MEMORY_H_

#include <cstddef>
#include <deque>
#include <span>
#include <vector>

namespace ember::tune {

class ErrorMemory {
 public:
  static constexpr size_t kMaxErrors = 256;

  struct Expected {
    double mean = 0;
    double deviation = 0;
  };

  // deviation: the model's errors where nothing has been measured.
  explicit ErrorMemory(double deviation) : deviation_(deviation) {}

  void Add(std::span<const float> features, double error);
  // Makes At use what was added. Takes time cubic in the number of errors.
  void Learn();
  Expected At(std::span<const float> features) const;

 private:
  struct Error {
    std::vector<float> features;
    double error = 0;
  };

  double Covariance(std::span<const float> a, std::span<const float> b) const;

  const double deviation_;
  std::deque<Error> errors_;
  // The lower triangle of the covariances' Cholesky factor, row by row, and the
  // solution of covariances * weights = errors.
  std::vector<std::vector<double>> factor_;
  std::vector<double> weights_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_ERROR_MEMORY_H_
