#include "frontends/file_inside.h"

#include <filesystem>
#include <system_error>

#include "base/concat.h"

namespace ember::frontends {
namespace {

namespace fs = std::filesystem;

// True if `path` is `folder` or inside it; both must be canonical.
bool IsInside(const fs::path& folder, const fs::path& path) {
  auto part = path.begin();
  for (const fs::path& expected : folder) {
    if (part == path.end() || *part != expected) return false;
    ++part;
  }
  return true;
}

// True if the path, which is canonical, lies in the folder of the file that
// `model` is a link to.
bool IsInFolderOfModel(const std::string& model, const fs::path& path) {
  if (model.empty()) return false;
  std::error_code error;
  const fs::path resolved = fs::canonical(model, error);
  return !error && path.parent_path() == resolved.parent_path();
}

// Returns the reason why `location` cannot be a file in the folder, as a noun
// for an error message; empty if it can be one.
std::string_view WhatIsWrong(const std::string& folder,
                             const std::string& location) {
  if (folder.empty()) return "a model without a folder (read from memory)";
  if (location.empty()) return "no location";
  if (location.find('\0') != std::string::npos)
    return "a name with a zero byte";
  const fs::path relative(location);
  if (relative.is_absolute()) return "an absolute path";
  for (const fs::path& part : relative) {
    if (part == "..") return "a path with '..'";
  }
  return "";
}

}  // namespace

std::string NameOfFile(const std::string& location, std::string_view what) {
  // The name comes from the model and may be long or contain control
  // characters. A long name is cut, and control characters are replaced by '?'.
  constexpr size_t kMax = 200;
  std::string text = location.substr(0, kMax);
  text = text.substr(0, text.find('\0'));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return Concat({what, " '", text, location.size() > kMax ? "…'" : "'"});
}

StatusOr<std::string> FileInside(const std::string& folder,
                                 const std::string& location,
                                 std::string_view what,
                                 const std::string& model) {
  const std::string name = NameOfFile(location, what);
  const auto refused = [&](std::string_view found) {
    return InvalidArgumentError(Concat(
        {name, ": expected a file inside the model's folder, found ", found}));
  };
  const std::string_view wrong = WhatIsWrong(folder, location);
  if (!wrong.empty()) return refused(wrong);
  // canonical() follows symbolic links, so the check below also finds a link
  // that leads out of the folder.
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  if (error)
    return NotFoundError("folder '" + folder + "': " + error.message());
  const fs::path path = fs::canonical(whole / location, error);
  if (error) return NotFoundError(name + ": " + error.message());
  if (!IsInside(whole, path) && !IsInFolderOfModel(model, path)) {
    return refused(
        "a link out of it; if you trust the file, copy it to the link's place");
  }
  if (!fs::is_regular_file(path, error))
    return refused("something not a plain file");
  return path.string();
}

bool IsFolderInside(const std::string& folder, const std::string& inner) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  if (error) return false;
  const fs::path path = fs::canonical(inner, error);
  return !error && IsInside(whole, path);
}

}  // namespace ember::frontends
