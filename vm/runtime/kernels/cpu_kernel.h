// The launcher of kernels on a CPU. It runs images whose code is loaded: images
// that the JIT has just made, and images that were made ahead of time.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CpuKernel> kernel,
//                          CpuKernel::Create({.image = image, .code = code}));
//   kernel->Run({parameters, buffers, runner});
//
// Thread-safe: calls may run concurrently. Memory for temporaries of calls and
// tasks is kept between calls, and all kernels share it
// (vm/runtime/memory/scratch_blocks.h).
#ifndef EMBER_VM_RUNTIME_KERNELS_CPU_KERNEL_H_
#define EMBER_VM_RUNTIME_KERNELS_CPU_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/kernels/layout.h"
#include "vm/runtime/memory/scratch_blocks.h"

namespace ember::vm {

struct CpuKernelDefinition {
  // The verified image. The code in it is not used, because equal kernels share
  // the loaded code.
  KernelImage image;
  // The function of each phase of the image. The next field is the object that
  // keeps the functions loaded.
  std::vector<PhaseFunction> functions;
  std::shared_ptr<const void> code;
  // For each input, its bytes if it is constant; empty for other inputs. Only
  // the prologue, which runs in Create, uses them.
  std::vector<std::span<const uint8_t>> constants;
  // Contents of the packed buffers, in order, as the prologue would write them,
  // 64-byte aligned. The next field owns their memory. If the list is empty,
  // the prologue runs.
  std::vector<std::span<const uint8_t>> packed;
  std::shared_ptr<const void> packed_owner;
  std::string description;  // result of Kernel::Describe
  bool is_settled = false;  // result of Kernel::is_settled
};

class CpuKernel final : public HostKernel {
 public:
  // Makes the kernel, and packs its constants unless they are packed already.
  // Fails if a constant is smaller than the image declares, if memory for the
  // packed constants is refused, or if an element of `packed` has a wrong size
  // or alignment.
  static StatusOr<std::unique_ptr<CpuKernel>> Create(
      CpuKernelDefinition definition);

  int tier() const override { return definition_.image.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override;
  int open_parameters() const override {
    return OpenParameters(definition_.image.shape);
  }
  // Runs the kernel. Returns kInvalidArgument if an index check in the code
  // failed, or if an operand is not aligned as the image requires.
  Status Run(const KernelCall& call) const override;
  int64_t TemporaryBytes(int workers) const override;
  double error_growth() const override {
    return definition_.image.error_growth;
  }
  bool is_settled() const override { return definition_.is_settled; }
  std::string Describe() const override { return definition_.description; }
  // Returns the contents of the image's packed buffers, in order. They are
  // valid as long as their owner or the kernel exists.
  std::vector<std::span<const uint8_t>> packed() const;
  std::shared_ptr<const void> packed_owner() const { return packed_owner_; }

 private:
  explicit CpuKernel(CpuKernelDefinition definition);
  Status Pack();
  Status CheckAlignment(std::span<void* const> arguments) const;
  Status TakePacked(const KernelLayout& layout);
  // Runs phases [first, end) of the image.
  Status RunPhases(size_t first, size_t end, const KernelLayout& layout,
                   const KernelCall& call,
                   std::span<void* const> arguments) const;

  CpuKernelDefinition definition_;
  // sizes of buffers and numbers of tasks; set only if the image has no
  // parameters, so that they are equal in all calls
  KernelLayout constant_layout_;
  // object that owns the memory of the packed constants: packed_owner of the
  // definition, or a list of blocks
  std::shared_ptr<const void> packed_owner_;
  std::vector<void*> packed_pointers_;  // for each buffer, its packed contents;
                                        // null for other buffers
  // for each buffer, the size in bytes of its packed contents
  std::vector<size_t> packed_bytes_;
  const std::shared_ptr<ScratchBlocks> scratch_ = ScratchBlocks::Shared();
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_KERNELS_CPU_KERNEL_H_
