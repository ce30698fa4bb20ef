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

// Returns the library's path in `folder`. If folder is empty, looks in the
// folder of the file that this function was linked into, in its subfolder
// "ember", and in "../ember" and "../lib/ember" relative to it. The environment
// and the working folder are not used. NotFound lists the places.
StatusOr<std::string> FindLibrary(const std::string& name,
                                  const std::string& folder);

// Returns the address of a symbol of the library, which stays loaded. NotFound
// has the loader's message, also for a library of another version.
StatusOr<void*> LoadSymbol(const std::string& path, const char* symbol);

}  // namespace ember::api

#endif  // EMBER_VM_API_OPTIONAL_LIBRARY_H_
