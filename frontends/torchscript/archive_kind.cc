#include "frontends/torchscript/archive_kind.h"

#include <span>

namespace ember::torchscript {
namespace {

std::string_view FolderOf(std::string_view name) {
  return name.substr(0, name.rfind('/') + 1);
}

}  // namespace

ArchiveKind KindOfArchive(const archive::ZipArchive& archive,
                          std::string* prefix) {
  ArchiveKind kind = ArchiveKind::kNone;
  std::string found;
  for (const std::string& name : archive.names()) {
    const std::string_view file =
        std::string_view(name).substr(name.rfind('/') + 1);
    const bool is_exported =
        file == "serialized_exported_program.json" ||
        file == "archive_format" ||
        (file.ends_with(".json") && FolderOf(name).ends_with("models/"));
    if (is_exported) kind = ArchiveKind::kExported;
    if (kind != ArchiveKind::kNone || !name.ends_with("data.pkl")) continue;
    const std::string front = name.substr(0, name.size() - 8);
    if (!front.empty() && front.find('/') != front.size() - 1) continue;
    found = front;
    kind = ArchiveKind::kTensors;
  }
  if (kind == ArchiveKind::kTensors) {
    for (const std::string& name : archive.names())
      if (name.starts_with(found + "code/")) kind = ArchiveKind::kTorchScript;
  }
  if (prefix != nullptr) *prefix = found;
  return kind;
}

ArchiveKind KindOfContents(std::string_view contents) {
  if (!archive::ZipArchive::IsArchive(contents)) return ArchiveKind::kNone;
  const auto* bytes = reinterpret_cast<const uint8_t*>(contents.data());
  const StatusOr<archive::ZipArchive> archive =
      archive::ZipArchive::Open({bytes, contents.size()}, nullptr);
  return archive.ok() ? KindOfArchive(*archive) : ArchiveKind::kNone;
}

}  // namespace ember::torchscript
