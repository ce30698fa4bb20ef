// A step of the pipeline (compiler/pipeline.cc): a graph pass or a lowering.
//
//   {"fold-pads", "zero pads become padding …", FoldPads}   // a graph pass
//   {"emit", "plans memory and writes the program", nullptr, &kEmit}
//
// Graph passes come first, one file pair each in compiler/passes. A pass leaves
// a graph that verifies, or returns an error naming the operation. It must not
// depend on running only once; running it again on its own result changes
// nothing. The later steps convert the result to other forms.
#ifndef EMBER_COMPILER_PIPELINE_STEP_H_
#define EMBER_COMPILER_PIPELINE_STEP_H_

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "compiler/lowering/fusion_plan.h"
#include "vm/isa/module_definition.h"

namespace ember::compiler {

// The input and the results so far of a compilation, which each step changes.
// It must not be moved, because the plan points into the graph.
struct Compilation {
  Compilation(graph::Graph from, std::string made_by)
      : graph(std::move(from)), producer(std::move(made_by)) {}
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  graph::Graph graph;
  // Name of the compiler, which the module records as its producer.
  std::string producer;
  FusionPlan plan;
  vm::ModuleDefinition module;
};

// A step after the graph passes, as functions that run it, check its result and
// print it. Its result is not a graph.
struct Lowering {
  Status (*run)(Compilation& compilation);
  // If the step is disabled, this function is called instead of `run`. Null
  // means that the step cannot be disabled.
  Status (*run_disabled)(Compilation& compilation);
  Status (*verify)(const Compilation& compilation);
  std::string (*print)(const Compilation& compilation);
};

// One step of the pipeline. It is a graph pass or a lowering: exactly one of
// `pass` and `lowering` is set.
struct PipelineStep {
  std::string_view name;
  std::string_view doc;
  Status (*pass)(graph::Graph& graph) = nullptr;
  const Lowering* lowering = nullptr;
  // True if the pass is called once, for the outermost graph, and visits the
  // regions itself; its limits then hold for all regions together. If false,
  // the pass is called for each region and for the graph.
  bool is_of_all_regions = false;

  bool may_be_disabled() const {
    return pass != nullptr || lowering->run_disabled != nullptr;
  }
};

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PIPELINE_STEP_H_
