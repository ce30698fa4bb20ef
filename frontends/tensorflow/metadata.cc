#include "frontends/tensorflow/metadata.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "base/byte_cursor.h"
#include "base/file.h"
#include "frontends/file_inside.h"
#include "frontends/metadata.h"

namespace ember::tensorflow {
namespace {

namespace fs = std::filesystem;

// Adds a file of the folder `assets`. The name comes from the model, and a name
// that leads out of the folder is refused.
void AddAsset(const std::string& folder, const std::string& name,
              frontends::MetadataCollector& metadata) {
  if (metadata.full()) return;
  const std::string key = "asset." + name;
  if (name.empty() || name.find('/') != std::string::npos || name == ".." ||
      name.find('\0') != std::string::npos) {
    return metadata.LeaveOut(key, "expected the name of a file in assets");
  }
  const fs::path path = fs::path(folder) / "assets" / name;
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(path, error)))
    return metadata.LeaveOut(key, "expected a file, found none");
  // The folder of the assets may be a symbolic link, so the check follows
  // links.
  const StatusOr<std::string> inside =
      frontends::FileInside(folder, "assets/" + name, "asset");
  if (!inside.ok()) return metadata.LeaveOut(key, inside.status().message());
  const StatusOr<MappedFile> file = MappedFile::Open(*inside);
  if (!file.ok()) return metadata.LeaveOut(key, file.status().message());
  metadata.AddFile(key, AsText(file->bytes()));
}

// Appends a text to a list separated by spaces.
void Append(const std::string& text, std::string& list) {
  list += (list.empty() ? "" : " ") + text;
}

}  // namespace

graph::Metadata MetadataOf(const Model& model) {
  frontends::MetadataCollector metadata("tensorflow");
  const MetaGraphDef* meta = model.meta();
  if (meta == nullptr) return {};
  metadata.Add("version", meta->meta_info_def().tensorflow_version());
  metadata.Add("meta_graph_version",
               meta->meta_info_def().meta_graph_version());
  std::string tags, signatures;
  for (const std::string& tag : meta->meta_info_def().tags()) Append(tag, tags);
  for (const auto& [name, signature] : model.signatures())
    Append(name, signatures);
  metadata.Add("tags", tags);
  metadata.Add("signatures", signatures);
  if (!model.folder().empty()) {
    for (const AssetFileDef& asset : meta->asset_file_def())
      AddAsset(model.folder(), asset.filename(), metadata);
  }
  return std::move(metadata).Take();
}

}  // namespace ember::tensorflow
