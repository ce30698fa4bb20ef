// Writes a module as a whole C11 program: the kernels, the constants and one
// function that calls the kernels in order, for processors without a heap,
// files and threads (docs/prejit.md).
//
//   EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget target,
//                          jit::FindCompileTarget("c11+l1=16K"));
//   EMBER_ASSIGN_OR_RETURN(
//       const CProgramText text,
//       MakeCProgram(module, target, shapes,
//                    {.function = "digits", .header = "digits.h"}, nullptr));
//   EMBER_RETURN_IF_ERROR(WriteCProgram(text, "digits.c"));
//
// Depends on LLVM, which packs constants. Paths are as the user typed them.
// Thread-safe.
//
// Errors are one line: those of input_dims.h, straight_line.h and
// c_kernel.h.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_C_PROGRAM_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_C_PROGRAM_H_

#include <memory>
#include <span>
#include <string>

#include "base/progress.h"
#include "base/status.h"
#include "jit/target/compile_target.h"
#include "tools/lib/c_program/c_text.h"
#include "tools/lib/tensors/spec.h"
#include "vm/runtime/module.h"

namespace ember::tools {

// Returns the names for a program in the file `path`, which ends in ".c":
// "out/my-model.c" gives "my_model" and "my-model.h". `function` replaces the
// first if it is not empty. Errors: another ending; a function that is no name
// of C.
StatusOr<CProgramNames> CProgramNamesFor(const std::string& path,
                                         const std::string& function);

// target: of name c11. shapes: the values of --shape, for dims that the module
// leaves open. progress: if it is not null, gets an event with the
// stage "kernels" for each dispatch; kCancelled if it asked to stop.
StatusOr<CProgramText> MakeCProgram(
    const std::shared_ptr<const vm::Module>& module,
    const jit::CompileTarget& target, std::span<const NamedShape> shapes,
    const CProgramNames& names, Progress* progress);

// Writes the files PATH.c and PATH.h, and prints their names and the memory
// that the program needs.
Status WriteCProgram(const CProgramText& text, const std::string& path);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_C_PROGRAM_H_
