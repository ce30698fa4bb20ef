// Interfaces of compilers of loop nests, and of their results. Implementations
// use LLVM (jit/llvm/compiler.h), ask a process that has LLVM
// (jit/worker/client.h), or find code that was made before
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
#include "jit/backend/pass_log.h"
#include "jit/loops/loop_nest.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"
#include "vm/runtime/memory/code_memory.h"

namespace ember::jit {

struct CompiledNest {
  virtual ~CompiledNest() = default;

  CodeOrigin origin = CodeOrigin::kCompiled;
  // Machine code or a device's module that was not loaded into this process.
  // Empty if the code was loaded: then the members below hold its functions.
  vm::KernelCode code;
  // memory that holds the functions
  std::shared_ptr<const vm::CodeMemory> memory;
  // The functions of the loaded code, one for each phase of the nest's prologue
  // and one for each of the nest's other phases.
  std::vector<vm::PhaseFunction> prologue;
  std::vector<vm::PhaseFunction> phases;
  int64_t code_bytes = 0;
  double optimize_ms = 0;  // time of LLVM's passes
  // time of instruction selection, relocation and loading
  double codegen_ms = 0;
  std::string llvm;      // LLVM IR, if it was asked for
  std::string assembly;  // assembly or PTX, if it was asked for
  // The passes that transformed the nest for its target before code was made
  // (jit/pipeline/target_passes.h). Empty if the code is from a cache.
  std::vector<PassRecord> passes;
};

class Compiler {
 public:
  virtual ~Compiler() = default;

  // Compiles the nest, which must be verified, and loads the code. Returns
  // kUnimplemented with a reason of jit/backend/decline_reasons.h for nests
  // that this back end leaves to tier 0.
  virtual StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) = 0;
};

// A compiler whose two steps can be used separately: one makes the code, the
// other loads it into this process.
class ObjectCompiler : public Compiler {
 public:
  // Compiles the nest and loads the code.
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override;

  // Returns a text that contains everything that object code depends on in
  // addition to the nest and the effort: the CPU that it is for, and the exact
  // builds of LLVM and of this compiler. Empty if those were linked without
  // build ids and so are not known.
  virtual const std::string& identity() const = 0;

  // Returns an object file for the compiler's processor. `figures`, which may
  // be null, gets the times and texts. Errors are those of Compile.
  virtual StatusOr<std::string> CompileToObject(const loops::LoopNest& nest,
                                                const CompileOptions& options,
                                                CompiledNest* figures) = 0;

  // Compiles the nest as CompileToObject does, and resolves all relocations, so
  // that the code needs no linker. For a device the result is a module for the
  // device's driver.
  virtual StatusOr<vm::KernelCode> CompileToCode(const loops::LoopNest& nest,
                                                 const CompileOptions& options,
                                                 CompiledNest* figures) = 0;

  // Ends current and later calls with kCancelled if the compiler waits for
  // another process. Other compilers do nothing.
  virtual void Stop() {}
};

// Loads verified code into this process. The code is that of a nest with
// `prologue_count` phases in its prologue. The instructions are not checked, so
// they must be trusted: the kernel runs them. Code of a device is not loaded
// but kept as it is.
StatusOr<std::unique_ptr<CompiledNest>> LoadCode(const vm::KernelCode& code,
                                                 size_t prologue_count);

}  // namespace ember::jit

#endif  // EMBER_JIT_BACKEND_OBJECT_COMPILER_H_
