// A compiled loop nest as a kernel that the VM can call.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<NestKernel> kernel,
//                          NestKernel::Create(std::move(definition)));
//   kernel->Run({parameters, buffers, runner});
//
// Thread-safe: calls may run at once. Memory that calls need (temporaries, and
// of tasks) is kept between them, one set per call at once.
#ifndef EMBER_JIT_KERNEL_NEST_KERNEL_H_
#define EMBER_JIT_KERNEL_NEST_KERNEL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/kernel/nest_layout.h"
#include "jit/llvm/compiler.h"
#include "jit/loops/loop_nest.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

struct NestKernelDefinition {
  int tier = 1;
  // Parameters that the nest was specialised on; empty: the nest has the
  // dispatch's.
  std::vector<int64_t> parameters;
  bool is_specialised = false;
  loops::LoopNest nest;
  std::unique_ptr<CompiledNest> code;
  // Of the constant inputs, by input; empty for others. Used by the prologue
  // only, which runs in Create.
  std::vector<std::span<const uint8_t>> constants;
  double error_growth = 1;  // vm::Kernel::error_growth
  std::string description;
};

class NestKernel final : public vm::Kernel {
 public:
  // Packs constants. Fails if a constant is too small for what the dispatch
  // declares, or memory for the copies is refused.
  static StatusOr<std::unique_ptr<NestKernel>> Create(
      NestKernelDefinition definition);

  int tier() const override { return definition_.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override;
  Status Run(const vm::KernelCall& call) const override;
  double error_growth() const override { return definition_.error_growth; }
  std::string Describe() const override { return definition_.description; }

 private:
  // 64-byte aligned.
  struct AlignedFree {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<void, AlignedFree>;

  struct Block {
    Memory memory;
    int64_t bytes = 0;
  };

  explicit NestKernel(NestKernelDefinition definition);
  Status Pack();
  Status RunPhases(std::span<const PhaseFunction> phases, size_t first_count,
                   const NestLayout& layout, const vm::KernelCall& call,
                   std::span<void* const> arguments) const;
  StatusOr<Block> TakeBlock(int64_t bytes) const;
  void ReturnBlock(Block block) const;

  NestKernelDefinition definition_;
  NestHeader header_;
  NestLayout constant_layout_;  // where the nest has no parameters
  std::vector<std::shared_ptr<void>> packed_;
  std::vector<void*> packed_pointers_;  // by buffer
  mutable std::mutex mutex_;
  mutable std::vector<Block> free_blocks_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_NEST_KERNEL_H_
