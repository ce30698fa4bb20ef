#include "frontends/safetensors/format.h"

#include <filesystem>
#include <string>
#include <system_error>

#include "frontends/folder_files.h"
#include "frontends/safetensors/import.h"
#include "frontends/safetensors/safetensors_file.h"

namespace ember::safetensors {
namespace {

// Number of bytes at the front of a JSON file in which the key "weight_map",
// which identifies an index of shards, is looked for.
constexpr size_t kFront = size_t{1} << 16;

bool IsIndex(std::string_view contents) {
  const std::string_view front = contents.substr(0, kFront);
  const size_t begin = front.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && front[begin] == '{' &&
         front.find("\"weight_map\"") != std::string_view::npos;
}

bool Sniff(std::string_view contents) {
  return SafetensorsFile::IsSafetensors(contents) || IsIndex(contents);
}

std::string FileOfFolder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::path(folder) / "config.json",
                               error))
    return "";
  return frontends::FirstFileIn(
      folder, {"model.safetensors.index.json", "model.safetensors"});
}

constexpr std::string_view kExtensions[] = {".safetensors",
                                            ".safetensors.index.json"};

}  // namespace

constinit const frontends::Format kFormat = {
    .name = "safetensors",
    .title = "safetensors: folders of Hugging Face's language models",
    .extensions = kExtensions,
    .file_of_folder = FileOfFolder,
    .sniff = Sniff,
    .import = ImportModel,
    .inputs = ModelInputs,
};

}  // namespace ember::safetensors
