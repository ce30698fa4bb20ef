// Who makes code of loop nests, and what comes of it. LLVM does (jit/llvm/
// compiler.h), a process that has LLVM is asked to (jit/worker/
// worker_client.h), or code that was made before is found (jit/cache/
// caching_compiler.h). Whoever wants kernels knows these interfaces alone, so
// that a program can have kernels without having LLVM in its memory.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler.Compile(nest, {.effort = Effort::kFull}));
//   code->phases[0](parameters, buffers, 0, tasks, &failure);
//
// Or in two steps, with code between them that outlives the process:
//
//   EMBER_ASSIGN_OR_RETURN(vm::KernelCode image_code,
//                          compiler.CompileToCode(nest, options, nullptr));
//   EMBER_ASSIGN_OR_RETURN(code, LoadCode(image_code, nest.prologue.size()));
//
// Code for another device (CompileOptions::target) is not loaded: it goes on in
// the kernel's image, to the device's driver.
//
// Thread-safe: several threads may compile with one compiler. Code lives as
// long as its CompiledNest. Memory of code is never writable and executable at
// once.
#ifndef EMBER_JIT_BACKEND_OBJECT_COMPILER_H_
#define EMBER_JIT_BACKEND_OBJECT_COMPILER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/backend/code_origin.h"
#include "jit/backend/compile_options.h"
#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/code_memory.h"

namespace ember::jit {

struct CompiledNest {
  virtual ~CompiledNest() = default;

  CodeOrigin origin = CodeOrigin::kCompiled;
  // Where it is not loaded; else nothing.
  vm::KernelCode code;
  std::shared_ptr<const vm::CodeMemory> memory;  // of the functions
  std::vector<vm::PhaseFunction> prologue;       // one per phase of the nest
  std::vector<vm::PhaseFunction> phases;
  int64_t code_bytes = 0;
  double optimize_ms = 0;  // LLVM's passes
  double codegen_ms = 0;   // instruction selection, relocation, loading
  std::string llvm;        // if asked for
  std::string assembly;    // or PTX
};

class Compiler {
 public:
  virtual ~Compiler() = default;

  // The nest is verified. kUnimplemented with a reason of
  // jit/decline_reasons.h for what this back end leaves to tier 0.
  virtual StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) = 0;
};

// A compiler whose two halves can be used by themselves.
class ObjectCompiler : public Compiler {
 public:
  // Both halves.
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override;

  // All that object code depends on beside the nest and the effort: which CPU
  // it is for, and the exact builds of LLVM and of this compiler. Empty if
  // those were linked without build ids: then nobody can tell.
  virtual const std::string& identity() const = 0;

  // An object file of the processor. `figures`, which may be null, gets the
  // times and texts. Errors: as Compile.
  virtual StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                                const CompileOptions& options,
                                                CompiledNest* figures) = 0;

  // The same with all relocations resolved, or a module for a device.
  virtual StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                                 const CompileOptions& options,
                                                 CompiledNest* figures) = 0;

  // Where others are asked: calls that wait for an answer, and those from now
  // on, end with kCancelled.
  virtual void Stop() {}
};

// Verified code for this machine, of a nest with so many phases in its
// prologue; what it does is not checked, and it will be run. A device's is
// kept as it is.
StatusOr<std::unique_ptr<CompiledNest>> LoadCode(const vm::KernelCode& code,
                                                 size_t prologue_count);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_OBJECT_COMPILER_H_
