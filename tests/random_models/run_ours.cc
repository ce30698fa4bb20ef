#include "tests/random_models/run_ours.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "compiler/compile.h"
#include "compiler/graph/testing/evaluate.h"
#include "compiler/pipeline.h"
#include "frontends/onnx/import/import.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/load_jit.h"
#include "tools/lib/tensors/compare.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"

namespace ember::tests {
namespace {

// The pass that decides which values are rounded to f16 and bf16. The
// definition of a model is its graph after this pass.
constexpr std::string_view kRounding = "widen-chains";

const vm::Tensor* Find(const NamedTensors& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(),
                   [&](const auto& tensor) { return tensor.first == name; });
  return found == tensors.end() ? nullptr : &found->second;
}

}  // namespace

StatusOr<std::unique_ptr<Engine>> Engine::Open(const std::string& device) {
  auto engine = std::make_unique<Engine>();
  EMBER_ASSIGN_OR_RETURN(engine->host_, tools::OpenDevice("cpu", 1));
  engine->device_ = engine->host_;
  if (device != "cpu") {
    EMBER_ASSIGN_OR_RETURN(engine->device_, tools::OpenDevice(device, 1));
  }
  return engine;
}

const std::set<std::string>& Engine::AllPasses() {
  static const auto* const kNames = [] {
    auto* names = new std::set<std::string>{"form-dispatches"};
    for (const compiler::PipelineStep& pass : compiler::GraphPipeline())
      names->insert(std::string(pass.name));
    return names;
  }();
  return *kNames;
}

StatusOr<graph::Graph> Engine::Import(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return onnx::ImportModelBytes(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "", {});
}

StatusOr<std::shared_ptr<const vm::Module>> Engine::CompileGraph(
    graph::Graph graph, const std::set<std::string>& disabled_passes) {
  compiler::CompileOptions options;
  options.disabled_passes = disabled_passes;
  EMBER_ASSIGN_OR_RETURN(auto definition,
                         compiler::Compile(std::move(graph), options));
  return vm::Module::FromDefinition(std::move(definition));
}

StatusOr<std::shared_ptr<const vm::Module>> Engine::Compile(
    const onnx::ModelProto& model,
    const std::set<std::string>& disabled_passes) {
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, Import(model));
  return CompileGraph(std::move(graph), disabled_passes);
}

StatusOr<NamedTensors> Engine::Run(
    const std::shared_ptr<const vm::Module>& module, const NamedTensors& inputs,
    int tier) {
  std::vector<vm::Tensor> operands;
  for (const vm::TensorSignature& signature : module->inputs()) {
    const vm::Tensor* operand = Find(inputs, signature.name);
    if (operand == nullptr)
      return NotFoundError("no value for input '" + signature.name + "'");
    operands.push_back(*operand);
  }
  vm::SessionOptions options;
  options.device = tier == 0 ? host_ : device_;
  options.strings = vm::NewStringSupport;
  options.device_support = vm::NewDeviceSupport;
  options.memory_limit = int64_t{2} << 30;
  if (tier > 0) {
    if (jit_ == nullptr) {
      jit::JitOptions jit_options;
      jit_options.threads = 0;
      EMBER_ASSIGN_OR_RETURN(jit_, tools::LoadJit(jit_options));
    }
    options.tiering =
        std::make_shared<vm::Tiering>(module, jit_, vm::Tiering::Eager(tier));
  }
  EMBER_ASSIGN_OR_RETURN(auto session, vm::Session::Create(module, options));
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(session->Run(operands, &results));
  NamedTensors named;
  for (size_t i = 0; i < results.size(); ++i)
    named.emplace_back(module->results()[i].name, std::move(results[i]));
  return named;
}

StatusOr<NamedTensors> EvaluateModel(const onnx::ModelProto& model,
                                     const NamedTensors& inputs) {
  for (const onnx::ValueInfoProto& output : model.graph().output()) {
    if (output.type().tensor_type().elem_type() == onnx::TensorProto::STRING)
      return UnimplementedError("the evaluator has no strings");
  }
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, Engine::Import(model));
  for (const compiler::PipelineStep& pass : compiler::GraphPipeline()) {
    if (pass.name != kRounding) continue;
    EMBER_RETURN_IF_ERROR(compiler::RunPass(pass, graph));
  }
  std::vector<graph::TensorData> operands;
  for (const graph::Value* value : graph.inputs()) {
    const vm::Tensor* operand = Find(inputs, value->name());
    if (operand == nullptr)
      return NotFoundError("no value for input '" + value->name() + "'");
    if (operand->strings)
      return UnimplementedError("the evaluator has no strings");
    const auto* bytes = static_cast<const uint8_t*>(operand->data);
    operands.push_back({operand->type, operand->dims,
                        graph::ConstantData::Copy(
                            {bytes, static_cast<size_t>(operand->byte_size)})});
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::TensorData> results,
                         graph::Evaluate(graph, operands));
  NamedTensors named;
  for (size_t i = 0; i < results.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        vm::Tensor tensor,
        vm::Tensor::Allocate(results[i].dtype, results[i].extents));
    std::memcpy(tensor.data, results[i].data.bytes.data(),
                static_cast<size_t>(tensor.byte_size));
    named.emplace_back(model.graph().output(static_cast<int>(i)).name(),
                       std::move(tensor));
  }
  return named;
}

StatusOr<std::string> ComparePasses(Engine& engine, const RandomModel& model) {
  // The graph of stage n is made by the import and the first n passes. Each
  // stage imports the model again, because a graph cannot be copied.
  NamedTensors before;
  for (size_t stage = 0; stage <= compiler::GraphPipeline().size(); ++stage) {
    EMBER_ASSIGN_OR_RETURN(graph::Graph graph, Engine::Import(model.proto));
    const std::string name =
        stage == 0 ? "import"
                   : std::string(compiler::GraphPipeline()[stage - 1].name);
    for (size_t pass = 0; pass < stage; ++pass) {
      EMBER_RETURN_IF_ERROR(
          compiler::RunPass(compiler::GraphPipeline()[pass], graph));
    }
    EMBER_ASSIGN_OR_RETURN(
        auto module,
        Engine::CompileGraph(std::move(graph), Engine::AllPasses()));
    EMBER_ASSIGN_OR_RETURN(NamedTensors after,
                           engine.Run(module, model.inputs, 0));
    // dequantize-late may round a value halfway between two quantization steps
    // to the other one (docs/ARCHITECTURE.md), so results may differ by one
    // step.
    const bool may_round = name == "dequantize-late";
    // widen-chains decides which values are rounded to f16 and bf16, so its
    // result is not compared with the graph before it.
    if (name == kRounding) before.clear();
    for (size_t i = 0; i < before.size(); ++i) {
      tools::Comparison comparison =
          tools::CompareTiers(after[i].second, before[i].second, 10);
      if (may_round && !IsFloat(after[i].second.type)) {
        comparison = tools::Compare(after[i].second, before[i].second,
                                    {.integer_steps = 1});
      }
      if (!comparison.equal) {
        return "pass " + name + " (number " + std::to_string(stage) + "): '" +
               after[i].first + "' " + comparison.message;
      }
    }
    before = std::move(after);
  }
  return std::string();
}

}  // namespace ember::tests
