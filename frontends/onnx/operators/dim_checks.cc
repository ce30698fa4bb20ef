#include "frontends/onnx/operators/dim_checks.h"

#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

void RequireNotNegative(NodeContext& c, const Dim& dim,
                        const std::string& message) {
  if (!c.ok() || ops::IsNonNegative(dim)) return;
  if (dim.is_constant()) {
    if (dim.constant() < 0) c.FailInvalid(message);
    return;
  }
  // The operator "extents" fails at run time if a value is negative, so it
  // checks dim >= 0.
  graph::GraphBuilder& builder = c.builder();
  builder.ApplyAll(
      "extents", {builder.ShapeValue({dim})},
      {{"defines", Shape{builder.FreshSymbol()}}, {"message", message}});
}

}  // namespace

void RequireEqual(NodeContext& c, const Dim& a, const Dim& b,
                  const std::string& message) {
  if (a != b) RequireNotNegative(c, Minimum(a - b, b - a), message);
}

void RequireAtMost(NodeContext& c, const Dim& dim, const Dim& most,
                   const std::string& message) {
  RequireNotNegative(c, most - dim, message);
}

}  // namespace ember::onnx
