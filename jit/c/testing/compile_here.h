// Compiles nests as C with this machine's compiler, and runs them in tests.
//
//   EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<CompiledNest> code,
//                          CompileHere(nest));
//   code->phases[0](parameters, buffers, 0, tasks, &failure);
//
// EMBER_TEST_CC names another compiler than cc, with options: "clang -O2
// -fsanitize=undefined -fsanitize-trap=undefined". Warnings are errors.
// Thread-safe.
#ifndef EMBER_JIT_C_TESTING_COMPILE_HERE_H_
#define EMBER_JIT_C_TESTING_COMPILE_HERE_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::c {

// Returns the command that compiles C: EMBER_TEST_CC, or the default compiler
// with options.
std::string TestCompilerCommand();
// Returns a message if the machine has no C compiler; otherwise an empty
// string.
std::string MissingCompiler();

// Compiles the nest and loads its functions into this process; they exist as
// long as the result. The result's `assembly` is the C file. Errors: those of
// EmitSource; kInternal with the compiler's message if it refuses the file.
StatusOr<std::unique_ptr<CompiledNest>> CompileHere(
    const loops::LoopNest& nest);

}  // namespace ember::jit::c

#endif  // EMBER_JIT_C_TESTING_COMPILE_HERE_H_
