// Compiles loop nests to C. This is the interface of the folder. Each phase of
// a nest becomes a function, which is called as vm/format/kernel_abi.h says.
//
//   EMBER_ASSIGN_OR_RETURN(const c::Source source, c::EmitSource(nest));
//   const std::string file = c::CompleteFile(source.functions);
//   source.phases[0];   // "ember_relu_1f2e3d4c5b6a7988_phase0"
//
// Equal nests give equal functions, and functions of different nests have
// different names, so that a file may contain those of many nests.
//
// Thread-safe.
#ifndef EMBER_JIT_C_SOURCE_H_
#define EMBER_JIT_C_SOURCE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "jit/backend/pass_log.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c {

struct Source {
  // Definitions of all functions of the nest. They call helper functions, which
  // jit/c/prelude.h adds.
  std::string functions;
  // Names of the functions that run the phases, in the order of phases.
  std::vector<std::string> prologue;
  std::vector<std::string> phases;
};

// Returns the nest, which must be verified, as C. `log`: if it is not null,
// gets the passes that ran. Errors: kUnimplemented with a reason of
// jit/backend/decline_reasons.h if this back end does not support the nest.
StatusOr<Source> EmitSource(const loops::LoopNest& nest,
                            PassLog* log = nullptr);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_SOURCE_H_
