#include "frontends/torchscript/import.h"

#include <map>
#include <utility>

#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"
#include "frontends/torchscript/model_importer.h"
#include "frontends/torchscript/module.h"

namespace ember::torchscript {
namespace {

// Largest number of imports of an archive. An import may find inputs whose
// assumed type an operator refuses; then it is repeated with other types.
constexpr int kMaxTries = 32;

StatusOr<std::unique_ptr<ModuleFile>> Open(const graph::ConstantData& file) {
  return ModuleFile::Open(file.bytes, file.owner);
}

StatusOr<graph::Graph> ImportOpened(ModuleFile& file,
                                    const frontends::ImportOptions& options) {
  std::map<std::string, DType> dtypes = options.input_types;
  for (const auto& [input, value] : options.input_values)
    dtypes[input] = value.dtype;
  frontends::ImportSteps steps(options.progress);
  for (int i = 0;; ++i) {
    ModelImporter importer(file, options, dtypes, steps);
    StatusOr<graph::Graph> graph = importer.Import();
    if (graph.ok()) graph->set_metadata(file.Metadata());
    if (graph.ok() || i == kMaxTries) return graph;
    bool is_news = false;
    for (const auto& [input, dtype] : importer.wanted())
      is_news |= dtypes.emplace(input, dtype).second;
    if (!is_news) return graph;
  }
}

template <typename File>
StatusOr<graph::Graph> ImportRead(const StatusOr<File>& file,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  if (!file.ok()) return frontends::OfModel(file.status(), name);
  StatusOr<graph::Graph> graph = ImportOpened(**file, options);
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  return graph;
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  return ImportRead(Open(frontends::KeptBytes(bytes, std::move(owner))),
                    options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  return ImportRead(file.Parsed<ModuleFile>(Open), options, file.name());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  const auto module = file.Parsed<ModuleFile>(Open);
  if (!module.ok()) return frontends::OfModel(module.status(), file.name());
  frontends::ImportSteps steps(nullptr);
  const StatusOr<Arguments> arguments =
      ModelImporter(**module, options, options.input_types, steps)
          .MethodArguments(Arguments::Scope::kAll);
  if (!arguments.ok())
    return frontends::OfModel(arguments.status(), file.name());
  return arguments->infos();
}

bool IsArchive(std::string_view contents) {
  const ArchiveKind kind = KindOfContents(contents);
  return kind == ArchiveKind::kTorchScript || kind == ArchiveKind::kTensors;
}

}  // namespace ember::torchscript
