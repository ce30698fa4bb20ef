#include "vm/runtime/devices/constants.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace ember::vm {
namespace {

// Number of bytes of host-visible memory through which large constants are
// copied to the device, part by part.
constexpr int64_t kStagingBytes = int64_t{16} << 20;

}  // namespace

std::shared_ptr<DeviceConstants> DeviceConstants::Of(
    std::shared_ptr<hal::Device> device, std::shared_ptr<const Module> module) {
  using Key = std::pair<const hal::Device*, const Module*>;
  static std::mutex mutex;
  // The list of all DeviceConstants is never destroyed, because sessions may be
  // used after main has ended.
  static auto* const known =
      new std::map<Key, std::weak_ptr<DeviceConstants>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::erase_if(*known,
                [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<DeviceConstants>& place =
      (*known)[{device.get(), module.get()}];
  std::shared_ptr<DeviceConstants> constants = place.lock();
  if (constants == nullptr) {
    constants =
        std::make_shared<DeviceConstants>(std::move(device), std::move(module));
    place = constants;
  }
  return constants;
}

DeviceConstants::DeviceConstants(std::shared_ptr<hal::Device> device,
                                 std::shared_ptr<const Module> module)
    : device_(std::move(device)), module_(std::move(module)) {
  std::vector<std::span<const uint8_t>> all;
  for (const Constant& constant : module_->definition().constants) {
    if (!constant.data.empty()) all.push_back(constant.data);
  }
  std::ranges::sort(all, {}, [](const auto& data) { return data.data(); });
  for (const std::span<const uint8_t> data : all) {
    const auto size = static_cast<int64_t>(data.size());
    if (!entries_.empty()) {
      Entry& last = entries_.back();
      const int64_t offset = data.data() - last.begin;
      if (offset < last.size) {
        last.size = std::max(last.size, offset + size);
        continue;
      }
    }
    entries_.push_back({data.data(), size, nullptr});
  }
}

StatusOr<hal::BufferRange> DeviceConstants::Find(const uint8_t* address,
                                                 int64_t bytes) {
  const auto behind =
      std::ranges::upper_bound(entries_, address, {}, &Entry::begin);
  if (behind == entries_.begin()) return hal::BufferRange{};
  Entry& entry = *(behind - 1);
  const int64_t offset = address - entry.begin;
  if (offset > entry.size || bytes > entry.size - offset)
    return hal::BufferRange{};
  std::lock_guard<std::mutex> lock(mutex_);
  if (entry.buffer == nullptr) EMBER_RETURN_IF_ERROR(Upload(entry));
  return hal::BufferRange{entry.buffer.get(), offset, bytes};
}

Status DeviceConstants::Upload(Entry& entry) const {
  if (device_->limits().shares_memory) {
    EMBER_ASSIGN_OR_RETURN(
        entry.buffer,
        device_->Allocate(entry.size, hal::MemoryKind::kHostVisible));
    std::memcpy(entry.buffer->host_data(), entry.begin,
                static_cast<size_t>(entry.size));
    return OkStatus();
  }
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<hal::Buffer> buffer,
      device_->Allocate(entry.size, hal::MemoryKind::kDeviceLocal));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::Buffer> staging,
                         device_->Allocate(std::min(entry.size, kStagingBytes),
                                           hal::MemoryKind::kHostVisible));
  for (int64_t offset = 0; offset < entry.size; offset += staging->size()) {
    const int64_t bytes = std::min(staging->size(), entry.size - offset);
    std::memcpy(staging->host_data(), entry.begin + offset,
                static_cast<size_t>(bytes));
    EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::CommandList> list,
                           device_->CreateCommandList());
    EMBER_RETURN_IF_ERROR(
        list->Copy({staging.get(), 0, bytes}, {buffer.get(), offset, bytes}));
    EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::Fence> fence,
                           device_->Submit(*list));
    EMBER_RETURN_IF_ERROR(fence->Wait());
  }
  entry.buffer = std::move(buffer);
  return OkStatus();
}

}  // namespace ember::vm
