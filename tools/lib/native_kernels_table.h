// The native kernels that a module carries, as a table for people.
//
//   std::fputs(NativeKernelsTable(definition).c_str(), stdout);
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_NATIVE_KERNELS_TABLE_H_
#define EMBER_TOOLS_LIB_NATIVE_KERNELS_TABLE_H_

#include <string>

#include "vm/format/module_definition.h"

namespace ember::tools {

// For each target a line with its bytes and what of it this machine lacks, and
// a row for each kernel: dispatch, bytes of code and of packed constants,
// phases (of the prologue and of calls), which parameters it is for, and which
// of its inputs it was made for as constants. Of a section that cannot be read,
// why. Before them the profile that the module carries, if it does.
std::string NativeKernelsTable(const vm::ModuleDefinition& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_NATIVE_KERNELS_TABLE_H_
