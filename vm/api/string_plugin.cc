// Defines the exported function of libember_strings.so.
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/string_library.h"

// The function that the library exports. Its name must be
// vm::kStringSupportSymbol.
extern "C"
    __attribute__((visibility("default"))) ember::vm::StringSupportFactory
    EmberFindStringSupport2() {
  return ember::vm::NewStringSupport;
}
