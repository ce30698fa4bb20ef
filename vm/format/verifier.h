// Checks the rules of a module that concern several of its parts, once, when
// the module is loaded or written: constants have the number of bytes that
// their type requires, each dispatch passes tensor::Verify, each program passes
// VerifyProgram, numbers stay within limits.
//
// Errors: InvalidArgument, one line naming the object, what was expected and
// what was found.
#ifndef EMBER_VM_FORMAT_VERIFIER_H_
#define EMBER_VM_FORMAT_VERIFIER_H_

#include "base/status.h"
#include "vm/format/load_steps.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Checks a module. steps: receives a step for each dispatch and each program;
// may be null. Returns kCancelled if the receiver asked to stop.
Status VerifyModule(const ModuleDefinition& module, LoadSteps* steps = nullptr);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_VERIFIER_H_
