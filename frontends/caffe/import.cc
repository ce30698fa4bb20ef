#include "frontends/caffe/import.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "frontends/caffe/net_importer.h"
#include "frontends/caffe/prototxt.h"
#include "frontends/caffe/upgrade.h"
#include "frontends/metadata.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"

namespace ember::caffe {
namespace {

namespace fs = std::filesystem;

// A net and its weights, as read from the files.
struct Model {
  std::string name;
  std::vector<LayerParameter> layers;
  Weights weights;
  std::vector<std::string> unknown;  // NetText::unknown
  // Why no caffemodel was found, for error messages; empty if one was found.
  std::string no_weights;
};

// Moves a net that was parsed from text into the model, with the weights that
// the text may contain.
Status TakeNet(NetParameter& net, Model& model) {
  EMBER_ASSIGN_OR_RETURN(model.layers, UpgradedLayers(net));
  for (LayerParameter& layer : model.layers) {
    if (layer.blobs_size() == 0) continue;
    std::vector<Blob> blobs;
    for (const BlobProto& proto : layer.blobs()) {
      StatusOr<Blob> blob = Blob::FromProto(proto);
      if (!blob.ok()) {
        return blob.status().WithContext("layer '" + OnOneLine(layer.name()) +
                                         "'");
      }
      blobs.push_back(*std::move(blob));
    }
    layer.clear_blobs();
    model.weights.Add(layer.name(), std::move(blobs));
  }
  return OkStatus();
}

StatusOr<Model> ReadModel(std::string_view prototxt,
                          std::span<const uint8_t> caffemodel,
                          const std::shared_ptr<const void>& owner) {
  Model model;
  Caffemodel file;
  if (!caffemodel.empty()) {
    EMBER_ASSIGN_OR_RETURN(file, ReadCaffemodel(caffemodel, owner));
  }
  if (prototxt.empty()) {
    model.name = file.net.name();
    model.weights = std::move(file.weights);
    EMBER_ASSIGN_OR_RETURN(model.layers, UpgradedLayers(file.net));
    return model;
  }
  EMBER_ASSIGN_OR_RETURN(NetText text, ReadPrototxt(prototxt));
  model.unknown = std::move(text.unknown);
  model.name = text.net.name();
  EMBER_RETURN_IF_ERROR(TakeNet(text.net, model));
  if (!caffemodel.empty()) model.weights = std::move(file.weights);
  return model;
}

StatusOr<graph::Graph> ImportRead(const Model& model,
                                  const frontends::ImportOptions& options) {
  EMBER_RETURN_IF_ERROR(
      frontends::CheckNoEntry(options, "a net of Caffe has one"));
  EMBER_RETURN_IF_ERROR(CheckLayers(model.layers));
  if (!model.unknown.empty()) {
    std::string text = "unknown fields, which may mean something: ";
    for (size_t i = 0; i < model.unknown.size(); ++i)
      text += (i == 0 ? "" : ", ") + model.unknown[i];
    return UnimplementedError(text);
  }
  NetImporter importer(model.layers, model.weights, options);
  StatusOr<graph::Graph> graph = importer.Import();
  if (graph.ok()) {
    frontends::MetadataCollector metadata("caffe");
    metadata.Add("name", model.name);
    graph->set_metadata(std::move(metadata).Take());
  }
  if (graph.ok() || model.no_weights.empty() ||
      graph.status().message().find("expected weights") ==
          std::string_view::npos)
    return graph;
  return Status(graph.status().code(), std::string(graph.status().message()) +
                                           "; " + model.no_weights);
}

struct Files {
  // The bytes of the two files; a missing file has none.
  graph::ConstantData prototxt, caffemodel;
  std::string no_weights;
};

// Returns the path of the weights that belong to a prototxt: those of its name,
// or the only ones in its folder. If neither is found, or the folder has
// several, it returns "", and `reason` says why.
std::string FindWeights(const fs::path& prototxt, std::string& reason) {
  fs::path beside = prototxt;
  beside.replace_extension(".caffemodel");
  std::error_code error;
  if (fs::is_regular_file(beside, error)) return beside.string();
  const fs::path folder =
      prototxt.has_parent_path() ? prototxt.parent_path() : fs::path(".");
  std::string found;
  int count = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().extension() != ".caffemodel") continue;
    found = it->path().string();
    ++count;
  }
  if (count == 1) return found;
  reason = "expected '" + beside.filename().string() +
           "' beside it, or one .caffemodel alone in its folder, found " +
           std::to_string(count);
  return "";
}

// Opens both files of a model. `path` names one of them, whose contents the
// caller has read as `contents`.
StatusOr<Files> OpenFiles(const fs::path& path,
                          const graph::ConstantData& contents) {
  Files files;
  const bool is_text =
      IsPrototxt(AsText(contents.bytes)) || path.extension() == ".prototxt";
  if (!is_text) {
    files.caffemodel = contents;
    fs::path beside = path;
    beside.replace_extension(".prototxt");
    std::error_code error;
    if (fs::is_regular_file(beside, error)) {
      EMBER_ASSIGN_OR_RETURN(files.prototxt,
                             frontends::ModelFile(beside.string()).Map());
    }
    return files;
  }
  files.prototxt = contents;
  const std::string weights = FindWeights(path, files.no_weights);
  if (!weights.empty()) {
    EMBER_ASSIGN_OR_RETURN(files.caffemodel,
                           frontends::ModelFile(weights).Map());
  }
  return files;
}

StatusOr<Model> ReadFiles(const std::string& path,
                          const graph::ConstantData& contents) {
  EMBER_ASSIGN_OR_RETURN(Files files, OpenFiles(path, contents));
  EMBER_ASSIGN_OR_RETURN(
      Model model, ReadModel(AsText(files.prototxt.bytes),
                             files.caffemodel.bytes, files.caffemodel.owner));
  model.no_weights = std::move(files.no_weights);
  return model;
}

StatusOr<std::shared_ptr<Model>> Open(frontends::ModelFile& file) {
  return file.Parsed<Model>([&](const graph::ConstantData& contents) {
    return ReadFiles(file.path(), contents);
  });
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::string_view prototxt,
                                        std::span<const uint8_t> caffemodel,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  graph::ConstantData file = frontends::KeptBytes(caffemodel, std::move(owner));
  const StatusOr<Model> model = ReadModel(prototxt, file.bytes, file.owner);
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  StatusOr<graph::Graph> graph = ImportRead(*model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  return graph;
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  const auto model = Open(file);
  if (!model.ok()) return frontends::OfModel(model.status(), file.name());
  StatusOr<graph::Graph> graph = ImportRead(**model, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), file.name());
  return graph;
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& /*options*/) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, Open(file));
  EMBER_ASSIGN_OR_RETURN(const std::vector<NetInput> inputs,
                         InputsOf(model->layers));
  std::vector<frontends::InputInfo> infos;
  for (const NetInput& input : inputs)
    infos.push_back({input.name, input.has_rank});
  return infos;
}

}  // namespace ember::caffe
