#include "frontends/torch_export/import.h"

#include <utility>

#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"
#include "frontends/torch_export/exported_file.h"
#include "frontends/torch_export/program_importer.h"
#include "frontends/torchscript/archive_kind.h"

namespace ember::torch_export {
namespace {

template <typename File>
StatusOr<graph::Graph> ImportRead(const StatusOr<File>& file,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  if (!file.ok()) return frontends::OfModel(file.status(), name);
  frontends::ImportSteps steps(options.progress);
  StatusOr<graph::Graph> graph =
      ProgramImporter(**file, options, steps).Import();
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  return graph;
}

// Opens the archive with the program that options.entry selects. Only the first
// call for an entry parses the file.
StatusOr<std::shared_ptr<ExportedFile>> Open(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  return file.Parsed<ExportedFile>(
      [&](const graph::ConstantData& contents) {
        return ExportedFile::Open(contents.bytes, contents.owner,
                                  options.entry);
      },
      options.entry);
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  const graph::ConstantData kept =
      frontends::KeptBytes(bytes, std::move(owner));
  return ImportRead(ExportedFile::Open(kept.bytes, kept.owner, options.entry),
                    options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  return ImportRead(Open(file, options), options, file.name());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  const auto opened = Open(file, options);
  if (!opened.ok()) return frontends::OfModel(opened.status(), file.name());
  frontends::ImportSteps steps(nullptr);
  const StatusOr<std::vector<frontends::ModelInput>> inputs =
      ProgramImporter(**opened, options, steps).Inputs();
  if (!inputs.ok()) return frontends::OfModel(inputs.status(), file.name());
  std::vector<frontends::InputInfo> infos;
  for (const frontends::ModelInput& input : *inputs)
    infos.push_back({.name = input.name});
  return infos;
}

bool IsArchive(std::string_view contents) {
  return torchscript::KindOfContents(contents) ==
         torchscript::ArchiveKind::kExported;
}

}  // namespace ember::torch_export
