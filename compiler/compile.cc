#include "compiler/compile.h"

#include <cstdio>
#include <utility>

#include "compiler/pipeline.h"

namespace ember::compiler {
namespace {

const PipelineStep* FindStep(std::string_view name) {
  for (const PipelineStep& step : Pipeline()) {
    if (step.name == name) return &step;
  }
  return nullptr;
}

Status CheckPassNames(const CompileOptions& options) {
  for (const std::string& name : options.disabled_passes) {
    const PipelineStep* const step = FindStep(name);
    if (step == nullptr || !step->may_be_disabled()) {
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
  EMBER_RETURN_IF_ERROR(CheckPassNames(options));
  EMBER_RETURN_IF_ERROR(PinSymbols(graph, options.symbols));
  Compilation compilation(std::move(graph), options.producer);
  EMBER_RETURN_IF_ERROR(RunPipeline(compilation, options));
  return std::move(compilation.module);
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
  line(0, kImport, "the graph that the frontend made of the model");
  size_t number = 1;
  for (const PipelineStep& step : Pipeline())
    line(number++, step.name, step.doc);
  return text;
}

bool HasDump(std::string_view step) {
  return step == kImport || FindStep(step) != nullptr;
}

}  // namespace ember::compiler
