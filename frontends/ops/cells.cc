#include "frontends/ops/cells.h"

#include "frontends/ops/functions.h"

namespace ember::ops {

States LstmStep(const LstmGates& gates, const Tensor& cell) {
  Tensor next = gates.forget * cell + gates.input * gates.candidate;
  if (gates.cell_limit > 0)
    next = Clip(next, -gates.cell_limit, gates.cell_limit);
  const Tensor output = gates.output(next);
  return {output * gates.activation(next), next};
}

Tensor GruStep(const GruGates& gates, const Tensor& before) {
  const Tensor product = gates.reset_order == GruReset::kAfterProduct
                             ? gates.reset * gates.product(before)
                             : gates.product(gates.reset * before);
  const Tensor candidate = gates.activation(gates.candidate + product);
  return candidate + gates.update * (before - candidate);
}

}  // namespace ember::ops
