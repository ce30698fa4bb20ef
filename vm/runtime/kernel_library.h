// The interface between a program and the optional library that compiles
// kernels, jit/libember_jit.so. The runtime loads the library by name, because
// it must not depend on it.
//
//   auto make = reinterpret_cast<NewKernelProviderFunction*>(
//       dlsym(library, kNewKernelProviderSymbol));
//
// C++ types cross the interface, so both sides must have been built from the
// same sources. The symbol's name changes with kernel_provider.h and the types
// in it, and a package of the library requires the runtime's package of its
// version.
#ifndef EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_
#define EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

// The process in which the compiler (LLVM) works.
enum class CompilePlace : uint8_t {
  kThread,  // compiles in this process
  // Compiles in the compile worker, a process that this user's processes share
  // (jit/worker/client.h). It is an error if the worker cannot be
  // started.
  kWorker,
  kWorkerIfThere,  // kWorker if the worker can be started, else kThread
};

struct KernelLibraryOptions {
  // Number of threads of low priority that compile while calls run. 0: the
  // requesting thread compiles, and the request returns when the kernel is
  // made.
  int threads = 0;
  CompilePlace place = CompilePlace::kWorkerIfThere;
  // Folder in which kernels are kept for later processes. Empty: kernels are
  // not kept.
  std::string cache_folder;
};

// Makes a provider. Returns false if there is none; message then has the
// reason. Otherwise message says what the provider must do without, such as a
// cache folder that cannot be used, or is empty. The function changes no signal
// handlers.
using NewKernelProviderFunction =
    bool(const KernelLibraryOptions& options,
         std::shared_ptr<KernelProvider>* provider, std::string* message);
inline constexpr char kNewKernelProviderSymbol[] = "EmberNewKernelProvider3";

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_
