// The arguments of a LibraryCaller. Internal to sessions.
#ifndef EMBER_VM_RUNTIME_PROGRAM_LIBRARY_INSTRUCTION_H_
#define EMBER_VM_RUNTIME_PROGRAM_LIBRARY_INSTRUCTION_H_

#include <cstdint>

#include "base/interrupt.h"
#include "vm/isa/module_definition.h"
#include "vm/runtime/image_support.h"
#include "vm/runtime/library_caller.h"
#include "vm/runtime/memory/run_memory.h"
#include "vm/runtime/memory_reference.h"
#include "vm/runtime/run_limits.h"
#include "vm/runtime/string_support.h"

namespace ember::vm {

// The instruction to execute and the session's objects that it uses.
struct LibraryInstruction {
  const ProgramInstruction& instruction;
  // numbers of the registers, in the order of the function's row
  const uint32_t* operands;
  int64_t* integers;
  MemoryReference* buffers;
  InstructionPosition position;
  RunMemory& memory;
  RunLimits& limits;
  StringSupport* strings;  // Support for strings; null if there is none.
  const Interrupt& interrupt;
  ImageDecoder images;  // Decoder of pictures; null if there is none.
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_LIBRARY_INSTRUCTION_H_
