// Working memory of library functions.
//
//   Scratch<int64_t> order(call.pool);
//   EMBER_RETURN_IF_ERROR(order.Resize(count));
//
// Internal to library functions. Not thread-safe.
#ifndef EMBER_VM_RUNTIME_LIBRARY_SCRATCH_H_
#define EMBER_VM_RUNTIME_LIBRARY_SCRATCH_H_

#include <cstdint>
#include <cstring>
#include <optional>

#include "base/checked_math.h"
#include "base/status.h"
#include "vm/runtime/memory_pool.h"

namespace ember::vm {

// Working memory from the session's pool. If the pool has no memory, an error
// is returned, so that the process does not end.
template <typename T>
class Scratch {
 public:
  explicit Scratch(MemoryPool& pool) : pool_(pool) {}
  ~Scratch() {
    if (block_ != nullptr) block_->Drop();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  // Changes the number of elements. Elements keep their values; new ones are
  // unspecified.
  Status Resize(int64_t size) {
    if (size <= capacity_) {
      size_ = size;
      return OkStatus();
    }
    const std::optional<int64_t> bytes = CheckedMultiply(size, sizeof(T));
    if (!bytes)
      return ResourceExhaustedError(
          "expected working memory that fits 64 bits");
    EMBER_ASSIGN_OR_RETURN(MemoryBlock * block, pool_.Acquire(*bytes));
    if (block_ != nullptr) {
      std::memcpy(block->data(), block_->data(),
                  static_cast<size_t>(size_) * sizeof(T));
      block_->Drop();
    }
    block_ = block;
    size_ = size;
    capacity_ = block->capacity() / static_cast<int64_t>(sizeof(T));
    return OkStatus();
  }
  Status Add(const T& value) {
    EMBER_RETURN_IF_ERROR(Resize(size_ + 1));
    data()[size_ - 1] = value;
    return OkStatus();
  }
  void Clear() { size_ = 0; }

  T* data() const {
    return block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_->data());
  }
  int64_t size() const { return size_; }
  T& operator[](int64_t i) const { return data()[i]; }
  T* begin() const { return data(); }
  T* end() const { return data() + size_; }

 private:
  MemoryPool& pool_;
  MemoryBlock* block_ = nullptr;
  int64_t size_ = 0;
  int64_t capacity_ = 0;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_SCRATCH_H_
