#include "compiler/pipeline.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "base/progress.h"
#include "compiler/graph/text/text.h"
#include "compiler/graph/verifier.h"
#include "compiler/lowering/emit.h"
#include "compiler/lowering/fusion.h"
#include "compiler/passes/capture_constants.h"
#include "compiler/passes/check_divisors.h"
#include "compiler/passes/dequantize_late.h"
#include "compiler/passes/eliminate.h"
#include "compiler/passes/fold_constants.h"
#include "compiler/passes/fold_pads.h"
#include "compiler/passes/fold_scales.h"
#include "compiler/passes/hoist_scales.h"
#include "compiler/passes/index_comparisons.h"
#include "compiler/passes/narrow_products.h"
#include "compiler/passes/narrow_weights.h"
#include "compiler/passes/simplify.h"
#include "compiler/passes/sink_transposes.h"
#include "compiler/passes/split_searches.h"
#include "compiler/passes/widen_chains.h"
#include "vm/format/verifier.h"
#include "vm/isa/text.h"

namespace ember::compiler {
namespace {

// --- the steps that follow the graph passes ---

template <bool kJoins>
Status Form(Compilation& compilation) {
  EMBER_ASSIGN_OR_RETURN(
      compilation.plan,
      FormDispatches(compilation.graph, {.join_groups = kJoins}));
  return OkStatus();
}

constexpr Lowering kFormDispatches = {
    .run = Form<true>,
    .run_disabled = Form<false>,
    .verify = [](const Compilation& c) { return VerifyPlan(c.plan); },
    .print = [](const Compilation& c) { return PrintPlan(c.plan); },
};

Status Emit(Compilation& compilation) {
  EMBER_ASSIGN_OR_RETURN(compilation.module,
                         EmitModule(compilation.graph, compilation.plan));
  compilation.module.producer = compilation.producer;
  compilation.module.source_name = compilation.graph.name();
  return OkStatus();
}

constexpr Lowering kEmit = {
    .run = Emit,
    .run_disabled = nullptr,
    .verify = [](const Compilation& c) { return vm::VerifyModule(c.module); },
    .print = [](const Compilation& c) { return vm::PrintModule(c.module); },
};

// --- the list of all steps ---

constexpr PipelineStep kPipeline[] = {
    // widen-chains is the first pass, so that the set of values that are
    // rounded follows from the model alone and not from other passes.
    {"widen-chains", "computes chains of f16 and bf16 in f32", WidenChains},
    {"simplify", "drops operations that compute nothing", Simplify},
    // dequantize-late runs before fold-constants, while weights are still
    // bytes.
    {"dequantize-late", "computes float operators of quantizers with integers",
     DequantizeLate},
    {"hoist-scales", "multiplies factors of 8-bit floats before their scales",
     HoistScales},
    {"fold-constants",
     "computes operations on constants by running their definition",
     FoldConstants, nullptr, /*is_of_all_regions=*/true},
    // The first fold-constants may have computed weights outside of regions.
    // capture-constants copies them into the regions, so that later passes fold
    // operations there.
    {"capture-constants", "moves constants into the regions that use them",
     CaptureConstants},
    // Common subexpressions are merged before sink-transposes runs, so that it
    // sees equal transposes of a value as one.
    {"eliminate-common-subexpressions", "merges equal operations",
     EliminateCommonSubexpressions},
    {"sink-transposes",
     "moves transposes down until they cancel: channels-last throughout",
     SinkTransposes},
    {"simplify", "simplifies the graph after moving transposes", Simplify},
    // Transposes of weights are folded here, because fold-scales (below)
    // applies only to weights that are constants.
    {"fold-constants", "computes transposes of constants", FoldConstants,
     nullptr,
     /*is_of_all_regions=*/true},
    {"fold-pads", "makes zero pads the padding of convolutions and windows",
     FoldPads},
    {"fold-scales", "multiplies batch-norm scales into the weights",
     FoldScales},
    // From here on no pass moves transposes or changes the layout of constants,
    // so the following passes see weights in their final layout.
    {"narrow-products", "lets products of quantized tensors read bytes",
     NarrowProducts},
    {"fold-constants", "computes scaled weights, biases and sums of weights",
     FoldConstants, nullptr, /*is_of_all_regions=*/true},
    // narrow-weights runs after all passes that fold constants, because they
    // would fold its casts again.
    {"narrow-weights", "stores weights as narrow floats that hold them exactly",
     NarrowWeights},
    {"index-comparisons",
     "lets masks compare indices, not constants that count",
     UseIndicesInComparisons},
    // split-searches runs after all passes that fold constants, because they
    // would replace its indices by constants.
    {"split-searches", "replaces arg searches along rows by two reductions",
     SplitSearches},
    {"simplify", "simplifies the graph after folding", Simplify},
    {"eliminate-common-subexpressions", "merges equal operations",
     EliminateCommonSubexpressions},
    {"eliminate-dead-code", "drops operations without use", EliminateDeadCode},
    // check-divisors refuses a model that divides integers by a constant 0. It
    // runs after the passes that drop operations, so that a dropped division is
    // no error.
    {"check-divisors",
     "refuses integers divided by a constant 0; disabled: they give 0",
     CheckDivisors, nullptr, /*is_of_all_regions=*/true},
    {"form-dispatches",
     "joins operations that agree on rows into one dispatch; disabled: each "
     "gets its own",
     nullptr, &kFormDispatches},
    {"emit", "plans memory and writes the program", nullptr, &kEmit},
};

// --- the functions that run the steps ---

// Returns the text of a graph for a dump. Dumps are for reading: large
// constants are printed as their hash.
std::string TextOf(const graph::Graph& graph) {
  return Print(graph, {.elide_constants = true});
}

std::string TextOf(const PipelineStep& step, const Compilation& compilation) {
  return step.pass != nullptr ? TextOf(compilation.graph)
                              : step.lowering->print(compilation);
}

Status Run(const PipelineStep& step, bool is_disabled,
           Compilation& compilation) {
  if (step.pass != nullptr) return RunPass(step, compilation.graph);
  return is_disabled ? step.lowering->run_disabled(compilation)
                     : step.lowering->run(compilation);
}

Status VerifyBehind(const PipelineStep& step, const Compilation& compilation) {
  return step.pass != nullptr ? graph::Verify(compilation.graph)
                              : step.lowering->verify(compilation);
}

}  // namespace

std::span<const PipelineStep> Pipeline() { return kPipeline; }

std::span<const PipelineStep> GraphPipeline() {
  const auto end = std::ranges::find_if(
      kPipeline, [](const PipelineStep& step) { return step.pass == nullptr; });
  return {std::begin(kPipeline), end};
}

// Runs a pass on a graph and its regions, the innermost regions first: if the
// pass makes a captured value unused in a region, it can then drop the value in
// the graph around the region.
Status RunPass(const PipelineStep& pass, graph::Graph& graph) {
  if (pass.is_of_all_regions) return pass.pass(graph);
  for (graph::Operation* operation : graph.Operations()) {
    for (const auto& region : operation->regions())
      EMBER_RETURN_IF_ERROR(RunPass(pass, *region));
  }
  return pass.pass(graph);
}

Status RunPipeline(Compilation& compilation, const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  const bool dumps_any = options.dump && !options.dump_after.empty();
  const auto dumps = [&](std::string_view name) {
    return dumps_any &&
           (options.dump_after == "all" || options.dump_after == name);
  };
  std::string before = dumps_any ? TextOf(compilation.graph) : std::string();
  if (dumps(kImport)) options.dump(kImport, 0, before);
  const auto steps = static_cast<int64_t>(std::size(kPipeline));
  int number = 0;
  for (const PipelineStep& step : kPipeline) {
    ++number;
    const bool is_disabled =
        options.disabled_passes.contains(std::string(step.name));
    if (is_disabled && step.pass != nullptr) continue;
    EMBER_RETURN_IF_ERROR(ReportStep(
        options.progress, {"compile", step.name, number - 1, steps}));
    const Clock::time_point start = Clock::now();
    if (Status status = Run(step, is_disabled, compilation); !status.ok())
      return status.WithContext("pass " + std::string(step.name));
    const double milliseconds =
        std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (Status status = VerifyBehind(step, compilation); !status.ok()) {
      return InternalError("after pass " + std::string(step.name) + ": " +
                           std::string(status.message()));
    }
    if (options.timing) options.timing(step.name, milliseconds);
    if (!dumps_any) continue;
    std::string after = TextOf(step, compilation);
    if (dumps(step.name))
      options.dump(step.name, number, after == before ? "(unchanged)" : after);
    before = std::move(after);
  }
  return OkStatus();
}

}  // namespace ember::compiler
