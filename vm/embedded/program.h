// A small program that runs a model, as an example of a program for embedded
// devices. It loads a module, fills its inputs from a seed, runs it, and prints
// the results. The options decide which parts of the runtime are linked: a part
// that they do not refer to is not linked.
//
//   MODEL.vmfb [--seed=N] [--runs=N] [--expect-hash=0xHASH]
#ifndef EMBER_VM_EMBEDDED_PROGRAM_H_
#define EMBER_VM_EMBEDDED_PROGRAM_H_

#include "base/status.h"
#include "vm/runtime/session.h"

namespace ember::vm {

using SessionOptionsFactory = StatusOr<SessionOptions> (*)();

// Runs the program with the arguments that main received, and returns the exit
// status of the process.
int RunEmbedded(int argc, char** argv, SessionOptionsFactory make_options);

}  // namespace ember::vm

#endif  // EMBER_VM_EMBEDDED_PROGRAM_H_
