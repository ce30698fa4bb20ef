// Support for strings at run time: the table of a session's strings, and the
// library functions on strings, which need RE2 and the C library's Unicode
// tables.
//
//   Session::Create(module, {.device = device, .strings = NewStringSupport});
//
// The functions follow ONNX (StringConcat, StringNormalizer's change of case,
// StringSplit, Cast, RegexFullMatch). Texts are UTF-8; invalid bytes are kept
// as they are.
#ifndef EMBER_VM_RUNTIME_LIBRARY_STRING_FUNCTIONS_H_
#define EMBER_VM_RUNTIME_LIBRARY_STRING_FUNCTIONS_H_

#include <cstdint>
#include <memory>

#include "vm/runtime/string_support.h"

namespace ember::vm {

std::unique_ptr<StringSupport> NewStringSupport(int64_t byte_limit);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_STRING_FUNCTIONS_H_
