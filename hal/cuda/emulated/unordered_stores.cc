#include "hal/cuda/emulated/unordered_stores.h"

namespace ember::hal::cuda {

void UnorderedStores::BeginBlock() {
  bytes_.assign(bytes_.size(), {});
  threads_.assign(threads_.size(), {});
}

void UnorderedStores::Store(uint32_t thread, uint64_t offset, uint64_t bytes) {
  for (uint64_t i = offset; i < offset + bytes; ++i)
    bytes_[i] = {thread, threads_[thread].fences};
}

void UnorderedStores::Synchronize(uint32_t thread) {
  threads_[thread].known_fences = threads_[thread].fences;
}

void UnorderedStores::SynchronizeAll() {
  for (Thread& thread : threads_) thread.known_fences = thread.fences;
}

std::optional<uint32_t> UnorderedStores::Find(uint32_t thread, uint64_t offset,
                                              uint64_t bytes) const {
  for (uint64_t i = offset; i < offset + bytes; ++i) {
    const Byte& byte = bytes_[i];
    if (byte.thread == kNobody) continue;
    const Thread& who = threads_[byte.thread];
    // A thread sees its own fences without synchronising, so for a store of the
    // product's own thread all fences count.
    const uint32_t fences =
        byte.thread == thread ? who.fences : who.known_fences;
    if (fences == byte.fences) return byte.thread;
  }
  return std::nullopt;
}

}  // namespace ember::hal::cuda
