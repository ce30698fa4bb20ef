// A tensor as it enters and leaves a session: element type, extents, and shared
// memory.
//
//   EMBER_ASSIGN_OR_RETURN(Tensor x, Tensor::Allocate(DType::kF32, {1, 3}));
//   x.elements<float>()[0] = 1.5f;
//   // The caller keeps the memory alive.
//   Tensor y = Tensor::Borrow(DType::kI64, {4}, pointer);
//
// Elements are row-major and contiguous. Copying a Tensor shares its memory.
// Thread-compatible: memory that a running session reads must not be written
// meanwhile.
#ifndef EMBER_VM_RUNTIME_TENSOR_H_
#define EMBER_VM_RUNTIME_TENSOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace ember::vm {

// Product of dims times the element size; an error for a negative dim or when
// it exceeds int64.
StatusOr<int64_t> TensorByteSize(DType type, std::span<const int64_t> dims);

// "1x3xf32"; a scalar is "f32".
std::string TensorTypeText(DType type, std::span<const int64_t> dims);

struct Tensor {
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  std::shared_ptr<void> memory;  // keeps data alive; null if borrowed
  void* data = nullptr;
  int64_t byte_size = 0;  // of the elements; data holds at least this many
  // Of a tensor of strings, one per element: what the runtime works with are
  // i64 handles of its own. Null for all others.
  std::shared_ptr<const std::vector<std::string>> strings;

  // Zeroed, 64-byte aligned memory of its own. ResourceExhausted when there is
  // not enough.
  static StatusOr<Tensor> Allocate(DType type, std::vector<int64_t> dims);
  // Any alignment works; memory that is not 16-byte aligned is copied by
  // Session::Run. byte_size is -1, which Session::Run refuses, if dims are
  // negative or too large.
  static Tensor Borrow(DType type, std::vector<int64_t> dims, const void* data);
  // Strings, one per element, row-major. InvalidArgument if that are more or
  // fewer than the dims say.
  static StatusOr<Tensor> OfStrings(std::vector<int64_t> dims,
                                    std::vector<std::string> strings);

  int64_t element_count() const { return byte_size / DTypeByteSize(type); }
  // T must be the storage type of `type` (base/dtype.h).
  template <typename T>
  std::span<T> elements() {
    return {static_cast<T*>(data), static_cast<size_t>(byte_size) / sizeof(T)};
  }
  template <typename T>
  std::span<const T> elements() const {
    return {static_cast<const T*>(data),
            static_cast<size_t>(byte_size) / sizeof(T)};
  }
  // "1x3xf32"; "3xi64 as string" if there are strings.
  std::string TypeText() const;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TENSOR_H_
