#include "tests/onnx/run_case.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/file.h"
#include "compiler/compile.h"
#include "frontends/onnx/import/import.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "third_party/onnx/onnx.pb.h"
#include "tools/lib/benchmark/child.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/report/placement.h"
#include "tools/lib/tensors/compare.h"
#include "tools/lib/tensors/onnx_data.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tests {
namespace {

constexpr std::string_view kStepNames[] = {"passed",   "unsupported", "import",
                                           "compile",  "data",        "run",
                                           "mismatch", "crash"};

CaseResult Failed(CaseStep step, std::string message) {
  return {.step = step, .message = std::move(message)};
}

CaseResult Failed(CaseStep step, const Status& status) {
  return Failed(step, std::string(status.message()));
}

std::string NumberedFile(const std::string& prefix, size_t number) {
  return prefix + std::to_string(number) + ".pb";
}

// Returns the tensor's name that a data file contains; "" if the file does not
// hold exactly one tensor.
std::string NameInFile(const std::string& path) {
  const StatusOr<onnx::TensorBytes> bytes = onnx::ReadTensorFile(path);
  return bytes.ok() ? bytes->name : "";
}

// Returns the data file of an input: the file that contains the input's name,
// or else the file with the number of the model's input of that name. Returns
// "" if there is none.
std::string FileOfInput(const std::string& set, const std::string& name,
                        const std::vector<std::string>& graph_inputs) {
  std::string by_number;
  for (size_t i = 0; i < graph_inputs.size(); ++i) {
    const std::string path = NumberedFile(set + "/input_", i);
    if (!std::filesystem::exists(path)) continue;
    if (NameInFile(path) == name) return path;
    if (graph_inputs[i] == name) by_number = path;
  }
  return by_number;
}

// Returns the names of the model's inputs, initializers included, by which data
// files are numbered.
StatusOr<std::vector<std::string>> GraphInputs(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes))
    return DataLossError("expected an ONNX model");
  std::vector<std::string> names;
  for (const auto& input : model.graph().input()) names.push_back(input.name());
  return names;
}

// Reads the values of the module's inputs from the files of a data set, in the
// order of the inputs.
StatusOr<std::vector<vm::Tensor>> BindInputs(
    const vm::Module& module, const std::string& set,
    const std::vector<std::string>& graph_inputs) {
  std::vector<vm::Tensor> inputs;
  const std::span<const vm::TensorSignature> signatures = module.inputs();
  while (inputs.size() < signatures.size()) {
    const size_t first = inputs.size();
    const std::string& name = signatures[first].name;
    const std::string path = FileOfInput(set, name, graph_inputs);
    if (path.empty()) return NotFoundError("no data for input '" + name + "'");
    EMBER_ASSIGN_OR_RETURN(
        std::vector<vm::Tensor> parts,
        tools::ReadDataFile(
            path,
            signatures.subspan(first, tools::PartCount(signatures, first))));
    inputs.insert(inputs.end(), parts.begin(), parts.end());
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
  if (!inputs.ok()) return Failed(CaseStep::kData, inputs.status());
  std::vector<vm::Tensor> results;
  if (Status status = session.Run(*inputs, &results); !status.ok()) {
    return Failed(CaseStep::kRun, status);
  }
  const std::span<const vm::TensorSignature> signatures =
      session.module().results();
  if (results.empty())
    return Failed(CaseStep::kData, "the model has no outputs");
  size_t output = 0;
  for (size_t i = 0; i < results.size(); ++output) {
    const std::string path = NumberedFile(set + "/output_", output);
    const size_t count = tools::PartCount(signatures, i);
    if (!std::filesystem::exists(path))
      return Failed(CaseStep::kData, "no expected output " +
                                         std::to_string(output) + " in " + set);
    const auto expected =
        tools::ReadDataFile(path, signatures.subspan(i, count));
    if (!expected.ok()) return Failed(CaseStep::kData, expected.status());
    for (size_t part = 0; part < count; ++part, ++i) {
      const vm::Tensor& want = (*expected)[part];
      const std::string difference =
          test_case.check_values
              ? tools::Compare(results[i], want, test_case.tolerance).message
              : TypeOnlyDifference(results[i], want);
      if (!difference.empty()) {
        return Failed(CaseStep::kMismatch, "output " + std::to_string(output) +
                                               " ('" + signatures[i].name +
                                               "') " + difference);
      }
    }
  }
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

// Imports the model of a case. Some cases have inputs such as shapes or axes
// that Ember must know at compile time. Only these inputs become constants,
// with the values of the data set.
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
    return Failed(operators ? CaseStep::kUnsupported : CaseStep::kImport,
                  graph.status());
  }
  auto definition = compiler::Compile(*std::move(graph), {});
  if (!definition.ok()) return Failed(CaseStep::kCompile, definition.status());
  auto module = vm::Module::FromDefinition(*std::move(definition));
  if (!module.ok()) return Failed(CaseStep::kCompile, module.status());
  auto device = tools::OpenDevice(options.device, options.threads);
  if (!device.ok()) return Failed(CaseStep::kRun, device.status());
  vm::SessionOptions session_options;
  session_options.device = *device;
  session_options.strings = vm::NewStringSupport;
  session_options.images = tools::DecodeImage;
  session_options.device_support = vm::NewDeviceSupport;
  const auto tier = tools::OpenTier(
      {.tier = options.tier, .checks = options.checks}, *device, *module);
  if (!tier.ok()) return Failed(CaseStep::kRun, tier.status());
  session_options.tiering = tier->tiering;
  auto session = vm::Session::Create(*module, session_options);
  if (!session.ok()) return Failed(CaseStep::kRun, session.status());
  auto graph_inputs = GraphInputs(test_case.model());
  if (!graph_inputs.ok()) return Failed(CaseStep::kData, graph_inputs.status());
  CaseResult result = RunDataSet(**session, test_case, set, *graph_inputs);
  if (tier->oracle != nullptr && tier->oracle->totals().wrong > 0) {
    return Failed(CaseStep::kMismatch,
                  InternalError("a kernel was wrong (see stderr)"));
  }
  const std::vector<vm::SiteProfile> sites = (*session)->Profile();
  const tools::Placement placement = tools::PlacementOf(sites);
  result.calls = placement.calls;
  result.device_calls = placement.device_calls;
  for (const vm::SiteProfile& site : sites)
    result.kernel_calls += site.tier_calls[1] + site.tier_calls[2];
  return result;
}

// Runs a data set. A model that does not compile with open dims is compiled
// with the dims of the data set.
CaseResult RunSetPinnedIfNeeded(const TestCase& test_case,
                                const RunOptions& options,
                                const std::string& set) {
  std::set<std::string> frozen;
  CaseResult open = RunSet(test_case, options, set, {}, frozen);
  open.frozen_inputs = static_cast<int>(frozen.size());
  if (open.step != CaseStep::kImport && open.step != CaseStep::kCompile)
    return open;
  onnx::ImportOptions pins;
  if (Status status = PinShapes(test_case.model(), set, pins); !status.ok())
    return open;
  frozen.clear();
  CaseResult pinned = RunSet(test_case, options, set, pins, frozen);
  pinned.frozen_inputs = static_cast<int>(frozen.size());
  pinned.pinned = true;
  return pinned.step == CaseStep::kImport || pinned.step == CaseStep::kCompile
             ? open
             : pinned;
}

}  // namespace

Status PinShapes(const std::string& model, const std::string& set,
                 onnx::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                         GraphInputs(model));
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string path = NumberedFile(set + "/input_", i);
    if (!std::filesystem::exists(path)) continue;
    EMBER_ASSIGN_OR_RETURN(auto pins, tools::ReadPins(path));
    const std::string inside = NameInFile(path);
    const bool is_input =
        std::find(names.begin(), names.end(), inside) != names.end();
    options.input_shapes[is_input ? inside : names[i]] = std::move(pins);
  }
  return OkStatus();
}

std::string_view StepName(CaseStep step) {
  return kStepNames[static_cast<int>(step)];
}

CaseResult RunCase(const TestCase& test_case, const RunOptions& options) {
  auto sets = FindDataSets(test_case);
  if (!sets.ok()) return Failed(CaseStep::kData, sets.status());
  if (sets->empty())
    return Failed(CaseStep::kData, "no test_data_set_* in the case");
  CaseResult result;
  for (size_t i = 0; i < sets->size() && result.passed(); ++i) {
    CaseResult set = RunSetPinnedIfNeeded(test_case, options, (*sets)[i]);
    set.frozen_inputs = std::max(set.frozen_inputs, result.frozen_inputs);
    set.pinned = set.pinned || result.pinned;
    set.calls += result.calls;
    set.device_calls += result.device_calls;
    set.kernel_calls += result.kernel_calls;
    result = std::move(set);
  }
  result.values_unchecked = !test_case.check_values;
  return result;
}

CaseResult RunCaseInChild(const TestCase& test_case, const RunOptions& options,
                          unsigned timeout_seconds) {
  const auto digit = [](int value) { return static_cast<char>('0' + value); };
  StatusOr<std::string> answer = tools::RunInChild(
      [&]() -> StatusOr<std::string> {
        const CaseResult result = RunCase(test_case, options);
        return std::string{digit(static_cast<int>(result.step)),
                           digit(std::min(result.frozen_inputs, 9)),
                           digit(result.pinned ? 1 : 0)} +
               std::to_string(result.calls) + " " +
               std::to_string(result.device_calls) + " " +
               std::to_string(result.kernel_calls) + " " + result.message;
      },
      timeout_seconds);
  CaseResult result;
  if (answer.ok()) {
    result.step = static_cast<CaseStep>((*answer)[0] - '0');
    result.frozen_inputs = (*answer)[1] - '0';
    result.pinned = (*answer)[2] != '0';
    std::istringstream rest(answer->substr(3));
    rest >> result.calls >> result.device_calls >> result.kernel_calls;
    rest.get();
    std::getline(rest, result.message, '\0');
  } else {
    result = Failed(CaseStep::kCrash, answer.status());
  }
  result.values_unchecked = !test_case.check_values;
  return result;
}

std::string ReasonOf(const CaseResult& result) {
  if (result.step == CaseStep::kMismatch) return "results differ";
  std::string message = result.message;
  // Replaces the message "model 'x': N unsupported operators: A (node …), B
  // (nodes …)" by "A, B".
  if (result.step == CaseStep::kUnsupported) {
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
