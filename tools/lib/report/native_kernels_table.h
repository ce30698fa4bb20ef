// Prints the native kernels that a module carries, as a table for people.
//
//   std::fputs(NativeKernelsTable(definition).c_str(), stdout);
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_REPORT_NATIVE_KERNELS_TABLE_H_
#define EMBER_TOOLS_LIB_REPORT_NATIVE_KERNELS_TABLE_H_

#include <string>

#include "vm/isa/module_definition.h"

namespace ember::tools {

// Returns the table. It begins with the module's profile, if there is one. For
// each target there is a line with its bytes and the features that this machine
// lacks. Then comes a row for each kernel, with its dispatch, bytes of code and
// of packed constants, number of phases (of the prologue and of calls),
// parameters for which it was made, and inputs that it takes as constants. If a
// section cannot be read, the reason is shown instead.
std::string NativeKernelsTable(const vm::ModuleDefinition& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_NATIVE_KERNELS_TABLE_H_
