#include "frontends/onnx/import/import.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "base/one_line.h"
#include "frontends/import_steps.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/metadata.h"
#include "frontends/onnx/import/model_index.h"
#include "frontends/onnx/node/external_data.h"
#include "frontends/onnx/node/sparse_tensors.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {
namespace {

// A model that has been parsed, and the files with its weights.
struct ParsedModel {
  ParsedModel(std::shared_ptr<const ModelProto> proto,
              const std::string& folder, const std::string& path)
      : proto(std::move(proto)), files(folder, path) {}

  std::shared_ptr<const ModelProto> proto;
  ExternalFiles files;
};

StatusOr<std::shared_ptr<const ModelProto>> ParseProto(
    std::span<const uint8_t> bytes) {
  auto model = std::make_shared<ModelProto>();
  const std::string found = std::to_string(bytes.size()) + " bytes";
  if (bytes.size() > INT32_MAX) {
    return InvalidArgumentError(
        "expected an ONNX model below 2 GB (weights beyond that are " +
        ("external data), found " + found));
  }
  google::protobuf::io::CodedInputStream stream(bytes.data(),
                                                static_cast<int>(bytes.size()));
  // Each level of subgraphs nests three messages of protobuf: a graph, a node
  // and an attribute.
  stream.SetRecursionLimit(3 * kMaxCallDepth + 8);
  if (!model->ParseFromCodedStream(&stream) ||
      !stream.ConsumedEntireMessage()) {
    return DataLossError("expected an ONNX model, found " + found +
                         " that do not parse as one, or whose subgraphs are "
                         "more than " +
                         std::to_string(kMaxCallDepth) + " levels deep");
  }
  if (!model->has_graph()) {
    return InvalidArgumentError("expected an ONNX model with a graph, found " +
                                found + " without one");
  }
  EMBER_RETURN_IF_ERROR(ReplaceSparseTensors(*model));
  return std::shared_ptr<const ModelProto>(std::move(model));
}

std::string Where(std::string_view name) {
  return "model '" + std::string(name) + "'";
}

// Returns the status with its message on one line. The message contains names
// of the model, which may have line breaks.
Status WithNamesOnOneLine(const Status& status) {
  return Status(status.code(), OnOneLine(status.message()));
}

StatusOr<std::shared_ptr<ParsedModel>> ParseModel(frontends::ModelFile& file) {
  return file.Parsed<ParsedModel>(
      [&](const graph::ConstantData& contents) -> StatusOr<ParsedModel> {
        EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const ModelProto> proto,
                               ParseProto(contents.bytes));
        return ParsedModel(std::move(proto), file.folder(), file.path());
      });
}

StatusOr<graph::Graph> ImportParsed(ParsedModel& model,
                                    const ImportOptions& options) {
  frontends::ImportSteps steps(options.progress);
  BranchChoices choices;
  Status first_error;
  do {
    GraphImporter importer(model.proto, model.files, options, steps, choices);
    StatusOr<graph::Graph> graph = importer.Import();
    if (graph.ok() && !importer.assumed_dims().empty()) {
      GraphImporter both(model.proto, model.files, options, steps, choices);
      both.MakeVariants(importer.assumed_dims());
      // If the graph with both variants cannot be imported, the graph of the
      // first import remains in use. Its program takes the dims to be equal,
      // and refuses other extents.
      StatusOr<graph::Graph> variants = both.Import();
      if (variants.ok() || variants.status().code() == StatusCode::kCancelled)
        graph = std::move(variants);
    }
    if (graph.ok() || graph.status().code() == StatusCode::kResourceExhausted ||
        graph.status().code() == StatusCode::kCancelled) {
      if (options.data_dependent_inputs != nullptr && graph.ok())
        options.data_dependent_inputs->clear();
      return graph;
    }
    if (first_error.ok()) first_error = graph.status();
  } while (choices.Next());
  return first_error;
}

StatusOr<graph::Graph> ImportNamed(ParsedModel& model,
                                   const ImportOptions& options,
                                   std::string_view name) {
  const ModelProto& proto = *model.proto;
  const std::string newer = NewerThanKnown(proto);
  const auto failure = [&](const Status& status) {
    if (newer.empty()) return status;
    return Status(status.code(),
                  std::string(status.message()) + " (" + newer + ")");
  };
  const Status supported = CheckOperatorsSupported(ModelIndex(proto), name);
  if (!supported.ok()) return failure(WithNamesOnOneLine(supported));
  StatusOr<graph::Graph> graph = ImportParsed(model, options);
  if (!graph.ok()) {
    return failure(WithNamesOnOneLine(graph.status()).WithContext(Where(name)));
  }
  if (!newer.empty() && options.notes != nullptr)
    options.notes->push_back(newer);
  graph->set_metadata(MetadataOf(proto));
  return graph;
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::string_view folder,
                                        const ImportOptions& options,
                                        std::string_view name) {
  auto proto = ParseProto(bytes);
  if (!proto.ok()) return proto.status().WithContext(Where(name));
  ParsedModel model(*std::move(proto), std::string(folder), "");
  return ImportNamed(model, options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const ImportOptions& options) {
  const auto model = ParseModel(file);
  if (!model.ok()) return model.status().WithContext(Where(file.name()));
  return ImportNamed(**model, options, file.name());
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const ImportOptions& options) {
  frontends::ModelFile file(path);
  EMBER_RETURN_IF_ERROR(file.Map().status());
  return ImportModel(file, options);
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<ParsedModel> model,
                         ParseModel(file));
  const GraphProto& graph = model->proto->graph();
  std::set<std::string> initializers;
  for (const TensorProto& tensor : graph.initializer())
    initializers.insert(tensor.name());
  std::vector<frontends::InputInfo> inputs;
  for (const ValueInfoProto& input : graph.input()) {
    const TypeProto& type = input.type();
    inputs.push_back(
        {.name = input.name(),
         .has_rank = !type.has_tensor_type() || type.tensor_type().has_shape(),
         .has_value = initializers.contains(input.name())});
  }
  return inputs;
}

}  // namespace ember::onnx
