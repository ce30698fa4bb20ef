// The entry of libember_strings.so.
#include "vm/runtime/string_functions.h"
#include "vm/runtime/string_library.h"

// Its name is vm::kStringSupportSymbol.
extern "C"
    __attribute__((visibility("default"))) ember::vm::StringSupportFactory
    EmberFindStringSupport2() {
  return ember::vm::NewStringSupport;
}
