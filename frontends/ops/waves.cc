#include "frontends/ops/waves.h"

#include <cmath>

#include "frontends/ops/compositions.h"

namespace ember::ops {

Waves MakeWaves(graph::GraphBuilder& builder, const Dim& rows,
                const Dim& columns, const Dim& n, DType type) {
  const Tensor j = AlongAxis(IotaVector(builder, rows, DType::kI64), 0, 2);
  const Tensor k = AlongAxis(IotaVector(builder, columns, DType::kI64), 1, 2);
  const Tensor length = DimScalar(builder, n);
  const Tensor angle = Cast(Modulo(j * k, length), DType::kF64) * (2 * M_PI) /
                       Cast(length, DType::kF64);
  return {Cast(Cos(angle), type), Cast(Sin(angle), type)};
}

}  // namespace ember::ops
