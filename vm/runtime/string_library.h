// The interface between a program and the optional library for strings,
// libember_strings.so, which needs RE2. It follows the same rules as
// vm/runtime/kernel_library.h.
#ifndef EMBER_VM_RUNTIME_STRING_LIBRARY_H_
#define EMBER_VM_RUNTIME_STRING_LIBRARY_H_

#include "vm/runtime/string_support.h"

namespace ember::vm {

using FindStringSupportFunction = StringSupportFactory();
inline constexpr char kStringSupportSymbol[] = "EmberFindStringSupport2";

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_STRING_LIBRARY_H_
