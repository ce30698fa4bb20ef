#include "frontends/torchscript/import.h"

#include <filesystem>
#include <map>
#include <utility>

#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"
#include "frontends/torchscript/model_importer.h"
#include "frontends/torchscript/module.h"

namespace ember::torchscript {
namespace {

// Largest number of imports. Each import may find inputs that need another
// type, because an operator refused the assumed type; the import is then
// repeated.
constexpr int kMaxTries = 32;

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  const graph::ConstantData held =
      frontends::KeptBytes(bytes, std::move(owner));
  const auto import = [&]() -> StatusOr<graph::Graph> {
    EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<ModuleFile> file,
                           ModuleFile::Open(held.bytes, held.owner));
    std::map<std::string, DType> dtypes = options.input_types;
    for (const auto& [input, value] : options.input_values)
      dtypes[input] = value.dtype;
    frontends::ImportSteps steps(options.progress);
    for (int i = 0;; ++i) {
      ModelImporter importer(*file, options, dtypes, steps);
      StatusOr<graph::Graph> graph = importer.Import();
      if (graph.ok()) graph->set_metadata(file->Metadata());
      if (graph.ok() || i == kMaxTries) return graph;
      bool is_news = false;
      for (const auto& [input, dtype] : importer.wanted())
        is_news |= dtypes.emplace(input, dtype).second;
      if (!is_news) return graph;
    }
  };
  StatusOr<graph::Graph> graph = import();
  if (graph.ok()) return graph;
  return frontends::OfModel(graph.status(), name);
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData file,
                         frontends::MapModelFile(path));
  return ImportModelBytes(file.bytes, file.owner, options,
                          std::filesystem::path(path).filename().string());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    const std::string& path, const frontends::ImportOptions& options) {
  const std::string name = std::filesystem::path(path).filename().string();
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped,
                         frontends::MapModelFile(path));
  StatusOr<std::unique_ptr<ModuleFile>> file =
      ModuleFile::Open(mapped.bytes, mapped.owner);
  if (!file.ok()) return frontends::OfModel(file.status(), name);
  frontends::ImportSteps steps(nullptr);
  const StatusOr<Arguments> arguments =
      ModelImporter(**file, options, options.input_types, steps)
          .MethodArguments(Arguments::Scope::kAll);
  if (!arguments.ok()) return frontends::OfModel(arguments.status(), name);
  return arguments->infos();
}

bool IsArchive(std::string_view contents) {
  const ArchiveKind kind = KindOfContents(contents);
  return kind == ArchiveKind::kTorchScript || kind == ArchiveKind::kTensors;
}

}  // namespace ember::torchscript
