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
// The error. What is summed was multiplied by coefficients and cancels again,
// so rounding errors are larger than those of the sum itself. With 64 channels
// of random values in [-1, 1) the largest error of a result, relative to the
// sum of |x| * |w| that it is (winograd_test.cc, which fails beyond these):
//
//   direct    1.2e-7
//   F(2, 3)   0.7e-7
//   F(4, 3)   1.1e-6
//
// What is relative to the sum of one result in a direct one is relative to the
// largest of a tile here: elements beside a result's window that are much
// larger lend it their error, and infinities and NaNs spread over the tile.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_WINOGRAD_MATRICES_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_WINOGRAD_MATRICES_H_

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

// How many times larger errors are, at worst, than those of the same sum of
// products made directly of operands of one magnitude, in one dim; squared in
// two. F(2, 3): 2.7, F(4, 3): 16.
double ErrorGrowth(const WinogradMatrices& matrices);
// What schedules that are chosen by the model allow, in one dim.
inline constexpr double kLargestErrorGrowth = 16.5;

// outputs >= 1, taps >= 2, outputs + taps - 1 <= kLargestWinogradTile.
WinogradMatrices MakeWinogradMatrices(int outputs, int taps);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_WINOGRAD_MATRICES_H_
