// Finds optional libraries by name and loads them.
//
//   EMBER_ASSIGN_OR_RETURN(const std::string path,
//                          FindLibrary("libember_jit.so", ""));
//   EMBER_ASSIGN_OR_RETURN(void* make, LoadSymbol(path, "EmberNew…"));
//
// Thread-safe.
#ifndef EMBER_VM_API_OPTIONAL_LIBRARY_H_
#define EMBER_VM_API_OPTIONAL_LIBRARY_H_

#include <string>

#include "base/status.h"

namespace ember::api {

// Returns the library's path in `folder`. If `folder` is empty, looks in the
// folder of the program or library that contains this function, in the
// subfolder "ember", and in "../ember" and "../lib/ember" relative to that
// folder. The environment and the working folder are not used. Returns NotFound
// with a list of these folders if the library is in none of them.
StatusOr<std::string> FindLibrary(const std::string& name,
                                  const std::string& folder);

// Loads the library, which then stays loaded, and returns the address of a
// symbol in it. Returns NotFound if loading fails (with the loader's message),
// or if the library lacks the symbol because it is of another version.
StatusOr<void*> LoadSymbol(const std::string& path, const char* symbol);

}  // namespace ember::api

#endif  // EMBER_VM_API_OPTIONAL_LIBRARY_H_
