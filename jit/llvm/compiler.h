// Loop nests to machine code of this process, through LLVM's ORC.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler,
//                          Compiler::Create());
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler->Compile(nest, {.effort = Effort::kFull}));
//   code->phases[0](parameters, buffers, 0, tasks, &failure);
//
// The only part of Ember that includes LLVM's headers. Code generation decides
// nothing: which loops are vectors or unrolled is the nest's; LLVM's own loop
// vectoriser and unroller are off. Memory of code is never writable and
// executable at once.
//
// Thread-safe: several threads may compile with one compiler. Code lives as
// long as its CompiledNest.
#ifndef EMBER_JIT_LLVM_COMPILER_H_
#define EMBER_JIT_LLVM_COMPILER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/llvm/compile_options.h"
#include "jit/llvm/kernel_abi.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

struct CompiledNest {
  virtual ~CompiledNest() = default;

  std::vector<PhaseFunction> prologue;  // one per phase of the nest
  std::vector<PhaseFunction> phases;
  int64_t code_bytes = 0;
  double optimize_ms = 0;  // LLVM's passes
  double codegen_ms = 0;   // instruction selection, linking
  std::string llvm;        // if asked for
  std::string assembly;
};

class Compiler {
 public:
  // For the CPU that this runs on, with all its features; or for `cpu`, a name
  // that LLVM has ("x86-64-v3"), which this one can do all of. kUnimplemented
  // with the reason if LLVM cannot make code for it.
  static StatusOr<std::unique_ptr<Compiler>> Create(
      const std::string& cpu = "");
  virtual ~Compiler() = default;

  // The nest is verified. kUnimplemented with a reason of
  // jit/decline_reasons.h for what this back end leaves to tier 0.
  virtual StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) = 0;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_COMPILER_H_
