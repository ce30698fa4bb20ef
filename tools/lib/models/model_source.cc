#include "tools/lib/models/model_source.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "base/did_you_mean.h"
#include "base/file.h"
#include "base/one_line.h"
#include "frontends/registry/formats.h"
#include "frontends/registry/other_formats.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/models/text_module.h"

namespace ember::tools {
namespace {

struct Signature {
  size_t offset;
  std::string_view bytes;
  std::string_view description;
};
constexpr std::string_view kModuleMagic = "EMBR";
constexpr Signature kSignatures[] = {
    {0, "PK\x03\x04", "a ZIP archive (a PyTorch or Keras model?)"},
    {1, "HDF", "an HDF5 file (a Keras model?)"},
    {1, "NUMPY", "a NumPy array"},
    {1, "ELF", "an ELF program"},
    {0, "\x1f\x8b", "a gzip archive"},
    {0, "ustar", "a tar archive"},
    {0, "\x80\x02", "a Python pickle"},
    {0, "{", "JSON"},
    {0, "version https://git-lfs",
     "a Git LFS pointer, not the file itself (run: git lfs pull)"},
};

std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool IsText(std::string_view contents) {
  return std::all_of(contents.begin(), contents.end(), [](char c) {
    return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
  });
}

Status NotAModel(const std::string& path, const std::string& found) {
  return InvalidArgumentError(path + ": expected a .vmfb module or a model (" +
                              frontends::ExtensionsText() + "), found " +
                              found);
}

std::string FoundInstead(std::string_view contents, std::string_view path) {
  if (const auto* other = frontends::FindOtherFormat(contents, path))
    return std::string(other->title) + ": " + std::string(other->advice);
  return DescribeContents(contents);
}

// If the folder has a model file of a format that Ember does not read, returns
// a note such as ", with weights.gguf, a …: …"; otherwise "".
std::string OtherModelIn(const std::string& folder) {
  constexpr size_t kMaxFiles = 100;
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (names.size() < kMaxFiles)
      names.insert(entry.path().filename().string());
  }
  for (const std::string& name : names) {
    const auto file = MappedFile::Open(folder + "/" + name);
    if (!file.ok()) continue;
    const auto* other = frontends::FindOtherFormat(AsText(file->bytes()), name);
    if (other == nullptr) continue;
    return ", with " + OnOneLine(name) + ", " + std::string(other->title) +
           ": " + std::string(other->advice);
  }
  return "";
}

// Returns the error for a folder that is not a model. The message lists the
// model files inside the folder.
Status NotAModelsFolder(const std::string& path, const std::string& folder) {
  constexpr size_t kMaxNames = 3;
  std::set<std::string> models;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (frontends::FindFormatByName(name) != nullptr ||
        name.ends_with(".vmfb") ||
        frontends::FileOfModel(entry.path().string()) != entry.path().string())
      models.insert(name);
  }
  std::string found = "a folder that is no model's";
  if (models.empty()) found += OtherModelIn(folder);
  size_t count = 0;
  for (const std::string& name : models) {
    if (++count > kMaxNames) {
      found += ", …";
      break;
    }
    found += (count == 1 ? "; give one of the files in it: " : ", ") +
             OnOneLine(name);
  }
  return NotAModel(path, found);
}

frontends::ModelFile FileOf(const ModelSource& source) {
  if (source.contents) {
    return frontends::ModelFile::InMemory(source.name, source.folder,
                                          *source.contents);
  }
  return frontends::ModelFile(frontends::FileOfModel(source.path));
}

StatusOr<const frontends::Format*> FormatOfName(std::string_view name) {
  std::vector<std::string_view> known;
  for (const frontends::Format* format : frontends::Formats()) {
    if (format->name == name) return format;
    known.push_back(format->name);
  }
  return InvalidArgumentError(
      "format: expected a name that --list-formats "
      "prints, found '" +
      OnOneLine(name) + "'" + DidYouMean(name, known));
}

// Returns the kind of a model. A format that the user names overrides the one
// recognised by the contents.
StatusOr<ModelFileKind> KindOf(const ModelSource& source,
                               std::string_view contents) {
  if (source.format.empty()) return SniffModelFile(contents, source.name);
  EMBER_ASSIGN_OR_RETURN(const frontends::Format* format,
                         FormatOfName(source.format));
  return ModelFileKind{.format = format};
}

}  // namespace

ModelFileKind SniffModelFile(std::string_view contents, std::string_view path) {
  if (contents.starts_with(kModuleMagic)) return {.is_module = true};
  if (IsModuleText(contents)) return {.is_text = true};
  if (const frontends::Format* format = frontends::FindFormat(contents))
    return {.format = format};
  if (frontends::FindOtherFormat(contents, path) != nullptr) return {};
  // If no kind is recognised, the file may be damaged at its beginning. Then
  // the reader that suits the file's name is used, which reports the error.
  if (!DescribeContents(contents).starts_with("something else")) return {};
  return {.is_module = path.ends_with(".vmfb"),
          .format = frontends::FindFormatByName(path)};
}

std::string DescribeContents(std::string_view contents) {
  if (contents.empty()) return "an empty file";
  for (const Signature& signature : kSignatures) {
    if (contents.size() > signature.offset &&
        contents.substr(signature.offset).starts_with(signature.bytes)) {
      return std::string(signature.description);
    }
  }
  if (IsText(contents.substr(0, 512))) return "text";
  std::string text = "something else (it begins with";
  for (const char c : contents.substr(0, 4)) {
    char hex[8];
    std::snprintf(hex, sizeof(hex), " %02x", static_cast<unsigned char>(c));
    text += hex;
  }
  return text + ")";
}

ModelSource ModelSource::OfUserPath(const std::string& path) {
  if (path == kStandardStream) return {.name = "stdin", .path = path};
  return {.name = path, .path = UserPath(path)};
}

StatusOr<OpenedModel> OpenModel(const ModelSource& source) {
  if (source.path == kStandardStream && !source.contents) {
    ModelSource file = source;
    EMBER_ASSIGN_OR_RETURN(file.path, StdinFile("MODEL"));
    return OpenModel(file);
  }
  frontends::ModelFile file = FileOf(source);
  ModelName name{source.name, file.path(), source.contents.has_value()};
  OpenedModel opened{std::move(name), std::move(file), {}};
  std::error_code error;
  if (!source.contents &&
      std::filesystem::is_directory(opened.file.path(), error))
    return NotAModelsFolder(source.name, opened.file.path());
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
  const std::string_view contents = AsText(mapped.bytes);
  EMBER_ASSIGN_OR_RETURN(opened.kind, KindOf(source, contents));
  if (!opened.kind.is_module && !opened.kind.is_text &&
      opened.kind.format == nullptr)
    return NotAModel(source.name, FoundInstead(contents, source.name));
  return opened;
}

StatusOr<OpenedModel> OpenUncompiled(const ModelSource& source) {
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(source));
  if (opened.kind.format != nullptr && !opened.kind.is_module) return opened;
  return InvalidArgumentError(source.name + ": expected a model (" +
                              frontends::ExtensionsText() + "), found " +
                              (opened.kind.is_module
                                   ? "a compiled module"
                                   : "the text of a dispatch or module"));
}

Status ModelName::Begin(const Status& status) const {
  if (status.ok()) return status;
  std::string_view message = status.message();
  const std::string last = path.substr(path.rfind('/') + 1);
  for (const std::string& named :
       {shown.substr(shown.rfind('/') + 1), last, is_in_memory ? path : last}) {
    const std::string own_name = "model '" + named + "': ";
    if (!message.starts_with(own_name)) continue;
    message.remove_prefix(own_name.size());
    return Status(status.code(), shown + ": " + std::string(message));
  }
  if (message.find(shown) != std::string_view::npos) return status;
  return Status(status.code(), shown + ": " + std::string(message));
}

}  // namespace ember::tools
