
#include "jit/schedule/primitives/winograd_matrices.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ember::schedule {
namespace {

constexpr double kPoints[kLargestWinogradTile - 1] = {0, 1, -1, 2, -2};

// Returns the coefficients of polynomial * (x - zero), the lowest power first.
std::vector<double> TimesFactor(const std::vector<double>& polynomial,
                                double zero) {
  std::vector<double> product(polynomial.size() + 1);
  for (size_t i = 0; i < polynomial.size(); ++i) {
    product[i + 1] += polynomial[i];
    product[i] -= zero * polynomial[i];
  }
  return product;
}

}  // namespace

WinogradMatrices MakeWinogradMatrices(int outputs, int taps) {
  const auto m = static_cast<size_t>(outputs), r = static_cast<size_t>(taps);
  const size_t n = m + r - 1;
  WinogradMatrices result;
  result.input.assign(n, std::vector<double>(n));
  result.filter.assign(n, std::vector<double>(r));
  result.output.assign(m, std::vector<double>(n));
  for (size_t j = 0; j < n; ++j) {
    // The last row of the matrices belongs to the point at infinity.
    const bool is_last = j + 1 == n;
    std::vector<double> polynomial = {1};
    double scale = 1;
    for (size_t l = 0; l + 1 < n; ++l) {
      if (l == j) continue;
      polynomial = TimesFactor(polynomial, kPoints[l]);
      if (!is_last) scale *= kPoints[j] - kPoints[l];
    }
    for (size_t k = 0; k < polynomial.size(); ++k)
      result.input[j][k] = polynomial[k];
    for (size_t k = 0; k < r; ++k) {
      result.filter[j][k] = is_last ? static_cast<double>(k + 1 == r)
                                    : std::pow(kPoints[j], k) / scale;
    }
    for (size_t i = 0; i < m; ++i) {
      result.output[i][j] =
          is_last ? static_cast<double>(i + 1 == m) : std::pow(kPoints[j], i);
    }
  }
  return result;
}

double ErrorGrowth(const WinogradMatrices& matrices) {
  const auto absolute = [](const std::vector<double>& row) {
    double sum = 0;
    for (double coefficient : row) sum += std::abs(coefficient);
    return sum;
  };
  double growth = 0;
  for (const std::vector<double>& row : matrices.output) {
    double sum = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      sum += std::abs(row[j]) * absolute(matrices.filter[j]) *
             absolute(matrices.input[j]);
    }
    growth = std::max(growth, sum);
  }
  return growth / static_cast<double>(matrices.filter[0].size());
}

}  // namespace ember::schedule
