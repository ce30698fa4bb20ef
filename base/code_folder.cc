#include "base/code_folder.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>

namespace ember {

std::string FolderOfCode(const void* code) {
  Dl_info info = {};
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return "";
  // dladdr gives the path with which a library was loaded, which may be a
  // symbolic link. For a program it gives argv[0].
  std::string path = info.dli_fname;
  if (path.find('/') == std::string::npos) path = "/proc/self/exe";
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return "";
  path = resolved;
  return path.substr(0, path.rfind('/'));
}

}  // namespace ember
