// Checks of what a program gives to a library function. Internal to the
// functions; each error is one line that tells what was expected and found.
#ifndef EMBER_VM_RUNTIME_LIBRARY_ARGUMENTS_H_
#define EMBER_VM_RUNTIME_LIBRARY_ARGUMENTS_H_

#include <cstdint>
#include <initializer_list>

#include "base/dtype.h"
#include "base/status.h"
#include "vm/runtime/library.h"

namespace ember::vm {

Status Expect(bool holds, const char* expected, int64_t found);
// A DType's number.
StatusOr<DType> ReadType(int64_t raw);
// Product of sizes that are not negative.
StatusOr<int64_t> Product(std::initializer_list<int64_t> sizes);
// Memory that holds count elements.
Status ExpectBytes(const LibraryMemory& memory, int64_t count,
                   int64_t element_size, const char* what);
// Memory that the function gives back.
StatusOr<uint8_t*> AllocateBytes(const LibraryCall& call, LibraryMemory& memory,
                                 int64_t count, int64_t element_size);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_ARGUMENTS_H_
