// The rules of a module that hold across its parts, checked once, when it is
// loaded or written: constants have the bytes that their type says, each
// dispatch passes tensor::Verify, each program passes VerifyProgram, numbers
// stay within limits.
//
// Errors: InvalidArgument, one line naming the object, what was expected and
// what was found.
#ifndef EMBER_VM_FORMAT_VERIFIER_H_
#define EMBER_VM_FORMAT_VERIFIER_H_

#include "base/status.h"
#include "vm/format/load_steps.h"
#include "vm/format/module_definition.h"

namespace ember::vm {

// steps: a step for each dispatch and each program; null: nobody wants to know.
// What was stopped is kCancelled.
Status VerifyModule(const ModuleDefinition& module, LoadSteps* steps = nullptr);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_VERIFIER_H_
