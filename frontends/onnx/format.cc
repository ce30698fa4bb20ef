#include "frontends/onnx/format.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/model_errors.h"
#include "frontends/onnx/import/import.h"
#include "frontends/protobuf_fields.h"

namespace ember::onnx {
namespace {

using frontends::Format;
using frontends::InputInfo;
using frontends::KnownTensor;

// True if the bytes can be a text, such as the name of a model's producer. In
// the fields in which ONNX has such a text, other formats have messages, which
// contain bytes that do not occur in a text.
bool IsText(std::span<const uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) {
    return byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r';
  });
}

// True if the fields, in any order, are those of a ModelProto with a version of
// ONNX (field 1, a small number). Reading stops at damage. Other formats
// (SavedModel, Core ML) have a version in field 1, too, but a message in place
// of the producer's name (field 2), or other fields.
bool Sniff(std::string_view contents) {
  constexpr uint64_t kVersionsEnd = 64;
  frontends::ProtobufFields fields(
      {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()});
  frontends::ProtobufField field;
  bool has_version = false;
  while (fields.Next(field)) {
    const uint64_t n = field.number;
    if (n > 8 && n != 14 && n != 20 && n != 25 && n != 26) return false;
    const bool is_number = n == 1 || n == 5;
    if (field.type != (is_number ? frontends::WireType::kVarint
                                 : frontends::WireType::kBytes))
      return false;
    if (n == 1) {
      if (field.value == 0 || field.value >= kVersionsEnd) return false;
      has_version = true;
    }
    if ((n == 2 || n == 3 || n == 4) && !IsText(field.bytes)) return false;
  }
  return has_version;
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

StatusOr<graph::Graph> Import(frontends::ModelFile& file,
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
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(file, import));
  // The importer makes constants only of tensors. A given value is still an
  // input of the graph if the model declares it as a sequence or optional,
  // which is an error.
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
    frontends::ModelFile& file, const frontends::ImportOptions& /*options*/) {
  return ModelInputs(file);
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
