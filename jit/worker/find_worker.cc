#include "jit/worker/find_worker.h"

#include <unistd.h>

#include "base/code_folder.h"
#include "jit/worker/client.h"

namespace ember::jit {

std::string FindWorkerProgram() {
  const std::string folder =
      FolderOfCode(reinterpret_cast<const void*>(&FindWorkerProgram));
  if (folder.empty()) return "";
  for (const char* subfolder : {"/", "/worker/"}) {
    std::string program = folder + subfolder + kWorkerProgram;
    if (access(program.c_str(), X_OK) == 0) return program;
  }
  return "";
}

}  // namespace ember::jit
