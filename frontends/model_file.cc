#include "frontends/model_file.h"

#include <cstdint>
#include <filesystem>
#include <span>

namespace ember::frontends {

std::string ModelFile::name() const {
  return std::filesystem::path(path_).filename().string();
}

std::string ModelFile::folder() const {
  const std::string folder =
      std::filesystem::path(path_).parent_path().string();
  return folder.empty() ? "." : folder;
}

StatusOr<graph::ConstantData> ModelFile::Map() {
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
