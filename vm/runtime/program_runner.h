// The session: runs the instructions of a module's programs. It has their
// registers and frames; memory, limits, dispatches and places of results are
// parts of their own. Internal; use vm/runtime/session.h.
#ifndef EMBER_VM_RUNTIME_PROGRAM_RUNNER_H_
#define EMBER_VM_RUNTIME_PROGRAM_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/parallel.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/dispatch_runner.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/result_places.h"
#include "vm/runtime/run_limits.h"
#include "vm/runtime/run_memory.h"
#include "vm/runtime/session.h"
#include "vm/runtime/signature.h"

namespace ember::vm {

// What a program has while it runs. There is no recursion, so each has one,
// made with the session: a call allocates nothing.
struct Frame {
  const Program* program = nullptr;
  // The program's instructions; a dispatch's operand a is the number of its
  // site instead.
  std::vector<ProgramInstruction> code;
  std::vector<int64_t> integers;
  std::vector<MemoryReference> buffers;
  // The caller's memory, which it does not change meanwhile.
  std::vector<MemoryReference> inputs;
  // Not of the entry program: what it has set so far, the operand list that
  // each was set with, and the values of the operands then.
  std::vector<MemoryReference> results;
  std::vector<uint32_t> result_lists;
  std::vector<int64_t> result_dims;   // by position in the operand lists
  std::vector<int64_t> result_bytes;  // where all dims are declared, else -1
  uint8_t* arena = nullptr;
  // While it runs: who called, and the instruction of the call. Null: the
  // host.
  Frame* caller = nullptr;
  const ProgramInstruction* call = nullptr;
};

class ProgramRunner final : public Session {
 public:
  ProgramRunner(std::shared_ptr<const Module> module, SessionOptions options);
  ~ProgramRunner() override;
  // Allocates the arena, prepares the dispatches; once, before anything else.
  Status Initialize();

  Status Run(std::span<const Tensor> inputs,
             std::vector<Tensor>* results) override;
  void SetMaxSeconds(double seconds) override {
    limits_.SetMaxSeconds(seconds);
  }
  int64_t progress() const override {
    return progress_.load(std::memory_order_relaxed);
  }
  void Cancel() override { interrupt_.Cancel(); }
  const Module& module() const override { return *module_; }
  std::string_view SiteName(uint32_t site) const override {
    return dispatches_->SiteName(site);
  }
  std::span<const TraceEvent> trace() const override {
    return dispatches_->trace();
  }
  void ResetProfile() override;
  bool IsSettled() const override { return dispatches_->IsSettled(); }
  int side_by_side_count() const override {
    return dispatches_->side_by_side_count();
  }
  SessionMemory memory() const override;
  DeviceReport device_report() const override;

 private:
  const DispatchRunner& dispatches() const override { return *dispatches_; }
  ResultPlaces& places() override { return places_; }

  void MakeFrames();
  StatusOr<std::unique_ptr<DispatchRunner>> MakeDispatchRunner();
  // Refuses what needs strings without them.
  Status MakeStrings();
  // Addresses of the inputs; copies those that are not aligned.
  Status BindInputs(std::span<const Tensor> inputs);
  Status BindInput(const Tensor& input, MemoryReference& reference);
  // The handles of an input's strings.
  Status BindStrings(const Tensor& input, MemoryReference& reference);
  Status Execute(std::vector<Tensor>& results);
  // Whether the instruction leaves alone what kept calls (side_by_side.h) read
  // and write.
  bool PassesKeptCalls(const ProgramInstruction& instruction) const;
  // Makes the frame the one that runs.
  void Enter(Frame& frame) {
    frame_ = &frame;
    integers_ = frame.integers.data();
    buffers_ = frame.buffers.data();
  }
  // Starts the called program's frame, ends the one that runs.
  void CallProgram(const ProgramInstruction& instruction);
  void ReturnToCaller();
  static void Drop(std::vector<MemoryReference>& references);
  static void DropRegisters(Frame& frame);

  // Errors of the instruction, whose message tells what was expected and
  // found.
  Status ErrorAt(const ProgramInstruction& instruction,
                 std::string_view message) const;
  Status CheckFailed(const ProgramInstruction& instruction) const;
  InstructionPlace PlaceOf(const ProgramInstruction& instruction) const {
    return {static_cast<uint32_t>(frame_ - frames_.get()),
            static_cast<uint32_t>(&instruction - frame_->code.data())};
  }

  // Instructions on memory (program_memory.cc).
  void SetBuffer(uint32_t reg, MemoryReference reference) {
    if (buffers_[reg].block != nullptr) buffers_[reg].block->Drop();
    buffers_[reg] = reference;
  }
  Status CheckRange(const ProgramInstruction& instruction, int64_t length,
                    int64_t offset, const MemoryReference& whole) const;
  void SetPart(uint32_t reg, const MemoryReference& whole, int64_t offset,
               int64_t length);
  Status MakeView(const ProgramInstruction& instruction);
  Status MakeSlice(const ProgramInstruction& instruction);
  Status LoadInteger(const ProgramInstruction& instruction);
  Status StoreInteger(const ProgramInstruction& instruction);
  // A block of the pool with a reference, for the instruction.
  StatusOr<MemoryBlock*> Acquire(const ProgramInstruction& instruction,
                                 int64_t bytes);
  Status Allocate(const ProgramInstruction& instruction);
  Status Append(const ProgramInstruction& instruction);

  // Results, and calls of library functions (program_calls.cc).
  void ReadResultDims(const ProgramInstruction& instruction,
                      std::span<int64_t> dims) const;
  StatusOr<int64_t> ResultBytes(const ProgramInstruction& instruction,
                                std::span<const int64_t> dims) const;
  StatusOr<MemoryReference> HoldOrCopy(const ProgramInstruction& instruction,
                                       const MemoryReference& memory,
                                       int64_t bytes);
  Status StageResult(const ProgramInstruction& instruction);
  Status ResolveStrings(const TensorSignature& signature, Tensor& result);
  Status SetResult(const ProgramInstruction& instruction, Tensor& result);
  Status Call(const ProgramInstruction& instruction);
  void NoteDispatch() {
    progress_.store(progress_.load(std::memory_order_relaxed) + 1,
                    std::memory_order_relaxed);
  }

  // Only with device_: what is left to do when the program has ended.
  Status EndOnDevice(Status status, std::vector<Tensor>& results);

  const std::shared_ptr<const Module> module_;
  const SessionOptions options_;
  Interrupt interrupt_;
  InterruptibleRunner runner_;
  // Null: the device is the host.
  const std::shared_ptr<DeviceSupport> device_;
  RunLimits limits_;
  RunMemory memory_;
  ResultPlaces places_;
  std::unique_ptr<DispatchRunner> dispatches_;
  std::unique_ptr<StringSupport> strings_;
  std::unique_ptr<Frame[]> frames_;  // by program
  SymbolValues symbols_;

  // The frame that runs, and its registers.
  Frame* frame_ = nullptr;
  int64_t* integers_ = nullptr;
  MemoryReference* buffers_ = nullptr;
  RunMemory::Dims input_dims_;
  std::atomic<int64_t> progress_{0};
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_RUNNER_H_
