// The session: registers, sites and the loop over the programs' instructions.
// Internal; use vm/runtime/session.h.
#ifndef EMBER_VM_RUNTIME_EXECUTOR_H_
#define EMBER_VM_RUNTIME_EXECUTOR_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/interrupt.h"
#include "base/parallel.h"
#include "vm/runtime/default_limits.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/kernel_check.h"
#include "vm/runtime/library.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/plan_cache.h"
#include "vm/runtime/session.h"
#include "vm/runtime/side_by_side.h"
#include "vm/runtime/signature.h"
#include "vm/runtime/written_ranges.h"

namespace ember::vm {

// What malloc gives, and kernels rely on; elements need 8 at most.
inline constexpr uintptr_t kInputAlignment = 16;

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

// A dispatch instruction: where its operands are, and what ran last.
struct SiteState {
  // Inputs and outputs that were seen to be one memory, and may be.
  std::vector<std::pair<uint32_t, uint32_t>> shared;
  const uint32_t* operands = nullptr;  // parameters, then inputs and outputs
  uint32_t parameter_count = 0;
  uint32_t buffer_count = 0;
  uint32_t input_count = 0;
  uint32_t number = 0;
  uint32_t program = 0;
  uint32_t instruction = 0;
  uint32_t group = 0;
  uint32_t dispatch = 0;
  PlanEntry* entry = nullptr;
  KernelSlot* slot = nullptr;  // null: tier 0 only
  int64_t calls = 0;
  int64_t kernel_calls[2] = {0, 0};  // of tier 1 and 2; the others are tier 0's
  int64_t device_calls = 0;
  int64_t total_ns = 0;
  int last_tier = 0;
  // With SessionOptions::profile: as SiteProfile::shapes.
  std::vector<DispatchProfile::Shape> shapes;
};

class Executor final : public Session {
 public:
  Executor(std::shared_ptr<const Module> module, SessionOptions options);
  ~Executor() override;
  // Allocates the arena; once, before anything else.
  Status Initialize();

  Status Run(std::span<const Tensor> inputs,
             std::vector<Tensor>* results) override;
  Status PlaceResults(std::vector<ResultPlace> places) override;
  void SetMaxSeconds(double seconds) override { max_seconds_ = seconds; }
  int64_t progress() const override {
    return progress_.load(std::memory_order_relaxed);
  }
  void Cancel() override { interrupt_.Cancel(); }
  const Module& module() const override { return *module_; }
  std::vector<SiteProfile> Profile() const override;
  std::string_view SiteName(uint32_t site) const override;
  std::span<const TraceEvent> trace() const override { return trace_; }
  void ResetProfile() override;
  bool IsSettled() const override;
  int side_by_side_count() const override {
    return side_by_side_ == nullptr ? 0 : side_by_side_->batch_count();
  }
  SessionMemory memory() const override;
  DeviceReport device_report() const override;

 private:
  void MakeFrames();
  void MakeSites();
  // Addresses of the inputs; copies those that are not aligned.
  Status BindInputs(std::span<const Tensor> inputs);
  // The handles of an input's strings.
  Status BindStrings(const Tensor& input, MemoryReference& reference);
  // Refuses what needs strings without them.
  Status MakeStrings();
  Status Execute(std::vector<Tensor>& results);
  // Whether the instruction leaves alone what kept calls (side_by_side.h) read
  // and write.
  bool PassesKeptCalls(const ProgramInstruction& instruction) const;
  bool HasAllKernels() const;
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

  // Errors of instruction `index`, whose message tells what was expected and
  // found.
  Status ErrorAt(size_t index, std::string_view message) const;
  Status ErrorAt(const ProgramInstruction& instruction,
                 std::string_view message) const {
    return ErrorAt(static_cast<size_t>(&instruction - frame_->code.data()),
                   message);
  }

  // Limits and what keeps runs apart (executor_limits.cc).
  //
  // Starts the run's clock and counts.
  void StartLimits();
  // At a jump back or call: whether there may be one more, else StepError.
  bool TakeStep() { return --steps_left_ >= 0 && !interrupt_.ShouldStop(); }
  Status StepError() const;
  Status WorkError(const SiteState& site) const;
  Status WorkError(std::string_view function) const;
  // Of the call whose operands are in pointers_: what shares memory with an
  // output that may not.
  Status CheckOverlaps(SiteState& site);
  bool MayShare(SiteState& site, uint32_t input, uint32_t output) const;
  // Memory of the session, which may hold what an earlier run left there.
  bool IsOwn(const MemoryReference& memory) const {
    return memory.block != nullptr ||
           (memory.data >= frames_[0].arena &&
            memory.data < frames_[0].arena + arena_bytes_);
  }
  // Before `bytes` of it are read: what nothing has written becomes zero.
  Status BeforeRead(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) return FillGaps(memory, bytes);
    return OkStatus();
  }
  Status FillGaps(const MemoryReference& memory, int64_t bytes);
  void AfterWrite(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) written_.Add(memory.data, bytes);
  }
  // A block that the pool gives out: all of it is old.
  void Forget(const MemoryBlock& block) {
    if (tracks_writes_) written_.Remove(block.data(), block.capacity());
  }
  Status TrackSite(const SiteState& site);
  // Whether the next run does the same with memory as this one, if it has
  // inputs of the same dims.
  bool IsRepeatable() const;
  void EndTracking(bool ok);

  Status CheckFailed(const ProgramInstruction& instruction) const;

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
  // Places (executor_places.cc).
  Status CheckPlaces(std::span<const Tensor> inputs) const;
  bool HasPlace(size_t result) const {
    return result < places_.size() && places_[result].data != nullptr;
  }
  // Makes `data`, of result.byte_size, the result's.
  Status PutInPlace(size_t index, const void* data, Tensor& result) const;
  void NoteDispatch() {
    progress_.store(progress_.load(std::memory_order_relaxed) + 1,
                    std::memory_order_relaxed);
  }
  Status Call(const ProgramInstruction& instruction);

  // Dispatches.
  Status RunSite(SiteState& site);
  bool HasPlan(const SiteState& site) const;
  Status FindPlan(SiteState& site);
  // For dispatches whose extents are always the same and that have a kernel
  // already, what their first call would otherwise do. What is refused is
  // refused again when it is reached.
  void PrepareSites();
  Status BufferTooSmall(const SiteState& site, uint32_t buffer) const;
  // Null: tier 0.
  Status RunWith(SiteState& site, const Kernel* kernel);
  void CountShape(SiteState& site, int64_t ns);
  void Trace(const SiteState& site, int64_t begin, int64_t end);
  // Measures: for the profile, the trace, or as there is something to decide.
  Status RunObserved(SiteState& site);
  void RequestKernels(const SiteState& site);
  void ChooseKernel(SiteState& site);
  void UseKernel(PlanEntry& entry, const Kernel* kernel);
  // The first call of a kernel: tier 0 makes it, the kernel on copies; then
  // the kernel is known to be right, or is used no more (executor_check.cc).
  // kLater: not in this run, and until then it is not used.
  enum class CheckTime { kNever, kNow, kLater };
  CheckTime WhenToCheck(SiteState& site);
  Status RunChecked(SiteState& site);
  // Whether the kernel did what tier 0 did, with status `want`.
  void Check(SiteState& site, KernelCheck& check, const Status& want);
  // Whether a call leaves the kernel that is there to be measured.
  bool IsKept(const Kernel* kernel) const;
  bool StaysInterpreted(const PlanEntry& entry) const;
  // After a call that `used` a kernel, or tier 0 if null.
  void UpdateTrial(SiteState& site, const Kernel* used, int64_t ns);
  // A call that took ns.
  void Account(const KernelTrial& trial, int64_t ns);
  void StartAccount();

  // Only with device_ (executor_device.cc).
  Status BindOnDevice(size_t input, const Tensor& tensor);
  Status RunOnDevice(SiteState& site);
  Status RunOnHost(SiteState& site, const char* reason);
  HostWork& WorkOf(const ProgramInstruction& instruction);
  // The host is going to read `read` and write `written`, and has done so.
  Status BeginHost(const ProgramInstruction& instruction,
                   const MemoryReference& memory, bool writes);
  Status EndHost(const ProgramInstruction& instruction,
                 const MemoryReference& memory);
  Status BeginLibraryCall(const ProgramInstruction& instruction,
                          const LibraryCall& call);
  Status EndLibraryCall(const ProgramInstruction& instruction,
                        const LibraryCall& call);
  // Copies that become commands where they can.
  Status CopyOnDevice(const ProgramInstruction& instruction,
                      const MemoryReference& source,
                      const MemoryReference& target);
  // What is left to do when the program has ended.
  Status EndOnDevice(Status status, std::vector<Tensor>& results);

  const std::shared_ptr<const Module> module_;
  const SessionOptions options_;
  Interrupt interrupt_;
  InterruptibleRunner runner_;
  const bool is_profiled_;
  // Null: the device is the host.
  const std::shared_ptr<DeviceSupport> device_;
  const bool observed_;
  const int64_t memory_limit_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<hal::Buffer> arena_;
  int64_t arena_bytes_ = 0;
  std::unique_ptr<StringSupport> strings_;
  std::unique_ptr<Frame[]> frames_;                 // by program
  std::vector<SiteState> sites_;                    // by number
  std::vector<std::unique_ptr<PlanCache>> caches_;  // by group
  SymbolValues symbols_;

  // The frame that runs, and its registers.
  Frame* frame_ = nullptr;
  int64_t* integers_ = nullptr;
  MemoryReference* buffers_ = nullptr;
  std::vector<std::vector<int64_t>> input_dims_;
  std::vector<ResultPlace> places_;  // by result, or none
  std::vector<int64_t> parameters_;  // of the dispatch being started
  std::vector<void*> pointers_;
  std::vector<MemoryReference> references_;  // with device_
  std::vector<HostAccess> accesses_;
  std::vector<TraceEvent> trace_;
  uint64_t thread_ = 0;
  // Null where dispatches run one after another.
  std::unique_ptr<SideBySide> side_by_side_;
  bool has_run_ = false;

  // Of the run.
  double max_seconds_ = 0;
  std::atomic<int64_t> progress_{0};
  int64_t work_left_ = 0;
  int64_t steps_left_ = 0;
  // A run that needed no zeros need not be watched again: those like it need
  // none either.
  WrittenRanges written_;
  bool tracks_writes_ = false;
  bool has_gaps_ = false;
  const bool is_repeatable_;
  std::vector<std::vector<int64_t>> tidy_dims_;  // inputs of such a run
  bool is_tidy_ = false;

  // Nobody should notice that kernels are tried: a run may lose a small part of
  // what the last one would have taken at tier 0, by its dispatches' best
  // times. What faster kernels have saved in it counts. No bound in the first
  // run.
  int64_t interpreted_ns_ = 0;
  int64_t lost_ns_ = 0;
  bool has_measured_ = true;  // something in this run
  bool accounts_ = true;      // in this run, as the last one measured something
  int64_t may_lose_ns_ = std::numeric_limits<int64_t>::max();
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_EXECUTOR_H_
