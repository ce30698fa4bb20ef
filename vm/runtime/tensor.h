// An input or result of a session: element type, extents, and elements in
// shared memory.
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

// Returns the product of the dims and the element size. Returns an error if a
// dim is negative or if the product does not fit int64; a product with a dim of
// 0 is 0, whatever the other dims are.
StatusOr<int64_t> TensorByteSize(DType type, std::span<const int64_t> dims);

// Returns a text such as "1x3xf32"; for a scalar, the element type alone, such
// as "f32".
std::string TensorTypeText(DType type, std::span<const int64_t> dims);

struct Tensor {
  DType type = DType::kF32;
  std::vector<int64_t> dims;
  // object that owns the memory; null if the memory is borrowed
  std::shared_ptr<void> memory;
  void* data = nullptr;
  // number of bytes of the elements; `data` points to at least as many bytes
  int64_t byte_size = 0;
  // The elements of a tensor of strings; the runtime represents these strings
  // by i64 handles. Null for all other tensors.
  std::shared_ptr<const std::vector<std::string>> strings;

  // Makes a tensor with zeroed, 64-byte aligned memory of its own. Returns
  // ResourceExhausted if there is not enough memory.
  static StatusOr<Tensor> Allocate(DType type, std::vector<int64_t> dims);
  // Makes a tensor that refers to memory of the caller without owning it. Any
  // alignment is allowed; Session::Run copies memory that is not 16-byte
  // aligned. If dims are negative or too large, byte_size is -1, which
  // Session::Run refuses.
  static Tensor Borrow(DType type, std::vector<int64_t> dims, const void* data);
  // Makes a tensor of strings. The strings are its elements in row-major order.
  // Returns InvalidArgument if their number does not match the dims.
  static StatusOr<Tensor> OfStrings(std::vector<int64_t> dims,
                                    std::vector<std::string> strings);

  int64_t element_count() const { return byte_size / DTypeByteSize(type); }
  // Returns the elements. T must be the C++ storage type of the tensor's `type`
  // (base/dtype.h).
  template <typename T>
  std::span<T> elements() {
    return {static_cast<T*>(data), static_cast<size_t>(byte_size) / sizeof(T)};
  }
  template <typename T>
  std::span<const T> elements() const {
    return {static_cast<const T*>(data),
            static_cast<size_t>(byte_size) / sizeof(T)};
  }
  // Returns a text such as "1x3xf32", or "3xi64 as string" if there are
  // strings.
  std::string TypeText() const;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_TENSOR_H_
