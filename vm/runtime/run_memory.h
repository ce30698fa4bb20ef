// The memory that a session's programs work with: the arena, blocks of the
// pool, and what of both the run that goes on has written, so that no run sees
// what another one left there. Where the session's device has memory of its
// own, the host announces here what it reads and writes, and copies become
// commands. Internal to sessions.
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
// Not thread-safe. Errors: the memory limit; what a device says.
#ifndef EMBER_VM_RUNTIME_RUN_MEMORY_H_
#define EMBER_VM_RUNTIME_RUN_MEMORY_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "hal/device.h"
#include "vm/runtime/device_support.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/module.h"
#include "vm/runtime/run_limits.h"
#include "vm/runtime/written_ranges.h"

namespace ember::vm {

// What malloc gives, and kernels rely on; elements need 8 at most.
inline constexpr uintptr_t kInputAlignment = 16;

// An instruction of a module, which the host's work is counted for.
struct InstructionPlace {
  uint32_t program = 0;
  uint32_t instruction = 0;
};

class RunMemory {
 public:
  using Dims = std::vector<std::vector<int64_t>>;

  // limit: bytes, as MemoryPool takes it. support: null where the device is the
  // host. limits: of the run; what is cleared counts as work. The module and
  // the limits outlive this.
  RunMemory(const Module& module, std::shared_ptr<hal::Device> device,
            int64_t limit, std::shared_ptr<DeviceSupport> support,
            RunLimits& limits);
  ~RunMemory();
  // Allocates the arena; once, before anything else.
  Status Initialize();

  const std::shared_ptr<MemoryPool>& pool() const { return pool_; }
  // Of all programs.
  uint8_t* arena() const { return static_cast<uint8_t*>(arena_->host_data()); }
  int64_t arena_bytes() const { return arena_bytes_; }
  bool IsInArena(const uint8_t* address) const {
    return address >= arena() && address < arena() + arena_bytes_;
  }

  void StartRun();
  // The dims of the run's inputs: a run that needed no zeros need not be
  // watched again, as those like it need none either.
  void KnowInputs(const Dims& dims) {
    tracks_writes_ &= !is_tidy_ || dims != tidy_dims_;
  }
  // ok: the run was not ended by an error.
  void EndRun(bool ok, const Dims& dims);

  // A block of the pool with a reference; what it holds is old.
  StatusOr<MemoryBlock*> Acquire(int64_t bytes);
  // Where somebody else has acquired it.
  void Forget(const MemoryBlock& block) {
    if (tracks_writes_) written_.Remove(block.data(), block.capacity());
  }

  bool is_tracking() const { return tracks_writes_; }
  // Before `bytes` of it are read: what nothing has written becomes zero.
  Status BeforeRead(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) return FillGaps(memory, bytes);
    return OkStatus();
  }
  void AfterWrite(const MemoryReference& memory, int64_t bytes) {
    if (tracks_writes_ && IsOwn(memory)) written_.Add(memory.data, bytes);
  }

  // The host is going to read it, and perhaps to write; then has done so.
  Status BeginHost(const MemoryReference& memory, bool writes,
                   InstructionPlace place) {
    return support_ == nullptr ? OkStatus()
                               : BeginOnDevice(memory, writes, place);
  }
  Status EndHost(const MemoryReference& memory, InstructionPlace place) {
    return support_ == nullptr ? OkStatus() : EndOnDevice(memory, place);
  }
  // Functions of the library write to working memory of the pool, too, which
  // commands that wait may still use: all of them are waited for.
  Status BeginLibraryCall(std::span<const HostAccess> accesses,
                          InstructionPlace place);
  Status EndLibraryCall(std::span<const HostAccess> accesses,
                        InstructionPlace place);
  bool is_on_device() const { return support_ != nullptr; }

  // source.length bytes; the ranges may overlap.
  Status Copy(const MemoryReference& source, const MemoryReference& target,
              InstructionPlace place) {
    if (support_ != nullptr) return CopyOnDevice(source, target, place);
    if (source.length > 0) {
      std::memmove(target.data, source.data,
                   static_cast<size_t>(source.length));
    }
    return OkStatus();
  }
  // Whether kernels can be given memory that begins here.
  bool CanBind(const MemoryReference& memory) const;

 private:
  // Memory of the session, which may hold what an earlier run left there.
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

  // Of the run.
  WrittenRanges written_;
  bool tracks_writes_ = false;
  bool has_gaps_ = false;
  // Of one that needed no zeros.
  Dims tidy_dims_;
  bool is_tidy_ = false;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_RUN_MEMORY_H_
