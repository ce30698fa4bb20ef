#include "vm/runtime/dispatch/first_run.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "vm/runtime/integer_instructions.h"
#include "vm/runtime/memory/scratch_blocks.h"

namespace ember::vm {
namespace {

// Acquires and drops blocks of the pool in the same way as a run of the entry
// program, up to the first instruction whose effect is not known before the
// run.
class Rehearsal {
 public:
  Rehearsal(const Program& program, MemoryPool& pool)
      : program_(program),
        pool_(pool),
        integers_(program.integer_register_count),
        buffers_(program.buffer_register_count) {}
  ~Rehearsal() {
    for (MemoryBlock* block : buffers_) {
      if (block != nullptr) block->Drop();
    }
    pool_.OrderIdleBlocks();
  }
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  void Run() {
    for (const ProgramInstruction& in : program_.instructions) {
      if (!Step(in)) return;
    }
  }

 private:
  // Sets a register to a block. The register takes over the caller's reference
  // to the block.
  void SetBuffer(uint32_t reg, MemoryBlock* block) {
    if (buffers_[reg] != nullptr) buffers_[reg]->Drop();
    buffers_[reg] = block;
  }

  // Executes one instruction. Returns false if its effect is not known before
  // the run.
  bool Step(const ProgramInstruction& in) {
    switch (in.opcode) {
      case ProgramOpcode::kInteger:
        integers_[in.a] = in.immediate;
        return true;
      case ProgramOpcode::kInputDim: {
        const int64_t dim =
            program_.inputs[in.b].dims[static_cast<size_t>(in.immediate)];
        integers_[in.a] = dim;
        return dim >= 0;
      }
#define EMBER_ROW(name)                             \
  case ProgramOpcode::k##name:                      \
    return EvaluateInteger<ProgramOpcode::k##name>( \
        integers_[in.b], integers_[in.c], &integers_[in.a]);
        EMBER_FOR_EACH_INTEGER_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
      case ProgramOpcode::kMove:
        integers_[in.a] = integers_[in.b];
        return true;
      case ProgramOpcode::kAllocate: {
        SetBuffer(in.a, nullptr);
        const StatusOr<MemoryBlock*> block = pool_.Acquire(integers_[in.b]);
        if (block.ok()) buffers_[in.a] = *block;
        return block.ok();
      }
      case ProgramOpcode::kView:
      case ProgramOpcode::kMoveBuffer: {
        MemoryBlock* const block = buffers_[in.b];
        if (block != nullptr) block->Hold();
        SetBuffer(in.a, block);
        return true;
      }
      case ProgramOpcode::kInputBuffer:
      case ProgramOpcode::kConstantBuffer:
      case ProgramOpcode::kArena:
      case ProgramOpcode::kRelease:
        SetBuffer(in.a, nullptr);
        return true;
      case ProgramOpcode::kCheckEqual:
        return integers_[in.b] == integers_[in.c];
      case ProgramOpcode::kCheckTrue:
        return integers_[in.b] != 0;
      case ProgramOpcode::kDispatch:
      case ProgramOpcode::kStoreInteger:
      // A result has no effect on the pool here: its memory is kept, by the
      // caller or by the program, until the program ends. Copies of results are
      // not made in advance, because a result in the caller's memory needs
      // none.
      case ProgramOpcode::kResult:
        return true;
      case ProgramOpcode::kBranch:
      case ProgramOpcode::kBranchIf:
      case ProgramOpcode::kLoadInteger:
      case ProgramOpcode::kLibraryCall:
      case ProgramOpcode::kReturn:
      case ProgramOpcode::kCallProgram:
      case ProgramOpcode::kAppend:
      case ProgramOpcode::kSliceAt:
        return false;
    }
    return false;
  }

  const Program& program_;
  MemoryPool& pool_;
  std::vector<int64_t> integers_;
  std::vector<MemoryBlock*> buffers_;
};

// Reserves memory for temporaries. Kernels use their temporaries one after
// another, so the largest number of bytes suffices for all.
void ReserveTemporaries(const Module& module, const Tiering& tiering,
                        int workers, MemoryPool& pool) {
  int64_t most = 0;
  for (const DispatchSite& site : module.sites()) {
    const tensor::Dispatch& dispatch =
        module.definition().dispatches[site.dispatch];
    const KernelSlot::Kernels* const kernels =
        tiering.slot(site.group)->kernels();
    if (kernels == nullptr || !dispatch.parameters.empty()) continue;
    const Kernel* const kernel = kernels->Best({}, tiering.options().max_tier);
    if (kernel != nullptr && kernel->host() != nullptr)
      most = std::max(most, kernel->host()->TemporaryBytes(workers));
  }
  if (most == 0 || !pool.Charge(most).ok()) return;
  ScratchBlocks::Shared()->Reserve(most);
  pool.Discharge(most);
}

}  // namespace

void PrepareFirstRun(const Module& module, const Tiering& tiering,
                     ParallelRunner& runner, MemoryPool& pool) {
  Rehearsal(module.entry(), pool).Run();
  ReserveTemporaries(module, tiering, runner.worker_count(), pool);
}

}  // namespace ember::vm
