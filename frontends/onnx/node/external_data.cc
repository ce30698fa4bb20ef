#include "frontends/onnx/node/external_data.h"

#include <string_view>
#include <utility>

#include "frontends/file_inside.h"

namespace ember::onnx {
namespace {

constexpr std::string_view kWhat = "external data";

}  // namespace

StatusOr<std::shared_ptr<MappedFile>> ExternalFiles::Open(
    const std::string& location) {
  auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  EMBER_ASSIGN_OR_RETURN(
      const std::string path,
      frontends::FileInside(folder_, location, kWhat, model_));
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto shared = std::make_shared<MappedFile>(std::move(file));
  files_[location] = shared;
  return shared;
}

StatusOr<ExternalBytes> ExternalFiles::Read(const std::string& location,
                                            int64_t offset, int64_t length) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<MappedFile> file, Open(location));
  const int64_t size = static_cast<int64_t>(file->bytes().size());
  if (length < 0 && offset <= size) length = size - offset;
  if (offset < 0 || offset > size || length > size - offset) {
    return InvalidArgumentError(
        frontends::NameOfFile(location, kWhat) + ": expected " +
        std::to_string(length) + " bytes at offset " + std::to_string(offset) +
        ", found a file of " + std::to_string(size) + " bytes");
  }
  ExternalBytes result;
  result.owner = file;
  result.bytes = file->bytes().subspan(static_cast<size_t>(offset),
                                       static_cast<size_t>(length));
  return result;
}

}  // namespace ember::onnx
