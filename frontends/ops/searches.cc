#include "frontends/ops/searches.h"

#include <string>

#include "frontends/ops/dims.h"
#include "frontends/ops/errors.h"

namespace ember::ops {

void RequireElements(const Tensor& x, int axis, std::string_view operation) {
  graph::GraphBuilder& builder = x.builder();
  if (!builder.status().ok() || !x.HasDim(axis)) return;
  const Dim rest = x.dim(axis) - Dim(1);
  if (IsNonNegative(rest)) return;
  const std::string fault =
      std::string(operation) + ": expected at least one element along axis " +
      std::to_string(axis < 0 ? axis + x.rank() : axis) + " of " +
      graph::ToString(x.value()->type()) + ", found none";
  if (rest.is_constant()) return FailInvalid(builder, fault);
  // The operator "extents" refuses negative values.
  builder.ApplyAll(
      "extents", {builder.ShapeValue({rest})},
      {{"defines", Shape{builder.FreshSymbol()}}, {"message", fault}});
}

Tensor PlaceOfExtreme(Tensor x, int axis, std::string_view mode, bool last) {
  RequireElements(x, axis, "arg search");
  if (x.dtype() == DType::kBool) x = Cast(x, DType::kU8);
  return Apply("arg_reduce", {x},
               {{"mode", std::string(mode)},
                {"axis", int64_t{axis}},
                {"last", int64_t{last}}});
}

}  // namespace ember::ops
