// Fourier transforms, whose results are complex numbers, and their parts.
#include <cstdint>
#include <optional>
#include <string>

#include "frontends/ops/waves.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

// Cuts x along a dim, or appends zeros, so that the dim has this length.
Tensor Resized(Tensor x, int axis, int64_t length) {
  if (!x.HasDim(axis) || x.dim(axis) == Dim(length)) return x;
  Shape high(static_cast<size_t>(x.rank()), Dim(0));
  high[static_cast<size_t>(axis)] = Dim(length) - x.dim(axis);
  return Pad(x, Shape(static_cast<size_t>(x.rank()), Dim(0)), high, "constant",
             x.Like(0));
}

bool CheckComplex(OperatorContext& c) {
  if (c.ImaginaryInput(0)) return true;
  c.FailInvalid("input 0: expected complex numbers, found real ones");
  return false;
}

}  // namespace

// Imports RFFT2D. Operands: real matrices x, and their lengths [rows, columns].
// The result has the columns of the spectrum up to the middle: columns / 2 + 1.
void ImportRfft2D(OperatorContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const auto lengths = c.ConstantIntegers(1, "fft_length");
  if (!lengths) return;
  if (lengths->size() != 2) {
    return c.FailInvalid("fft_length: expected 2 values, found " +
                         std::to_string(lengths->size()));
  }
  const int64_t rows = (*lengths)[0], columns = (*lengths)[1];
  if (!c.CheckPositive("fft_length", rows) ||
      !c.CheckPositive("fft_length", columns))
    return;
  Tensor x = c.Input(0);
  const int last = x.rank() - 1;
  x = Resized(Resized(x, last - 1, rows), last, columns);
  const ops::Waves across = ops::MakeWaves(
      c.builder(), Dim(columns), Dim(columns / 2 + 1), Dim(columns), x.dtype());
  const Tensor real = MatMul(x, across.cosine);
  const Tensor imaginary = -MatMul(x, across.sine);
  if (rows == 1) return c.SetComplexOutput(0, real, imaginary);
  // Completes the two-dimensional transform: multiplies by matrices of cosines
  // and sines from the left, which transforms the columns.
  const ops::Waves down =
      ops::MakeWaves(c.builder(), Dim(rows), Dim(rows), Dim(rows), x.dtype());
  c.SetComplexOutput(0,
                     MatMul(down.cosine, real) + MatMul(down.sine, imaginary),
                     MatMul(down.cosine, imaginary) - MatMul(down.sine, real));
}

void ImportReal(OperatorContext& c) {
  if (CheckComplex(c)) c.SetOutput(0, c.Input(0));
}

void ImportImag(OperatorContext& c) {
  if (CheckComplex(c)) c.SetOutput(0, c.ImaginaryInput(0));
}

void ImportComplexAbs(OperatorContext& c) {
  if (!CheckComplex(c)) return;
  const Tensor real = c.Input(0), imaginary = c.ImaginaryInput(0);
  c.SetOutput(0, Sqrt(real * real + imaginary * imaginary));
}

}  // namespace ember::tflite
