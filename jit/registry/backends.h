// The table of back ends: one row for each family of targets.
//
//   BackendFor("sm_90a+subgroup32").name;   // "cuda"
//
// A target is added by a folder with a `const Backend` and a row here
// (docs/adding/jit-target.md). Thread-safe.
#ifndef EMBER_JIT_REGISTRY_BACKENDS_H_
#define EMBER_JIT_REGISTRY_BACKENDS_H_

#include <span>
#include <string_view>

#include "jit/backend/backend.h"

namespace ember::jit {

// Returns all rows of the table, in the order in which BackendFor asks them if
// they serve a target.
std::span<const Backend* const> Backends();

// Returns the first back end that serves the target. target: in the form of
// base/target_text.h.
const Backend& BackendFor(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_REGISTRY_BACKENDS_H_
