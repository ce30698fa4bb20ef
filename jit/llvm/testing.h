// Compiles and runs nests in tests and compares with the evaluator.
//
//   ExpectAsEvaluated(R"(loops @relu(%x: input f32[16], %y: output f32[16]) {
//     phase t < 1 { vector l < 16 { %y[l] = max(%x[l], 0.0) } }
//   })");
//
// Memory of buffers ends at a page that cannot be accessed, and in another run
// begins after one, so that accesses outside crash the test.
#ifndef EMBER_JIT_LLVM_TESTING_H_
#define EMBER_JIT_LLVM_TESTING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "jit/llvm/compiler.h"
#include "jit/llvm/foreign.h"
#include "jit/loops/loop_nest.h"
#include "jit/target/cpu_model.h"
#include "jit/target/processors.h"

namespace ember::jit {

// Returns the row of jit/target/processors.h that EMBER_TEST_PROCESSOR names;
// null: this machine. If this machine cannot run its code, all tests of the
// process are skipped, with a line "NOT RUN: ..." that says what it lacks.
const Processor* TestProcessor();
// Returns the name of its row, or "this machine".
std::string TestPlace();
// Returns "x86-64-v4, as this machine lacks avx512f"; empty if its code can be
// run.
std::string TestMissingHere();
// True if f32 has subnormal numbers there; false if zeros replace them.
bool KeepsSubnormals();
// True if the element is a number that a zero may replace.
bool MayBeZero(DType type, uint64_t bits);
// Returns the model for schedules: that of the processor, or of this machine.
CpuModel TestCpuModel();
// Returns the compiler that all tests of a process share. For a processor with
// an emulator, RunCompiled runs kernels there (foreign.h), and compiled code
// has no functions to call.
Compiler& TestCompiler();
loops::LoopNest ParseOrDie(const std::string& text);
// text: a nest of one phase with vectors of `lanes` that reads %b[k, l, q] in
// dot loops of 4 and 9 of k. The result reads a packed copy of it, clamped to
// low..high.
std::string WithSmallFactor(std::string text, int lanes, int low, int high);
std::unique_ptr<CompiledNest> CompileOrDie(const loops::LoopNest& nest,
                                           const CompileOptions& options = {});
// Returns "" or the error.
std::string CompileError(const std::string& text);

// Memory between pages that cannot be accessed. Its end, or else its begin, is
// at one of them.
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
// Memory of all buffers; `fill` returns the bits of each element.
using Fill = std::function<uint64_t(const loops::Buffer& buffer, size_t number,
                                    int64_t element)>;
Buffers MakeBuffers(const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters, const Fill& fill,
                    bool is_at_end);
// Returns small whole numbers (for floats also halves and negative ones), so
// that sums are exact in any order.
uint64_t SmallValue(const loops::Buffer& buffer, size_t number,
                    int64_t element);

// Runs prologue and phases. Returns "" or the message of a failed check, in the
// evaluator's words.
std::string RunCompiled(const loops::LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const Buffers& buffers);
// Some of the buffers may share memory.
std::string RunCompiled(const loops::LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const std::vector<ForeignBuffer>& buffers);

// Compiles with each effort. Expects the outputs of the evaluator bit for bit,
// except that all NaNs are equal and that MayBeZero elements may be zero, and
// its errors.
void ExpectAsEvaluated(const loops::LoopNest& nest,
                       const std::vector<int64_t>& parameters = {},
                       const Fill& fill = SmallValue);
void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters = {},
                       const Fill& fill = SmallValue);

// True if the bits of two elements are equal, or both are NaNs.
bool IsSame(uint64_t a, uint64_t b, DType type);

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_TESTING_H_
