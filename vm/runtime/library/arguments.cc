#include "vm/runtime/library/arguments.h"

#include <optional>
#include <string>

#include "base/checked_math.h"
#include "base/concat.h"

namespace ember::vm {

Status Expect(bool holds, const char* expected, int64_t found) {
  if (holds) return OkStatus();
  return InvalidArgumentError(
      Concat({"expected ", expected, ", found ", found}));
}

StatusOr<DType> ReadType(int64_t raw) {
  EMBER_RETURN_IF_ERROR(Expect(raw >= 0 && raw < kDTypeCount,
                               "the number of an element type", raw));
  return static_cast<DType>(raw);
}

StatusOr<int64_t> Product(std::initializer_list<int64_t> sizes) {
  std::optional<int64_t> product = 1;
  for (int64_t size : sizes) {
    EMBER_RETURN_IF_ERROR(Expect(size >= 0, "a size of at least 0", size));
    if (product) product = CheckedMultiply(*product, size);
  }
  if (!product)
    return InvalidArgumentError("expected sizes whose product fits 64 bits");
  return *product;
}

Status ExpectBytes(const LibraryMemory& memory, int64_t count,
                   int64_t element_size, const char* what) {
  const std::optional<int64_t> bytes = CheckedMultiply(count, element_size);
  if (bytes && *bytes <= memory.length) return OkStatus();
  return InvalidArgumentError(
      Concat({what, ": expected ", count, " elements of ", element_size,
              " bytes, found ", memory.length, " bytes"}));
}

StatusOr<uint8_t*> AllocateBytes(const LibraryCall& call, LibraryMemory& memory,
                                 int64_t count, int64_t element_size) {
  const std::optional<int64_t> bytes = CheckedMultiply(count, element_size);
  if (!bytes)
    return ResourceExhaustedError("expected memory that fits 64 bits");
  EMBER_ASSIGN_OR_RETURN(memory.block, call.pool.Acquire(*bytes));
  memory.data = memory.block->data();
  memory.length = *bytes;
  return memory.data;
}

}  // namespace ember::vm
