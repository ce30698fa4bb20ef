// Stores the errors of a cost model's scores on measured candidates, and
// predicts similar errors for candidates with similar features.
//
//   ErrorMemory errors(0.5);        // a model with errors of about 0.5
//   errors.Add(features, 0.3);      // it was 0.3 too low there
//   errors.Learn();
//   errors.At(features).mean;       // a bit less than 0.3
//
// This is a Gaussian process with a squared exponential kernel; see Rasmussen,
// Williams, "Gaussian Processes for Machine Learning" (2006), algorithm 2.1.
// Only the last kMaxErrors errors are kept. Internal to cost models.
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

  // `deviation` is the expected size of the model's errors on candidates that
  // are unlike all measured ones.
  explicit ErrorMemory(double deviation) : deviation_(deviation) {}

  void Add(std::span<const float> features, double error);
  // Includes the errors that were added since the last call in the results of
  // At. Takes time cubic in the number of errors.
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
  // factor_ is the lower triangle of the Cholesky factor of the errors'
  // covariance matrix, row by row. weights_ solves covariances * weights =
  // errors.
  std::vector<std::vector<double>> factor_;
  std::vector<double> weights_;
};

}  // namespace ember::tune

#endif  // EMBER_TUNE_MODEL_ERROR_MEMORY_H_
