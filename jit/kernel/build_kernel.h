// Builds a kernel from a dispatch: schedule, loop nest, code, with the back end
// that serves the request's target. The JIT's threads do this for each request.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<vm::Kernel> kernel,
//                          BuildKernel(request, *compiler));
#ifndef EMBER_JIT_KERNEL_BUILD_KERNEL_H_
#define EMBER_JIT_KERNEL_BUILD_KERNEL_H_

#include <memory>

#include "base/status.h"
#include "jit/backend/kernel_report.h"
#include "jit/backend/object_compiler.h"
#include "jit/kernel/kept_constants.h"
#include "jit/kernel/nest_store.h"
#include "jit/kernel/packed_store.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

// Holds what kernels of a process share: nests, packed constants, and the
// constants that are kept on disk. Thread-safe.
struct KernelStores {
  NestStore nests;
  PackedStore packed;
  KeptConstants kept;
};

// Returns the kernel of the request. The kernel keeps no reference to the
// request: request.constant_data, too, is only used while the kernel is built.
// report: if it is not null, gets how the kernel was built. stores: if it is
// not null, the kernel shares its nest, and packed constants on the host, with
// earlier kernels that were built with the same stores. Thread-safe.
StatusOr<std::unique_ptr<vm::Kernel>> BuildKernel(
    const vm::KernelRequest& request, Compiler& compiler,
    const KernelOptions& options = {}, KernelReport* report = nullptr,
    KernelStores* stores = nullptr);

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_BUILD_KERNEL_H_
