#include "vm/api/optional_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <vector>

#include "base/code_folder.h"
#include "base/concat.h"

namespace ember::api {

StatusOr<std::string> FindLibrary(const std::string& name,
                                  const std::string& folder) {
  std::vector<std::string> folders = {folder};
  if (folder.empty()) {
    const std::string own =
        FolderOfCode(reinterpret_cast<const void*>(&FindLibrary));
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
  // The library is never unloaded, because objects that it created may still
  // exist.
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
