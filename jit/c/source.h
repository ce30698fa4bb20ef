// Loop nests as C: the door of this folder. A nest in, a function for each of
// its phases out, called as vm/format/kernel_abi.h says.
//
//   EMBER_ASSIGN_OR_RETURN(const c::Source source, c::EmitSource(nest));
//   const std::string file = c::CompleteFile(source.functions);
//   source.phases[0];   // "ember_relu_1f2e3d4c5b6a7988_phase0"
//
// Equal nests give equal functions, and functions of others have other names,
// so that files may have those of many.
//
// Thread-safe.
#ifndef EMBER_JIT_C_SOURCE_H_
#define EMBER_JIT_C_SOURCE_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c {

struct Source {
  // Definitions; what they use is in jit/c/prelude.h.
  std::string functions;
  // Names of the functions.
  std::vector<std::string> prologue;
  std::vector<std::string> phases;
};

// The nest is verified. Errors: kUnimplemented with a reason of
// jit/decline_reasons.h for what C has no code for.
StatusOr<Source> EmitSource(const loops::LoopNest& nest);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_SOURCE_H_
