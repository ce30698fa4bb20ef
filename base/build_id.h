// Reads the build id that the linker writes into a program or library: an
// identifier that changes whenever the code changes.
//
//   std::string id = BuildIdAt(&SomeFunction);  // "e05295d07f25…": 40 digits
//
// Thread-safe.
#ifndef EMBER_BASE_BUILD_ID_H_
#define EMBER_BASE_BUILD_ID_H_

#include <string>

namespace ember {

// Returns the build id, in hexadecimal digits, of the object file that is
// mapped at the address. Empty if that file was linked without a build id, or
// if no file is mapped at the address.
std::string BuildIdAt(const void* address);

}  // namespace ember

#endif  // EMBER_BASE_BUILD_ID_H_
