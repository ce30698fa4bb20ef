// Runs kernels for another processor in tests. A server (foreign_server.cc)
// under qemu-user gets code in the form of images and the contents of the
// buffers, runs it, and sends the buffers back.
//
//   auto foreign = ForeignMachine::Create(*FindProcessor("aarch64-dotprod"));
//   auto code = foreign->compiler().Compile(nest, {});
//   std::string error = foreign->Run(nest, **code, parameters, tasks, buffers);
//
// The environment variable EMBER_TEST_SERVER, which BUILD sets, names the
// server. Not thread-safe.
#ifndef EMBER_JIT_LLVM_TESTING_FOREIGN_H_
#define EMBER_JIT_LLVM_TESTING_FOREIGN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jit/llvm/compiler.h"
#include "jit/loops/loop_nest.h"
#include "jit/target/testing/processors.h"

namespace ember::jit::llvm_ir {

// The memory of a buffer in the test. The server allocates the buffer at the
// same offset in a page, so that a buffer that ends or begins at inaccessible
// memory does so in the server, too. Buffers at the same address share memory
// there, too.
struct ForeignBuffer {
  void* data = nullptr;
  int64_t bytes = 0;
};

class ForeignMachine {
 public:
  virtual ~ForeignMachine() = default;

  // Starts the server. Ends the process with a message if something that it
  // needs is missing.
  static std::unique_ptr<ForeignMachine> Create(const Processor& processor);

  // Returns the compiler for the processor. The code that it compiles can only
  // be passed to Run: CompiledNest's function pointers are missing, since this
  // machine cannot call the code.
  virtual Compiler& compiler() = 0;

  // Runs the phases, prologue first. Phase i has tasks[i] tasks, which are run
  // by two calls of its function. Returns false if a check failed, and
  // describes the check in `failure`. If the kernel crashes, prints the nest
  // and ends the process.
  virtual bool Run(const loops::LoopNest& nest, const CompiledNest& code,
                   const std::vector<int64_t>& parameters,
                   const std::vector<int64_t>& tasks,
                   const std::vector<ForeignBuffer>& buffers,
                   vm::IndexFailure& failure) = 0;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_TESTING_FOREIGN_H_
