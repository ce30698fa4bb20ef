#include "compiler/passes/capture_constants.h"

#include "compiler/graph/operators.h"
#include "compiler/passes/constant_value.h"

namespace ember::compiler {
namespace {

using graph::Graph;
using graph::Operation;
using graph::Value;

// Replaces a region's captured input by a constant inside the region, which
// shares the bytes of the outer constant.
Status ReplaceInput(Graph& region, Value* input, const Operation& constant) {
  if (input->unused()) return OkStatus();
  const Operation* first =
      region.operations().empty() ? nullptr : region.operations().front().get();
  EMBER_ASSIGN_OR_RETURN(
      Operation * copy, region.Add(constant.record(), {}, constant.attributes(),
                                   constant.origin(), first));
  copy->result()->set_name(input->name());
  region.ReplaceAllUses(input, copy->result());
  return OkStatus();
}

}  // namespace

Status CaptureConstants(Graph& graph) {
  for (Operation* operation : graph.Operations()) {
    if (operation->regions().empty()) continue;
    const int first_input = graph::FirstCapturedInput(*operation);
    const auto inputs = operation->regions()[0]->inputs();
    const int captures = static_cast<int>(inputs.size()) - first_input;
    for (int i = 0; i < captures; ++i) {
      const Operation* constant = ConstantOf(
          operation->operand(operation->operand_count() - captures + i));
      if (constant == nullptr) continue;
      for (const auto& region : operation->regions()) {
        Value* input = region->inputs()[static_cast<size_t>(first_input + i)];
        EMBER_RETURN_IF_ERROR(ReplaceInput(*region, input, *constant));
      }
    }
    // Regions inside of this region may capture the new copies, so they get
    // copies of their own.
    for (const auto& region : operation->regions())
      EMBER_RETURN_IF_ERROR(CaptureConstants(*region));
  }
  return OkStatus();
}

}  // namespace ember::compiler
