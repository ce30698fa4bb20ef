// Writes kernels as one C file: their functions (jit/c), and the table that a
// program passes to module_add_kernels (vm/format/native_table.h, version 2).
//
//   WriteFileAtomically("kernels.c", CFileText(identity, made, "my_kernels"));
//
// The file only needs a C11 compiler and its headers. Thread-safe.
#ifndef EMBER_TOOLS_LIB_PREJIT_C_FILE_H_
#define EMBER_TOOLS_LIB_PREJIT_C_FILE_H_

#include <string>

#include "tools/lib/prejit/prejit.h"
#include "vm/format/module_identity.h"

namespace ember::tools {

// Returns the text of the C file. `section` must be of target c11. `symbol` is
// the C name of the table.
std::string CFileText(const vm::ModuleIdentity& module,
                      const Prejitted& section, const std::string& symbol);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PREJIT_C_FILE_H_
