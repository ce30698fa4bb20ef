#include "frontends/caffe/import.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/one_line.h"
#include "frontends/caffe/net_importer.h"
#include "frontends/caffe/prototxt.h"
#include "frontends/caffe/upgrade.h"

namespace ember::caffe {
namespace {

namespace fs = std::filesystem;

std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A net with its weights, as it was read.
struct Model {
  std::vector<LayerParameter> layers;
  Weights weights;
  std::vector<std::string> unknown;  // NetText::unknown
  std::string no_weights;            // why there is no caffemodel
};

// Of text, which may have weights inside.
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
                          std::shared_ptr<const void> owner) {
  Model model;
  Caffemodel file;
  if (!caffemodel.empty()) {
    EMBER_ASSIGN_OR_RETURN(file, ReadCaffemodel(caffemodel, std::move(owner)));
  }
  if (prototxt.empty()) {
    model.weights = std::move(file.weights);
    EMBER_ASSIGN_OR_RETURN(model.layers, UpgradedLayers(file.net));
    return model;
  }
  EMBER_ASSIGN_OR_RETURN(NetText text, ReadPrototxt(prototxt));
  model.unknown = std::move(text.unknown);
  EMBER_RETURN_IF_ERROR(TakeNet(text.net, model));
  if (!caffemodel.empty()) model.weights = std::move(file.weights);
  return model;
}

StatusOr<graph::Graph> ImportRead(const Model& model,
                                  const frontends::ImportOptions& options) {
  if (!options.entry.empty()) {
    return InvalidArgumentError(
        "entry: expected none, as a net of Caffe has one, found '" +
        options.entry + "'");
  }
  EMBER_RETURN_IF_ERROR(CheckLayers(model.layers));
  if (!model.unknown.empty()) {
    std::string text = "unknown fields, which may mean something: ";
    for (size_t i = 0; i < model.unknown.size(); ++i)
      text += (i == 0 ? "" : ", ") + model.unknown[i];
    return UnimplementedError(text);
  }
  NetImporter importer(model.layers, model.weights, options);
  StatusOr<graph::Graph> graph = importer.Import();
  if (graph.ok() || model.no_weights.empty() ||
      graph.status().message().find("expected weights") ==
          std::string_view::npos)
    return graph;
  return Status(graph.status().code(), std::string(graph.status().message()) +
                                           "; " + model.no_weights);
}

struct Files {
  std::optional<MappedFile> prototxt;
  std::shared_ptr<const MappedFile> caffemodel;
  std::string no_weights;
};

// The weights that belong to a prototxt: of its name, or the only ones in its
// folder; else why there are none.
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

StatusOr<Files> OpenFiles(const std::string& path) {
  Files files;
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  const fs::path file_path(path);
  const bool is_text =
      IsPrototxt(AsText(file.bytes())) || file_path.extension() == ".prototxt";
  if (!is_text) {
    files.caffemodel = std::make_shared<const MappedFile>(std::move(file));
    fs::path beside = file_path;
    beside.replace_extension(".prototxt");
    std::error_code error;
    if (fs::is_regular_file(beside, error)) {
      EMBER_ASSIGN_OR_RETURN(files.prototxt, MappedFile::Open(beside.string()));
    }
    return files;
  }
  files.prototxt = std::move(file);
  const std::string weights = FindWeights(file_path, files.no_weights);
  if (!weights.empty()) {
    EMBER_ASSIGN_OR_RETURN(MappedFile opened, MappedFile::Open(weights));
    files.caffemodel = std::make_shared<const MappedFile>(std::move(opened));
  }
  return files;
}

StatusOr<Model> ReadFiles(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(Files files, OpenFiles(path));
  EMBER_ASSIGN_OR_RETURN(
      Model model, ReadModel(files.prototxt ? AsText(files.prototxt->bytes())
                                            : std::string_view(),
                             files.caffemodel ? files.caffemodel->bytes()
                                              : std::span<const uint8_t>(),
                             files.caffemodel));
  model.no_weights = std::move(files.no_weights);
  return model;
}

Status Named(const Status& status, std::string_view name) {
  return Status(status.code(), OnOneLine(status.message()))
      .WithContext("model '" + OnOneLine(name) + "'");
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::string_view prototxt,
                                        std::span<const uint8_t> caffemodel,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  if (owner == nullptr) {
    // As aligned as a mapped file.
    constexpr std::align_val_t kAlignment{64};
    auto* copy = static_cast<uint8_t*>(
        ::operator new(std::max<size_t>(caffemodel.size(), 1), kAlignment));
    if (!caffemodel.empty())
      std::memcpy(copy, caffemodel.data(), caffemodel.size());
    owner = std::shared_ptr<uint8_t>(
        copy, [](uint8_t* memory) { ::operator delete(memory, kAlignment); });
    caffemodel = {copy, caffemodel.size()};
  }
  const StatusOr<Model> model =
      ReadModel(prototxt, caffemodel, std::move(owner));
  if (!model.ok()) return Named(model.status(), name);
  StatusOr<graph::Graph> graph = ImportRead(*model, options);
  if (!graph.ok()) return Named(graph.status(), name);
  return graph;
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options) {
  const std::string name = fs::path(path).filename().string();
  const StatusOr<Model> model = ReadFiles(path);
  if (!model.ok()) return Named(model.status(), name);
  StatusOr<graph::Graph> graph = ImportRead(*model, options);
  if (!graph.ok()) return Named(graph.status(), name);
  return graph;
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& /*options*/) {
  EMBER_ASSIGN_OR_RETURN(const Model model, ReadFiles(path));
  EMBER_ASSIGN_OR_RETURN(const std::vector<NetInput> inputs,
                         InputsOf(model.layers));
  std::vector<frontends::InputInfo> infos;
  for (const NetInput& input : inputs)
    infos.push_back({input.name, input.has_rank});
  return infos;
}

}  // namespace ember::caffe
