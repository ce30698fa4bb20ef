// Runs the instruction of a session that calls a library function. Programs
// that must be small leave all library functions out by naming no caller
// (SessionOptions::library). Internal to sessions.
#ifndef EMBER_VM_RUNTIME_LIBRARY_CALLER_H_
#define EMBER_VM_RUNTIME_LIBRARY_CALLER_H_

#include "base/status.h"

namespace ember::vm {

struct LibraryInstruction;

// Reads the operands, checks limits, calls the function, sets the registers
// that it writes. Errors name the function.
using LibraryCaller = Status (*)(const LibraryInstruction& instruction);
Status CallLibraryFunction(const LibraryInstruction& instruction);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_CALLER_H_
