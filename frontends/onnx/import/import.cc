#include "frontends/onnx/import/import.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/one_line.h"
#include "frontends/import_steps.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/onnx/import/metadata.h"
#include "frontends/onnx/import/model_index.h"
#include "frontends/onnx/node/sparse_tensors.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {
namespace {

StatusOr<std::shared_ptr<const ModelProto>> ParseModel(
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
  // Each level of subgraphs nests three messages: graph, node, attribute.
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

// Returns the status with its message on one line. The message contains names
// of the model, which may have line breaks.
Status WithNamesOnOneLine(const Status& status) {
  return Status(status.code(), OnOneLine(status.message()));
}

StatusOr<graph::Graph> ImportParsed(
    const std::shared_ptr<const ModelProto>& model, std::string_view folder,
    const ImportOptions& options) {
  frontends::ImportSteps steps(options.progress);
  BranchChoices choices;
  Status first_error;
  do {
    GraphImporter importer(model, std::string(folder), options, steps, choices);
    StatusOr<graph::Graph> graph = importer.Import();
    if (graph.ok() && !importer.assumed_dims().empty()) {
      GraphImporter both(model, std::string(folder), options, steps, choices);
      both.MakeVariants(importer.assumed_dims());
      // If the import of both variants fails, the graph of the first import is
      // used. Its program refuses extents that would have to broadcast.
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

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::string_view folder,
                                        const ImportOptions& options,
                                        std::string_view name) {
  const std::string where = "model '" + std::string(name) + "'";
  const auto model = ParseModel(bytes);
  if (!model.ok()) return model.status().WithContext(where);
  const Status supported = CheckOperatorsSupported(ModelIndex(**model), name);
  if (!supported.ok()) return WithNamesOnOneLine(supported);
  StatusOr<graph::Graph> graph = ImportParsed(*model, folder, options);
  const std::string newer = NewerThanKnown(**model);
  if (!graph.ok()) {
    const Status status = WithNamesOnOneLine(graph.status()).WithContext(where);
    if (newer.empty()) return status;
    return Status(status.code(),
                  std::string(status.message()) + " (" + newer + ")");
  }
  if (!newer.empty() && options.notes != nullptr)
    options.notes->push_back(newer);
  graph->set_metadata(MetadataOf(**model));
  return graph;
}

StatusOr<graph::Graph> ImportModel(std::string_view path,
                                   const ImportOptions& options) {
  const std::filesystem::path file_path{std::string(path)};
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(file_path.string()));
  std::string folder = file_path.parent_path().string();
  if (folder.empty()) folder = ".";
  ImportOptions of_file = options;
  of_file.path = file_path.string();
  return ImportModelBytes(file.bytes(), folder, of_file,
                          file_path.filename().string());
}

}  // namespace ember::onnx
