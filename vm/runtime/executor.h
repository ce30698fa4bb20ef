// The session: registers, sites and the loop over the program's instructions.
// Internal; use vm/runtime/session.h.
#ifndef EMBER_VM_RUNTIME_EXECUTOR_H_
#define EMBER_VM_RUNTIME_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "vm/runtime/library.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/plan_cache.h"
#include "vm/runtime/session.h"
#include "vm/runtime/signature.h"

namespace ember::vm {

// What a buffer register holds. block is null for memory that outlives the run.
struct MemoryReference {
  uint8_t* data = nullptr;
  int64_t length = 0;
  MemoryBlock* block = nullptr;
};

// A dispatch instruction: where its operands are, and what ran last.
struct SiteState {
  const uint32_t* operands = nullptr;  // parameters, then inputs and outputs
  uint32_t parameter_count = 0;
  uint32_t buffer_count = 0;
  uint32_t instruction = 0;
  uint32_t group = 0;
  uint32_t dispatch = 0;
  PlanEntry* entry = nullptr;
  int64_t calls = 0;
  int64_t total_ns = 0;
  int last_tier = 0;
};

class Executor final : public Session {
 public:
  Executor(std::shared_ptr<const Module> module, SessionOptions options);
  ~Executor() override;
  // Allocates the arena; once, before anything else.
  Status Initialize();

  Status Run(std::span<const Tensor> inputs,
             std::vector<Tensor>* results) override;
  const Module& module() const override { return *module_; }
  std::vector<SiteProfile> Profile() const override;
  std::string_view SiteName(uint32_t instruction) const override;
  std::span<const TraceEvent> trace() const override { return trace_; }
  void ResetProfile() override;
  SessionMemory memory() const override;

 private:
  void MakeSites();
  // Addresses of the inputs; copies those that are not aligned.
  Status BindInputs(std::span<const Tensor> inputs);
  Status Execute(std::vector<Tensor>& results);
  void DropRegisters();

  // Errors of instruction `index`, whose message tells what was expected and
  // found.
  Status ErrorAt(size_t index, std::string message) const;
  Status CheckFailed(const ProgramInstruction& instruction) const;

  void SetBuffer(uint32_t reg, MemoryReference reference) {
    if (buffers_[reg].block != nullptr) buffers_[reg].block->Drop();
    buffers_[reg] = reference;
  }
  Status MakeView(const ProgramInstruction& instruction);
  Status LoadInteger(const ProgramInstruction& instruction);
  Status Allocate(const ProgramInstruction& instruction);
  Status SetResult(const ProgramInstruction& instruction, Tensor& result);
  Status Call(const ProgramInstruction& instruction);

  // Dispatches.
  Status RunSite(SiteState& site);
  bool HasPlan(const SiteState& site) const;
  Status FindPlan(SiteState& site);
  Status BufferTooSmall(const SiteState& site, uint32_t buffer) const;
  // With counters, kernels, profile or trace.
  Status RunObserved(SiteState& site);
  void ChooseKernel(SiteState& site);
  void RequestKernels(const SiteState& site);

  const std::shared_ptr<const Module> module_;
  const Program& program_;
  const SessionOptions options_;
  ParallelRunner& runner_;
  const bool observed_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<hal::Buffer> arena_;
  // The program's instructions; a dispatch's operand a is the number of its
  // site instead.
  std::vector<ProgramInstruction> code_;
  std::vector<SiteState> sites_;
  std::vector<std::unique_ptr<PlanCache>> caches_;  // by group
  SymbolValues symbols_;

  std::vector<int64_t> integers_;
  std::vector<MemoryReference> buffers_;
  std::vector<MemoryReference> inputs_;
  std::vector<std::vector<int64_t>> input_dims_;
  std::vector<int64_t> parameters_;  // of the dispatch being started
  std::vector<void*> pointers_;
  std::vector<TraceEvent> trace_;
  uint64_t thread_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_EXECUTOR_H_
