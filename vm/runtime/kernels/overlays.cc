#include "vm/runtime/kernels/overlays.h"

#include <dirent.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace ember::vm {
namespace {

// Largest number of overlay files of a module that are used. A device needs
// only those of a few targets.
constexpr size_t kMaxFiles = 64;

struct Close {
  void operator()(DIR* folder) const { closedir(folder); }
};

}  // namespace

std::vector<std::string> FindOverlayFiles(const std::string& module_path) {
  const size_t slash = module_path.rfind('/');
  const size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  const std::string folder =
      slash == std::string::npos ? "." : module_path.substr(0, slash + 1);
  std::string prefix = module_path.substr(name_begin);
  // The ending of the module's file name is removed, so that "model.vmfb" and
  // "model" have the same overlays.
  constexpr std::string_view kEnding = ".vmfb";
  if (prefix.ends_with(kEnding)) prefix.resize(prefix.size() - kEnding.size());
  prefix += '.';
  std::vector<std::string> files;
  const std::unique_ptr<DIR, Close> open(opendir(folder.c_str()));
  while (open != nullptr) {
    const dirent* const entry = readdir(open.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name.size() > prefix.size() + kOverlayEnding.size() &&
        name.starts_with(prefix) && name.ends_with(kOverlayEnding))
      files.push_back(module_path.substr(0, name_begin) + std::string(name));
  }
  std::ranges::sort(files);
  if (files.size() > kMaxFiles) files.resize(kMaxFiles);
  return files;
}

std::vector<Overlay> FindOverlays(const std::string& module_path,
                                  std::vector<std::string>* problems) {
  std::vector<Overlay> overlays;
  for (const std::string& file : FindOverlayFiles(module_path)) {
    StatusOr<Overlay> overlay = ReadOverlay(file);
    if (overlay.ok()) {
      overlays.push_back(*std::move(overlay));
    } else if (problems != nullptr) {
      problems->emplace_back(overlay.status().message());
    }
  }
  return overlays;
}

}  // namespace ember::vm
