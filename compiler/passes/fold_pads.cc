#include "compiler/passes/fold_pads.h"

#include <string>
#include <utility>

#include "compiler/passes/constant_value.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Operation;
using graph::Shape;

bool IsZeroPad(const Operation* operation) {
  if (operation == nullptr || operation->name() != "pad") return false;
  if (operation->attributes().Get<std::string>("mode") != "constant")
    return false;
  if (operation->operand_count() == 1) return true;
  return UniformConstant(operation->operand(1)) == 0.0;
}

// True if all amounts of padding are constants and not negative. Only such a
// pad can become the padding of a window.
bool IsNonNegative(const Shape& shape) {
  for (const Dim& dim : shape) {
    if (!dim.is_constant() || dim.constant() < 0) return false;
  }
  return true;
}

}  // namespace

Status FoldPads(graph::Graph& graph) {
  Rewriter rewriter(graph);
  for (Operation* operation : graph.Operations()) {
    const bool is_conv = operation->name() == "conv";
    const bool is_sum =
        operation->name() == "reduce_window" &&
        operation->attributes().Get<std::string>("combiner") == "sum";
    if (!is_conv && !is_sum) continue;
    const Operation* pad = operation->operand(0)->producer();
    if (!IsZeroPad(pad)) continue;
    const Shape& low = pad->attributes().Get<Shape>("low");
    const Shape& high = pad->attributes().Get<Shape>("high");
    if (!IsNonNegative(low) || !IsNonNegative(high)) continue;
    const size_t rank = low.size();
    if (is_conv && (low[0] != Dim(0) || high[0] != Dim(0) ||
                    low[rank - 1] != Dim(0) || high[rank - 1] != Dim(0))) {
      continue;
    }
    graph::Attributes attributes = operation->attributes();
    Shape new_low = attributes.Get<Shape>("low"),
          new_high = attributes.Get<Shape>("high");
    const size_t first =
        // The attributes `low` and `high` of conv have no entries for the batch
        // dim, which comes before the spatial dims.
        is_conv ? 1 : 0;
    for (size_t i = 0; i < new_low.size(); ++i) {
      new_low[i] = new_low[i] + low[first + i];
      new_high[i] = new_high[i] + high[first + i];
    }
    attributes.Set("low", new_low);
    attributes.Set("high", new_high);
    std::vector<graph::Value*> operands = OperandsOf(*operation);
    operands[0] = pad->operand(0);
    rewriter.StartAt(operation);
    EMBER_ASSIGN_OR_RETURN(graph::Value * folded,
                           rewriter.MakeLike(*operation, std::move(operands),
                                             std::move(attributes)));
    rewriter.Replace(operation, folded);
  }
  return OkStatus();
}

}  // namespace ember::compiler
