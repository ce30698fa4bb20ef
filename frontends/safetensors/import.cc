#include "frontends/safetensors/import.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "frontends/file_inside.h"
#include "frontends/json_text.h"
#include "frontends/language_models/build_model.h"
#include "frontends/metadata.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"
#include "frontends/safetensors/config.h"
#include "frontends/safetensors/model_tensors.h"
#include "frontends/safetensors/safetensors_file.h"

namespace ember::safetensors {
namespace {

using nlohmann::json;

constexpr size_t kMaxShards = 4096;

struct Model {
  ModelConfig config;
  std::vector<SafetensorsFile> files;
};

// Opens a file beside the model's own.
StatusOr<graph::ConstantData> OpenBeside(const frontends::ModelFile& file,
                                         const std::string& name,
                                         std::string_view what) {
  EMBER_ASSIGN_OR_RETURN(
      const std::string path,
      frontends::FileInside(file.folder(), name, what, file.path()));
  return frontends::ModelFile(path).Map();
}

// Returns the names of the shards that an index lists, each once.
StatusOr<std::set<std::string>> ReadIndex(std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(
      const json index,
      frontends::ParseJsonText(
          text, "index of shards",
          {.infinity = "1e308", .negative_infinity = "-1e308", .nan = "null"}));
  const auto map = index.is_object() ? index.find("weight_map") : index.end();
  if (!index.is_object() || map == index.end() || !map->is_object())
    return DataLossError("index of shards: expected an object 'weight_map'");
  std::set<std::string> names;
  for (const auto& [tensor, name] : map->items()) {
    if (!name.is_string()) {
      return DataLossError("index of shards: '" +
                           OnOneLine(tensor.substr(0, 200)) +
                           "': expected the name of a file");
    }
    names.insert(name.get<std::string>());
    if (names.size() > kMaxShards) {
      return ResourceExhaustedError(
          "index of shards: expected at most 4096 files, found more");
    }
  }
  if (names.empty())
    return DataLossError("index of shards: expected at least one tensor");
  return names;
}

StatusOr<std::vector<SafetensorsFile>> OpenFiles(
    const frontends::ModelFile& file, const graph::ConstantData& contents) {
  std::vector<SafetensorsFile> files;
  if (SafetensorsFile::IsSafetensors(AsText(contents.bytes))) {
    EMBER_ASSIGN_OR_RETURN(
        SafetensorsFile one,
        SafetensorsFile::Open(contents.bytes, contents.owner));
    files.push_back(std::move(one));
    return files;
  }
  EMBER_ASSIGN_OR_RETURN(const std::set<std::string> names,
                         ReadIndex(AsText(contents.bytes)));
  for (const std::string& name : names) {
    EMBER_ASSIGN_OR_RETURN(const graph::ConstantData shard,
                           OpenBeside(file, name, "shard"));
    StatusOr<SafetensorsFile> one =
        SafetensorsFile::Open(shard.bytes, shard.owner);
    if (!one.ok())
      return one.status().WithContext(frontends::NameOfFile(name, "shard"));
    files.push_back(*std::move(one));
  }
  return files;
}

StatusOr<Model> ReadModel(const frontends::ModelFile& file,
                          const graph::ConstantData& contents) {
  StatusOr<graph::ConstantData> config =
      OpenBeside(file, "config.json", "the model's description");
  if (!config.ok()) {
    return config.status().WithContext(
        "expected config.json beside the weights, which says what they belong "
        "to");
  }
  Model model;
  EMBER_ASSIGN_OR_RETURN(model.config, ReadConfig(AsText(config->bytes)));
  EMBER_ASSIGN_OR_RETURN(model.files, OpenFiles(file, contents));
  return model;
}

StatusOr<graph::Graph> ImportRead(const Model& model,
                                  const frontends::ImportOptions& options) {
  HubTensors tensors(model.config, model.files);
  EMBER_ASSIGN_OR_RETURN(
      graph::Graph graph,
      language_models::BuildModel(model.config.options, tensors, options));
  frontends::MetadataCollector metadata("safetensors");
  metadata.Add("architecture", model.config.options.architecture->hf_class);
  metadata.AddInteger("context_length", model.config.options.context);
  // `fixed_context` says that the length of the state must not change during a
  // run, because it decides which rotary factors apply: those for long
  // contexts, or the others.
  if (!model.config.long_factors.empty())
    metadata.AddInteger("fixed_context", 1);
  graph.set_metadata(std::move(metadata).Take());
  return graph;
}

StatusOr<std::shared_ptr<Model>> Open(frontends::ModelFile& file) {
  return file.Parsed<Model>([&](const graph::ConstantData& contents) {
    return ReadModel(file, contents);
  });
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::string_view config,
                                        std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  const graph::ConstantData kept =
      frontends::KeptBytes(bytes, std::move(owner));
  const auto import = [&]() -> StatusOr<graph::Graph> {
    Model model;
    EMBER_ASSIGN_OR_RETURN(model.config, ReadConfig(config));
    EMBER_ASSIGN_OR_RETURN(SafetensorsFile file,
                           SafetensorsFile::Open(kept.bytes, kept.owner));
    model.files.push_back(std::move(file));
    return ImportRead(model, options);
  };
  StatusOr<graph::Graph> graph = import();
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
  const auto model = Open(file);
  if (!model.ok()) return frontends::OfModel(model.status(), file.name());
  return language_models::ModelInputs((*model)->config.options);
}

}  // namespace ember::safetensors
