// Defines the functions by which a program uses the library libember_jit.so
// after loading it. jit/te_api defines one more: the C API for kernels.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jit/cache/options.h"
#include "jit/jit.h"
#include "jit/pipeline/pipeline.h"
#include "vm/runtime/kernel_library.h"

// C++ types may be passed between the library and the program that loads it,
// because both are built together: the loader looks for the library in the
// program's folder only.
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

// Returns the list of the pipeline's passes, and the same list as a text.
extern "C" __attribute__((visibility("default"))) void EmberJitPipeline(
    std::vector<ember::jit::PassInfo>* passes, std::string* text) {
  *passes = ember::jit::Pipeline();
  *text = ember::jit::PrintPipeline();
}

// The function by which a runtime that is built without the JIT gets a kernel
// provider. Its name is vm::kNewKernelProviderSymbol.
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
