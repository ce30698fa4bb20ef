#include "frontends/model_file.h"

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace ember::frontends {
namespace {

// The folder in the path of a model that has no folder. No file can be in it,
// so frontends that look for files beside the model find none.
constexpr std::string_view kNoFolder = "/dev/null";

}  // namespace

ModelFile ModelFile::InMemory(std::string_view name, std::string_view folder,
                              graph::ConstantData contents) {
  ModelFile file(std::string(folder.empty() ? kNoFolder : folder) + "/" +
                 std::string(name));
  file.contents_ = std::move(contents);
  file.has_folder_ = !folder.empty();
  return file;
}

std::string ModelFile::name() const {
  return std::filesystem::path(path_).filename().string();
}

std::string ModelFile::folder() const {
  if (!has_folder_) return "";
  const std::string folder =
      std::filesystem::path(path_).parent_path().string();
  return folder.empty() ? "." : folder;
}

StatusOr<graph::ConstantData> ModelFile::Map() {
  if (contents_) return *contents_;
  std::shared_ptr<const MappedFile> mapped = mapped_.lock();
  if (mapped == nullptr) {
    EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path_));
    mapped = std::make_shared<const MappedFile>(std::move(file));
    mapped_ = mapped;
    held_ = mapped;
  }
  const std::span<const uint8_t> bytes = mapped->bytes();
  return graph::ConstantData{.owner = std::move(mapped), .bytes = bytes};
}

}  // namespace ember::frontends
