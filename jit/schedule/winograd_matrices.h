// The matrices of Winograd's (Cook and Toom's) convolutions F(m, r): m results
// of a filter of r coefficients from n = m + r - 1 elements, with n
// multiplications instead of m * r.
//
//   WinogradMatrices f = MakeWinogradMatrices(4, 3);
//   // y[i] = sum(j) output[i][j] * (sum(k) filter[j][k] * g[k])
//   //                            * (sum(k) input[j][k] * x[k])
//
// The transformations in two dims are these in each. They are made from the
// polynomials with the zeros 0, 1, -1, 2, -2, which are exact in floats but for
// quotients in `filter`.
//
// The error. Sums are of elements that were multiplied by coefficients and
// cancel again, so errors are larger than those of the sum itself. Measured
// over random values in [-1, 1) (winograd_test.cc), the largest error of a
// result, relative to the sum of |x| * |w| that it is, in units of 2^-24:
//
//   direct, in f32    about 1
//   F(2, 3)           kWinogradError of it
//   F(4, 3)
#ifndef EMBER_JIT_SCHEDULE_WINOGRAD_MATRICES_H_
#define EMBER_JIT_SCHEDULE_WINOGRAD_MATRICES_H_

#include <vector>

namespace ember::schedule {

// Elements of an input tile, at most: more points make errors grow beyond use.
inline constexpr int kLargestWinogradTile = 6;

using Matrix = std::vector<std::vector<double>>;

struct WinogradMatrices {
  Matrix input;   // n x n
  Matrix filter;  // n x r
  Matrix output;  // m x n
};

// outputs >= 1, taps >= 2, outputs + taps - 1 <= kLargestWinogradTile.
WinogradMatrices MakeWinogradMatrices(int outputs, int taps);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_WINOGRAD_MATRICES_H_
