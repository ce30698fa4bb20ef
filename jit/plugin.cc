// Defines the entries of the library libember_jit.so, except that of the C API
// for kernels (jit/te_api).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jit/cache/options.h"
#include "jit/jit.h"
#include "jit/pipeline/pipeline.h"
#include "vm/runtime/kernel_library.h"

// The library and the program that loads it are built together (the loader
// looks in the program's folder), so C++ types may cross.
extern "C" __attribute__((visibility("default"))) bool EmberNewJit(
    const ember::jit::JitOptions* options,
    std::shared_ptr<ember::jit::Jit>* jit, std::string* error) {
  auto created = ember::jit::NewJit(*options);
  if (created.ok()) {
    *jit = *std::move(created);
    return true;
  }
  *error = created.status().ToString();
  return false;
}

// Returns a row for each pass of the pipeline, and the table of them as text.
extern "C" __attribute__((visibility("default"))) void EmberJitPipeline(
    std::vector<ember::jit::PassInfo>* passes, std::string* text) {
  *passes = ember::jit::Pipeline();
  *text = ember::jit::PrintPipeline();
}

// The entry for runtimes that know no JIT; its name is
// vm::kNewKernelProviderSymbol.
extern "C" __attribute__((visibility("default"))) bool EmberNewKernelProvider3(
    const ember::vm::KernelLibraryOptions& given,
    std::shared_ptr<ember::vm::KernelProvider>* provider,
    std::string* message) {
  ember::jit::JitOptions options;
  options.threads = given.threads;
  if (!given.cache_folder.empty()) {
    options.cache = ember::jit::DefaultCacheOptions();
    options.cache.folder = given.cache_folder;
  }
  options.location = given.location;
  auto created = ember::jit::NewJit(std::move(options));
  if (!created.ok()) {
    *message = created.status().message();
    return false;
  }
  *message = (*created)->cache_problem();
  *provider = *std::move(created);
  return true;
}
