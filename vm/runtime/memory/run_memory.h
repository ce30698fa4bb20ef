// The memory of a session's programs: the arena and blocks of the pool. It also
// records which parts the current run has written, so that no run sees what
// another one left there. If the session's device has memory of its own, the
// host announces here what it reads and writes, and copies become commands.
// Internal to sessions.
//
//   memory.StartRun();
//   EMBER_ASSIGN_OR_RETURN(MemoryBlock* block, memory.Acquire(4096));
//   EMBER_RETURN_IF_ERROR(memory.BeginHost(part, /*writes=*/true, place));
//   ...                                                   // writes to it
//   EMBER_RETURN_IF_ERROR(memory.EndHost(part, place));
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

// Alignment of inputs in bytes. It is the alignment of malloc, which kernels
// rely on; elements need 8 at most.
inline constexpr uintptr_t kInputAlignment = 16;

// An instruction of a module for which the host's work is counted.
struct InstructionPlace {
  uint32_t program = 0;
  uint32_t instruction = 0;
};

class RunMemory {
 public:
  using Dims = std::vector<std::vector<int64_t>>;

  // Makes the memory of a session. limit: in bytes, see MemoryPool. support:
  // null if the device is the host. limits: those of the run; cleared bytes
  // count as work. The module and the limits outlive this object.
  RunMemory(const Module& module, std::shared_ptr<hal::Device> device,
            int64_t limit, std::shared_ptr<DeviceSupport> support,
            RunLimits& limits);
  ~RunMemory();
  // Allocates the arena. Call it once, before anything else.
  Status Initialize();

  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  // Returns the arena of all programs.
  uint8_t* arena() const { return static_cast<uint8_t*>(arena_->host_data()); }
  int64_t arena_bytes() const { return arena_bytes_; }
  bool IsInArena(const uint8_t* address) const {
    return address >= arena() && address < arena() + arena_bytes_;
  }

  void StartRun();
  // Sets the dims of the run's inputs. If a run with the same dims needed no
  // zeros, this one does not either, and its writes are not recorded.
  void KnowInputs(const Dims& dims) {
    tracks_writes_ &= !is_tidy_ || dims != tidy_dims_;
  }
  // Ends a run. ok: true if the run did not end with an error.
  void EndRun(bool ok, const Dims& dims);

  // Acquires a block of the pool, with a reference and old contents.
  StatusOr<MemoryBlock*> Acquire(int64_t bytes);
  // Marks all contents of the block as old. Call it for a block that was
  // acquired elsewhere.
  void Forget(const MemoryBlock& block) {
    if (tracks_writes_) written_.Remove(block.data(), block.capacity());
  }

  bool is_tracking() const { return tracks_writes_; }
  // Call it before `bytes` of the memory are read: parts that this run has not
  // written are cleared.
  Status BeforeRead(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) return FillGaps(memory, bytes);
    return OkStatus();
  }
  void AfterWrite(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) written_.Add(memory.data, bytes);
  }

  // BeginHost comes before the host reads or writes the memory, EndHost
  // afterwards.
  Status BeginHost(const MemoryReference& memory, bool writes,
                   InstructionPlace place) {
    return support_ == nullptr ? OkStatus()
                               : BeginOnDevice(memory, writes, place);
  }
  Status EndHost(const MemoryReference& memory, InstructionPlace place) {
    return support_ == nullptr ? OkStatus() : EndOnDevice(memory, place);
  }
  // Gives a library function access to its memory. Library functions also write
  // to working memory of the pool, which pending commands may still use, so all
  // commands are waited for.
  Status BeginLibraryCall(std::span<const HostAccess> accesses,
                          InstructionPlace place);
  Status EndLibraryCall(std::span<const HostAccess> accesses,
                        InstructionPlace place);
  bool is_on_device() const { return support_ != nullptr; }

  // Copies source.length bytes; the ranges may overlap.
  Status Copy(const MemoryReference& source, const MemoryReference& target,
              InstructionPlace place) {
    if (support_ != nullptr) return CopyOnDevice(source, target, place);
    if (source.length > 0) {
      std::memmove(target.data, source.data,
                   static_cast<size_t>(source.length));
    }
    return OkStatus();
  }
  // True if kernels can bind memory that begins here.
  bool CanBind(const MemoryReference& memory) const;

 private:
  // True for memory of the session, which may hold contents of an earlier run.
  bool IsOwn(const MemoryReference& memory) const {
    return memory.block != nullptr || IsInArena(memory.data);
  }
  Status FillGaps(const MemoryReference& memory, int64_t bytes);
  Status Clear(std::span<uint8_t> memory);
  Status BeginOnDevice(const MemoryReference& memory, bool writes,
                       InstructionPlace place);
  Status EndOnDevice(const MemoryReference& memory, InstructionPlace place);
  Status CopyOnDevice(const MemoryReference& source,
                      const MemoryReference& target, InstructionPlace place);

  RunLimits& limits_;
  const std::shared_ptr<hal::Device> device_;
  const std::shared_ptr<DeviceSupport> support_;
  const int64_t arena_bytes_;
  const bool is_repeatable_;
  std::shared_ptr<MemoryPool> pool_;
  std::unique_ptr<hal::Buffer> arena_;

  // The ranges that this run has written.
  WrittenRanges written_;
  bool tracks_writes_ = false;
  bool has_gaps_ = false;
  // Dims of the inputs of a run that needed no zeros.
  Dims tidy_dims_;
  bool is_tidy_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_RUN_MEMORY_H_
