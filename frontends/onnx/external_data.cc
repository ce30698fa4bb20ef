#include "frontends/onnx/external_data.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace ember::onnx {
namespace {

namespace fs = std::filesystem;

// True if every part of `path` lies at or below `folder`; both canonical.
bool IsInside(const fs::path& folder, const fs::path& path) {
  auto part = path.begin();
  for (const fs::path& expected : folder) {
    if (part == path.end() || *part != expected) return false;
    ++part;
  }
  return true;
}

// For messages, which are one line whatever a model says: nothing that a
// terminal takes for a command, and not all of a long name.
std::string Shown(const std::string& location) {
  constexpr size_t kMost = 200;
  std::string text = location.substr(0, kMost);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return location.size() > kMost ? text + "…" : text;
}

Status Refused(const std::string& location, std::string_view reason) {
  return InvalidArgumentError(
      "external data '" + Shown(location) +
      "': expected a file inside the model's folder, found " +
      std::string(reason));
}

}  // namespace

StatusOr<std::shared_ptr<MappedFile>> ExternalFiles::Open(
    const std::string& location) {
  auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  if (folder_.empty())
    return Refused(location, "a model without a folder (read from memory)");
  const fs::path relative(location);
  if (location.empty()) return Refused(location, "no location");
  if (location.find('\0') != std::string::npos)
    return Refused(location.c_str(), "a name with a zero byte");
  if (relative.is_absolute()) return Refused(location, "an absolute path");
  for (const fs::path& part : relative) {
    if (part == "..") return Refused(location, "a path with '..'");
  }
  // Symbolic links are followed by canonical(), so a link that leads outside
  // shows here.
  std::error_code error;
  const fs::path folder = fs::canonical(folder_, error);
  if (error)
    return NotFoundError("folder '" + folder_ + "': " + error.message());
  const fs::path path = fs::canonical(folder / relative, error);
  if (error)
    return NotFoundError("external data '" + Shown(location) +
                         "': " + error.message());
  if (!IsInside(folder, path)) return Refused(location, "a link out of it");
  if (!fs::is_regular_file(path, error))
    return Refused(location, "something not a plain file");
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path.string()));
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
        "external data '" + Shown(location) + "': expected " +
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
