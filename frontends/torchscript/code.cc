#include "frontends/torchscript/code.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"

namespace ember::torchscript {
namespace {

// Largest size in bytes of a source file in an archive, far more than any model
// needs.
constexpr uint64_t kMaxText = uint64_t{1} << 26;

// Splits "a.b.c" into "a.b" and "c".
std::pair<std::string_view, std::string_view> SplitName(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

StatusOr<const SourceFile*> CodeLibrary::FindFile(std::string_view module) {
  const auto known = files_.find(module);
  if (known != files_.end()) return known->second.get();
  std::string path(module);
  std::replace(path.begin(), path.end(), '.', '/');
  path = prefix_ + "code/" + path + ".py";
  std::unique_ptr<const SourceFile> parsed;
  if (archive_.Has(path)) {
    EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                           archive_.Read(path, kMaxText));
    StatusOr<SourceFile> file =
        ParseSource({reinterpret_cast<const char*>(contents.bytes.data()),
                     contents.bytes.size()});
    if (!file.ok()) return file.status().WithContext(OnOneLine(path));
    parsed = std::make_unique<const SourceFile>(*std::move(file));
  }
  return files_.emplace(std::string(module), std::move(parsed))
      .first->second.get();
}

StatusOr<const Class*> CodeLibrary::FindClass(std::string_view name) {
  const auto [module, own] = SplitName(name);
  EMBER_ASSIGN_OR_RETURN(const SourceFile* file, FindFile(module));
  if (file == nullptr) return nullptr;
  const auto found = file->classes.find(own);
  return found == file->classes.end() ? nullptr : &found->second;
}

StatusOr<const Function*> CodeLibrary::FindFunction(std::string_view name) {
  const auto [module, own] = SplitName(name);
  EMBER_ASSIGN_OR_RETURN(const SourceFile* file, FindFile(module));
  if (file == nullptr) return nullptr;
  const auto found = file->functions.find(own);
  return found == file->functions.end() ? nullptr : &found->second;
}

}  // namespace ember::torchscript
