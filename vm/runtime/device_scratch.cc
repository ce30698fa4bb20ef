#include "vm/runtime/device_scratch.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/rounding.h"

namespace ember::vm {
namespace {

// Size in bytes of a chunk, a buffer of the device that several small calls of
// Take share. A call that needs more bytes gets a chunk of its own.
constexpr int64_t kChunkBytes = int64_t{1} << 20;

}  // namespace

DeviceScratch::DeviceScratch(std::shared_ptr<hal::Device> device)
    : device_(std::move(device)),
      alignment_(std::max<int64_t>(device_->limits().binding_alignment, 64)) {}

StatusOr<hal::BufferRange> DeviceScratch::Take(int64_t bytes) {
  // Chunks that have no room for the range are skipped. The rest of a skipped
  // chunk is used again only after the next call of Reuse.
  for (; chunk_ < static_cast<int64_t>(chunks_.size()); ++chunk_, used_ = 0) {
    hal::Buffer* const chunk = chunks_[static_cast<size_t>(chunk_)].get();
    const int64_t offset = RoundUp(used_, alignment_);
    if (offset > chunk->size() || bytes > chunk->size() - offset) continue;
    used_ = offset + bytes;
    return hal::BufferRange{chunk, offset, bytes};
  }
  const int64_t room = std::max<int64_t>(limit_ - bytes_, 0);
  if (bytes > room) {
    return ResourceExhaustedError(
        Concat({"session: expected at most ", room,
                (" more bytes of temporaries on the device under its memory "
                 "limit of "),
                limit_, " (--max-memory), found a request for ", bytes}));
  }
  const int64_t size = std::max(bytes, std::min(kChunkBytes, room));
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<hal::Buffer> chunk,
      device_->Allocate(size, hal::MemoryKind::kDeviceLocal));
  bytes_ += size;
  chunks_.push_back(std::move(chunk));
  used_ = bytes;
  return hal::BufferRange{chunks_.back().get(), 0, bytes};
}

}  // namespace ember::vm
