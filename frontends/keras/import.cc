#include "frontends/keras/import.h"

#include <optional>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "frontends/archive/zip_archive.h"
#include "frontends/archive/zip_metadata.h"
#include "frontends/hdf5/file.h"
#include "frontends/keras/config.h"
#include "frontends/keras/graph_importer.h"
#include "frontends/keras/layer_table.h"
#include "frontends/keras/network.h"
#include "frontends/keras/weights.h"
#include "frontends/metadata.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"

namespace ember::keras {
namespace {

// An opened file with the description of its model.
struct OpenedModel {
  // The weights. Null if the model is in an archive and OpenWeights has not
  // been called.
  std::shared_ptr<hdf5::File> weights;
  std::optional<archive::ZipArchive> zip;
  std::shared_ptr<Document> document;
  int major_version = 2;
  std::unique_ptr<Network> network;
  frontends::MetadataCollector metadata{"keras"};
};

// Adds an attribute, such as the version, to the metadata if it is a single
// text.
void AddText(const std::optional<std::vector<std::string>>& texts,
             std::string_view name, OpenedModel& model) {
  if (texts && texts->size() == 1) model.metadata.Add(name, texts->front());
}

// Returns 3 for "3.4.1"; nullopt if the text is not a version.
std::optional<int> MajorVersion(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  int major = 0;
  for (const char c : text.substr(0, 3)) {
    if (c < '0' || c > '9') break;
    major = major * 10 + (c - '0');
  }
  return major;
}

Status OpenHdf5(std::span<const uint8_t> bytes,
                std::shared_ptr<const void> owner, OpenedModel& model) {
  EMBER_ASSIGN_OR_RETURN(model.weights,
                         hdf5::File::Open(bytes, std::move(owner)));
  EMBER_ASSIGN_OR_RETURN(const hdf5::Object root, model.weights->Root());
  EMBER_ASSIGN_OR_RETURN(const auto config, root.Strings("model_config"));
  if (!config || config->size() != 1) {
    return DataLossError(
        "expected the attribute model_config, found none: the file has weights "
        "without a model (save the whole model)");
  }
  EMBER_ASSIGN_OR_RETURN(model.document,
                         Document::Parse(config->front(), "model_config"));
  EMBER_ASSIGN_OR_RETURN(auto version, root.Strings("keras_version"));
  if (!version) {
    // Older files have the Keras version as an attribute of the group
    // model_weights instead of the root.
    EMBER_ASSIGN_OR_RETURN(const auto group, root.Find("model_weights"));
    if (group) {
      EMBER_ASSIGN_OR_RETURN(version, group->Strings("keras_version"));
    }
  }
  if (version && version->size() == 1)
    model.major_version = MajorVersion(version->front()).value_or(2);
  AddText(version, "keras_version", model);
  const auto backend = root.Strings("backend");
  if (backend.ok()) AddText(*backend, "backend", model);
  return OkStatus();
}

Status OpenArchive(std::span<const uint8_t> bytes,
                   std::shared_ptr<const void> owner, OpenedModel& model) {
  EMBER_ASSIGN_OR_RETURN(model.zip,
                         archive::ZipArchive::Open(bytes, std::move(owner)));
  const archive::ZipArchive& zip = *model.zip;
  EMBER_ASSIGN_OR_RETURN(const archive::ZipContents config,
                         zip.Read("config.json"));
  EMBER_ASSIGN_OR_RETURN(model.document,
                         Document::Parse(AsText(config.bytes), "config.json"));
  model.major_version = 3;
  if (zip.Has("metadata.json")) {
    EMBER_ASSIGN_OR_RETURN(const archive::ZipContents metadata,
                           zip.Read("metadata.json"));
    EMBER_ASSIGN_OR_RETURN(
        const auto document,
        Document::Parse(AsText(metadata.bytes), "metadata.json"));
    const std::string version = document->root().Text("keras_version");
    model.major_version = MajorVersion(version).value_or(3);
    model.metadata.Add("keras_version", version);
    model.metadata.Add("date_saved", document->root().Text("date_saved"));
  }
  // The archive's assets (vocabularies of layers that look words up) become
  // metadata of the graph.
  for (const std::string& name : zip.names()) {
    if (name.starts_with("assets/"))
      archive::AddZipEntry(zip, name, "asset." + name.substr(7),
                           model.metadata);
  }
  return OkStatus();
}

// Opens the weights of a .keras archive. Import calls it; listing a model's
// inputs does not need the weights.
Status OpenWeights(OpenedModel& model) {
  if (model.weights != nullptr) return OkStatus();
  const archive::ZipArchive& zip = *model.zip;
  StatusOr<archive::ZipContents> weights = zip.Read("model.weights.h5");
  if (weights.status().code() == StatusCode::kNotFound) {
    for (const std::string& name : zip.names()) {
      if (!name.starts_with("model.weights")) continue;
      return UnimplementedError(
          "expected model.weights.h5, found '" + OnOneLine(name) + "'" +
          (name.ends_with(".npz")
               ? ", which holds Python pickles, as Keras writes them where "
                 "h5py is not installed: install h5py, load the model in Keras "
                 "and save it again"
               : ""));
    }
  }
  if (!weights.ok()) return weights.status();
  StatusOr<std::shared_ptr<hdf5::File>> file =
      hdf5::File::Open(weights->bytes, weights->owner);
  if (!file.ok()) return file.status().WithContext("model.weights.h5");
  model.weights = *std::move(file);
  return OkStatus();
}

StatusOr<OpenedModel> OpenModel(const graph::ConstantData& file) {
  OpenedModel model;
  if (archive::ZipArchive::IsArchive(AsText(file.bytes))) {
    EMBER_RETURN_IF_ERROR(OpenArchive(file.bytes, file.owner, model));
  } else {
    EMBER_RETURN_IF_ERROR(OpenHdf5(file.bytes, file.owner, model));
  }
  if (model.major_version < 2) {
    return UnimplementedError("expected a model of Keras 2 or 3, found " +
                              std::to_string(model.major_version) +
                              ": load and save it with Keras 2");
  }
  EMBER_ASSIGN_OR_RETURN(model.network, ReadNetwork(model.document->root()));
  model.metadata.Add("name", model.network->name);
  EMBER_RETURN_IF_ERROR(model.document->status());
  return model;
}

using frontends::UnsupportedParts;

Status FindUnsupported(const Layer& layer, int depth,
                       UnsupportedParts& missing);

Status FindUnsupported(const Network& network, int depth,
                       UnsupportedParts& missing) {
  for (const Layer& layer : network.layers)
    EMBER_RETURN_IF_ERROR(FindUnsupported(layer, depth, missing));
  return OkStatus();
}

Status FindUnsupported(const Layer& layer, int depth,
                       UnsupportedParts& missing) {
  if (depth > kMaxNesting) {
    return ResourceExhaustedError("layer '" + OnOneLine(layer.name) +
                                  "': nested too deeply");
  }
  if (layer.network != nullptr)
    return FindUnsupported(*layer.network, depth + 1, missing);
  const LayerRow* row = FindRow(layer);
  if (row != nullptr && row->inner != nullptr) {
    EMBER_ASSIGN_OR_RETURN(const std::vector<InnerLayer> inner,
                           row->inner(layer.config));
    for (const InnerLayer& one : inner)
      EMBER_RETURN_IF_ERROR(FindUnsupported(*one.layer, depth + 1, missing));
  }
  if (row != nullptr && row->import != nullptr) return OkStatus();
  missing.Add(ClassNameOf(layer), layer.name,
              row != nullptr ? row->reason : "");
  return OkStatus();
}

Status CheckLayers(const Network& network) {
  UnsupportedParts missing("layers", "layer");
  EMBER_RETURN_IF_ERROR(FindUnsupported(network, 0, missing));
  return missing.ToStatus();
}

StatusOr<graph::Graph> ImportOpened(OpenedModel& model,
                                    const frontends::ImportOptions& options) {
  EMBER_RETURN_IF_ERROR(
      frontends::CheckNoEntry(options, "Keras files have one function"));
  EMBER_RETURN_IF_ERROR(OpenWeights(model));
  EMBER_RETURN_IF_ERROR(CheckLayers(*model.network));
  EMBER_RETURN_IF_ERROR(model.document->status());
  EMBER_ASSIGN_OR_RETURN(hdf5::Object root, model.weights->Root());
  StatusOr<Weights> weights = model.zip ? ReadPathWeights(*model.network, root)
                                        : [&]() -> StatusOr<Weights> {
    EMBER_ASSIGN_OR_RETURN(const auto group, root.Find("model_weights"));
    return ReadListedWeights(*model.network, group ? *group : root);
  }();
  // An error in the configuration is reported first, because it may be why the
  // weights do not match.
  EMBER_RETURN_IF_ERROR(model.document->status());
  if (!weights.ok()) return weights.status();
  EMBER_ASSIGN_OR_RETURN(
      graph::Graph graph,
      GraphImporter(*model.network, *weights, model.major_version, options,
                    model.document->status())
          .Import());
  frontends::MetadataCollector metadata = model.metadata;
  graph.set_metadata(std::move(metadata).Take());
  return graph;
}

StatusOr<graph::Graph> ImportRead(OpenedModel& model,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  StatusOr<graph::Graph> graph = ImportOpened(model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  return graph;
}

}  // namespace

bool IsModel(std::string_view contents) {
  if (hdf5::File::IsFile(contents)) return true;
  if (!archive::ZipArchive::IsArchive(contents)) return false;
  const StatusOr<archive::ZipArchive> zip =
      archive::ZipArchive::Open(AsBytes(contents), nullptr);
  return zip.ok() && zip->Has("config.json");
}

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  StatusOr<OpenedModel> model =
      OpenModel(frontends::KeptBytes(bytes, std::move(owner)));
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  return ImportRead(*model, options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  const auto model = file.Parsed<OpenedModel>(OpenModel);
  if (!model.ok()) return frontends::OfModel(model.status(), file.name());
  return ImportRead(**model, options, file.name());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions&) {
  const auto model = file.Parsed<OpenedModel>(OpenModel);
  if (!model.ok()) {
    return Status(model.status().code(), OnOneLine(model.status().message()));
  }
  std::vector<frontends::InputInfo> inputs;
  for (const NetworkInput& input : InputsOf(*(*model)->network))
    inputs.push_back({input.name, RankOf(*input.layer).has_value()});
  return inputs;
}

}  // namespace ember::keras
