// The launcher of kernels on a CPU: runs images whose code is loaded, those
// that the JIT has just made and those that were made before, elsewhere.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CpuKernel> kernel,
//                          CpuKernel::Create({.image = image, .code = code}));
//   kernel->Run({parameters, buffers, runner});
//
// Thread-safe: calls may run at once. Memory that calls need (temporaries, and
// of tasks) is kept between them, for all kernels (scratch_blocks.h).
#ifndef EMBER_VM_RUNTIME_CPU_KERNEL_H_
#define EMBER_VM_RUNTIME_CPU_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_layout.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/scratch_blocks.h"

namespace ember::vm {

struct CpuKernelDefinition {
  // Verified. Of its code nothing is used: equal kernels share what is loaded.
  KernelImage image;
  // One per phase of the image, and what keeps them loaded.
  std::vector<PhaseFunction> functions;
  std::shared_ptr<const void> code;
  // Of the constant inputs, by input; empty for others. Used by the prologue
  // only, which runs in Create.
  std::vector<std::span<const uint8_t>> constants;
  // Of the packed buffers, in order, what the prologue would write, 64-byte
  // aligned, and what keeps it alive; none at all: the prologue runs.
  std::vector<std::span<const uint8_t>> packed;
  std::shared_ptr<const void> packed_owner;
  std::string description;  // Kernel::Describe
  bool is_settled = false;  // Kernel::is_settled
};

class CpuKernel final : public HostKernel {
 public:
  // Packs constants that are not packed yet. Fails if a constant is too small
  // for what the image declares, memory for the copies is refused, or what is
  // packed has another size or alignment.
  static StatusOr<std::unique_ptr<CpuKernel>> Create(
      CpuKernelDefinition definition);

  int tier() const override { return definition_.image.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override;
  // kInvalidArgument with a check of the code that failed, or an operand that
  // is not aligned as the image wants it.
  Status Run(const KernelCall& call) const override;
  int64_t TemporaryBytes(int workers) const override;
  double error_growth() const override {
    return definition_.image.error_growth;
  }
  bool is_settled() const override { return definition_.is_settled; }
  std::string Describe() const override { return definition_.description; }
  // What was packed: of the image's packed buffers, in order. They live as long
  // as the kernel.
  std::vector<std::span<const uint8_t>> packed() const;

 private:
  explicit CpuKernel(CpuKernelDefinition definition);
  Status Pack();
  Status CheckAlignment(std::span<void* const> arguments) const;
  Status TakePacked(const KernelLayout& layout);
  // Phases [first, end) of the image.
  Status RunPhases(size_t first, size_t end, const KernelLayout& layout,
                   const KernelCall& call,
                   std::span<void* const> arguments) const;

  CpuKernelDefinition definition_;
  KernelLayout constant_layout_;  // where the image has no parameters, else 0
  std::vector<std::shared_ptr<void>> packed_;
  std::vector<void*> packed_pointers_;  // by buffer
  std::vector<size_t> packed_bytes_;    // by buffer
  const std::shared_ptr<ScratchBlocks> scratch_ = ScratchBlocks::Shared();
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_CPU_KERNEL_H_
