#include "tools/lib/cli/load_jit.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace ember::tools {
namespace {

using NewJitFunction = bool (*)(const jit::JitOptions* options,
                                std::shared_ptr<jit::Jit>* jit,
                                std::string* error);

// Looks for the JIT's library relative to the folders around this program:
// jit/libember_jit.so is the path after a build, lib/ember/libember_jit.so the
// path after an installation.
std::filesystem::path FindLibrary() {
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (; !error && folder.has_relative_path(); folder = folder.parent_path()) {
    for (const char* place : {"jit", "lib/ember"}) {
      const std::filesystem::path library = folder / place / "libember_jit.so";
      if (std::filesystem::exists(library, error)) return library;
    }
  }
  return {};
}

}  // namespace

StatusOr<std::shared_ptr<jit::Jit>> LoadJit(jit::JitOptions options) {
  const std::filesystem::path path = FindLibrary();
  if (path.empty())
    return NotFoundError(
        "expected jit/libember_jit.so beside this program, "
        "found none");
  // The library stays loaded, as kernels live in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFoundError(dlerror());
  const auto make =
      reinterpret_cast<NewJitFunction>(dlsym(library, "EmberNewJit"));
  if (make == nullptr) return NotFoundError(dlerror());
  options.on_cache_problem = [](const std::string& problem) {
    std::fprintf(stderr, "running without kernel cache: %s\n", problem.c_str());
  };
  std::shared_ptr<jit::Jit> jit;
  std::string error;
  if (!make(&options, &jit, &error)) return UnimplementedError(error);
  return jit;
}

}  // namespace ember::tools
