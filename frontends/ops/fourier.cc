#include "frontends/ops/fourier.h"

#include <utility>
#include <vector>

#include "frontends/ops/compositions.h"
#include "frontends/ops/waves.h"

namespace ember::ops {
namespace {

// Swaps an axis with the last one. A second call with the same axis undoes the
// swap.
Tensor SwapWithLast(Tensor x, int axis) {
  if (!x.HasDim(axis)) return x;
  std::vector<int64_t> permutation(static_cast<size_t>(x.rank()));
  for (int i = 0; i < x.rank(); ++i) permutation[static_cast<size_t>(i)] = i;
  std::swap(permutation[static_cast<size_t>(axis)], permutation.back());
  return Transpose(x, permutation);
}

// Prepares the real or imaginary part for the product with a matrix: moves the
// transformed axis to the end, and casts f16 and bf16 to f32.
Tensor Prepared(const Tensor& part, int axis) {
  if (!part) return part;
  return SwapWithLast(Cast(part, ComputeType(part.dtype())), axis);
}

}  // namespace

Tensor WithLength(Tensor x, int axis, const Dim& length) {
  if (!x.HasDim(axis) || x.dim(axis) == length) return x;
  Shape high(static_cast<size_t>(x.rank()), Dim(0));
  high[static_cast<size_t>(axis)] = length - x.dim(axis);
  return Pad(x, Shape(high.size(), Dim(0)), high, "constant", x.Like(0));
}

ComplexParts FourierTransform(const ComplexParts& x, int axis,
                              const Dim& length, const Dim& bins,
                              bool inverse) {
  const DType type = x.real.dtype();
  Tensor real = Prepared(x.real, axis);
  Tensor imaginary = Prepared(x.imaginary, axis);
  const int last = real.rank() - 1;
  real = WithLength(real, last, length);
  if (imaginary) imaginary = WithLength(imaginary, last, length);
  const Waves waves =
      MakeWaves(real.builder(), length, bins, length, real.dtype());
  // The forward transform multiplies by e^(-i angle), the inverse one by e^(+i
  // angle).
  Tensor sine = inverse ? waves.sine : -waves.sine;
  Tensor y_real = MatMul(real, waves.cosine);
  Tensor y_imaginary = MatMul(real, sine);
  if (imaginary) {
    y_real = y_real - MatMul(imaginary, sine);
    y_imaginary = y_imaginary + MatMul(imaginary, waves.cosine);
  }
  return {Cast(SwapWithLast(y_real, axis), type),
          Cast(SwapWithLast(y_imaginary, axis), type)};
}

Tensor RealFourierInverse(const ComplexParts& x, int axis, const Dim& length) {
  const DType type = x.real.dtype();
  const Tensor real = Prepared(x.real, axis);
  const Tensor imaginary = Prepared(x.imaginary, axis);
  graph::GraphBuilder& builder = real.builder();
  const Dim bins = real.dim(-1);
  const Waves waves = MakeWaves(builder, bins, length, length, real.dtype());
  Tensor k = IotaVector(builder, bins, DType::kI64);
  Tensor single = Or(Equal(k, 0), Equal(k * 2.0, DimScalar(builder, length)));
  Tensor weight = Select(single, real.Like(1), real.Like(2));
  Tensor y = MatMul(real * weight, waves.cosine);
  if (imaginary) y = y - MatMul(imaginary * weight, waves.sine);
  return Cast(SwapWithLast(y, axis), type);
}

}  // namespace ember::ops
