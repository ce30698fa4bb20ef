#include "jit/llvm/library/llvm_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <utility>

#include "base/code_folder.h"
#include "base/concat.h"

namespace ember::jit::llvm_ir {

StatusOr<std::string> FindLlvmLibrary(const std::string& given) {
  const std::string folder =
      given.empty()
          ? FolderOfCode(reinterpret_cast<const void*>(&FindLlvmLibrary))
          : given;
  // The subfolders of `folder` in which the library may be. The first is that
  // of installations; the others are those of builds, seen from jit and from
  // jit/worker.
  for (const char* subfolder : {"/", "/llvm/library/", "/../llvm/library/"}) {
    std::string path = folder + subfolder + kLlvmLibrary;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return NotFoundError(Concat(
      {kLlvmLibrary, ": expected it in ", folder, ", found none there"}));
}

StatusOr<std::unique_ptr<ObjectCompiler>> LoadLlvmCompiler() {
  EMBER_ASSIGN_OR_RETURN(const std::string path, FindLlvmLibrary());
  // The library is never closed, since the code of compilers is in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const symbol =
      library == nullptr ? nullptr : dlsym(library, kNewLlvmCompilerSymbol);
  if (symbol == nullptr) {
    const char* const why = dlerror();
    return NotFoundError(Concat({path, ": ", why == nullptr ? "" : why}));
  }
  std::unique_ptr<ObjectCompiler> compiler;
  std::string error;
  if (!reinterpret_cast<NewLlvmCompilerFunction*>(symbol)(&compiler, &error))
    return UnimplementedError(std::move(error));
  return compiler;
}

}  // namespace ember::jit::llvm_ir
