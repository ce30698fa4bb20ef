#include "compiler/compile.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/progress.h"
#include "compiler/lowering/emit.h"
#include "compiler/lowering/fusion.h"
#include "compiler/pipeline.h"
#include "vm/isa/text.h"

namespace ember::compiler {
namespace {

// The steps after the graph passes; the first can be disabled like a pass.
struct Step {
  std::string_view name;
  std::string_view doc;
};
constexpr Step kFormDispatches = {
    "form-dispatches", "joins operations that agree on rows into one dispatch"};
constexpr Step kEmit = {"emit", "plans memory and writes the program"};

bool IsGraphPass(std::string_view name) {
  const auto passes = GraphPipeline();
  return std::any_of(passes.begin(), passes.end(),
                     [&](const Pass& pass) { return pass.name == name; });
}

Status CheckPassNames(const CompileOptions& options) {
  for (const std::string& name : options.disabled_passes) {
    if (name != kFormDispatches.name && !IsGraphPass(name)) {
      return InvalidArgumentError("pass '" + name +
                                  "': no such pass can be disabled; see "
                                  "--print-pipeline");
    }
  }
  return OkStatus();
}

Status PinSymbols(graph::Graph& graph,
                  const std::map<std::string, int64_t>& symbols) {
  if (symbols.empty()) return OkStatus();
  std::map<std::string, graph::Dim> replacements;
  for (const auto& [symbol, extent] : symbols) {
    if (extent < 0) {
      return InvalidArgumentError(
          "symbol '" + symbol + "': expected an extent of at least 0, found " +
          std::to_string(extent));
    }
    replacements.emplace(symbol, graph::Dim(extent));
  }
  return graph.SubstituteSymbols(replacements);
}

}  // namespace

StatusOr<vm::ModuleDefinition> Compile(graph::Graph graph,
                                       const CompileOptions& options) {
  using Clock = std::chrono::steady_clock;
  EMBER_RETURN_IF_ERROR(CheckPassNames(options));
  EMBER_RETURN_IF_ERROR(PinSymbols(graph, options.symbols));
  EMBER_RETURN_IF_ERROR(RunPipeline(graph, options));
  const auto since = [](Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start)
        .count();
  };
  const auto begins = [&options](const Step& step, int64_t steps_left) {
    return ReportStep(
        options.progress,
        {"compile", step.name, CompileSteps() - steps_left, CompileSteps()});
  };
  EMBER_RETURN_IF_ERROR(begins(kFormDispatches, 2));
  Clock::time_point start = Clock::now();
  FusionOptions fusion;
  fusion.join_groups =
      !options.disabled_passes.contains(std::string(kFormDispatches.name));
  EMBER_ASSIGN_OR_RETURN(FusionPlan plan, FormDispatches(graph, fusion));
  if (options.timing) options.timing(kFormDispatches.name, since(start));
  EMBER_RETURN_IF_ERROR(begins(kEmit, 1));
  start = Clock::now();
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module, EmitModule(graph, plan));
  if (options.timing) options.timing(kEmit.name, since(start));
  module.producer = options.producer;
  module.source_name = graph.name();
  if (options.dump &&
      (options.dump_after == "all" || options.dump_after == kEmit.name)) {
    options.dump(kEmit.name, static_cast<int>(GraphPipeline().size()) + 1,
                 vm::PrintModule(module));
  }
  return module;
}

std::string PrintPipeline() {
  std::string text;
  const auto line = [&](size_t number, std::string_view name,
                        std::string_view doc) {
    char prefix[64];
    std::snprintf(prefix, sizeof prefix, "%3zu  %-34.*s", number,
                  static_cast<int>(name.size()), name.data());
    text += prefix + std::string(doc) + '\n';
  };
  line(0, kImport, "what the frontend made of the model");
  size_t number = 1;
  for (const Pass& pass : GraphPipeline()) line(number++, pass.name, pass.doc);
  line(number++, kFormDispatches.name, kFormDispatches.doc);
  line(number++, kEmit.name, kEmit.doc);
  return text;
}

bool HasDump(std::string_view stage) {
  return stage == kImport || stage == kEmit.name || IsGraphPass(stage);
}

}  // namespace ember::compiler
