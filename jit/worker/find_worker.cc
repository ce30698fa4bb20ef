#include "jit/worker/find_worker.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "jit/worker/worker_client.h"

namespace ember::jit {

std::string FindWorkerProgram() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&FindWorkerProgram), &info) == 0 ||
      info.dli_fname == nullptr)
    return "";
  // A program's name is what its caller gave it.
  std::string path = info.dli_fname;
  if (path.find('/') == std::string::npos) path = "/proc/self/exe";
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) == nullptr) return "";
  path = resolved;
  path.resize(path.rfind('/') + 1);
  for (const char* folder : {"", "worker/"}) {
    std::string program = path + folder + kWorkerProgram;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

}  // namespace ember::jit
