// Fourier transforms, whose results are complex numbers, and their parts.
#include <cstdint>
#include <optional>
#include <string>

#include "frontends/ops/fourier.h"
#include "frontends/tflite/operator_table.h"

namespace ember::tflite {
namespace {

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
  const Tensor x = c.Input(0);
  const int last = x.rank() - 1;
  ops::ComplexParts y =
      ops::FourierTransform({ops::WithLength(x, last - 1, Dim(rows)), {}}, last,
                            Dim(columns), Dim(columns / 2 + 1), false);
  if (rows > 1)
    y = ops::FourierTransform(y, last - 1, Dim(rows), Dim(rows), false);
  c.SetComplexOutput(0, y.real, y.imaginary);
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
