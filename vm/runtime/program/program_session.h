// The implementation of a session: runs the instructions of a module's
// programs. It owns their registers and frames. Memory, limits, dispatches and
// the caller's memory for results (ResultBuffers) are handled by other classes.
// Internal; use vm/runtime/session.h.
#ifndef EMBER_VM_RUNTIME_PROGRAM_PROGRAM_SESSION_H_
#define EMBER_VM_RUNTIME_PROGRAM_PROGRAM_SESSION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/interrupt.h"
#include "base/parallel.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/dispatch/runner.h"
#include "vm/runtime/memory/run_memory.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/program/result_buffers.h"
#include "vm/runtime/program/signature.h"
#include "vm/runtime/run_limits.h"
#include "vm/runtime/session.h"

namespace ember::vm {

// The state of a program while it runs. Programs are not recursive, so each has
// one frame, which is made with the session: a call allocates no memory.
struct Frame {
  const Program* program = nullptr;
  // The program's instructions. The operand `a` of a dispatch is replaced by
  // the number of its site.
  std::vector<ProgramInstruction> code;
  std::vector<int64_t> integers;
  std::vector<MemoryReference> buffers;
  // The program's inputs. The caller keeps their memory alive and unchanged
  // during the call.
  std::vector<MemoryReference> inputs;
  // The results of a called program that have been set so far. For each result:
  // its memory, its operand list, and the values that the list's operands had
  // when the result was set.
  std::vector<MemoryReference> results;
  std::vector<uint32_t> result_lists;
  // values of the operands of result_lists, indexed by their position among the
  // program's operands
  std::vector<int64_t> result_dims;
  // number of bytes of each result; -1 if not all dims are declared as numbers
  std::vector<int64_t> result_bytes;
  uint8_t* arena = nullptr;
  // The frame of the calling program, and its call instruction, while this
  // program runs. They are null for the entry program, which the host calls.
  Frame* caller = nullptr;
  const ProgramInstruction* call = nullptr;
};

class ProgramSession final : public Session {
 public:
  ProgramSession(std::shared_ptr<const Module> module, SessionOptions options);
  ~ProgramSession() override;
  // Allocates the arena and prepares the dispatches. It must be called once,
  // before any other function.
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
  ResultBuffers& result_buffers() override { return result_buffers_; }

  void MakeFrames();
  StatusOr<std::unique_ptr<DispatchRunner>> MakeDispatchRunner();
  // Makes the support for strings. Returns an error if the module needs it and
  // the session's options provide none.
  Status MakeStrings();
  // Sets the addresses of the run's inputs. Inputs that are not aligned are
  // copied.
  Status BindInputs(std::span<const Tensor> inputs);
  Status BindInput(const Tensor& input, MemoryReference& reference);
  // Makes the handles for the strings of an input.
  Status BindStrings(const Tensor& input, MemoryReference& reference);
  Status Execute(std::vector<Tensor>& results);
  // True if the instruction does not access memory that kept calls
  // (vm/runtime/dispatch/side_by_side.h) read or write.
  bool PassesKeptCalls(const ProgramInstruction& instruction) const;
  // Makes `frame` the current frame.
  void Enter(Frame& frame) {
    frame_ = &frame;
    integers_ = frame.integers.data();
    buffers_ = frame.buffers.data();
  }
  // CallProgram starts the called program's frame; ReturnToCaller ends the
  // current frame.
  void CallProgram(const ProgramInstruction& instruction);
  void ReturnToCaller();
  static void Drop(std::vector<MemoryReference>& references);
  static void DropRegisters(Frame& frame);

  // Returns the instruction's error; the message says what was expected and
  // found.
  Status ErrorAt(const ProgramInstruction& instruction,
                 std::string_view message) const;
  Status CheckFailed(const ProgramInstruction& instruction) const;
  InstructionPosition PositionOf(const ProgramInstruction& instruction) const {
    return {static_cast<uint32_t>(frame_ - frames_.get()),
            static_cast<uint32_t>(&instruction - frame_->code.data())};
  }

  // --- instructions on memory (program_session_memory.cc)
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
  // Acquires a block of the pool, with one reference, for an instruction that
  // allocates memory.
  StatusOr<MemoryBlock*> Acquire(const ProgramInstruction& instruction,
                                 int64_t bytes);
  Status Allocate(const ProgramInstruction& instruction);
  // Makes an allocation use the memory of an input that the run may overwrite,
  // instead of a block. Returns false if no input may be used.
  bool TakeInput(const ProgramInstruction& instruction, int64_t bytes);
  Status Append(const ProgramInstruction& instruction);

  // --- instructions for results, and for calls of library functions
  // (program_session_calls.cc)
  void ReadResultDims(const ProgramInstruction& instruction,
                      std::span<int64_t> dims) const;
  StatusOr<int64_t> ResultBytes(const ProgramInstruction& instruction,
                                std::span<const int64_t> dims) const;
  StatusOr<MemoryReference> HoldOrCopy(const ProgramInstruction& instruction,
                                       const MemoryReference& memory,
                                       int64_t bytes);
  Status StageResult(const ProgramInstruction& instruction);
  Status ResolveStrings(const TensorSignature& signature, Tensor& result);
  const Tensor* InputWith(const MemoryReference& memory) const;
  Status SetResult(const ProgramInstruction& instruction, Tensor& result);
  Status Call(const ProgramInstruction& instruction);
  void NoteDispatch() {
    progress_.store(progress_.load(std::memory_order_relaxed) + 1,
                    std::memory_order_relaxed);
  }

  // Ends the run on a device. It must only be called if device_ is not null.
  Status EndOnDevice(Status status, std::vector<Tensor>& results);

  const std::shared_ptr<const Module> module_;
  const SessionOptions options_;
  Interrupt interrupt_;
  InterruptibleRunner runner_;
  // Support for the session's device; null if the device is the host.
  const std::shared_ptr<DeviceSupport> device_;
  RunLimits limits_;
  RunMemory memory_;
  ResultBuffers result_buffers_;
  std::unique_ptr<DispatchRunner> dispatches_;
  std::unique_ptr<StringSupport> strings_;
  std::unique_ptr<Frame[]> frames_;  // one frame for each program
  SymbolValues symbols_;

  // The current frame and its registers.
  Frame* frame_ = nullptr;
  int64_t* integers_ = nullptr;
  MemoryReference* buffers_ = nullptr;
  RunMemory::Dims input_dims_;
  // the inputs of the current run
  std::span<const Tensor> run_inputs_;
  std::atomic<int64_t> progress_{0};
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_PROGRAM_SESSION_H_
