// Writes a straight-line program and its kernels as C11: constants, one arena,
// and one function that runs the model. Nothing else of Ember is needed to
// compile and run it.
//
//   int digits_run(const float *in0_image, float *out0_probabilities) {
//     {
//       void *const buffers[] = {(void *)in0_image, ember_arena + 0};
//       ember_conv_1f2e3d4c5b6a7988_phase0(0, buffers, 0, 12, 0);
//     }
//     …
//     return 0;
//   }
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_C_TEXT_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_C_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/lib/c_program/c_kernel.h"
#include "tools/lib/c_program/memory_layout.h"
#include "tools/lib/c_program/straight_line.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// The parts of a program. kernel_of_step has an index into `kernels` for each
// step; that of a step that is no dispatch is not used.
struct CProgramParts {
  const vm::Module& module;
  const StraightLine& line;
  const MemoryLayout& layout;
  const std::vector<CKernel>& kernels;
  const std::vector<size_t>& kernel_of_step;
};

// Names in the files. `function` is the prefix of the function and the macros:
// "digits" gives digits_run and DIGITS_ARENA_BYTES. `header` is the name of the
// header's file.
struct CProgramNames {
  std::string function;
  std::string header;
};

// The bytes of memory that a program needs, besides its code.
struct CProgramNeeds {
  int64_t constants = 0;  // read-only data: flash
  int64_t arena = 0;      // static data: RAM
  int64_t inputs = 0;     // memory of the caller for all inputs
  int64_t results = 0;    // memory of the caller for all results
  int64_t arrays = 0;     // bound of the arrays of a kernel on the stack
};

struct CProgramText {
  std::string source, header;
  CProgramNeeds needs;
};

CProgramText WriteCText(const CProgramParts& parts, const CProgramNames& names);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_C_TEXT_H_
