// Imports, compiles and runs a model on a tier by our own engine, in this
// process.
//
//   Engine engine = …;
//   EMBER_ASSIGN_OR_RETURN(auto module, engine.Compile(model.proto));
//   EMBER_ASSIGN_OR_RETURN(NamedTensors results,
//                          engine.Run(module, model.inputs, 0));
//
// Not thread-safe.
#ifndef EMBER_TESTS_RANDOM_MODELS_RUN_OURS_H_
#define EMBER_TESTS_RANDOM_MODELS_RUN_OURS_H_

#include <memory>
#include <set>
#include <string>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "hal/device.h"
#include "jit/jit.h"
#include "tests/random_models/model.h"
#include "vm/runtime/module.h"

namespace ember::tests {

class Engine {
 public:
  // Opens an engine. `device` is as in tools::OpenDevice. The JIT is loaded
  // when a tier above 0 is first used.
  static StatusOr<std::unique_ptr<Engine>> Open(const std::string& device);

  static StatusOr<graph::Graph> Import(const onnx::ModelProto& model);
  static StatusOr<std::shared_ptr<const vm::Module>> CompileGraph(
      graph::Graph graph, const std::set<std::string>& disabled_passes = {});
  static StatusOr<std::shared_ptr<const vm::Module>> Compile(
      const onnx::ModelProto& model,
      const std::set<std::string>& disabled_passes = {});
  // Returns every pass that can be left out, and the forming of dispatches.
  static const std::set<std::string>& AllPasses();

  // Runs a module on a tier. Inputs that the module does not have are ignored.
  // On a device that is not the host, tier 2 means the device's kernels.
  StatusOr<NamedTensors> Run(const std::shared_ptr<const vm::Module>& module,
                             const NamedTensors& inputs, int tier);

 private:
  std::shared_ptr<hal::Device> host_, device_;
  std::shared_ptr<jit::Jit> jit_;
};

// Runs the scalar evaluator on the graph as it was imported, without any pass.
// kUnimplemented for graphs with operators that only the program can run.
StatusOr<NamedTensors> EvaluateModel(const onnx::ModelProto& model,
                                     const NamedTensors& inputs);

// Compares the graph after each pass with the graph before it, both lowered
// without further passes and run at tier 0. Returns "" or the pass's name and
// the difference.
StatusOr<std::string> ComparePasses(Engine& engine, const RandomModel& model);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_RUN_OURS_H_
