// Runs the instruction of a session that calls a library function. A program
// that must be small links no library functions if it sets no caller
// (SessionOptions::library). Internal to sessions.
#ifndef EMBER_VM_RUNTIME_LIBRARY_CALLER_H_
#define EMBER_VM_RUNTIME_LIBRARY_CALLER_H_

#include "base/status.h"

namespace ember::vm {

struct LibraryInstruction;

// A function that reads the operands, checks limits, calls the library
// function, and sets the registers that it writes. Errors name the library
// function.
using LibraryCaller = Status (*)(const LibraryInstruction& instruction);
Status CallLibraryFunction(const LibraryInstruction& instruction);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_LIBRARY_CALLER_H_
