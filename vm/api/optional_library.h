// Libraries that are loaded where they are found, by name.
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

// Its path in `folder`; if that is empty: in the folder of the file that this
// function was linked into, in "ember" in it, and in "../ember" and
// "../lib/ember" from it.
// Neither environment nor working folder are asked. NotFound with the places.
StatusOr<std::string> FindLibrary(const std::string& name,
                                  const std::string& folder);

// The library stays loaded. NotFound with what the loader says, of a library of
// another version, too.
StatusOr<void*> LoadSymbol(const std::string& path, const char* symbol);

}  // namespace ember::api

#endif  // EMBER_VM_API_OPTIONAL_LIBRARY_H_
