// The interface between a program and the optional library that compiles
// kernels, jit/libember_jit.so. The runtime loads the library by name, because
// it must not depend on it.
//
//   auto make = reinterpret_cast<NewKernelProviderFunction*>(
//       dlsym(library, kNewKernelProviderSymbol));
//
// The interface uses C++ types, so the program and the library must have been
// built from the same sources. The symbol's name changes with kernel_provider.h
// and the types in it, and a package of the library requires the runtime's
// package of its version.
#ifndef EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_
#define EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "vm/runtime/kernel_provider.h"

namespace ember::vm {

// Says where the compiler (LLVM) runs.
enum class CompileLocation : uint8_t {
  kThread,  // the compiler runs in a thread of this process
  // The compiler runs in the compile worker, a process that all processes of
  // this user share (jit/worker/client.h). If the worker cannot be
  // started, that is an error.
  kWorker,
  kWorkerIfThere,  // like kWorker if the worker can be started, otherwise like
                   // kThread
};

struct KernelLibraryOptions {
  // Number of threads of low priority that compile while calls run. 0: the
  // requesting thread compiles, and the request returns only when the kernel is
  // made.
  int threads = 0;
  CompileLocation location = CompileLocation::kWorkerIfThere;
  // Folder in which kernels are stored for later processes. Empty: kernels are
  // not stored.
  std::string cache_folder;
};

// The type of a function that makes a provider. It returns false if it cannot
// make one; `message` then has the reason. Otherwise `message` is empty, or
// names something that the provider cannot use, such as its cache folder. The
// function changes no signal handlers.
using NewKernelProviderFunction =
    bool(const KernelLibraryOptions& options,
         std::shared_ptr<KernelProvider>* provider, std::string* message);
inline constexpr char kNewKernelProviderSymbol[] = "EmberNewKernelProvider3";

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNEL_LIBRARY_H_
