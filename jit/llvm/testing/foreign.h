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

// The memory of a buffer. The server allocates it at the same offset in a page.
// So its end or begin is at the end or begin of accessible memory in the
// server, too. Buffers at the same address share memory there, too.
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

  // The compiler for the processor. Code that it compiles can only be passed to
  // Run: it has no functions to call.
  virtual Compiler& compiler() = 0;

  // Runs the phases, prologue first, in two calls each; phase i has tasks[i]
  // tasks. Returns false if a check failed; then `failure` says which. If the
  // kernel crashes, prints the nest and ends the process.
  virtual bool Run(const loops::LoopNest& nest, const CompiledNest& code,
                   const std::vector<int64_t>& parameters,
                   const std::vector<int64_t>& tasks,
                   const std::vector<ForeignBuffer>& buffers,
                   vm::IndexFailure& failure) = 0;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_TESTING_FOREIGN_H_
