#include "vm/runtime/testing/fake_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/rounding.h"
#include "vm/interpreter/plan.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::vm {
namespace {

constexpr size_t kAlignment = 64;

}  // namespace

class FakeBuffer final : public hal::Buffer {
 public:
  FakeBuffer(int64_t size, uint8_t* bytes, bool is_visible, FakeDevice& device)
      : Buffer(size, is_visible ? bytes : nullptr),
        bytes_(bytes),
        device_(device) {}
  ~FakeBuffer() override {
    // The memory is overwritten when it is freed, so that tests detect a later
    // use.
    std::memset(bytes_, 0xdd, static_cast<size_t>(size()));
    std::free(bytes_);
    device_.live_bytes_ -= size();
  }
  uint8_t* bytes() const { return bytes_; }

 private:
  uint8_t* const bytes_;
  FakeDevice& device_;
};

namespace {

uint8_t* Bytes(const hal::BufferRange& range) {
  return static_cast<FakeBuffer*>(range.buffer)->bytes() + range.offset;
}

}  // namespace

class FakeCommandList final : public hal::CommandList {
 public:
  explicit FakeCommandList(FakeDevice& device) : device_(device) {
    ++device_.lists_alive_;
  }
  ~FakeCommandList() override { --device_.lists_alive_; }

  Status Copy(const hal::BufferRange& source,
              const hal::BufferRange& target) override {
    EMBER_RETURN_IF_ERROR(hal::CheckCopy(source, target));
    Call([source, target] {
      std::memcpy(Bytes(target), Bytes(source),
                  static_cast<size_t>(source.length));
    });
    return OkStatus();
  }
  Status Fill(const hal::BufferRange& target, uint8_t value) override {
    EMBER_RETURN_IF_ERROR(hal::CheckRange("target of a fill", target));
    Call([target, value] {
      std::memset(Bytes(target), value, static_cast<size_t>(target.length));
    });
    return OkStatus();
  }
  Status Dispatch(const hal::Executable&,
                  const hal::DispatchArguments&) override {
    return UnimplementedError("fake device: executables");
  }
  Status Barrier() override {
    groups_.emplace_back();
    return OkStatus();
  }

  void Call(std::function<void()> command) {
    groups_.back().push_back(std::move(command));
  }
  // Returns null if kernels may use the range; otherwise the reason why they
  // may not.
  const char* RefusalOf(const hal::BufferRange& range) const {
    const hal::DeviceLimits& limits = device_.options_.limits;
    if (!hal::CheckRange("binding", range).ok()) return "not in its buffer";
    if (!limits.shares_memory && range.buffer->host_data() != nullptr)
      return "not of the device's memory";
    if (range.offset % limits.binding_alignment != 0) return "not aligned";
    if (range.length > limits.binding_bytes) return "too long";
    return nullptr;
  }
  void Execute() const {
    for (const auto& group : groups_) {
      for (auto command = group.rbegin(); command != group.rend(); ++command)
        (*command)();
    }
  }

 private:
  FakeDevice& device_;
  std::vector<std::vector<std::function<void()>>> groups_{1};
};

namespace {

class FakeFence final : public hal::Fence {
 public:
  explicit FakeFence(const FakeCommandList& list) : list_(&list) {}
  Status Wait() override {
    if (list_ != nullptr) std::exchange(list_, nullptr)->Execute();
    return OkStatus();
  }
  bool done() const override { return list_ == nullptr; }

 private:
  const FakeCommandList* list_;
};

struct FakeRecording final : Recording {
  std::unique_ptr<Plan> plan;
  std::vector<std::vector<uint8_t>> packed;
  std::vector<uint8_t*> packed_data;
  Status outcome;
  Status Outcome() override { return outcome; }
};

class FakeKernel final : public RecordedKernel {
 public:
  FakeKernel(KernelRequest request, bool packs, bool refuses,
             std::shared_ptr<int64_t> records)
      : request_(std::move(request)),
        packs_(packs),
        refuses_(refuses),
        records_(std::move(records)) {}

  bool Uses(size_t buffer) const override { return !IsPacked(buffer); }
  int tier() const override { return request_.tier; }
  bool Accepts(std::span<const int64_t> parameters) const override {
    return request_.parameters.empty() ||
           std::ranges::equal(parameters, request_.parameters);
  }
  std::string Describe() const override { return "fake"; }

  StatusOr<std::unique_ptr<Recording>> Record(
      const RecordCall& call) const override {
    ++*records_;
    auto& list = static_cast<FakeCommandList&>(call.list);
    auto recording = std::make_unique<FakeRecording>();
    EMBER_ASSIGN_OR_RETURN(
        recording->plan,
        Plan::Make(*request_.dispatch, call.parameters,
                   {.constant_inputs = request_.constant_inputs}));
    std::vector<hal::BufferRange> ranges(call.buffers.begin(),
                                         call.buffers.end());
    std::vector<uint8_t*> pointers;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (IsPacked(i)) {
        // The constant is copied to memory that is aligned as tier 0 requires.
        const std::span<const uint8_t> data = request_.constant_data[i];
        std::vector<uint8_t>& copy =
            recording->packed.emplace_back(data.size() + kAlignment);
        const uintptr_t address = reinterpret_cast<uintptr_t>(copy.data());
        auto* const aligned =
            reinterpret_cast<uint8_t*>(RoundUp(address, kAlignment));
        std::memcpy(aligned, data.data(), data.size());
        pointers.push_back(aligned);
        continue;
      }
      pointers.push_back(nullptr);
      if (const char* refusal = list.RefusalOf(ranges[i]); refusal != nullptr) {
        return InvalidArgumentError("fake kernel: buffer " + std::to_string(i) +
                                    " is " + refusal);
      }
      if (ranges[i].length < recording->plan->facts().required_bytes[i])
        return InvalidArgumentError("fake kernel: buffer too small");
    }
    if (refuses_) {
      // This command must never run: the list contains only a part of the call,
      // which the caller must discard.
      list.Call([] { std::abort(); });
      return UnimplementedError("fake kernel: these shapes");
    }
    list.Call([ranges, pointers, recording = recording.get()] {
      std::vector<void*> buffers;
      for (size_t i = 0; i < ranges.size(); ++i)
        buffers.push_back(pointers[i] != nullptr ? pointers[i]
                                                 : Bytes(ranges[i]));
      SerialRunner runner;
      recording->outcome = recording->plan->Run(buffers, runner);
    });
    return std::unique_ptr<Recording>(std::move(recording));
  }

 private:
  bool IsPacked(size_t buffer) const {
    return packs_ && buffer < request_.constant_inputs.size() &&
           request_.constant_inputs[buffer];
  }

  const KernelRequest request_;
  const bool packs_, refuses_;
  const std::shared_ptr<int64_t> records_;
};

}  // namespace

FakeDevice::FakeDevice(FakeDeviceOptions options) : options_(options) {}

FakeDevice::~FakeDevice() {
  // All buffers and lists must be destroyed before the device; otherwise the
  // test aborts.
  if (live_bytes_ != 0 || lists_alive_ != 0) std::abort();
}

StatusOr<std::unique_ptr<hal::Buffer>> FakeDevice::Allocate(
    int64_t size, hal::MemoryKind kind) {
  if (options_.memory_limit > 0 && size > options_.memory_limit - live_bytes_)
    return ResourceExhaustedError("fake device: memory");
  const size_t rounded =
      (static_cast<size_t>(size) / kAlignment + 1) * kAlignment;
  auto* const bytes =
      static_cast<uint8_t*>(std::aligned_alloc(kAlignment, rounded));
  std::memset(bytes, 0, rounded);
  live_bytes_ += size;
  peak_bytes_ = std::max(peak_bytes_.load(), live_bytes_.load());
  ++allocations_;
  return std::unique_ptr<hal::Buffer>(std::make_unique<FakeBuffer>(
      size, bytes, kind == hal::MemoryKind::kHostVisible, *this));
}

hal::MemoryStatistics FakeDevice::memory_statistics() const {
  return {live_bytes_, peak_bytes_, allocations_};
}

StatusOr<std::unique_ptr<hal::Executable>> FakeDevice::LoadExecutable(
    const hal::ExecutableDefinition&) {
  return UnimplementedError("fake device: executables");
}

StatusOr<std::unique_ptr<hal::CommandList>> FakeDevice::CreateCommandList() {
  return std::unique_ptr<hal::CommandList>(
      std::make_unique<FakeCommandList>(*this));
}

StatusOr<std::unique_ptr<hal::Fence>> FakeDevice::Submit(
    const hal::CommandList& list) {
  if (is_lost_) return InternalError("fake device: lost");
  return std::unique_ptr<hal::Fence>(
      std::make_unique<FakeFence>(static_cast<const FakeCommandList&>(list)));
}

void FakeProvider::RequestKernel(const KernelRequest& request,
                                 std::shared_ptr<KernelSlot> slot) {
  ++requests_;
  const std::string& name = request.dispatch->name;
  if (request.device == nullptr || request.device->is_host())
    return slot->Decline("no device to record for");
  if (options_.declined.count(name) > 0)
    return slot->Decline("declined for a test");
  KernelRequest kept = request;
  kept.device.reset();
  slot->Install(std::make_unique<FakeKernel>(
      std::move(kept), options_.packs_constants,
      options_.unrecordable.count(name) > 0, records_));
}

std::unique_ptr<Kernel> NewFakeKernel(const tensor::Dispatch& dispatch) {
  KernelRequest request;
  request.dispatch = &dispatch;
  request.constant_inputs.resize(dispatch.input_count());
  return std::make_unique<FakeKernel>(std::move(request), false, false,
                                      std::make_shared<int64_t>(0));
}

}  // namespace ember::vm
