// Compiles and runs nests in tests and compares with the evaluator.
//
//   ExpectAsEvaluated(R"(loops @relu(%x: input f32[16], %y: output f32[16]) {
//     phase t < 1 { vector l < 16 { %y[l] = max(%x[l], 0.0) } }
//   })");
//
// Memory of buffers ends at a page that cannot be accessed, and in another run
// begins after one, so that accesses outside crash the test.
#ifndef EMBER_JIT_LLVM_TESTING_RUN_NEST_H_
#define EMBER_JIT_LLVM_TESTING_RUN_NEST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jit/llvm/compiler.h"
#include "jit/llvm/testing/foreign.h"
#include "jit/loops/loop_nest.h"
#include "jit/target/cpu_model.h"
#include "jit/target/testing/processors.h"

namespace ember::jit::llvm_ir {

// Returns the row of jit/target/testing/processors.h that EMBER_TEST_PROCESSOR
// names; null means this machine. If this machine cannot run the processor's
// code, all tests of the process are skipped, with a line "NOT RUN: ..." that
// says what it lacks.
const Processor* TestProcessor();
// Returns the name of the row of TestProcessor(), or "this machine".
std::string TestMachineName();
// Returns why the tests cannot run, "x86-64-v4, as this machine lacks avx512f";
// empty if this machine can run the processor's code.
std::string TestMissingHere();
// True if f32 has subnormal numbers on the machine of the tests; false if zeros
// replace them.
bool KeepsSubnormals();
// True if the element is a subnormal number, which the machine may replace by
// zero.
bool MayBeZero(DType type, uint64_t bits);
// Returns the CPU model for schedules of the tested processor, or of this
// machine.
CpuModel TestCpuModel();
// Returns the compiler that all tests of a process share. For a processor with
// an emulator, RunCompiled runs kernels in the emulator (foreign.h), and
// compiled code has no functions to call.
Compiler& TestCompiler();
loops::LoopNest ParseOrDie(const std::string& text);
// Returns a nest with a small factor. text: a nest of one phase with vectors of
// `lanes` that reads %b[k, l, q] in dot loops of 4 and 9 of k. The returned
// nest reads a packed copy of %b, clamped to low..high.
std::string WithSmallFactor(std::string text, int lanes, int low, int high);
std::unique_ptr<CompiledNest> CompileOrDie(const loops::LoopNest& nest,
                                           const CompileOptions& options = {});
// Compiles the nest. Returns the error's message, or "" if there is none.
std::string CompileError(const std::string& text);

// Memory between pages that cannot be accessed. Either its end or its begin is
// at one of these pages.
class GuardedMemory {
 public:
  GuardedMemory(int64_t bytes, bool is_at_end);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }

 private:
  int64_t bytes_;
  int64_t mapped_;
  char* base_;
  char* data_;
};

using Buffers = std::vector<std::unique_ptr<GuardedMemory>>;
// Returns the bits of an element of a buffer.
using Fill = std::function<uint64_t(const loops::Buffer& buffer, size_t number,
                                    int64_t element)>;
Buffers MakeBuffers(const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters, const Fill& fill,
                    bool is_at_end);
// Returns small whole numbers (for floats also halves and negative ones), so
// that sums are exact in any order.
uint64_t SmallValue(const loops::Buffer& buffer, size_t number,
                    int64_t element);

// Runs prologue and phases of the code. Returns "", or the message of a failed
// check as the evaluator words it.
std::string RunCompiled(const loops::LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const Buffers& buffers);
// Runs prologue and phases like the other RunCompiled, but on buffers of which
// some may share memory.
std::string RunCompiled(const loops::LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const std::vector<ForeignBuffer>& buffers);

// Compiles the nest with each effort, and compares its results with the
// evaluator's. Outputs must be equal bit for bit, except that all NaNs are
// equal and that MayBeZero elements may be zero. Errors must be equal, too.
void ExpectAsEvaluated(const loops::LoopNest& nest,
                       const std::vector<int64_t>& parameters = {},
                       const Fill& fill = SmallValue);
void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters = {},
                       const Fill& fill = SmallValue);

// True if the bits of two elements are equal, or both are NaNs.
bool IsSame(uint64_t a, uint64_t b, DType type);

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_TESTING_RUN_NEST_H_
