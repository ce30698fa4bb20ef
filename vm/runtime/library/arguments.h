// Checks the arguments of library functions. Internal to the functions. Each
// error is one line that says what was expected and found.
#ifndef EMBER_VM_RUNTIME_LIBRARY_ARGUMENTS_H_
#define EMBER_VM_RUNTIME_LIBRARY_ARGUMENTS_H_

#include <cstdint>
#include <initializer_list>

#include "base/dtype.h"
#include "base/status.h"
#include "vm/runtime/library/library.h"

namespace ember::vm {

Status Expect(bool holds, const char* expected, int64_t found);
// Returns the DType with this number, or an error.
StatusOr<DType> ReadType(int64_t raw);
// Returns the product of the sizes. It is an error if a size is negative or the
// product overflows.
StatusOr<int64_t> Product(std::initializer_list<int64_t> sizes);
// Checks that the memory has room for `count` elements.
Status ExpectBytes(const LibraryMemory& memory, int64_t count,
                   int64_t element_size, const char* what);
// Allocates memory that the function returns to the program.
StatusOr<uint8_t*> AllocateBytes(const LibraryCall& call, LibraryMemory& memory,
                                 int64_t count, int64_t element_size);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_ARGUMENTS_H_
