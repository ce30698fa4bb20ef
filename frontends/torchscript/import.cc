#include "frontends/torchscript/import.h"

#include <filesystem>
#include <map>
#include <utility>

#include "base/file.h"
#include "base/one_line.h"
#include "frontends/torchscript/model_importer.h"
#include "frontends/torchscript/module.h"

namespace ember::torchscript {
namespace {

// Inputs whose type is learnt from an operator that refuses another, one after
// the other.
constexpr int kMostTries = 32;

Status InContext(const Status& status, std::string_view name) {
  return Status(status.code(), OnOneLine(status.message()))
      .WithContext("model '" + OnOneLine(name) + "'");
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  if (owner == nullptr) {
    auto copy =
        std::make_shared<std::vector<uint8_t>>(bytes.begin(), bytes.end());
    bytes = *copy;
    owner = std::move(copy);
  }
  const auto import = [&]() -> StatusOr<graph::Graph> {
    EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<ModuleFile> file,
                           ModuleFile::Open(bytes, owner));
    std::map<std::string, DType> dtypes;
    for (const auto& [input, value] : options.input_values)
      dtypes[input] = value.dtype;
    frontends::ImportSteps steps(options.progress);
    for (int i = 0;; ++i) {
      ModelImporter importer(*file, options, dtypes, steps);
      StatusOr<graph::Graph> graph = importer.Import();
      if (graph.ok() || i == kMostTries) return graph;
      bool is_news = false;
      for (const auto& [input, dtype] : importer.wanted())
        is_news |= dtypes.emplace(input, dtype).second;
      if (!is_news) return graph;
    }
  };
  StatusOr<graph::Graph> graph = import();
  if (graph.ok()) return graph;
  return InContext(graph.status(), name);
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  const auto owner = std::make_shared<const MappedFile>(std::move(file));
  return ImportModelBytes(owner->bytes(), owner, options,
                          std::filesystem::path(path).filename().string());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options) {
  const std::string name = std::filesystem::path(path).filename().string();
  EMBER_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  const auto owner = std::make_shared<const MappedFile>(std::move(mapped));
  StatusOr<std::unique_ptr<ModuleFile>> file =
      ModuleFile::Open(owner->bytes(), owner);
  if (!file.ok()) return InContext(file.status(), name);
  frontends::ImportSteps steps(nullptr);
  const StatusOr<Arguments> arguments =
      ModelImporter(**file, options, {}, steps).MethodArguments();
  if (!arguments.ok()) return InContext(arguments.status(), name);
  std::vector<frontends::InputInfo> infos;
  for (const frontends::ModelInput& input : arguments->inputs())
    infos.push_back({.name = input.name, .has_rank = input.dims.has_value()});
  return infos;
}

bool IsArchive(std::string_view contents) {
  if (!archive::ZipArchive::IsArchive(contents)) return false;
  const auto* bytes = reinterpret_cast<const uint8_t*>(contents.data());
  const StatusOr<archive::ZipArchive> archive =
      archive::ZipArchive::Open({bytes, contents.size()}, nullptr);
  return archive.ok() && KindOfArchive(*archive) != ArchiveKind::kNone;
}

}  // namespace ember::torchscript
