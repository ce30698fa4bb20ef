// Checks a whole module once, when it is loaded or written: constants have the
// number of bytes that their type requires, each dispatch passes
// tensor::Verify, each program passes VerifyProgram, numbers are within limits.
//
// Errors: InvalidArgument, one line naming the object, what was expected and
// what was found.
#ifndef EMBER_VM_FORMAT_VERIFIER_H_
#define EMBER_VM_FORMAT_VERIFIER_H_

#include "base/status.h"
#include "vm/format/load_steps.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Checks a module. `steps`, which may be null, receives a step for each
// dispatch and each program. Returns kCancelled if the receiver requests to
// stop.
Status VerifyModule(const ModuleDefinition& module, LoadSteps* steps = nullptr);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_VERIFIER_H_
