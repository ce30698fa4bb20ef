#include "vm/runtime/tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/checked_math.h"
#include "base/concat.h"
#include "base/rounding.h"

namespace ember::vm {
namespace {

constexpr size_t kAlignment = 64;
constexpr uint64_t kMaxBytes =
    std::min<uint64_t>(uint64_t{1} << 40, SIZE_MAX / 2);

// Returns zeroed memory; null if there is not enough memory. It uses calloc,
// which returns large blocks as pages that are not yet resident.
std::shared_ptr<void> AllocateZeroed(int64_t bytes, void** data) {
  if (static_cast<uint64_t>(bytes) > kMaxBytes) return nullptr;
  void* block = std::calloc(1, static_cast<size_t>(bytes) + kAlignment);
  if (block == nullptr) return nullptr;
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  *data = reinterpret_cast<void*>(RoundUp(address, kAlignment));
  return std::shared_ptr<void>(block, std::free);
}

}  // namespace

StatusOr<int64_t> TensorByteSize(DType type, std::span<const int64_t> dims) {
  std::optional<int64_t> bytes = DTypeByteSize(type);
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) {
      return InvalidArgumentError(
          Concat({"tensor: expected dims of at least 0, found ",
                  TensorTypeText(type, dims)}));
    }
    empty |= dim == 0;
    if (bytes) bytes = CheckedMultiply(*bytes, dim);
  }
  if (empty) return int64_t{0};
  if (!bytes) {
    return InvalidArgumentError(
        Concat({"tensor: expected fewer than 2^63 bytes, found ",
                TensorTypeText(type, dims)}));
  }
  return *bytes;
}

std::string TensorTypeText(DType type, std::span<const int64_t> dims) {
  std::string text;
  for (int64_t dim : dims) text += Concat({dim, "x"});
  return Concat({text, DTypeName(type)});
}

std::string Tensor::TypeText() const {
  std::string text = TensorTypeText(type, dims);
  if (strings != nullptr) text += " as string";
  return text;
}

StatusOr<Tensor> Tensor::Allocate(DType type, std::vector<int64_t> dims) {
  Tensor tensor;
  EMBER_ASSIGN_OR_RETURN(tensor.byte_size, TensorByteSize(type, dims));
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.memory = AllocateZeroed(tensor.byte_size, &tensor.data);
  if (tensor.memory == nullptr) {
    return ResourceExhaustedError(
        Concat({"tensor ", tensor.TypeText(), ": expected ", tensor.byte_size,
                " bytes of memory, found less"}));
  }
  return tensor;
}

Tensor Tensor::Borrow(DType type, std::vector<int64_t> dims, const void* data) {
  Tensor tensor;
  const StatusOr<int64_t> bytes = TensorByteSize(type, dims);
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.data = const_cast<void*>(data);
  tensor.byte_size = bytes.ok() ? *bytes : -1;
  return tensor;
}

StatusOr<Tensor> Tensor::OfStrings(std::vector<int64_t> dims,
                                   std::vector<std::string> strings) {
  Tensor tensor;
  EMBER_ASSIGN_OR_RETURN(tensor.byte_size, TensorByteSize(DType::kI64, dims));
  tensor.type = DType::kI64;
  tensor.dims = std::move(dims);
  if (static_cast<uint64_t>(tensor.element_count()) != strings.size()) {
    return InvalidArgumentError(
        Concat({"tensor: expected ", tensor.element_count(), " strings, found ",
                strings.size()}));
  }
  tensor.strings =
      std::make_shared<std::vector<std::string>>(std::move(strings));
  return tensor;
}

}  // namespace ember::vm
