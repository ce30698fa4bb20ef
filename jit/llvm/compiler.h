// Loop nests to machine code, by LLVM: of this process, or of a kernel image
// for any processor (vm/format/kernel_image.h).
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<Compiler> compiler,
//                          Compiler::Create());
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler->Compile(nest, {.effort = Effort::kFull}));
//   code->phases[0](parameters, buffers, 0, tasks, &failure);
//
// Or in two steps, with code between them that outlives the process:
//
//   EMBER_ASSIGN_OR_RETURN(vm::KernelCode image_code,
//                          compiler->CompileToCode(nest, options, nullptr));
//   EMBER_ASSIGN_OR_RETURN(code, LoadCode(image_code, nest.prologue.size()));
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
#include <string_view>
#include <vector>

#include "base/status.h"
#include "jit/backend/code_origin.h"
#include "jit/llvm/compile_options.h"
#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/code_memory.h"

namespace ember::jit {

struct CompiledNest {
  virtual ~CompiledNest() = default;

  CodeOrigin origin = CodeOrigin::kCompiled;
  std::shared_ptr<const vm::CodeMemory> memory;  // of the functions
  std::vector<vm::PhaseFunction> prologue;       // one per phase of the nest
  std::vector<vm::PhaseFunction> phases;
  int64_t code_bytes = 0;
  double optimize_ms = 0;  // LLVM's passes
  double codegen_ms = 0;   // instruction selection, relocation, loading
  std::string llvm;        // if asked for
  std::string assembly;
};

class Compiler {
 public:
  virtual ~Compiler() = default;

  // The nest is verified. kUnimplemented with a reason of
  // jit/decline_reasons.h for what this back end leaves to tier 0.
  virtual StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) = 0;

  // For the CPU that this runs on, with all its features; or for `cpu`, as
  // jit/llvm/host.h reads it ("x86-64-v3", "x86-64-v4+avx512vnni"), which this
  // one can do all of. kUnimplemented with the reason if LLVM cannot make code
  // for it.
  static StatusOr<std::unique_ptr<Compiler>> Create(
      const std::string& cpu = "");
  // What this machine lacks of that CPU, for people; empty if code for it runs
  // here.
  static StatusOr<std::string> MissingHere(const std::string& cpu);
};

// A compiler whose two halves can be used by themselves.
class ObjectCompiler : public Compiler {
 public:
  // As Compiler::Create.
  static StatusOr<std::unique_ptr<ObjectCompiler>> Create(
      const std::string& cpu = "");

  // All that object code depends on beside the nest and the effort: which CPU
  // it is for, and the exact builds of LLVM and of this compiler. Empty if
  // those were linked without build ids: then nobody can tell.
  virtual const std::string& identity() const = 0;

  // An object file of the processor. `figures`, which may be null, gets the
  // times and texts. Errors: as Compile.
  virtual StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                                const CompileOptions& options,
                                                CompiledNest* figures) = 0;

  // The same with all relocations resolved.
  virtual StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                                 const CompileOptions& options,
                                                 CompiledNest* figures) = 0;

  // Where others are asked: calls that wait for an answer, and those from now
  // on, end with kCancelled.
  virtual void Stop() {}
};

// Verified code for this machine, of a nest with so many phases in its
// prologue; what it does is not checked, and it will be run. Needs no LLVM.
StatusOr<std::unique_ptr<CompiledNest>> LoadCode(const vm::KernelCode& code,
                                                 size_t prologue_count);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_COMPILER_H_
