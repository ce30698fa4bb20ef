// Compiles and runs nests in tests, and compares their results with the
// evaluator's.
//
//   ExpectAsEvaluated(R"(loops @relu(%x: input f32[16], %y: output f32[16]) {
//     phase t < 1 { vector l < 16 { %y[l] = max(%x[l], 0.0) } }
//   })");
//
// Each nest runs twice: once with buffers that end at an inaccessible page,
// once with buffers that begin after one, so that accesses outside of a buffer
// crash the test.
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

// Returns the processor under test: the row of jit/target/testing/processors.h
// that EMBER_TEST_PROCESSOR names; null means this machine. If this machine
// cannot run that processor's code, all tests of the process are skipped, with
// a line "NOT RUN: ..." that names what is missing.
const Processor* TestProcessor();
// Returns the name of the processor under test, or "this machine".
std::string TestMachineName();
// Returns why the tests cannot run here, such as "x86-64-v4, as this machine
// lacks avx512f"; empty if this machine can run the code of the processor under
// test.
std::string TestMissingHere();
// True if the processor under test keeps subnormal f32 numbers; false if it
// replaces them by zero.
bool KeepsSubnormals();
// True if the bits are a subnormal number (not of f64), for which the processor
// under test may compute zero.
bool MayBeZero(DType type, uint64_t bits);
// Returns the CPU model of the processor under test, by which schedules are
// chosen.
CpuModel TestCpuModel();
// Returns the compiler for the processor under test; all tests of a process
// share it. If the processor is emulated, its code can only be run by
// RunCompiled, which uses the emulator (foreign.h).
Compiler& TestCompiler();
loops::LoopNest ParseOrDie(const std::string& text);
// Returns a nest in which one factor of a dot product is small: it reads a
// packed copy of %b whose values are clamped to low..high. `text`: a nest of
// one phase that reads %b[k, l, q] in dot loops of 4, in vectors of `lanes`
// lanes, for 9 values of k.
std::string WithSmallFactor(std::string text, int lanes, int low, int high);
std::unique_ptr<CompiledNest> CompileOrDie(const loops::LoopNest& nest,
                                           const CompileOptions& options = {});
// Compiles the nest and returns the error's message; "" if there is none.
std::string CompileError(const std::string& text);

// Memory between pages that cannot be accessed. Either its end or its start is
// at one of these pages, so that accesses beyond it crash.
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
// Returns the bits to which an element of a buffer is set before a test.
using Fill = std::function<uint64_t(const loops::Buffer& buffer, size_t number,
                                    int64_t element)>;
Buffers MakeBuffers(const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters, const Fill& fill,
                    bool is_at_end);
// A Fill with small whole numbers, for floats also halves and negative numbers,
// so that sums are exact in any order.
uint64_t SmallValue(const loops::Buffer& buffer, size_t number,
                    int64_t element);

// Runs the code's prologue and phases on the buffers. Returns the message of a
// failed check, worded as the evaluator words it; "" if none failed.
std::string RunCompiled(const loops::LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const Buffers& buffers);
// Like RunCompiled above, but on buffers of which some may share memory.
std::string RunCompiled(const loops::LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const std::vector<ForeignBuffer>& buffers);

// Compiles the nest with each effort, runs it, and expects the evaluator's
// results. Outputs must be equal bit for bit, except that all NaNs are equal
// and that elements for which MayBeZero holds may be zero. Errors of checks
// must be equal, too.
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
