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
// lacks. Then comes a row for each kernel: dispatch, bytes of code and of
// packed constants, phases (of the prologue and of calls), the parameters that
// it is for, and the inputs that it takes as constants. For a section that
// cannot be read there is the reason.
std::string NativeKernelsTable(const vm::ModuleDefinition& module);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_NATIVE_KERNELS_TABLE_H_
