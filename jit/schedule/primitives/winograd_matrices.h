// The matrices of Winograd's (Cook and Toom's) convolutions F(m, r): m results
// of a filter of r coefficients from n = m + r - 1 elements, with n
// multiplications instead of m * r.
//
//   WinogradMatrices f = MakeWinogradMatrices(4, 3);
//   // y[i] = sum(j) output[i][j] * (sum(k) filter[j][k] * g[k])
//   //                            * (sum(k) input[j][k] * x[k])
//
// Transformations in two dims apply these in each dim. The matrices are made
// from the polynomials with the zeros 0, 1, -1, 2, -2, which are exact in
// floats except for quotients in `filter`.
//
// Errors: the terms of a sum are multiplied by coefficients and then cancel, so
// rounding errors can be much larger than those of the direct sum. With 64
// channels of random values in [-1, 1) the largest error of a result, relative
// to the sum of |x| * |w| of that result (winograd_test.cc, which fails beyond
// these):
//
//   direct    1.2e-7
//   F(2, 3)   0.7e-7
//   F(4, 3)   1.1e-6
//
// A direct sum has an error relative to the terms of one result. Here the error
// is relative to the largest result of a tile: much larger elements outside a
// result's window add their error to it, and infinities and NaNs spread over
// the tile.
#ifndef EMBER_JIT_SCHEDULE_PRIMITIVES_WINOGRAD_MATRICES_H_
#define EMBER_JIT_SCHEDULE_PRIMITIVES_WINOGRAD_MATRICES_H_

#include <vector>

namespace ember::schedule {

// Largest number of elements of an input tile along one dim. Larger tiles need
// more points, with which errors become too large.
inline constexpr int kLargestWinogradTile = 6;

using Matrix = std::vector<std::vector<double>>;

struct WinogradMatrices {
  Matrix input;   // n x n matrix: transforms a tile of the input
  Matrix filter;  // n x r matrix: transforms the filter
  Matrix output;  // m x n matrix: transforms products to results
};

// Returns the largest factor by which errors in one dim exceed those of the
// directly computed sum of products, for operands of one magnitude. In two dims
// the factor is squared. F(2, 3): 2.7, F(4, 3): 16.
double ErrorGrowth(const WinogradMatrices& matrices);

// Returns the matrices of F(outputs, taps). Requires outputs >= 1, taps >= 2,
// outputs + taps - 1 <= kLargestWinogradTile.
WinogradMatrices MakeWinogradMatrices(int outputs, int taps);

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_PRIMITIVES_WINOGRAD_MATRICES_H_
