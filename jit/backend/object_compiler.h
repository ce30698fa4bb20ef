// Interfaces of compilers of loop nests, and of their results. Implementations
// use LLVM (jit/llvm/compiler.h), ask a process that has LLVM
// (jit/worker/worker_client.h), or find code that was made before
// (jit/cache/caching_compiler.h). Code that needs kernels knows these
// interfaces alone, so that a program can have kernels without LLVM in its
// memory.
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
// Code for another device (CompileOptions::target) is not loaded: the kernel's
// image passes it to the device's driver.
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
  // Set if the code is not loaded; else empty.
  vm::KernelCode code;
  std::shared_ptr<const vm::CodeMemory> memory;  // holds the functions
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

  // The nest must be verified. Returns kUnimplemented with a reason of
  // jit/decline_reasons.h for nests that this back end leaves to tier 0.
  virtual StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) = 0;
};

// A compiler whose two steps can be used separately.
class ObjectCompiler : public Compiler {
 public:
  // Does both steps.
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override;

  // Everything that object code depends on in addition to the nest and the
  // effort: the CPU that it is for, and the exact builds of LLVM and of this
  // compiler. Empty if those were linked without build ids and so are not
  // known.
  virtual const std::string& identity() const = 0;

  // Returns an object file of the processor. `figures`, which may be null, gets
  // the times and texts. Errors are those of Compile.
  virtual StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                                const CompileOptions& options,
                                                CompiledNest* figures) = 0;

  // Does the same with all relocations resolved, or returns a module for a
  // device.
  virtual StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                                 const CompileOptions& options,
                                                 CompiledNest* figures) = 0;

  // If the compiler asks another process: ends current and later calls with
  // kCancelled.
  virtual void Stop() {}
};

// Loads verified code for this machine, of a nest with this number of phases in
// its prologue. What the code does is not checked, and it will be run. A
// device's code is kept as it is.
StatusOr<std::unique_ptr<CompiledNest>> LoadCode(const vm::KernelCode& code,
                                                 size_t prologue_count);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_OBJECT_COMPILER_H_
