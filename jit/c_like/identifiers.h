// Makes identifiers of the languages from the names of a nest.
//
//   BufferName(nest, 2);   // "b2_acc"
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_IDENTIFIERS_H_
#define EMBER_JIT_C_LIKE_IDENTIFIERS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

// Returns the name with each character other than letters, digits and '_'
// replaced, so that it is an identifier.
std::string Identifier(std::string_view name);

// Return the identifiers of a parameter and of a buffer, for example "p0_N" and
// "b2_acc".
std::string ParameterName(const loops::LoopNest& nest, uint64_t number);
std::string BufferName(const loops::LoopNest& nest, uint32_t number);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_IDENTIFIERS_H_
