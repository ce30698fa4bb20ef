#include "frontends/onnx/format.h"

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontends/model_errors.h"
#include "frontends/onnx/import.h"
#include "frontends/protobuf_fields.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {
namespace {

using frontends::Format;
using frontends::InputInfo;
using frontends::KnownTensor;

// A ModelProto starts with one of its fields; ir_version (1, a small number)
// comes first in every file that was written in the order of the fields.
// Other formats (SavedModel, Core ML) begin with a version, too, but have a
// message where the producer's name is here, whose first byte is no letter, or
// fields that a ModelProto does not have.
bool Sniff(std::string_view contents) {
  if (contents.size() < 3 || contents[0] != 0x08 || contents[1] <= 0 ||
      contents[1] >= 64)
    return false;
  frontends::ProtobufFields fields(
      {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()});
  frontends::ProtobufField field;
  while (fields.Next(field)) {
    const uint64_t n = field.number;
    if (n > 8 && n != 14 && n != 20 && n != 25 && n != 26) return false;
  }
  if (contents[2] != 0x12) return true;
  size_t at = 3;  // the name's length
  if (at < contents.size() && contents[at] == 0) return true;
  while (at < contents.size() && (contents[at] & 0x80) != 0) ++at;
  ++at;
  return at >= contents.size() || static_cast<uint8_t>(contents[at]) >= 0x20;
}

TensorBytes BytesOf(const std::string& name, const KnownTensor& known) {
  TensorBytes bytes{.name = name,
                    .dtype = known.dtype,
                    .dims = known.dims,
                    .owner = known.owner,
                    .bytes = known.bytes,
                    .strings = {}};
  if (known.strings) {
    bytes.carried_type = TensorProto::STRING;
    bytes.strings = *known.strings;
  }
  return bytes;
}

StatusOr<graph::Graph> Import(const std::string& path,
                              const frontends::ImportOptions& options) {
  EMBER_RETURN_IF_ERROR(
      frontends::CheckNoEntry(options, "a model in ONNX has one graph"));
  ImportOptions import;
  import.progress = options.progress;
  import.operation_limit = options.operation_limit;
  import.input_shapes = options.input_shapes;
  import.separate_dims = options.separate_dims;
  import.notes = options.notes;
  for (const auto& [name, value] : options.input_values)
    import.input_values.emplace(name, BytesOf(name, value));
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(path, import));
  // The importer takes values of tensors only.
  for (const graph::Value* input : graph.inputs()) {
    if (import.input_values.contains(input->name())) {
      return InvalidArgumentError("input '" + input->name() +
                                  "': expected a tensor to make a constant of, "
                                  "found a sequence or optional");
    }
  }
  return graph;
}

StatusOr<std::vector<InputInfo>> Inputs(
    const std::string& path, const frontends::ImportOptions& /*options*/) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  ModelProto model;
  if (file.bytes().size() > INT32_MAX ||
      !model.ParseFromArray(file.bytes().data(),
                            static_cast<int>(file.bytes().size()))) {
    return DataLossError("expected an ONNX model, found " +
                         std::to_string(file.bytes().size()) +
                         " bytes that do not parse as one");
  }
  std::set<std::string> initializers;
  for (const TensorProto& tensor : model.graph().initializer())
    initializers.insert(tensor.name());
  std::vector<InputInfo> inputs;
  for (const ValueInfoProto& input : model.graph().input()) {
    const TypeProto& type = input.type();
    inputs.push_back(
        {.name = input.name(),
         .has_rank = !type.has_tensor_type() || type.tensor_type().has_shape(),
         .has_value = initializers.contains(input.name())});
  }
  return inputs;
}

constexpr std::string_view kExtensions[] = {".onnx"};

}  // namespace

constinit const Format kFormat = {
    .name = "onnx",
    .title = "ONNX, with ai.onnx.ml and com.microsoft",
    .extensions = kExtensions,
    .sniff = Sniff,
    .import = Import,
    .inputs = Inputs,
};

}  // namespace ember::onnx
