#include "hal/metal/buffer.h"

#include <algorithm>

#include "base/concat.h"
#include "hal/metal/api/result.h"

namespace ember::hal::metal {
namespace {

// alignment of Buffer::host_data() in bytes
constexpr uintptr_t kHostAlignment = 64;

}  // namespace

StatusOr<std::unique_ptr<MetalBuffer>> MetalBuffer::Create(
    const Context& context, int64_t size, bool shows_host) {
  const DeviceProperties& properties = context.properties();
  if (size > properties.allocation_bytes) {
    return ResourceExhaustedError(
        Concat({"buffer: expected at most ", properties.allocation_bytes,
                " bytes, the most of one buffer on metal device '",
                properties.name, "', found a request for ", size}));
  }
  const auto fail = [&](const Status& status) {
    return context.WithName(status).WithContext(
        Concat({"buffer: a request for ", size, " bytes"}));
  };
  // Metal clears new buffers, and refuses empty ones.
  const Functions& metal = context.metal();
  Owned handle(metal, metal.NewBuffer(
                          context.device(),
                          static_cast<uint64_t>(std::max<int64_t>(size, 1)),
                          shows_host ? Storage::kShared : Storage::kPrivate));
  if (handle.get() == nullptr) {
    return fail(
        NilStatus(StatusCode::kResourceExhausted, "newBufferWithLength"));
  }
  void* host = nullptr;
  if (shows_host) {
    host = metal.ContentsOf(handle.get());
    if (host == nullptr)
      return fail(NilStatus(StatusCode::kResourceExhausted, "contents"));
    if (reinterpret_cast<uintptr_t>(host) % kHostAlignment != 0) {
      return fail(InternalError(
          Concat({"expected contents at a multiple of ", kHostAlignment,
                  " bytes, found another address"})));
    }
  }
  return std::unique_ptr<MetalBuffer>(
      new MetalBuffer(size, host, std::move(handle)));
}

MetalBuffer::~MetalBuffer() {
  if (counter_ != nullptr)
    counter_->Give(size(), /*is_hidden=*/host_data() == nullptr);
}

}  // namespace ember::hal::metal
