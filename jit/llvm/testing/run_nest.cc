#include "jit/llvm/testing/run_nest.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/dtype.h"
#include "base/hash.h"
#include "base/rounding.h"
#include "gtest/gtest.h"
#include "hal/cpu/target.h"
#include "jit/llvm/testing/foreign.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "jit/loops/text/text.h"
#include "tensor/scalar.h"

namespace ember::jit::llvm_ir {

using loops::Buffer;
using loops::LoopNest;
using loops::MemoryScope;
using tensor::NodeId;
using tensor::Opcode;

namespace {

// Evaluates an expression of constants and parameters, such as an extent, and
// returns its bits.
uint64_t Evaluate(const LoopNest& nest, NodeId id,
                  const std::vector<int64_t>& parameters) {
  const tensor::Node& node = nest.pool[id];
  if (node.opcode == Opcode::kConstant) return node.immediate;
  if (node.opcode == Opcode::kParameter)
    return static_cast<uint64_t>(parameters[node.immediate]);
  uint64_t values[3] = {};
  EMBER_CHECK(!node.operands.empty() && node.operands.size() <= 3);
  for (size_t i = 0; i < node.operands.size(); ++i) {
    values[i] = Evaluate(nest, node.operands[i], parameters);
  }
  return tensor::EvaluateScalar(node.opcode, nest.pool[node.operands[0]].type,
                                node.type, {values[0], values[1], values[2]});
}

int64_t ElementsOf(const LoopNest& nest, const Buffer& buffer,
                   const std::vector<int64_t>& parameters) {
  int64_t elements = 1;
  for (NodeId extent : buffer.extents) {
    elements *= static_cast<int64_t>(Evaluate(nest, extent, parameters));
  }
  return elements;
}

bool IsArgument(const Buffer& buffer) {
  return buffer.scope == MemoryScope::kInput ||
         buffer.scope == MemoryScope::kOutput;
}

std::vector<void*> Pointers(const Buffers& buffers, size_t count) {
  std::vector<void*> result;
  for (size_t i = 0; i < count; ++i) result.push_back(buffers[i]->data());
  return result;
}

void ExpectSameOutputs(const LoopNest& nest, const Buffers& expected,
                       const Buffers& found) {
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const Buffer& buffer = nest.buffers[i];
    if (!IsArgument(buffer)) continue;
    const int64_t elements = expected[i]->bytes() / DTypeByteSize(buffer.type);
    for (int64_t j = 0; j < elements; ++j) {
      const uint64_t want =
          tensor::LoadElement(expected[i]->data(), j, buffer.type);
      const uint64_t have =
          tensor::LoadElement(found[i]->data(), j, buffer.type);
      if (IsSame(want, have, buffer.type)) continue;
      if (MayBeZero(buffer.type, want) &&
          tensor::BitsToDouble(have, buffer.type) == 0)
        continue;
      ADD_FAILURE() << "%" << buffer.name << "[" << j << "]: expected "
                    << tensor::BitsToDouble(want, buffer.type) << ", found "
                    << tensor::BitsToDouble(have, buffer.type);
      return;
    }
  }
}

}  // namespace

namespace {

// Returns the emulator of the processor under test; null if its code runs on
// this machine.
ForeignMachine* TestMachine() {
  static ForeignMachine* const machine = []() -> ForeignMachine* {
    const Processor* const processor = TestProcessor();
    if (processor == nullptr || processor->emulator.empty()) return nullptr;
    static std::unique_ptr<ForeignMachine> created;
    created = ForeignMachine::Create(*processor);
    return created.get();
  }();
  return machine;
}

// Returns LLVM's name of the processor under test; "" means this machine.
std::string TestCpu() {
  const Processor* const processor = TestProcessor();
  return processor == nullptr ? "" : std::string(processor->llvm);
}

// Returns true if a folder of the environment's PATH has the program.
bool IsInPath(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// Skips all tests if this machine cannot run the code of the processor under
// test. It is a listener, because tests that a gtest environment skips are
// reported as completed.
class SkipWhereItCannotRun : public ::testing::EmptyTestEventListener {
 public:
  void OnTestProgramStart(const ::testing::UnitTest&) override {
    missing_ = TestMissingHere();
    if (!missing_.empty()) std::printf("NOT RUN: %s\n", missing_.c_str());
  }
  void OnTestStart(const ::testing::TestInfo&) override {
    if (!missing_.empty()) GTEST_SKIP() << missing_;
  }

 private:
  std::string missing_;
};

[[maybe_unused]] const bool skips_where_it_cannot_run = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(
      new SkipWhereItCannotRun);
  return true;
}();

}  // namespace

const Processor* TestProcessor() {
  static const Processor* const processor = []() -> const Processor* {
    const char* const name = std::getenv("EMBER_TEST_PROCESSOR");
    if (name == nullptr) return nullptr;
    const Processor* const found = FindProcessor(name);
    EMBER_CHECK(found != nullptr) << "expected a processor of "
                                     "jit/target/testing/processors.cc, found "
                                  << name;
    return found;
  }();
  return processor;
}

std::string TestMissingHere() {
  const Processor* const processor = TestProcessor();
  if (processor == nullptr) return "";
  if (processor->emulator == "node" && !IsInPath("node"))
    return std::string(processor->name) + ", as node is missing";
  if (!processor->emulator.empty()) return "";
  const auto missing = MissingHere(TestCpu());
  EMBER_CHECK(missing.ok()) << missing.status().ToString();
  if (missing->empty()) return "";
  return std::string(processor->name) + ", as this machine lacks " + *missing;
}

std::string TestMachineName() {
  const Processor* const processor = TestProcessor();
  return std::string(processor == nullptr ? "this machine" : processor->name);
}

bool KeepsSubnormals() {
  return TestProcessor() == nullptr || TestProcessor()->keeps_subnormals;
}

bool MayBeZero(DType type, uint64_t bits) {
  return !KeepsSubnormals() && type != DType::kF64 &&
         loops::IsSubnormal(type, bits);
}

CpuModel TestCpuModel() {
  const Processor* const processor = TestProcessor();
  return CpuModel::Of(processor == nullptr ? hal::HostTarget()
                                           : std::string(processor->target));
}

Compiler& TestCompiler() {
  if (ForeignMachine* const machine = TestMachine()) return machine->compiler();
  static Compiler* compiler = [] {
    auto created = NewLlvmCompiler(TestCpu());
    EMBER_CHECK(created.ok()) << created.status().message();
    return std::move(*created).release();
  }();
  return *compiler;
}

LoopNest ParseOrDie(const std::string& text) {
  StatusOr<LoopNest> nest = loops::Parse(text);
  EMBER_CHECK(nest.ok()) << nest.status().message() << "\n" << text;
  return std::move(*nest);
}

std::string WithSmallFactor(std::string text, int lanes, int low, int high) {
  const std::string width = std::to_string(lanes);
  const std::pair<std::string, std::string> replaced[] = {
      {"%b[k", "%p[k"},
      {"phase", "packed %p: i8[9, " + width +
                    ", 4]\n    prologue t < 1 { for k < 9 { for l < " + width +
                    " { for q < 4 { %p[k, l, q] = min(max(%b[k, l, q], " +
                    std::to_string(low) + "), " + std::to_string(high) +
                    ") } } } }\n    phase"}};
  for (const auto& [from, to] : replaced) {
    const size_t at = text.find(from);
    EMBER_CHECK(at != std::string::npos) << text;
    text.replace(at, from.size(), to);
  }
  return text;
}

std::unique_ptr<CompiledNest> CompileOrDie(const LoopNest& nest,
                                           const CompileOptions& options) {
  auto code = TestCompiler().Compile(nest, options);
  EMBER_CHECK(code.ok()) << code.status().message() << "\n"
                         << loops::ToText(nest);
  return std::move(*code);
}

std::string CompileError(const std::string& text) {
  const auto code = TestCompiler().Compile(ParseOrDie(text), {});
  return code.ok() ? "" : code.status().ToString();
}

GuardedMemory::GuardedMemory(int64_t bytes, bool is_at_end) : bytes_(bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t inner = RoundUp(bytes, page);
  mapped_ = inner + 2 * page;
  void* memory = mmap(nullptr, static_cast<size_t>(mapped_), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EMBER_CHECK(memory != MAP_FAILED);
  base_ = static_cast<char*>(memory);
  EMBER_CHECK(inner == 0 || mprotect(base_ + page, static_cast<size_t>(inner),
                                     PROT_READ | PROT_WRITE) == 0);
  data_ = base_ + page + (is_at_end ? inner - bytes : 0);
}

GuardedMemory::~GuardedMemory() { munmap(base_, static_cast<size_t>(mapped_)); }

Buffers MakeBuffers(const LoopNest& nest,
                    const std::vector<int64_t>& parameters, const Fill& fill,
                    bool is_at_end) {
  Buffers buffers;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const Buffer& buffer = nest.buffers[i];
    const int64_t elements = ElementsOf(nest, buffer, parameters);
    buffers.push_back(std::make_unique<GuardedMemory>(
        elements * DTypeByteSize(buffer.type), is_at_end));
    for (int64_t j = 0; j < elements; ++j) {
      tensor::StoreElement(buffers[i]->data(), j, buffer.type,
                           fill(buffer, i, j));
    }
  }
  return buffers;
}

uint64_t SmallValue(const Buffer& buffer, size_t number, int64_t element) {
  const uint64_t hash =
      HashCombine(number + 1, static_cast<uint64_t>(element)) >> 7;
  if (buffer.type == DType::kBool) return hash % 2;
  if (!IsFloat(buffer.type)) return hash % 5;
  return tensor::DoubleToBits(static_cast<double>(hash % 17) / 2 - 4,
                              buffer.type);
}

std::string RunCompiled(const LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const Buffers& buffers) {
  std::vector<ForeignBuffer> memory;
  for (const auto& buffer : buffers)
    memory.push_back({buffer->data(), buffer->bytes()});
  return RunCompiled(nest, code, parameters, memory);
}

std::string RunCompiled(const LoopNest& nest, const CompiledNest& code,
                        const std::vector<int64_t>& parameters,
                        const std::vector<ForeignBuffer>& buffers) {
  const auto error_of = [&](const vm::IndexFailure& failure) {
    return "loops @" + nest.name + ": buffer %" +
           nest.buffers[failure.buffer].name + ": expected index " +
           std::to_string(failure.dim) + " in 0.." +
           std::to_string(failure.extent - 1) + ", found " +
           std::to_string(failure.index);
  };
  if (ForeignMachine* const machine = TestMachine()) {
    std::vector<int64_t> tasks;
    for (const auto* phases : {&nest.prologue, &nest.phases}) {
      for (const loops::Phase& phase : *phases) {
        const NodeId extent = nest.pool[phase.task].operands[0];
        tasks.push_back(
            static_cast<int64_t>(Evaluate(nest, extent, parameters)));
      }
    }
    vm::IndexFailure failure;
    const bool ok =
        machine->Run(nest, code, parameters, tasks, buffers, failure);
    return ok ? "" : error_of(failure);
  }
  std::vector<void*> pointers;
  for (const ForeignBuffer& buffer : buffers) pointers.push_back(buffer.data);
  const auto run = [&](const loops::Phase& phase,
                       vm::PhaseFunction function) -> std::string {
    const NodeId extent = nest.pool[phase.task].operands[0];
    const auto tasks = static_cast<int64_t>(Evaluate(nest, extent, parameters));
    vm::IndexFailure failure;
    for (const bool is_second_half : {false, true}) {
      const int64_t begin = is_second_half ? tasks / 2 : 0;
      const int64_t end = is_second_half ? tasks : tasks / 2;
      if (function(parameters.data(), pointers.data(), begin, end, &failure) ==
          0)
        continue;
      return error_of(failure);
    }
    return "";
  };
  std::string error;
  for (size_t i = 0; i < nest.prologue.size() && error.empty(); ++i)
    error = run(nest.prologue[i], code.prologue[i]);
  for (size_t i = 0; i < nest.phases.size() && error.empty(); ++i)
    error = run(nest.phases[i], code.phases[i]);
  return error;
}

void ExpectAsEvaluated(const LoopNest& nest,
                       const std::vector<int64_t>& parameters,
                       const Fill& fill) {
  size_t arguments = 0;
  for (const Buffer& buffer : nest.buffers) arguments += IsArgument(buffer);
  const Buffers expected = MakeBuffers(nest, parameters, fill, false);
  const Status status =
      loops::Evaluate(nest, parameters, Pointers(expected, arguments));
  for (const Effort effort : {Effort::kFast, Effort::kFull}) {
    SCOPED_TRACE(effort == Effort::kFast ? "fast" : "full");
    const auto code = CompileOrDie(nest, {.effort = effort, .keep_llvm = true});
    for (const bool is_at_end : {false, true}) {
      const Buffers found = MakeBuffers(nest, parameters, fill, is_at_end);
      EXPECT_EQ(RunCompiled(nest, *code, parameters, found), status.message());
      if (status.ok()) ExpectSameOutputs(nest, expected, found);
    }
    if (::testing::Test::HasFailure()) {
      FAIL() << loops::ToText(nest) << code->llvm;
    }
  }
}

void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters,
                       const Fill& fill) {
  ExpectAsEvaluated(ParseOrDie(text), parameters, fill);
}

bool IsSame(uint64_t a, uint64_t b, DType type) {
  if (a == b) return true;
  return IsFloat(type) && std::isnan(tensor::BitsToDouble(a, type)) &&
         std::isnan(tensor::BitsToDouble(b, type));
}

}  // namespace ember::jit::llvm_ir
