// chlo's special functions, computed in f64.
#include "frontends/ops/special.h"

#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

void SetInDouble(OperationContext& c, Tensor (*function)(Tensor)) {
  const Tensor x = c.Operand(0);
  if (!x.is_float()) return c.FailInvalid("operand 0: expected floats");
  c.SetResult(Cast(function(Cast(x, DType::kF64)), x.dtype()));
}

}  // namespace

void ImportErfComplement(OperationContext& c) {
  SetInDouble(c, ops::ErfComplement);
}
void ImportErfInverse(OperationContext& c) { SetInDouble(c, ops::ErfInverse); }
void ImportLogGamma(OperationContext& c) { SetInDouble(c, ops::LogGamma); }
void ImportDigamma(OperationContext& c) { SetInDouble(c, ops::Digamma); }

}  // namespace ember::stablehlo
