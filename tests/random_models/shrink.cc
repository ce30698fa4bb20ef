// Implements Checker::Shrink, and writes the folders that findings are kept in.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "tests/random_models/checker.h"
#include "tests/random_models/generator.h"
#include "tools/lib/tensors/onnx_data.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Makes the value an input, with the contents that the generator found for it.
void MakeInput(RandomModel& model, const std::string& name) {
  const vm::Tensor& tensor = model.values.at(name);
  onnx::GraphProto& graph = *model.proto.mutable_graph();
  for (int i = graph.node_size() - 1; i >= 0; --i) {
    onnx::NodeProto& node = *graph.mutable_node(i);
    for (std::string& output : *node.mutable_output())
      if (output == name) output = name + "_unused";
  }
  onnx::ValueInfoProto& input = *graph.add_input();
  input.set_name(name);
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(tensor.strings ? int32_t{TensorProto::STRING}
                                    : onnx::DTypeToOnnx(tensor.type));
  type.mutable_shape();
  for (const int64_t dim : tensor.dims)
    type.mutable_shape()->add_dim()->set_dim_value(dim);
  model.inputs.emplace_back(name, tensor);
}

bool IsMade(const onnx::GraphProto& graph, const std::string& name) {
  return std::any_of(graph.node().begin(), graph.node().end(),
                     [&](const onnx::NodeProto& node) {
                       return node.op_type() != "Constant" &&
                              std::find(node.output().begin(),
                                        node.output().end(),
                                        name) != node.output().end();
                     });
}

}  // namespace

StatusOr<RandomModel> Checker::Shrink(const RandomModel& model,
                                      const std::string& detail) {
  RandomModel best = model;
  int tries = 0;
  // Checks a smaller candidate. Returns true if it is still wrong, at the same
  // tier.
  const auto attempt = [&](RandomModel candidate) -> StatusOr<bool> {
    RemoveDeadNodes(candidate);
    if (candidate.proto.graph().node_size() == 0 || ++tries > 80) return false;
    EMBER_ASSIGN_OR_RETURN(const Verdict verdict, CheckOne(candidate));
    const bool is_wrong = verdict.outcome == Outcome::kWrong &&
                          verdict.detail.substr(0, 6) == detail.substr(0, 6);
    if (is_wrong) best = std::move(candidate);
    return is_wrong;
  };
  for (int i = 0; i < model.proto.graph().output_size(); ++i) {
    RandomModel candidate = best;
    auto& outputs = *candidate.proto.mutable_graph()->mutable_output();
    outputs.Clear();
    *outputs.Add() = model.proto.graph().output(i);
    EMBER_ASSIGN_OR_RETURN(const bool is_wrong, attempt(std::move(candidate)));
    if (is_wrong) break;
  }
  for (bool progress = true; progress;) {
    progress = false;
    std::vector<std::string> names;
    for (const onnx::NodeProto& node : best.proto.graph().node())
      for (const std::string& output : node.output()) names.push_back(output);
    std::reverse(names.begin(), names.end());
    for (const std::string& name : names) {
      if (best.values.count(name) == 0 || !IsMade(best.proto.graph(), name))
        continue;
      const auto& outputs = best.proto.graph().output();
      RandomModel candidate = best;
      // Tries to drop the nodes before a value (the value becomes an input), or
      // those after it (the value becomes the output).
      const bool is_output = std::any_of(
          outputs.begin(), outputs.end(),
          [&](const auto& output) { return output.name() == name; });
      if (!is_output) {
        MakeInput(candidate, name);
        EMBER_ASSIGN_OR_RETURN(const bool is_wrong,
                               attempt(std::move(candidate)));
        if (is_wrong) {
          progress = true;
          break;
        }
        candidate = best;
        auto& kept = *candidate.proto.mutable_graph()->mutable_output();
        kept.Clear();
        kept.Add()->set_name(name);
        kept.Mutable(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
            best.values.at(name).strings
                ? int32_t{TensorProto::STRING}
                : onnx::DTypeToOnnx(best.values.at(name).type));
        EMBER_ASSIGN_OR_RETURN(const bool is_wrong_before,
                               attempt(std::move(candidate)));
        if (is_wrong_before) {
          progress = true;
          break;
        }
      }
    }
  }
  return best;
}

Status WriteFolder(const std::string& folder, const RandomModel& model,
                   const NamedTensors& results, const std::string& report) {
  std::error_code error;
  std::filesystem::create_directories(folder + "/test_data_set_0", error);
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(folder + "/model.onnx",
                                            model.proto.SerializeAsString()));
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(folder + "/report.txt", report));
  const auto write = [&](const char* kind, const NamedTensors& tensors) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto& [name, tensor] = tensors[i];
      const std::string bytes =
          tensor.strings
              ? onnx::SerializeStrings(name, tensor.dims, *tensor.strings)
              : onnx::SerializeTensor(name, tensor.type, tensor.dims,
                                      {static_cast<const uint8_t*>(tensor.data),
                                       static_cast<size_t>(tensor.byte_size)});
      const Status status = WriteFileAtomically(
          folder + "/test_data_set_0/" + kind + std::to_string(i) + ".pb",
          bytes);
      if (!status.ok()) return status;
    }
    return OkStatus();
  };
  EMBER_RETURN_IF_ERROR(write("input_", model.inputs));
  return write("output_", results);
}

StatusOr<RandomModel> ReadFolder(const std::string& folder) {
  RandomModel model;
  EMBER_ASSIGN_OR_RETURN(const std::string bytes,
                         ReadFile(folder + "/model.onnx"));
  if (!model.proto.ParseFromString(bytes))
    return DataLossError(folder + ": expected an ONNX model");
  for (int i = 0;; ++i) {
    const std::string path =
        folder + "/test_data_set_0/input_" + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path)) break;
    EMBER_ASSIGN_OR_RETURN(const onnx::TensorBytes tensor,
                           onnx::ReadTensorFile(path));
    EMBER_ASSIGN_OR_RETURN(vm::Tensor read, tools::TensorOf(tensor));
    model.inputs.emplace_back(tensor.name, std::move(read));
  }
  return model;
}

}  // namespace ember::tests
