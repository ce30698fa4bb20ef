#include "vm/runtime/devices/session.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "vm/runtime/devices/command_stream.h"
#include "vm/runtime/devices/constants.h"
#include "vm/runtime/devices/dispatch_runner.h"
#include "vm/runtime/devices/memory.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::vm {
namespace {

// Allocates memory for results, which users keep. It is memory of the host,
// which counts against the session's limit as long as the session exists.
class ResultMemory final : public MemorySource {
 public:
  explicit ResultMemory(std::weak_ptr<MemoryPool> pool,
                        std::shared_ptr<hal::Device> device)
      : pool_(std::move(pool)), device_(std::move(device)) {}

  StatusOr<std::unique_ptr<hal::Buffer>> Allocate(int64_t bytes) override {
    if (const auto pool = pool_.lock(); pool != nullptr)
      EMBER_RETURN_IF_ERROR(pool->Charge(bytes));
    StatusOr<std::unique_ptr<hal::Buffer>> buffer =
        device_->Allocate(bytes, hal::MemoryKind::kHostVisible);
    if (!buffer.ok()) {
      Discharge(pool_, bytes);
      return buffer.status();
    }
    return std::unique_ptr<hal::Buffer>(
        std::make_unique<Charged>(*std::move(buffer), pool_));
  }

 private:
  static void Discharge(const std::weak_ptr<MemoryPool>& pool, int64_t bytes) {
    if (const auto charged = pool.lock(); charged != nullptr)
      charged->Discharge(bytes);
  }

  class Charged final : public hal::Buffer {
   public:
    Charged(std::unique_ptr<hal::Buffer> buffer, std::weak_ptr<MemoryPool> pool)
        : Buffer(buffer->size(), buffer->host_data()),
          buffer_(std::move(buffer)),
          pool_(std::move(pool)) {}
    ~Charged() override { Discharge(pool_, size()); }

   private:
    const std::unique_ptr<hal::Buffer> buffer_;
    const std::weak_ptr<MemoryPool> pool_;
  };

  const std::weak_ptr<MemoryPool> pool_;
  const std::shared_ptr<hal::Device> device_;
};

class DeviceSession final : public DeviceSupport {
 public:
  DeviceSession(const std::shared_ptr<hal::Device>& device,
                const std::shared_ptr<const Module>& module)
      : device_(device),
        limits_(device->limits()),
        constants_(DeviceConstants::Of(device, module)),
        stream_(device),
        inputs_(module->inputs().size()),
        results_(module->results().size()),
        sites_(module->sites().size()) {}

  StatusOr<std::unique_ptr<hal::Buffer>> Allocate(int64_t bytes) override {
    EMBER_ASSIGN_OR_RETURN(
        std::unique_ptr<DeviceMemory> memory,
        DeviceMemory::Make(*device_, bytes, [this] { stream_.Forget(); }));
    return std::unique_ptr<hal::Buffer>(std::move(memory));
  }
  StatusOr<std::unique_ptr<DispatchRunner>> NewDispatchRunner(
      const DispatchContext& context) override {
    Tiering* const tiering = context.options.tiering.get();
    if (tiering != nullptr) EMBER_RETURN_IF_ERROR(tiering->UseFor(context));
    return std::unique_ptr<DispatchRunner>(
        std::make_unique<DeviceDispatchRunner>(context, tiering, *this));
  }
  void SetArena(hal::Buffer* arena) override {
    arena_ = static_cast<DeviceMemory*>(arena);
  }

  void StartRun(MemoryPool& pool) override {
    ++runs_;
    pool.OrderIdleBlocks();
    // The memory for kernels' temporaries (scratch) is not charged to the pool,
    // because a flush may need scratch while the pool frees blocks. Scratch has
    // a limit of its own, which is the same number of bytes.
    stream_.set_scratch_limit(pool.limit());
    constexpr int64_t kIdleShare = 8;
    if (result_pool_ != nullptr)
      result_pool_->FreeIdle(pool.limit() / kIdleShare);
    stream_.Restart();
  }
  StatusOr<MemoryReference> BindInput(size_t input, const Tensor& tensor,
                                      StringSupport* strings,
                                      MemoryPool& pool) override;
  StatusOr<bool> Append(const DeviceCall& call, const char** reason) override;
  Status Copy(const MemoryReference& source,
              const MemoryReference& target) override;
  bool CanBind(const MemoryReference& memory) const override;
  HostWork& WorkOf(uint32_t program, uint32_t instruction) override {
    return host_work_[{program, instruction}];
  }
  Status BeginHost(std::span<const HostAccess> accesses, bool waits,
                   HostWork& work) override;
  Status EndHost(std::span<const HostAccess> accesses, HostWork& work) override;
  Status Flush() override { return stream_.Flush(); }
  Status StageResult(size_t result, const MemoryReference& memory,
                     MemoryPool& pool) override;
  Status EndRun(Status status, const std::shared_ptr<MemoryPool>& pool,
                std::span<Tensor> results) override;
  int64_t failed_site() const override { return stream_.failed_site(); }
  void Close() override;
  DeviceWork work() const override;
  std::vector<HostInstruction> host_work() const override;
  void ResetWork() override {
    runs_ = 0;
    for (auto& [place, work] : host_work_) work = {};
    stream_.ResetCounters();
  }

 private:
  void DropHeld() {
    for (Result& result : results_) Drop(result.held);
  }
  // Returns device memory for an input of the run.
  StatusOr<MemoryReference> InputMemory(size_t input, int64_t bytes,
                                        MemoryPool& pool);
  // Returns memory that the caller owns, with the result's bytes.
  StatusOr<std::shared_ptr<void>> TakeResult(
      size_t result, const std::shared_ptr<MemoryPool>& pool, void** data);

  struct Result {
    // block that the program uses for the result's bytes
    MemoryBlock* held = nullptr;
    // block of the session to which the result is copied; it is kept for the
    // results of later runs
    MemoryBlock* place = nullptr;
    const uint8_t* source = nullptr;
    int64_t bytes = 0;
  };
  // State of one operand of a dispatch site. is_used: the kernel uses the
  // operand. constant, range: if the operand was a constant in the last call,
  // its address and its range in the device's memory.
  struct Operand {
    bool is_used = false;
    const uint8_t* constant = nullptr;
    hal::BufferRange range;
  };
  // State of a dispatch site from its last call: the kernel and its operands.
  struct Site {
    const RecordedKernel* kernel = nullptr;
    std::vector<Operand> operands;
    // The kernel that last refused to be recorded for a call, and (in
    // refused_parameters) the parameters of this call. Further such calls run
    // on the host at once.
    const RecordedKernel* refused = nullptr;
    std::vector<int64_t> refused_parameters;
  };

  static void Drop(MemoryBlock*& block) {
    if (block != nullptr) block->Drop();
    block = nullptr;
  }
  // Returns the device memory that contains the reference. Returns null if the
  // memory is only on the host, like that of constants.
  DeviceMemory* MemoryOf(const MemoryReference& reference) const;
  // Returns the range of device memory in which kernels find the first `bytes`
  // bytes of a reference. A constant is copied there if necessary.
  StatusOr<hal::BufferRange> RangeOf(const MemoryReference& reference,
                                     int64_t bytes);
  // Does what RangeOf does for an operand of a call, and stores the range in
  // the operand.
  Status Place(const MemoryReference& reference, int64_t bytes,
               Operand& operand);
  StatusOr<hal::BufferRange> EmptyRange();
  Status AppendCopy(const hal::BufferRange& source,
                    const hal::BufferRange& target);
  bool Refuses(const Site& site, const DeviceCall& call) const;

  const std::shared_ptr<hal::Device> device_;
  const hal::DeviceLimits limits_;
  const std::shared_ptr<DeviceConstants> constants_;
  CommandStream stream_;
  DeviceMemory* arena_ = nullptr;
  std::unique_ptr<hal::Buffer> empty_;
  std::vector<MemoryBlock*> inputs_;
  std::vector<Result> results_;
  // Pool for the memory of results. Its idle blocks count against the limit of
  // the session's pool, although the session's pool cannot free them. Few
  // blocks are idle, and none after an error.
  std::shared_ptr<MemoryPool> result_pool_;
  std::vector<Site> sites_;
  std::map<std::pair<uint32_t, uint32_t>, HostWork> host_work_;
  // device memory of the operands of the call that is being appended
  std::vector<hal::BufferRange> ranges_;
  int64_t runs_ = 0;
};

DeviceMemory* DeviceSession::MemoryOf(const MemoryReference& reference) const {
  if (reference.block != nullptr)
    return static_cast<DeviceMemory*>(&reference.block->buffer());
  if (arena_ == nullptr) return nullptr;
  const auto* const begin = static_cast<const uint8_t*>(arena_->host_data());
  return reference.data >= begin && reference.data < begin + arena_->size()
             ? arena_
             : nullptr;
}

StatusOr<hal::BufferRange> DeviceSession::EmptyRange() {
  constexpr int64_t kBytes = 64;
  if (empty_ == nullptr) {
    EMBER_ASSIGN_OR_RETURN(
        empty_, device_->Allocate(kBytes, limits_.shares_memory
                                              ? hal::MemoryKind::kHostVisible
                                              : hal::MemoryKind::kDeviceLocal));
  }
  return hal::BufferRange{empty_.get(), 0, kBytes};
}

StatusOr<hal::BufferRange> DeviceSession::RangeOf(
    const MemoryReference& reference, int64_t bytes) {
  if (bytes == 0) return EmptyRange();
  if (const DeviceMemory* const memory = MemoryOf(reference);
      memory != nullptr) {
    return memory->RangeOf(
        reference.data - static_cast<const uint8_t*>(memory->host_data()),
        bytes);
  }
  EMBER_ASSIGN_OR_RETURN(const hal::BufferRange range,
                         constants_->Find(reference.data, bytes));
  if (range.buffer == nullptr)
    return InternalError("session: memory that the device does not have");
  return range;
}

StatusOr<MemoryReference> DeviceSession::InputMemory(size_t input,
                                                     int64_t bytes,
                                                     MemoryPool& pool) {
  MemoryBlock*& place = inputs_[input];
  if (place != nullptr && place->capacity() < bytes) {
    static_cast<DeviceMemory&>(place->buffer()).set_is_input(false);
    Drop(place);
  }
  if (place == nullptr) {
    EMBER_ASSIGN_OR_RETURN(place, pool.Acquire(bytes));
    static_cast<DeviceMemory&>(place->buffer()).set_is_input(true);
  }
  place->Hold();
  return MemoryReference{place->data(), bytes, place};
}

StatusOr<MemoryReference> DeviceSession::BindInput(size_t input,
                                                   const Tensor& tensor,
                                                   StringSupport* strings,
                                                   MemoryPool& pool) {
  EMBER_ASSIGN_OR_RETURN(const MemoryReference place,
                         InputMemory(input, tensor.byte_size, pool));
  if (tensor.strings != nullptr) {
    EMBER_RETURN_IF_ERROR(strings->Intern(
        *tensor.strings, reinterpret_cast<int64_t*>(place.data)));
  } else if (tensor.byte_size > 0) {
    std::memcpy(place.data, tensor.data, static_cast<size_t>(tensor.byte_size));
  }
  HostWork uncounted;
  const HostAccess access = {place, true};
  EMBER_RETURN_IF_ERROR(EndHost({&access, 1}, uncounted));
  return place;
}

Status DeviceSession::EndRun(Status status,
                             const std::shared_ptr<MemoryPool>& pool,
                             std::span<Tensor> results) {
  // If an appended command fails, its error is returned rather than that of the
  // program, because the command came earlier.
  Status flushed = Flush();
  if (!flushed.ok() && (status.ok() || failed_site() >= 0))
    status = std::move(flushed);
  for (size_t i = 0; status.ok() && i < results.size(); ++i) {
    StatusOr<std::shared_ptr<void>> memory =
        TakeResult(i, pool, &results[i].data);
    status = memory.status();
    if (memory.ok()) results[i].memory = *std::move(memory);
  }
  if (!status.ok() && result_pool_ != nullptr) result_pool_->FreeIdle(0);
  DropHeld();
  return status;
}

bool DeviceSession::Refuses(const Site& site, const DeviceCall& call) const {
  return site.refused == call.kernel &&
         std::equal(call.parameters.begin(), call.parameters.end(),
                    site.refused_parameters.begin(),
                    site.refused_parameters.end());
}

Status DeviceSession::Place(const MemoryReference& reference, int64_t bytes,
                            Operand& operand) {
  if (!operand.is_used) return OkStatus();
  const bool is_known = reference.block == nullptr &&
                        reference.data == operand.constant &&
                        bytes == operand.range.length;
  if (is_known) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(operand.range, RangeOf(reference, bytes));
  operand.constant = MemoryOf(reference) == nullptr ? reference.data : nullptr;
  return OkStatus();
}

StatusOr<bool> DeviceSession::Append(const DeviceCall& call,
                                     const char** reason) {
  Site& site = sites_[call.site];
  if (site.kernel != call.kernel) {
    site.kernel = call.kernel;
    site.operands.clear();
    for (size_t i = 0; i < call.buffers.size(); ++i)
      site.operands.push_back({.is_used = call.kernel->Uses(i)});
  }
  if (site.refused != nullptr && Refuses(site, call)) {
    *reason = "the kernel cannot be recorded for these shapes";
    return false;
  }
  ranges_.resize(call.buffers.size());
  for (size_t i = 0; i < ranges_.size(); ++i) {
    EMBER_RETURN_IF_ERROR(
        Place(call.buffers[i], call.required_bytes[i], site.operands[i]));
    ranges_[i] = site.operands[i].range;
    if (!site.operands[i].is_used) continue;
    if (ranges_[i].offset % limits_.binding_alignment != 0) {
      *reason = "an operand is not aligned as the device wants it";
      return false;
    }
    if (ranges_[i].length > limits_.binding_bytes) {
      *reason = "an operand has more bytes than the device can bind";
      return false;
    }
  }
  const Status status = stream_.Append({.kernel = call.kernel,
                                        .site = call.site,
                                        .input_count = call.input_count,
                                        .parameters = call.parameters,
                                        .ranges = ranges_});
  if (status.ok()) return true;
  if (status.code() != StatusCode::kUnimplemented) return status;
  site.refused = call.kernel;
  site.refused_parameters.assign(call.parameters.begin(),
                                 call.parameters.end());
  *reason = "the kernel cannot be recorded for these shapes";
  return false;
}

Status DeviceSession::AppendCopy(const hal::BufferRange& source,
                                 const hal::BufferRange& target) {
  const hal::BufferRange ranges[2] = {source, target};
  return stream_.Append({.input_count = 1, .ranges = ranges});
}

Status DeviceSession::Copy(const MemoryReference& source,
                           const MemoryReference& target) {
  const int64_t bytes = source.length;
  if (bytes == 0) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const hal::BufferRange from, RangeOf(source, bytes));
  EMBER_ASSIGN_OR_RETURN(const hal::BufferRange to, RangeOf(target, bytes));
  return AppendCopy(from, to);
}

bool DeviceSession::CanBind(const MemoryReference& memory) const {
  // An address needs the larger of the host's and the device's alignment,
  // because both work with the memory.
  constexpr int64_t kHostAlignment = 16;
  const DeviceMemory* const from = MemoryOf(memory);
  const int64_t offset =
      from == nullptr
          ? static_cast<int64_t>(reinterpret_cast<intptr_t>(memory.data))
          : memory.data - static_cast<const uint8_t*>(from->host_data());
  return offset % std::max(kHostAlignment, limits_.binding_alignment) == 0;
}

Status DeviceSession::BeginHost(std::span<const HostAccess> accesses,
                                bool waits, HostWork& work) {
  ++work.calls;
  for (const HostAccess& access : accesses) {
    const DeviceMemory* const memory = MemoryOf(access.memory);
    const int64_t bytes = access.memory.length;
    if (memory == nullptr || bytes == 0) continue;
    const int64_t offset =
        access.memory.data - static_cast<const uint8_t*>(memory->host_data());
    const hal::BufferRange range = memory->RangeOf(offset, bytes);
    if (memory->is_shared()) {
      waits = waits || stream_.Touches(range, access.writes);
      continue;
    }
    const hal::BufferRange mirror = memory->MirrorOf(offset, bytes);
    if (memory->is_input() && !access.writes) continue;
    if (access.overwrites) {
      waits = waits || stream_.Touches(mirror, /*for_writing=*/true);
      continue;
    }
    EMBER_RETURN_IF_ERROR(AppendCopy(range, mirror));
    work.copied_bytes += bytes;
    waits = true;
  }
  if (!waits || !stream_.is_pending()) return OkStatus();
  ++work.waits;
  return stream_.Flush();
}

Status DeviceSession::EndHost(std::span<const HostAccess> accesses,
                              HostWork& work) {
  for (const HostAccess& access : accesses) {
    const DeviceMemory* const memory = MemoryOf(access.memory);
    const int64_t bytes = access.memory.length;
    if (!access.writes || memory == nullptr || bytes == 0 ||
        memory->is_shared())
      continue;
    const int64_t offset =
        access.memory.data - static_cast<const uint8_t*>(memory->host_data());
    EMBER_RETURN_IF_ERROR(AppendCopy(memory->MirrorOf(offset, bytes),
                                     memory->RangeOf(offset, bytes)));
    work.copied_bytes += bytes;
  }
  return OkStatus();
}

Status DeviceSession::StageResult(size_t index, const MemoryReference& memory,
                                  MemoryPool& pool) {
  Result& result = results_[index];
  Drop(result.held);
  result.bytes = memory.length;
  result.source = memory.data;
  const DeviceMemory* const from = MemoryOf(memory);
  if (from == nullptr || memory.length == 0) return OkStatus();
  if (memory.block != nullptr && from->is_shared()) {
    memory.block->Hold();
    result.held = memory.block;
    return OkStatus();
  }
  if (result.place != nullptr && result.place->capacity() < memory.length)
    Drop(result.place);
  if (result.place == nullptr) {
    EMBER_ASSIGN_OR_RETURN(result.place, pool.Acquire(memory.length));
  }
  result.source = result.place->data();
  const auto& to = static_cast<const DeviceMemory&>(result.place->buffer());
  return AppendCopy(from->RangeOf(memory.data - static_cast<const uint8_t*>(
                                                    from->host_data()),
                                  memory.length),
                    to.MirrorOf(0, memory.length));
}

StatusOr<std::shared_ptr<void>> DeviceSession::TakeResult(
    size_t index, const std::shared_ptr<MemoryPool>& pool, void** data) {
  if (result_pool_ == nullptr) {
    result_pool_ = std::make_shared<MemoryPool>(
        device_, 0, std::make_shared<ResultMemory>(pool, device_));
  }
  const Result& result = results_[index];
  StatusOr<MemoryBlock*> block = result_pool_->Acquire(result.bytes);
  if (!block.ok()) {
    result_pool_->FreeIdle(0);
    block = result_pool_->Acquire(result.bytes);
  }
  if (!block.ok()) return block.status();
  if (result.bytes > 0) {
    std::memcpy((*block)->data(), result.source,
                static_cast<size_t>(result.bytes));
  }
  *data = (*block)->data();
  return Share(result_pool_, *block);
}

void DeviceSession::Close() {
  DropHeld();
  stream_.Forget();
  for (MemoryBlock*& place : inputs_) Drop(place);
  for (Result& result : results_) Drop(result.place);
  arena_ = nullptr;
}

DeviceWork DeviceSession::work() const {
  const StreamCounters& counters = stream_.counters();
  return {.runs = runs_,
          .submissions = counters.submissions,
          .commands = counters.commands,
          .barriers = counters.barriers,
          .recorded = counters.recorded,
          .host_ns = counters.host_ns};
}

std::vector<HostInstruction> DeviceSession::host_work() const {
  std::vector<HostInstruction> instructions;
  for (const auto& [place, work] : host_work_) {
    if (work.calls > 0)
      instructions.push_back({place.first, place.second, work});
  }
  return instructions;
}

}  // namespace

std::shared_ptr<DeviceSupport> NewDeviceSupport(
    // The function must have the parameters of DeviceSupportFactory.
    // NOLINTNEXTLINE(performance-*)
    std::shared_ptr<hal::Device> device, std::shared_ptr<const Module> module) {
  return std::make_shared<DeviceSession>(device, module);
}

}  // namespace ember::vm
