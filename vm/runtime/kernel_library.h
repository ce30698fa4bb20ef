// The door between a program and the optional library that compiles kernels,
// jit/libember_jit.so, which a runtime loads by name as it must not depend on
// it.
//
//   auto make = reinterpret_cast<NewKernelProviderFunction*>(
//       dlsym(library, kNewKernelProviderSymbol));
//
// C++ types cross, so both must have been built from the same sources: the
// symbol's name changes with kernel_provider.h and the types in it, and a
// package of the library needs the runtime's of its version.
#ifndef EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_
#define EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

// Where the compiler (LLVM) works.
enum class CompilePlace : uint8_t {
  kThread,  // in this process
  // In the compile worker, a process that this user's processes share
  // (jit/worker/worker_client.h); an error if it cannot be started.
  kWorker,
  kWorkerIfThere,  // else kThread
};

struct KernelLibraryOptions {
  // Threads of a low priority that compile beside the calls; 0: requests
  // compile, and return when that is done.
  int threads = 0;
  CompilePlace place = CompilePlace::kWorkerIfThere;
  // Kernels are kept there for later processes; empty: they are not.
  std::string cache_folder;
};

// False: none, and the reason. message of a provider: what it does without,
// such as a cache folder that cannot be used; else empty. It changes no
// signal's handler.
using NewKernelProviderFunction =
    bool(const KernelLibraryOptions& options,
         std::shared_ptr<KernelProvider>* provider, std::string* message);
inline constexpr char kNewKernelProviderSymbol[] = "EmberNewKernelProvider3";

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_
