// Prints one phase of a legalised nest as a function of a language.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const std::string function,
//       PrintPhase(c::kLanguage, nest, nest.phases[0], "ember_relu_phase0"));
//
// For a language with invocations (Language::invocation) the nest must be a
// device nest. All invocations of a workgroup execute the code outside of
// invocation loops, but only the first one stores to memory there.
//
// Thread-safe.
#ifndef EMBER_JIT_C_LIKE_PHASE_PRINTER_H_
#define EMBER_JIT_C_LIKE_PHASE_PRINTER_H_

#include <string>

#include "base/status.h"
#include "jit/c_like/language.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c_like {

// Returns the definition of the function `name`, which runs the phase. The nest
// must be verified, and legalised for language.operations. Errors: those of
// language.refuse, or kUnimplemented with another reason of
// jit/backend/decline_reasons.h.
StatusOr<std::string> PrintPhase(const Language& language,
                                 const loops::LoopNest& nest,
                                 const loops::Phase& phase,
                                 const std::string& name);

}  // namespace ember::jit::c_like

#endif  // EMBER_JIT_C_LIKE_PHASE_PRINTER_H_
