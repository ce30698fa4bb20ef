// The header of a C program: the prototype of its function, macros for types
// and numbers of elements, and a comment that describes the model.
//
//   PrototypeText(parts, names);
//   // "int digits_run(const float *in0_image, float *out0_probabilities)"
//
// Internal to c_text.cc. Thread-safe.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_C_HEADER_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_C_HEADER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tools/lib/c_program/c_text.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Returns the text without characters that would end a comment of C.
std::string InComment(std::string_view text);
int64_t ElementCount(std::span<const int64_t> dims);

// Return the names of the function's arguments: "in0_image", "out0_scores".
std::string InputArgument(const vm::Module& module, size_t number);
std::string ResultArgument(const vm::Module& module, size_t number);

// Returns the function's prototype, without a semicolon.
std::string PrototypeText(const CProgramParts& parts,
                          const CProgramNames& names);

// errors: the names of the dispatches that may fail; the error of the first one
// is 1.
std::string HeaderText(const CProgramParts& parts, const CProgramNames& names,
                       const CProgramNeeds& needs,
                       std::span<const std::string> errors);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_C_HEADER_H_
