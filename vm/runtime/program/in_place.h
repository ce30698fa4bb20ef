// Finds allocations of the entry program that may take the memory of an input:
// state that the program reads once, to compute its next value.
//
//   b3 = input key                                  // of no other use
//   b9 = allocate i2                                // takes the input's memory
//   dispatch @write_row(i0, i1; b3, b5 -> b9)
//   result key = b9
//
// for (const InPlaceAllocation& found : FindInPlaceAllocations(module)) …
//
// Internal to sessions. Thread-safe.
#ifndef EMBER_VM_RUNTIME_PROGRAM_IN_PLACE_H_
#define EMBER_VM_RUNTIME_PROGRAM_IN_PLACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vm/runtime/module.h"

namespace ember::vm {

struct InPlaceAllocation {
  size_t instruction = 0;  // number of the Allocate instruction in the entry
                           // program
  uint32_t input = 0;      // number of the input whose memory the allocation
                           // may take
};

// Returns the allocations that fulfil two conditions: the first use of their
// memory is as the output of a dispatch that may compute it in the memory of
// one of its inputs (MayAlias), and that operand is an input of the program
// which no other instruction reads. Returns none if the program has branches.
// The time is linear in the number of the program's instructions.
std::vector<InPlaceAllocation> FindInPlaceAllocations(const Module& module);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_IN_PLACE_H_
