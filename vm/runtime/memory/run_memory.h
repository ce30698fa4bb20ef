// The memory of a session's programs: the arena and blocks of the pool. It also
// records which parts the current run has written, so that no run reads the
// contents that another run has left. If the session's device has memory of its
// own, the host must call BeginHost before it reads or writes memory, and
// copies become commands of the device. Internal to sessions.
//
//   memory.StartRun();
//   EMBER_ASSIGN_OR_RETURN(MemoryBlock* block, memory.Acquire(4096));
//   EMBER_RETURN_IF_ERROR(memory.BeginHost(part, /*writes=*/true, position));
//   ...                                                   // writes to it
//   EMBER_RETURN_IF_ERROR(memory.EndHost(part, position));
//   memory.AfterWrite(part, part.length);
//   EMBER_RETURN_IF_ERROR(memory.BeforeRead(whole, whole.length));
//   memory.EndRun(status.ok());
//
// Not thread-safe. Errors: the memory limit; errors of a device.
#ifndef EMBER_VM_RUNTIME_MEMORY_RUN_MEMORY_H_
#define EMBER_VM_RUNTIME_MEMORY_RUN_MEMORY_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/memory/written_ranges.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/module.h"
#include "vm/runtime/run_limits.h"

namespace ember::vm {

// Alignment of inputs in bytes. Kernels rely on it. It is the alignment of
// malloc; elements need at most 8 bytes.
inline constexpr uintptr_t kInputAlignment = 16;

// The position of an instruction in a module, at which the host's work for the
// instruction is counted (DeviceSupport::WorkOf).
struct InstructionPosition {
  uint32_t program = 0;
  uint32_t instruction = 0;
};

class RunMemory {
 public:
  using Dims = std::vector<std::vector<int64_t>>;

  // Makes the memory of a session. `limit` is in bytes, as for MemoryPool.
  // `support` is null if the device is the host. `limits` are those of the run,
  // in which cleared bytes count as work. The module and the limits must
  // outlive this object.
  RunMemory(const Module& module, std::shared_ptr<hal::Device> device,
            int64_t limit, std::shared_ptr<DeviceSupport> support,
            RunLimits& limits);
  ~RunMemory();
  // Allocates the arena. It must be called once, before any other function.
  Status Initialize();

  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  // Returns the address of the arena of all programs.
  uint8_t* arena() const { return static_cast<uint8_t*>(arena_->host_data()); }
  int64_t arena_bytes() const { return arena_bytes_; }
  bool IsInArena(const uint8_t* address) const {
    return address >= arena() && address < arena() + arena_bytes_;
  }

  void StartRun();
  // Passes the dims of the run's inputs. If an earlier run with the same dims
  // read no memory that it had not written, this run does not either, so its
  // writes need not be recorded.
  void KnowInputs(const Dims& dims) {
    tracks_writes_ &= !is_tidy_ || dims != tidy_dims_;
  }
  // Ends a run. `ok` is true if the run succeeded; `dims` are the dims of its
  // inputs.
  void EndRun(bool ok, const Dims& dims);

  // Acquires a block of the pool, with one reference. The block has contents of
  // an earlier use.
  StatusOr<MemoryBlock*> Acquire(int64_t bytes);
  // Records that the run has written nothing to the block, although it may have
  // contents. It must be called for a block that was not acquired by Acquire.
  void Forget(const MemoryBlock& block) {
    if (tracks_writes_) written_.Remove(block.data(), block.capacity());
  }

  bool is_tracking() const { return tracks_writes_; }
  // Clears those parts of the memory that this run has not written. It must be
  // called before `bytes` bytes of the memory are read.
  Status BeforeRead(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) return FillGaps(memory, bytes);
    return OkStatus();
  }
  void AfterWrite(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) written_.Add(memory.data, bytes);
  }

  // On a device with memory of its own, BeginHost makes the memory accessible
  // to the host. It must be called before the host reads or writes the memory,
  // and EndHost afterwards.
  Status BeginHost(const MemoryReference& memory, bool writes,
                   InstructionPosition position) {
    return support_ == nullptr ? OkStatus()
                               : BeginOnDevice(memory, writes, position);
  }
  Status EndHost(const MemoryReference& memory, InstructionPosition position) {
    return support_ == nullptr ? OkStatus() : EndOnDevice(memory, position);
  }
  // Gives a library function access to the memory of its operands. It waits for
  // all commands of the device, because library functions also write to working
  // memory of the pool, which pending commands may still use.
  Status BeginLibraryCall(std::span<const HostAccess> accesses,
                          InstructionPosition position);
  Status EndLibraryCall(std::span<const HostAccess> accesses,
                        InstructionPosition position);
  bool is_on_device() const { return support_ != nullptr; }

  // Copies source.length bytes; the ranges may overlap.
  Status Copy(const MemoryReference& source, const MemoryReference& target,
              InstructionPosition position) {
    if (support_ != nullptr) return CopyOnDevice(source, target, position);
    if (source.length > 0) {
      std::memmove(target.data, source.data,
                   static_cast<size_t>(source.length));
    }
    return OkStatus();
  }
  // True if the address of the memory is aligned so that kernels can bind it.
  bool CanBind(const MemoryReference& memory) const;

 private:
  // True for memory of the session itself, which may have contents of an
  // earlier run.
  bool IsOwn(const MemoryReference& memory) const {
    return memory.block != nullptr || IsInArena(memory.data);
  }
  Status FillGaps(const MemoryReference& memory, int64_t bytes);
  Status Clear(std::span<uint8_t> memory);
  Status BeginOnDevice(const MemoryReference& memory, bool writes,
                       InstructionPosition position);
  Status EndOnDevice(const MemoryReference& memory,
                     InstructionPosition position);
  Status CopyOnDevice(const MemoryReference& source,
                      const MemoryReference& target,
                      InstructionPosition position);

  RunLimits& limits_;
  const std::shared_ptr<hal::Device> device_;
  const std::shared_ptr<DeviceSupport> support_;
  const int64_t arena_bytes_;
  const bool is_repeatable_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<hal::Buffer> arena_;

  // the ranges of the session's memory that this run has written
  WrittenRanges written_;
  bool tracks_writes_ = false;
  bool has_gaps_ = false;
  // dims of the inputs of an earlier run that read no memory which it had not
  // written
  Dims tidy_dims_;
  bool is_tidy_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_RUN_MEMORY_H_
