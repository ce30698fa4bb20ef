// Returns everything in a loop nest that its machine code depends on as bytes:
// equal bytes mean equal code.
//
//   std::string bytes = NestBytes(nest);
//
// The bytes contain all that the code generator reads, exactly, but no names.
// Dispatches that differ only in names share their kernel. The bytes are not
// meant to be parsed. Thread-safe.
#ifndef EMBER_JIT_CACHE_NEST_BYTES_H_
#define EMBER_JIT_CACHE_NEST_BYTES_H_

#include <string>

#include "jit/loops/loop_nest.h"

namespace ember::jit {

std::string NestBytes(const loops::LoopNest& nest);

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_NEST_BYTES_H_
