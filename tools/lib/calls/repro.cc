#include "tools/lib/calls/repro.h"

#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "base/file.h"
#include "tensor/text/text.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/tensors/elements.h"
#include "tools/lib/tensors/npy.h"

namespace ember::tools {
namespace {

constexpr int kMaxFolders = 10000;
constexpr std::string_view kHeader = "ember repro 1";

std::string TensorPath(const std::string& folder, const char* what, size_t i) {
  return folder + "/" + what + "_" + std::to_string(i) + ".npy";
}

Status WriteTensors(const std::string& folder, const char* what,
                    const std::vector<vm::Tensor>& tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    EMBER_RETURN_IF_ERROR(WriteNpy(TensorPath(folder, what, i), tensors[i]));
  return OkStatus();
}

template <typename List>
std::string Line(const char* key, const List& values) {
  std::ostringstream line;
  line << key;
  for (const auto& value : values) line << ' ' << value;
  line << '\n';
  return line.str();
}

std::string CallText(const Repro& repro) {
  std::string text(kHeader);
  text += "\n" + Line("tier", std::vector<int>{repro.tier});
  text += Line("target", std::vector<std::string>{repro.target});
  text += Line("threads", std::vector<int>{repro.threads});
  text += Line("parameters", repro.parameters);
  text += Line("specialised", std::vector<int>{repro.is_specialised});
  text += Line("constants", repro.constant_inputs);
  text += Line("shared", repro.shared);
  return text;
}

std::string ReadmeText(const Repro& repro, const std::string& folder) {
  return "A kernel of tier " + std::to_string(repro.tier) + " for dispatch @" +
         repro.dispatch.name + " (" +
         ParametersText(repro.dispatch, repro.parameters) + ", target " +
         repro.target + ") gave\n  " + repro.difference +
         "\nRun it again with\n  vm-diff --repro=" + folder +
         "\n\ndispatch.txt: what it computes; input_*.npy: its operands; "
         "want_*.npy: tier 0's results;\ngot_*.npy: the kernel's; "
         "*.schedule, *.loops: what it was made from.\n";
}

template <typename T>
std::vector<T> Values(const std::string& text) {
  std::istringstream stream(text);
  std::vector<T> values;
  for (T value; stream >> value;) values.push_back(value);
  return values;
}

// Reads a tensor from a .npy file. NumPy lacks some element types (bf16, 8-bit
// floats). Tensors of these types were written as f32 and are converted back to
// `type`.
StatusOr<vm::Tensor> ReadOf(const std::string& path, DType type) {
  EMBER_ASSIGN_OR_RETURN(vm::Tensor read, ReadNpy(path));
  if (IsNpyType(type) || read.type != DType::kF32) return read;
  EMBER_ASSIGN_OR_RETURN(vm::Tensor narrow,
                         vm::Tensor::Allocate(type, read.dims));
  for (int64_t i = 0; i < read.element_count(); ++i)
    SetFloatElement(narrow, i, FloatElement(read, i));
  return narrow;
}

Status ReadCall(const std::string& folder, Repro& repro) {
  const std::string path = folder + "/call.txt";
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  if (line != kHeader) {
    return InvalidArgumentError(path + ": expected '" + std::string(kHeader) +
                                "', found '" + line.substr(0, 40) + "'");
  }
  std::map<std::string, std::string> fields;
  while (std::getline(lines, line)) {
    const size_t space = line.find(' ');
    fields[line.substr(0, space)] =
        space == std::string::npos ? "" : line.substr(space + 1);
  }
  repro.target = fields["target"];
  repro.parameters = Values<int64_t>(fields["parameters"]);
  for (const int constant : Values<int>(fields["constants"]))
    repro.constant_inputs.push_back(constant != 0);
  repro.shared = Values<int>(fields["shared"]);
  const std::vector<int> numbers = Values<int>(
      fields["tier"] + " " + fields["threads"] + " " + fields["specialised"]);
  if (numbers.size() != 3 || numbers[1] < 1 ||
      repro.parameters.size() != repro.dispatch.parameters.size()) {
    return InvalidArgumentError(
        path + ": expected tier, threads, specialised and " +
        std::to_string(repro.dispatch.parameters.size()) +
        " parameters, found something else");
  }
  repro.tier = numbers[0];
  repro.threads = numbers[1];
  repro.is_specialised = numbers[2] != 0;
  return OkStatus();
}

}  // namespace

StatusOr<std::string> NewReproFolder(const std::string& parent,
                                     std::string_view name) {
  std::error_code error;
  std::filesystem::create_directories(parent, error);
  for (int number = 1; !error && number <= kMaxFolders; ++number) {
    std::string folder = parent + "/" + std::string(name);
    if (number > 1) folder += "." + std::to_string(number);
    if (std::filesystem::create_directory(folder, error)) return folder;
  }
  return InvalidArgumentError("cannot make a folder in '" + parent + "': " +
                              (error ? error.message() : "too many of them"));
}

Status WriteRepro(const Repro& repro, const std::string& folder) {
  const std::pair<std::string, std::string> texts[] = {
      {"/README.txt", ReadmeText(repro, folder)},
      {"/dispatch.txt", tensor::Print(repro.dispatch)},
      {"/call.txt", CallText(repro)},
      {"/" + repro.dispatch.name + ".schedule", repro.schedule},
      {"/" + repro.dispatch.name + ".loops", repro.nest}};
  for (const auto& [name, text] : texts) {
    if (!text.empty())
      EMBER_RETURN_IF_ERROR(WriteFileAtomically(folder + name, text));
  }
  EMBER_RETURN_IF_ERROR(WriteTensors(folder, "input", repro.inputs));
  EMBER_RETURN_IF_ERROR(WriteTensors(folder, "want", repro.want));
  return WriteTensors(folder, "got", repro.got);
}

StatusOr<Repro> ReadRepro(const std::string& folder) {
  Repro repro;
  const std::string path = folder + "/dispatch.txt";
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  StatusOr<tensor::Dispatch> dispatch = tensor::Parse(text);
  if (!dispatch.ok()) return dispatch.status().WithContext(path);
  repro.dispatch = *std::move(dispatch);
  EMBER_RETURN_IF_ERROR(ReadCall(folder, repro));
  for (const tensor::Buffer& buffer : repro.dispatch.buffers) {
    const bool is_input = buffer.kind == tensor::BufferKind::kInput;
    if (buffer.kind == tensor::BufferKind::kTemporary) continue;
    std::vector<vm::Tensor>& list = is_input ? repro.inputs : repro.want;
    EMBER_ASSIGN_OR_RETURN(
        vm::Tensor tensor,
        ReadOf(TensorPath(folder, is_input ? "input" : "want", list.size()),
               buffer.type));
    list.push_back(std::move(tensor));
  }
  // The file of the schedule is missing if the kernel's schedule was not known
  // when the folder was written.
  const StatusOr<std::string> schedule =
      ReadFile(folder + "/" + repro.dispatch.name + ".schedule");
  if (schedule.ok()) repro.schedule = *schedule;
  return repro;
}

vm::KernelRequest RequestOf(const Repro& repro, std::string_view target) {
  vm::KernelRequest request;
  request.dispatch = &repro.dispatch;
  request.target = std::string(target);
  request.tier = repro.tier;
  if (repro.is_specialised) request.parameters = repro.parameters;
  request.constant_inputs = repro.constant_inputs;
  request.constant_inputs.resize(repro.inputs.size());
  for (size_t i = 0; i < repro.inputs.size(); ++i) {
    const vm::Tensor& input = repro.inputs[i];
    std::span<const uint8_t> data;
    if (request.constant_inputs[i]) {
      data = {static_cast<const uint8_t*>(input.data),
              static_cast<size_t>(input.byte_size)};
    }
    request.constant_data.push_back(data);
  }
  return request;
}

}  // namespace ember::tools
