#include "vm/runtime/memory/run_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/concat.h"
#include "vm/isa/library_functions.h"

namespace ember::vm {
namespace {

// True if the dims of the inputs alone determine which instructions run and
// which memory they use. A run with the same dims as an earlier one then does
// the same.
bool IsRepeatable(const Module& module) {
  for (const Program& program : module.definition().programs) {
    for (const ProgramInstruction& in : program.instructions) {
      if (in.opcode == ProgramOpcode::kBranchIf ||
          in.opcode == ProgramOpcode::kLoadInteger) {
        return false;
      }
      if (in.opcode == ProgramOpcode::kLibraryCall &&
          LibraryInfoOf(in.a).operands.find('I') != std::string_view::npos) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

RunMemory::RunMemory(const Module& module, std::shared_ptr<hal::Device> device,
                     int64_t limit, std::shared_ptr<DeviceSupport> support,
                     RunLimits& limits)
    : limits_(limits),
      device_(std::move(device)),
      support_(std::move(support)),
      arena_bytes_(module.arena_bytes()),
      is_repeatable_(IsRepeatable(module)),
      pool_(std::make_shared<MemoryPool>(device_, limit, support_)) {}

RunMemory::~RunMemory() {
  if (support_ != nullptr) support_->Close();
  if (arena_ != nullptr) pool_->Discharge(arena_->size());
}

Status RunMemory::Initialize() {
  Status charged = pool_->Charge(arena_bytes_);
  if (!charged.ok()) return charged.WithContext("arena");
  StatusOr<std::unique_ptr<hal::Buffer>> arena =
      support_ != nullptr
          ? support_->Allocate(arena_bytes_)
          : device_->Allocate(arena_bytes_, hal::MemoryKind::kHostVisible);
  if (!arena.ok()) return arena.status().WithContext("arena");
  arena_ = *std::move(arena);
  if (arena_->host_data() == nullptr) {
    return UnimplementedError(
        Concat({"session: expected a device with host-visible memory, found '",
                device_->driver(), "'"}));
  }
  if (support_ != nullptr) support_->SetArena(arena_.get());
  return OkStatus();
}

void RunMemory::StartRun() {
  written_.Clear();
  has_gaps_ = false;
  // The writes of the run are recorded, unless KnowInputs is called and finds
  // that this is not necessary.
  tracks_writes_ = true;
}

void RunMemory::EndRun(bool ok, const Dims& dims) {
  if (!ok || !tracks_writes_ || has_gaps_ || !is_repeatable_) return;
  is_tidy_ = true;
  tidy_dims_ = dims;
}

StatusOr<MemoryBlock*> RunMemory::Acquire(int64_t bytes) {
  StatusOr<MemoryBlock*> block = pool_->Acquire(bytes);
  if (block.ok()) Forget(**block);
  return block;
}

// Clears memory in pieces, so that the run can be stopped between two pieces.
Status RunMemory::Clear(std::span<uint8_t> memory) {
  constexpr size_t kAtOnce = size_t{1} << 20;
  while (!memory.empty()) {
    const std::span<uint8_t> piece =
        memory.first(std::min(kAtOnce, memory.size()));
    EMBER_RETURN_IF_ERROR(
        limits_.TakeClear(static_cast<int64_t>(piece.size())));
    std::ranges::fill(piece, uint8_t{0});
    memory = memory.subspan(piece.size());
  }
  return OkStatus();
}

Status RunMemory::FillGaps(const MemoryReference& memory, int64_t bytes) {
  for (const std::span<uint8_t> gap : written_.TakeGaps(memory.data, bytes)) {
    has_gaps_ = true;
    HostWork uncounted;
    const HostAccess access = {
        .memory = {gap.data(), static_cast<int64_t>(gap.size()), memory.block},
        .writes = true,
        .overwrites = true};
    if (support_ != nullptr) {
      EMBER_RETURN_IF_ERROR(
          support_->BeginHost({&access, 1}, false, uncounted));
    }
    const Status cleared = Clear(gap);
    if (support_ != nullptr)
      EMBER_RETURN_IF_ERROR(support_->EndHost({&access, 1}, uncounted));
    EMBER_RETURN_IF_ERROR(cleared);
  }
  return OkStatus();
}

Status RunMemory::BeginOnDevice(const MemoryReference& memory, bool writes,
                                InstructionPosition position) {
  const HostAccess access = {memory, writes};
  return support_->BeginHost(
      {&access, 1}, false,
      support_->WorkOf(position.program, position.instruction));
}

Status RunMemory::EndOnDevice(const MemoryReference& memory,
                              InstructionPosition position) {
  const HostAccess access = {memory, true};
  return support_->EndHost(
      {&access, 1}, support_->WorkOf(position.program, position.instruction));
}

Status RunMemory::BeginLibraryCall(std::span<const HostAccess> accesses,
                                   InstructionPosition position) {
  if (support_ == nullptr) return OkStatus();
  return support_->BeginHost(
      accesses, /*waits=*/true,
      support_->WorkOf(position.program, position.instruction));
}

Status RunMemory::EndLibraryCall(std::span<const HostAccess> accesses,
                                 InstructionPosition position) {
  if (support_ == nullptr) return OkStatus();
  return support_->EndHost(
      accesses, support_->WorkOf(position.program, position.instruction));
}

Status RunMemory::CopyOnDevice(const MemoryReference& source,
                               const MemoryReference& target,
                               InstructionPosition position) {
  const bool overlaps = source.data < target.data + target.length &&
                        target.data < source.data + source.length;
  if (!overlaps) return support_->Copy(source, target);
  const HostAccess accesses[2] = {{source, false}, {target, true}};
  EMBER_RETURN_IF_ERROR(support_->BeginHost(
      accesses, false,
      support_->WorkOf(position.program, position.instruction)));
  std::memmove(target.data, source.data, static_cast<size_t>(source.length));
  return support_->EndHost(
      accesses, support_->WorkOf(position.program, position.instruction));
}

bool RunMemory::CanBind(const MemoryReference& memory) const {
  if (support_ != nullptr) return support_->CanBind(memory);
  return reinterpret_cast<uintptr_t>(memory.data) % kInputAlignment == 0;
}

}  // namespace ember::vm
