#include "vm/api/optional_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <vector>

#include "base/concat.h"

namespace ember::api {
namespace {

// Of the program or library that this code is in; empty if that is not known.
std::string OwnFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&FindLibrary), &info) == 0 ||
      info.dli_fname == nullptr) {
    return "";
  }
  // A library's own path is as it was loaded, which may be a link; a program's
  // name is what its caller gave it.
  char resolved[PATH_MAX];
  std::string path = info.dli_fname;
  if (path.find('/') == std::string::npos) path = "/proc/self/exe";
  if (realpath(path.c_str(), resolved) == nullptr) return "";
  path = resolved;
  return path.substr(0, path.rfind('/'));
}

}  // namespace

StatusOr<std::string> FindLibrary(const std::string& name,
                                  const std::string& folder) {
  std::vector<std::string> folders = {folder};
  if (folder.empty()) {
    const std::string own = OwnFolder();
    folders = {own, own + "/ember", own + "/../ember", own + "/../lib/ember"};
  }
  std::string places;
  for (const std::string& place : folders) {
    const std::string path = Concat({place, "/", name});
    if (access(path.c_str(), R_OK) == 0) return path;
    places += (places.empty() ? "" : ", ") + place;
  }
  return NotFoundError(
      Concat({name, ": expected it in ", places, ", found nothing there"}));
}

StatusOr<void*> LoadSymbol(const std::string& path, const char* symbol) {
  // Stays loaded: what comes from it lives in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* error = library == nullptr ? dlerror() : nullptr;
  if (library == nullptr)
    return NotFoundError(Concat({path, ": ", error == nullptr ? "" : error}));
  void* const address = dlsym(library, symbol);
  if (address != nullptr) return address;
  return NotFoundError(
      Concat({path, ": expected a library of this version, with ", symbol,
              ", found another"}));
}

}  // namespace ember::api
