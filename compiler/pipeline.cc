#include "compiler/pipeline.h"

#include <chrono>
#include <iterator>

#include "base/progress.h"
#include "compiler/graph/text.h"
#include "compiler/graph/verifier.h"
#include "compiler/passes/capture_constants.h"
#include "compiler/passes/dequantize_late.h"
#include "compiler/passes/eliminate.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/fold_pads.h"
#include "compiler/passes/fold_scales.h"
#include "compiler/passes/narrow_products.h"
#include "compiler/passes/narrow_weights.h"
#include "compiler/passes/simplify.h"
#include "compiler/passes/sink_transposes.h"

namespace ember::compiler {
namespace {

constexpr Pass kPipeline[] = {
    {"simplify", "drops operations that compute nothing", Simplify},
    // Weights are still bytes.
    {"dequantize-late", "quantizers' float operators compute with integers",
     DequantizeLate},
    {"fold-constants",
     "computes operations on constants by running their definition",
     FoldConstants},
    // Weights that were computed outside; regions fold them from here on.
    {"capture-constants", "constants that regions use become theirs",
     CaptureConstants},
    // Before transposes move: equal transposes of one value are then seen as
    // one.
    {"eliminate-common-subexpressions", "merges equal operations",
     EliminateCommonSubexpressions},
    {"sink-transposes",
     "moves transposes down until they cancel: channels-last throughout",
     SinkTransposes},
    {"simplify", "what the moved transposes left", Simplify},
    // The weights' own transposes; fold-scales looks for constant weights.
    {"fold-constants", "constants that were transposed", FoldConstants},
    {"fold-pads", "zero pads become the padding of convolutions and windows",
     FoldPads},
    {"fold-scales", "batch-norm scales become part of the weights", FoldScales},
    // Where transposes and constants have come to rest.
    {"narrow-products", "products of quantized tensors read bytes",
     NarrowProducts},
    {"fold-constants", "scaled weights, biases, sums of weights",
     FoldConstants},
    // Behind what would fold them again.
    {"narrow-weights", "weights that f16 or bf16 hold are stored so",
     NarrowWeights},
    {"simplify", "what folding left", Simplify},
    {"eliminate-common-subexpressions", "merges equal operations",
     EliminateCommonSubexpressions},
    {"eliminate-dead-code", "drops operations without use", EliminateDeadCode},
};

}  // namespace

std::span<const Pass> GraphPipeline() { return kPipeline; }

// Behind the passes: dispatches are formed, the program is written.
int64_t CompileSteps() {
  return static_cast<int64_t>(std::size(kPipeline)) + 2;
}

// The regions inside first: what they do not use any more then shows outside.
Status RunPass(const Pass& pass, graph::Graph& graph) {
  for (graph::Operation* operation : graph.Operations()) {
    for (const auto& region : operation->regions())
      EMBER_RETURN_IF_ERROR(RunPass(pass, *region));
  }
  return pass.run(graph);
}

Status RunPipeline(graph::Graph& graph, const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto dumps = [&](std::string_view name) {
    return options.dump &&
           (options.dump_after == "all" || options.dump_after == name);
  };
  // Dumps are for reading: large constants by hash only.
  const auto text_of = [](const graph::Graph& g) {
    return Print(g, {.elide_constants = true});
  };
  std::string before = options.dump && !options.dump_after.empty()
                           ? text_of(graph)
                           : std::string();
  if (dumps(kImport)) options.dump(kImport, 0, before);
  int number = 0;
  for (const Pass& pass : kPipeline) {
    ++number;
    if (options.disabled_passes.contains(std::string(pass.name))) continue;
    EMBER_RETURN_IF_ERROR(ReportStep(
        options.progress, {"compile", pass.name, number - 1, CompileSteps()}));
    const Clock::time_point start = Clock::now();
    if (Status status = RunPass(pass, graph); !status.ok()) {
      return status.WithContext("pass " + std::string(pass.name));
    }
    const double milliseconds =
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (Status status = graph::Verify(graph); !status.ok()) {
      return InternalError("after pass " + std::string(pass.name) + ": " +
                           std::string(status.message()));
    }
    if (options.timing) options.timing(pass.name, milliseconds);
    if (options.dump && !options.dump_after.empty()) {
      std::string after = text_of(graph);
      if (dumps(pass.name))
        options.dump(pass.name, number,
                     after == before ? "(unchanged)" : after);
      before = std::move(after);
    }
  }
  return OkStatus();
}

}  // namespace ember::compiler
