#include "jit/registry/backends.h"

#include "jit/c/backend.h"
#include "jit/llvm/backend.h"
#include "jit/metal/backend.h"
#include "jit/opencl/backend.h"
#include "jit/ptx/backend.h"
#include "jit/spirv/backend.h"

namespace ember::jit {
namespace {

// The row of CPUs is last, because it serves every target.
constexpr const Backend* kBackends[] = {
    &kVulkanBackend, &kCudaBackend, &kOpenClBackend,
    &kMetalBackend,  &kCBackend,    &llvm_ir::kCpuBackend,
};

}  // namespace

std::span<const Backend* const> Backends() { return kBackends; }

const Backend& BackendFor(std::string_view target) {
  for (const Backend* const backend : kBackends) {
    if (backend->serves(target)) return *backend;
  }
  return llvm_ir::kCpuBackend;
}

}  // namespace ember::jit
