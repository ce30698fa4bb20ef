#include "tests/onnx/run_case.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "compiler/compile.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/tensor_proto.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/lib/child.h"
#include "tools/lib/compare.h"
#include "tools/lib/device.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

constexpr std::string_view kStageNames[] = {"passed",   "unsupported", "import",
                                            "compile",  "data",        "run",
                                            "mismatch", "crash"};

CaseResult Failed(Stage stage, std::string message) {
  return {.stage = stage, .message = std::move(message)};
}

CaseResult Failed(Stage stage, const Status& status) {
  return Failed(stage, std::string(status.message()));
}

struct DataTensor {
  std::string name;
  vm::Tensor tensor;
};

StatusOr<DataTensor> ReadData(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(onnx::TensorBytes bytes, onnx::ReadTensorFile(path));
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         vm::Tensor::Allocate(bytes.dtype, bytes.dims));
  std::copy(bytes.bytes.begin(), bytes.bytes.end(),
            static_cast<uint8_t*>(tensor.data));
  return DataTensor{bytes.name, std::move(tensor)};
}

// Numbered files prefix0.pb, prefix1.pb … up to the first that is not there,
// allowing for gaps at inputs that are left out.
StatusOr<std::vector<std::optional<DataTensor>>> ReadNumbered(
    const std::string& prefix, int count) {
  std::vector<std::optional<DataTensor>> tensors(count);
  for (int i = 0; i < count; ++i) {
    const std::string path = prefix + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path)) continue;
    EMBER_ASSIGN_OR_RETURN(tensors[i], ReadData(path));
  }
  return tensors;
}

// The names of the model's inputs, initializers included: data files are
// numbered by them.
StatusOr<std::vector<std::string>> GraphInputs(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes))
    return DataLossError("expected an ONNX model");
  std::vector<std::string> names;
  for (const auto& input : model.graph().input()) names.push_back(input.name());
  return names;
}

// The session's inputs in order: by the name a data file carries, else by its
// number.
StatusOr<std::vector<vm::Tensor>> BindInputs(
    const vm::Module& module, const std::string& set,
    const std::vector<std::string>& graph_inputs) {
  EMBER_ASSIGN_OR_RETURN(
      auto data,
      ReadNumbered(set + "/input_", static_cast<int>(graph_inputs.size())));
  std::vector<vm::Tensor> inputs;
  for (const vm::TensorSignature& input : module.inputs()) {
    const std::string& name = input.name;
    const DataTensor* found = nullptr;
    for (size_t j = 0; j < data.size(); ++j) {
      if (data[j] && graph_inputs[j] == name) found = &*data[j];
    }
    for (const auto& tensor : data) {
      if (tensor && tensor->name == name) found = &*tensor;
    }
    if (found == nullptr)
      return NotFoundError("no data for input '" + name + "'");
    inputs.push_back(found->tensor);
  }
  return inputs;
}

std::string TypeOnlyDifference(const vm::Tensor& got, const vm::Tensor& want) {
  if (got.type == want.type && got.dims == want.dims) return "";
  return "expected " + want.TypeText() + ", found " + got.TypeText();
}

CaseResult RunDataSet(vm::Session& session, const TestCase& test_case,
                      const std::string& set,
                      const std::vector<std::string>& graph_inputs) {
  auto inputs = BindInputs(session.module(), set, graph_inputs);
  if (!inputs.ok()) return Failed(Stage::kData, inputs.status());
  std::vector<vm::Tensor> results;
  if (Status status = session.Run(*inputs, &results); !status.ok()) {
    return Failed(Stage::kRun, status);
  }
  auto expected =
      ReadNumbered(set + "/output_", static_cast<int>(results.size()));
  if (!expected.ok()) return Failed(Stage::kData, expected.status());
  int compared = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!(*expected)[i]) continue;
    ++compared;
    const vm::Tensor& want = (*expected)[i]->tensor;
    const std::string difference =
        test_case.check_values
            ? tools::Compare(results[i], want, test_case.tolerance).message
            : TypeOnlyDifference(results[i], want);
    if (!difference.empty()) {
      return Failed(Stage::kMismatch, "output " + std::to_string(i) + " ('" +
                                          session.module().results()[i].name +
                                          "') " + difference);
    }
  }
  if (compared == 0)
    return Failed(Stage::kData, "no expected outputs in " + set);
  return {};
}

std::string Sanitized(const std::string& text) {
  std::string result;
  bool quoted = false;
  for (char c : text) {
    if (c == '\'') {
      if (!quoted) result += "'…'";
      quoted = !quoted;
    } else if (!quoted && c >= '0' && c <= '9') {
      if (result.empty() || result.back() != '#') result += '#';
    } else if (!quoted) {
      result += c;
    }
  }
  return result.substr(0, 160);
}

// Pins the inputs' shapes to those of the data set.
Status PinShapes(const TestCase& test_case, const std::string& set,
                 onnx::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         GraphInputs(test_case.model()));
  EMBER_ASSIGN_OR_RETURN(
      auto data, ReadNumbered(set + "/input_", static_cast<int>(names.size())));
  for (size_t i = 0; i < names.size(); ++i) {
    if (!data[i]) continue;
    const std::vector<int64_t>& dims = data[i]->tensor.dims;
    const bool is_input =
        std::find(names.begin(), names.end(), data[i]->name) != names.end();
    options.input_shapes[is_input ? data[i]->name : names[i]].assign(
        dims.begin(), dims.end());
  }
  return OkStatus();
}

// Some cases feed shapes, axes and the like as inputs, which must be known when
// compiling here: exactly those are compiled in, with the values of the data
// set.
StatusOr<graph::Graph> Import(const TestCase& test_case, const std::string& set,
                              onnx::ImportOptions options,
                              std::set<std::string>& frozen) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         GraphInputs(test_case.model()));
  while (true) {
    std::set<std::string> needed;
    options.data_dependent_inputs = &needed;
    StatusOr<graph::Graph> graph =
        onnx::ImportModel(test_case.model(), options);
    bool progress = false;
    for (size_t i = 0; i < names.size() && !graph.ok(); ++i) {
      if (needed.count(names[i]) == 0 ||
          options.input_values.count(names[i]) > 0)
        continue;
      EMBER_ASSIGN_OR_RETURN(
          options.input_values[names[i]],
          onnx::ReadTensorFile(set + "/input_" + std::to_string(i) + ".pb"));
      frozen.insert(names[i]);
      progress = true;
    }
    if (!progress) return graph;
  }
}

CaseResult RunSet(const TestCase& test_case, const RunOptions& options,
                  const std::string& set, const onnx::ImportOptions& import,
                  std::set<std::string>& frozen) {
  StatusOr<graph::Graph> graph = Import(test_case, set, import, frozen);
  if (!graph.ok()) {
    const bool operators =
        graph.status().message().find(" unsupported operator") !=
        std::string_view::npos;
    return Failed(operators ? Stage::kUnsupported : Stage::kImport,
                  graph.status());
  }
  auto definition = compiler::Compile(*std::move(graph), {});
  if (!definition.ok()) return Failed(Stage::kCompile, definition.status());
  auto module = vm::Module::FromDefinition(*std::move(definition));
  if (!module.ok()) return Failed(Stage::kCompile, module.status());
  auto device = tools::OpenDevice(options.device, options.threads);
  if (!device.ok()) return Failed(Stage::kRun, device.status());
  vm::SessionOptions session_options;
  session_options.device = *device;
  auto session = vm::Session::Create(*module, session_options);
  if (!session.ok()) return Failed(Stage::kRun, session.status());
  auto graph_inputs = GraphInputs(test_case.model());
  if (!graph_inputs.ok()) return Failed(Stage::kData, graph_inputs.status());
  return RunDataSet(**session, test_case, set, *graph_inputs);
}

// A model that does not compile with the dims it leaves open may with those of
// the data set.
CaseResult RunSetPinnedIfNeeded(const TestCase& test_case,
                                const RunOptions& options,
                                const std::string& set,
                                std::set<std::string>& frozen) {
  const CaseResult open = RunSet(test_case, options, set, {}, frozen);
  if (open.stage != Stage::kImport && open.stage != Stage::kCompile)
    return open;
  onnx::ImportOptions pinned;
  if (Status status = PinShapes(test_case, set, pinned); !status.ok())
    return open;
  CaseResult result = RunSet(test_case, options, set, pinned, frozen);
  return result.stage == Stage::kImport || result.stage == Stage::kCompile
             ? open
             : result;
}

}  // namespace

std::string_view StageName(Stage stage) {
  return kStageNames[static_cast<int>(stage)];
}

CaseResult RunCase(const TestCase& test_case, const RunOptions& options) {
  auto sets = FindDataSets(test_case);
  if (!sets.ok()) return Failed(Stage::kData, sets.status());
  if (sets->empty())
    return Failed(Stage::kData, "no test_data_set_* in the case");
  std::set<std::string> frozen;
  CaseResult result;
  for (size_t i = 0; i < sets->size() && result.passed(); ++i) {
    result = RunSetPinnedIfNeeded(test_case, options, (*sets)[i], frozen);
  }
  result.frozen_inputs = static_cast<int>(frozen.size());
  return result;
}

CaseResult RunCaseInChild(const TestCase& test_case, const RunOptions& options,
                          unsigned timeout_seconds) {
  StatusOr<std::string> answer = tools::RunInChild(
      [&]() -> StatusOr<std::string> {
        const CaseResult result = RunCase(test_case, options);
        return std::string{
                   static_cast<char>('0' + static_cast<int>(result.stage)),
                   static_cast<char>('0' + std::min(result.frozen_inputs, 9))} +
               result.message;
      },
      timeout_seconds);
  if (!answer.ok()) return Failed(Stage::kCrash, answer.status());
  CaseResult result;
  result.stage = static_cast<Stage>((*answer)[0] - '0');
  result.frozen_inputs = (*answer)[1] - '0';
  result.message = answer->substr(2);
  return result;
}

std::string ReasonOf(const CaseResult& result) {
  if (result.stage == Stage::kMismatch) return "results differ";
  std::string message = result.message;
  // "model 'x': N unsupported operators: A (node …), B (nodes …)" → "A, B".
  if (result.stage == Stage::kUnsupported) {
    const size_t list =
        message.find(": ", message.find(" unsupported operator"));
    std::string names;
    int depth = 0;
    for (char c : message.substr(list + 2)) {
      if (c == '(') ++depth;
      if (depth == 0 && c != ' ')
        names += c == ',' ? std::string(", ") : std::string(1, c);
      if (c == ')') --depth;
    }
    return names;
  }
  const std::string model = "model '";
  if (message.rfind(model, 0) == 0)
    message = message.substr(message.find("': ") + 3);
  return Sanitized(message);
}

}  // namespace ember::tests
