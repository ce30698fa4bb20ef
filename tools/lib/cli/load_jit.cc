#include "tools/lib/cli/load_jit.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/concat.h"
#include "base/did_you_mean.h"
#include "tools/lib/cli/command_line_error.h"

namespace ember::tools {
namespace {

using NewJitFunction = bool (*)(const jit::JitOptions* options,
                                std::shared_ptr<jit::Jit>* jit,
                                std::string* error);
using PipelineFunction = void (*)(std::vector<jit::PassInfo>* passes,
                                  std::string* text);

// Looks for the JIT's library in this program's folder and all folders above
// it. After a build it is jit/libember_jit.so in one of them, after an
// installation lib/ember/libember_jit.so.
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

// Loads the library. It is never unloaded, because it contains the code of
// kernels' classes and of the compiler.
StatusOr<void*> OpenLibrary() {
  const std::filesystem::path path = FindLibrary();
  if (path.empty())
    return NotFoundError(
        "expected jit/libember_jit.so beside this program, "
        "found none");
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFoundError(dlerror());
  return library;
}

}  // namespace

StatusOr<std::shared_ptr<jit::Jit>> LoadJit(jit::JitOptions options) {
  EMBER_ASSIGN_OR_RETURN(void* const library, OpenLibrary());
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

StatusOr<JitPipeline> LoadJitPipeline() {
  EMBER_ASSIGN_OR_RETURN(void* const library, OpenLibrary());
  const auto list =
      reinterpret_cast<PipelineFunction>(dlsym(library, "EmberJitPipeline"));
  if (list == nullptr) return NotFoundError(dlerror());
  JitPipeline pipeline;
  list(&pipeline.passes, &pipeline.text);
  return pipeline;
}

Status CheckDisabledPasses(std::string_view flag,
                           std::span<const std::string> names) {
  if (names.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const JitPipeline pipeline, LoadJitPipeline());
  std::vector<std::string_view> known;
  for (const jit::PassInfo& pass : pipeline.passes) {
    if (pass.may_be_disabled) known.push_back(pass.name);
  }
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    return CommandLineError(
        Concat({flag, "=", name, ": no such pass can be disabled",
                DidYouMean(name, known), " (see --print-pipeline)"}));
  }
  return OkStatus();
}

}  // namespace ember::tools
