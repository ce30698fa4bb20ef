// Kernels for another processor, run in tests: a server (foreign_server.cc)
// under qemu-user gets code as images have it and what is in the buffers, runs
// it, and sends the buffers back.
//
//   auto foreign = ForeignMachine::Create(*FindProcessor("aarch64-dotprod"));
//   auto code = foreign->compiler().Compile(nest, {});
//   std::string error = foreign->Run(nest, **code, parameters, tasks, buffers);
//
// The environment names the server (EMBER_TEST_SERVER), as BUILD gives it.
// Not thread-safe.
#ifndef EMBER_JIT_LLVM_FOREIGN_H_
#define EMBER_JIT_LLVM_FOREIGN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/llvm/compiler.h"
#include "jit/loops/loop_nest.h"
#include "jit/target/processors.h"

namespace ember::jit {

// Memory of a buffer; where in its page it lies is kept, so that its end or
// begin is where the server's memory ends or begins, too. Buffers at the same
// place are one there, too.
struct ForeignBuffer {
  void* data = nullptr;
  int64_t bytes = 0;
};

class ForeignMachine {
 public:
  virtual ~ForeignMachine() = default;

  // Dies with a message if something is missing.
  static std::unique_ptr<ForeignMachine> Create(const Processor& processor);

  // What it compiles is for Run only: it has no functions.
  virtual Compiler& compiler() = 0;

  // Runs the phases, prologue first, phase i with tasks[i] tasks; in two calls
  // each. False after a check failed, with `failure` filled. Dies, with the
  // nest, if the kernel crashes.
  virtual bool Run(const loops::LoopNest& nest, const CompiledNest& code,
                   const std::vector<int64_t>& parameters,
                   const std::vector<int64_t>& tasks,
                   const std::vector<ForeignBuffer>& buffers,
                   vm::IndexFailure& failure) = 0;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_FOREIGN_H_
