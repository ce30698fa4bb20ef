// The dims of a module's inputs, with those that --shape gives.
//
//   // program main<N>(x: f32[N, 3], y: f32[N]) …, --shape=x=2x3
//   InputDims(module, shapes);   // {{2, 3}, {2}}
//
// A dim that has the same symbol as a given one has its value. Thread-safe.
// Errors are one line: an input that does not exist, or dims that it cannot
// have.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_INPUT_DIMS_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_INPUT_DIMS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tools/lib/tensors/spec.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Returns the dims of each input; -1 for a dim that is still open.
StatusOr<std::vector<std::vector<int64_t>>> InputDims(
    const vm::Module& module, std::span<const NamedShape> shapes);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_INPUT_DIMS_H_
