// Matrices of cosines and sines. A Fourier transform is a product with them.
//
//   // Half of the spectrum of real rows x[…, n].
//   const Waves waves = MakeWaves(builder, n, n / 2 + 1, n, x.dtype());
//   const Tensor real = MatMul(x, waves.cosine);
//   const Tensor imaginary = -MatMul(x, waves.sine);
#ifndef EMBER_FRONTENDS_OPS_WAVES_H_
#define EMBER_FRONTENDS_OPS_WAVES_H_

#include "frontends/ops/tensor.h"

namespace ember::ops {

struct Waves {
  Tensor cosine, sine;  // [rows, columns]
};

// Returns cos and sin of 2π j k / n for j < rows, k < columns. j k is reduced
// modulo n before it becomes an angle, so that large products lose no
// precision.
Waves MakeWaves(graph::GraphBuilder& builder, const Dim& rows,
                const Dim& columns, const Dim& n, DType type);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_WAVES_H_
