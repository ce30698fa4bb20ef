#include "vm/isa/analysis.h"

#include <string>

#include "gtest/gtest.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

// The declarations of a module with the input x: f32[4], the output y: f32[4],
// a dispatch @add(a, b -> c), and the constant number 0, f32[4].
constexpr std::string_view kHeader = R"(
module "test" from "test"
constant c: f32[4] = [1, 2, 3, 4]
dispatch @add<N>(%x: f32[N], %w: f32[N]) -> (%y: f32[N]) {
  %y[i] = %x[i] + %w[i]
}
)";

StatusOr<ProgramFacts> Analyze(const std::string& body) {
  const std::string text = std::string(kHeader) +
                           "program main(x: f32[4]) -> (y: f32[4]) {\n" + body +
                           "}\n";
  StatusOr<ModuleDefinition> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  if (!module.ok()) return module.status();
  return AnalyzeProgram(*module, 0);
}

std::string ErrorOf(const std::string& body) {
  const StatusOr<ProgramFacts> facts = Analyze(body);
  return facts.ok() ? "OK" : std::string(facts.status().message());
}

TEST(AnalysisTest, AcceptsSamples) {
  for (const SampleModule& sample : SampleModules()) {
    const ModuleDefinition module = ParseSample(sample.text);
    for (uint32_t i = 0; i < module.programs.size(); ++i) {
      const Status status = VerifyProgram(module, i);
      EXPECT_TRUE(status.ok()) << sample.name << ": " << status.ToString();
    }
  }
}

// A program in which kPaths jumps lead to one long block. At each jump one
// register fewer has been written than at the jump before, so the analysis
// would visit the block once per jump. It must refuse the program instead.
TEST(AnalysisTest, RefusesLongBlocksThatAreVisitedOften) {
  constexpr int kPaths = 400;
  constexpr int kInstructions = 4000;
  const auto number = [](int i) { return std::to_string(i); };
  const std::string condition = "i" + number(kPaths);
  std::string body = "  " + condition + " = integer 1\n";
  for (int i = kPaths - 1; i >= 0; --i) {
    body += "  branch_if " + condition + ", L" + number(1001 + i) + "\n";
    body += "  i" + number(i) + " = integer 0\n";
  }
  body += "  branch L1000\nL1:\n  b0 = input x\n";
  for (int i = 0; i < kInstructions; ++i)
    body += "  " + condition + " = integer 4\n";
  body += "  result y = b0 [" + condition + "]\n  return\n";
  for (int i = 0; i <= kPaths; ++i)
    body += "L" + number(1000 + i) + ":\n  branch L1\n";
  EXPECT_EQ(ErrorOf(body),
            "program main: expected control flow that is verified in 64 visits "
            "per instruction, found a more tangled one");
}

// In each iteration of the program's loop the facts about one register move on
// to the next register, so the analysis would visit the loop once per register
// and copy the facts about all registers each time. It must refuse the program
// instead.
TEST(AnalysisTest, RefusesManyRegistersThatAreVisitedOften) {
  constexpr int kMoves = 400;
  const auto number = [](int i) { return std::to_string(i); };
  std::string body = "  i0 = integer 64\n  b0 = input x\n";
  for (int i = 1; i <= kMoves; ++i)
    body += "  b" + number(i) + " = allocate i0\n";
  body += "  b100000 = allocate i0\n  i1 = integer 1\nL1:\n";
  for (int i = kMoves; i > 0; --i)
    body += "  b" + number(i) + " = move_buffer b" + number(i - 1) + "\n";
  body += "  b0 = view b0, i0, 0\n  branch_if i1, L1\n";
  body += "  result y = b1 [i1]\n  return\n";
  EXPECT_EQ(ErrorOf(body),
            "program main: expected control flow that is verified in 64 visits "
            "per instruction, found a more tangled one");
}

TEST(AnalysisTest, FindsArenaAndConstants) {
  const StatusOr<ProgramFacts> facts = Analyze(R"(
    b0 = input x
    i0 = integer 4
    i1 = integer 16
    b1 = arena 64
    b1 = arena 256
    b2 = constant 0
    b3 = move_buffer b2
    b4 = view b3, i1, 0
    dispatch @add(i0; b0, b4 -> b1)
    dispatch @add(i0; b0, b2 -> b1)
    dispatch @add(i0; b2, b0 -> b1)
    result y = b1 [i0]
    return
)");
  ASSERT_TRUE(facts.ok()) << facts.status().ToString();
  EXPECT_EQ(facts->arena_bytes, 256);
  ASSERT_EQ(facts->sites.size(), 3u);
  EXPECT_EQ(facts->sites[0].inputs[0].constant, -1);
  EXPECT_EQ(facts->sites[0].inputs[1], (ConstantSource{0, 0}));
  EXPECT_EQ(facts->group_count, 2u);
  EXPECT_EQ(facts->sites[0].group, facts->sites[1].group);
  EXPECT_NE(facts->sites[0].group, facts->sites[2].group);
}

TEST(AnalysisTest, ConstantsOnOnePathOnlyAreNotKnown) {
  const StatusOr<ProgramFacts> facts = Analyze(R"(
    i0 = integer 4
    b0 = input x
    b1 = arena 64
    b2 = constant 0
    branch_if i0, L6
    b2 = move_buffer b1
L6:
    dispatch @add(i0; b0, b2 -> b1)
    result y = b1 [i0]
    return
)");
  ASSERT_TRUE(facts.ok()) << facts.status().ToString();
  EXPECT_EQ(facts->sites[0].inputs[1].constant, -1);
}

TEST(AnalysisTest, RegistersMustBeWrittenOnEveryPath) {
  EXPECT_EQ(ErrorOf("i1 = add i0, i0\nresult y = b0 [i0]\nreturn\n"),
            "program main: instruction 0 (add): expected a register written on "
            "every path, found i0");
  EXPECT_EQ(ErrorOf(R"(
    i0 = input_dim x, 0
    branch_if i0, L3
    b0 = input x
L3:
    result y = b0 [i0]
    return
)"),
            "program main: instruction 3 (result): expected a register written "
            "on every path, "
            "found b0");
  EXPECT_EQ(ErrorOf("i0 = integer 4\nb0 = arena 16\nrelease b0\nresult y = b0 "
                    "[i0]\nreturn\n"),
            "program main: instruction 3 (result): expected a register written "
            "on every path, "
            "found b0");
  // The second iteration of the loop would release a register that the first
  // one has released already.
  EXPECT_EQ(ErrorOf(R"(
    i0 = integer 4
    b0 = arena 16
L2:
    release b0
    branch_if i0, L2
    b0 = arena 16
    result y = b0 [i0]
    return
)"),
            "program main: instruction 2 (release): expected a register "
            "written on every path, "
            "found b0");
}

TEST(AnalysisTest, ResultsMustBeSet) {
  EXPECT_EQ(ErrorOf("return\n"),
            "program main: instruction 0 (return): expected result 'y' to be "
            "set on every path "
            "before it, found a path without");
  EXPECT_EQ(
      ErrorOf(
          "i0 = integer 4\nb0 = arena 16\nresult y = b0 [i0, i0]\nreturn\n"),
      "program main: instruction 2 (result): result 'y': expected 1 dims, "
      "found 2");
}

TEST(AnalysisTest, ControlStaysInTheProgram) {
  EXPECT_EQ(ErrorOf("i0 = integer 4\n"),
            "program main: expected return or branch as the last instruction, "
            "found integer");
  EXPECT_EQ(ErrorOf(""), "program main: expected instructions, found none");
  EXPECT_EQ(ErrorOf("L0:\nbranch L0\n"), "OK");
}

TEST(AnalysisTest, InputsAndConstantsAreNotWritten) {
  const std::string expected =
      "program main: instruction 3 (dispatch): expected writable memory to "
      "store to, found b1, "
      "which may be an input or a constant";
  EXPECT_EQ(ErrorOf(R"(
    i0 = integer 4
    b0 = input x
    b1 = constant 0
    dispatch @add(i0; b0, b0 -> b1)
    result y = b1 [i0]
    return
)"),
            expected);
  EXPECT_EQ(ErrorOf(R"(
    i0 = integer 4
    b0 = input x
    b1 = view b0, i0, 0
    dispatch @add(i0; b0, b0 -> b1)
    result y = b1 [i0]
    return
)"),
            expected);
}

TEST(AnalysisTest, OffsetsKeepAlignment) {
  EXPECT_EQ(ErrorOf("i0 = integer 4\nb0 = arena 128\nb1 = view b0, i0, "
                    "32\nresult y = b1 [i0]\nreturn\n"),
            "program main: instruction 2 (view): expected a offset that is a "
            "multiple of 64 and not "
            "negative, found 32");
  EXPECT_EQ(
      ErrorOf("b0 = arena -64\ni0 = integer 4\nresult y = b0 [i0]\nreturn\n"),
      "program main: instruction 0 (arena): expected a size that is a multiple "
      "of 1 and not "
      "negative, found -64");
  EXPECT_EQ(
      ErrorOf("b0 = arena 64\ni0 = load_integer b0, i64, 4\nresult y = b0 "
              "[i0]\nreturn\n"),
      "program main: instruction 1 (load_integer): expected a offset "
      "that is a multiple of 8 "
      "and not negative, found 4");
}

// Returns the error of a module with two programs: main, and a program that
// main may call.
std::string CallErrorOf(const std::string& body, const std::string& called,
                        uint32_t number = 0) {
  const std::string text =
      std::string(kHeader) +
      "program main<N>(x: f32[4]) -> (y: f32[4]) integers 8 buffers 8 {\n" +
      body + "}\n" + called;
  const StatusOr<ModuleDefinition> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  if (!module.ok()) return "";
  const Status status = VerifyProgram(*module, number);
  return status.ok() ? "OK" : std::string(status.message());
}

constexpr const char* kCalled = R"(
program copy<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  result y = b0 [i0]
  return
}
)";
constexpr const char* kEnd = "i7 = integer 4\nresult y = b1 [i7]\nreturn\n";

TEST(CallAnalysisTest, OperandsAreThoseOfTheSignature) {
  const std::string begin = "b0 = input x\ni0 = integer 4\n";
  EXPECT_EQ(CallErrorOf(begin + "call_program copy(i0; b0 -> b1 [i1])\n" + kEnd,
                        kCalled),
            "OK");
  const std::string where = "program main: instruction 2 (call_program): ";
  EXPECT_EQ(CallErrorOf(begin + "call_program copy(i0; b0 -> b1 [])\n" + kEnd,
                        kCalled),
            where + "program copy: expected 4 operands, found 3");
  EXPECT_EQ(CallErrorOf(begin + "call_program 2(i0; b0 -> b1 [i1])\n" + kEnd,
                        kCalled),
            where + "expected a program below 2, found 2");
  EXPECT_EQ(
      CallErrorOf(begin + "call_program main(b0 -> b1 [i1])\n" + kEnd, kCalled),
      where +
          "expected a program with a number above 0, the caller's, "
          "found 0");
  EXPECT_EQ(
      CallErrorOf("call_program copy(i0; b0 -> b1 [i1])\n" + std::string(kEnd),
                  kCalled),
      "program main: instruction 0 (call_program): expected a register "
      "written on every path, found i0");
  EXPECT_EQ(CallErrorOf("i0 = integer 4\ncall_program copy(i0; b0 -> b1 "
                        "[i1])\n" +
                            std::string(kEnd),
                        kCalled),
            "program main: instruction 1 (call_program): expected a register "
            "written on every path, found b0");
}

TEST(CallAnalysisTest, NoRecursion) {
  const std::string begin =
      "b0 = input x\ni0 = integer 4\ncall_program copy(i0; b0 -> b1 [i1])\n";
  EXPECT_EQ(CallErrorOf(begin + kEnd, R"(
program copy<N>[N](x: f32[N]) -> (y: f32[N]) {
  b0 = input x
  call_program copy(i0; b0 -> b1 [i0])
  result y = b1 [i0]
  return
}
)",
                        1),
            "program copy: instruction 1 (call_program): expected a program "
            "with a number above 1, the caller's, found 1");
}

TEST(CallAnalysisTest, ResultsOfCallsAreReadOnly) {
  EXPECT_EQ(CallErrorOf(R"(
    b0 = input x
    i0 = integer 4
    call_program copy(i0; b0 -> b1 [i1])
    dispatch @add(i0; b0, b0 -> b1)
)" + std::string(kEnd),
                        kCalled),
            "program main: instruction 3 (dispatch): expected writable memory "
            "to store to, found b1, which may be an input or a constant");
  // The result of a call may be appended to, although it may be an input's
  // memory: append copies memory that other registers refer to.
  EXPECT_EQ(CallErrorOf(R"(
    b0 = input x
    i0 = integer 4
    call_program copy(i0; b0 -> b1 [i1])
    append b1, i0, b0, i0
    dispatch @add(i0; b0, b0 -> b1)
)" + std::string(kEnd),
                        kCalled),
            "OK");
}

TEST(CallAnalysisTest, ParametersAreTheIntegersOfACalledProgram) {
  const auto error = [](const std::string& called) {
    return CallErrorOf("b1 = input x\n" + std::string(kEnd),
                       "program p" + called, 1);
  };
  EXPECT_EQ(error("[N](x: f32[2]) -> () {\ni1 = add i0, i0\nreturn\n}\n"),
            "OK");
  EXPECT_EQ(error("[N](x: f32[2]) -> () {\ni1 = add i1, i0\nreturn\n}\n"),
            "program p: instruction 0 (add): expected a register written on "
            "every path, found i1");
  EXPECT_EQ(error("[N, N](x: f32[2]) -> () {\nreturn\n}\n"),
            "program p: expected parameters with different names");
  EXPECT_EQ(error("[N](x: f32[2]) -> () integers 0 {\nreturn\n}\n"),
            "program p: expected at most 0 parameters, found 1");
  EXPECT_EQ(
      error("<N, \"?\", M>[N](x: f32[M, $1]) -> () {\nreturn\n}\n"),
      "program p: expected symbols that are parameters or \"?\", found M");
  EXPECT_EQ(error("[N](x: f32[2]) -> () {\ni0 = input_dim x, 0\nreturn\n}\n"),
            "program p: instruction 0 (input_dim): expected it in the entry "
            "program only, found it here");
  std::string many = "[p0";
  for (int i = 1; i <= 4096; ++i) many += ", p" + std::to_string(i);
  EXPECT_EQ(error(many + "](x: f32[2]) -> () {\nreturn\n}\n"),
            "program p: expected at most 4096 parameters, found 4097");
  const StatusOr<ModuleDefinition> module = ParseModule(
      "module \"t\" from \"t\"\nprogram main[N]() -> () {\nreturn\n}\n");
  EXPECT_EQ(VerifyProgram(*module, 0).message(),
            "program main: expected at most 0 parameters, found 1");
}

TEST(AnalysisTest, IntegersInMemory) {
  EXPECT_EQ(ErrorOf("b0 = arena 64\ni0 = load_integer b0, u16, 3\nresult y = "
                    "b0 [i0]\nreturn\n"),
            "program main: instruction 1 (load_integer): expected a offset "
            "that is a multiple of 2 and not negative, found 3");
  EXPECT_EQ(ErrorOf("b0 = arena 64\ni0 = load_integer b0, f32, 4\nresult y = "
                    "b0 [i0]\nreturn\n"),
            "program main: instruction 1 (load_integer): expected an integer "
            "type or bool, found f32");
  const std::string end = "result y = b0 [i0]\nreturn\n";
  EXPECT_EQ(
      ErrorOf("i0 = integer 4\nb0 = arena 64\nstore_integer b0, i0, 12\n" +
              end),
      "program main: instruction 2 (store_integer): expected a offset "
      "that is a multiple of 8 and not negative, found 12");
  for (const char* source : {"input x", "constant 0", "slice_at b1, i0, i0"}) {
    EXPECT_EQ(
        ErrorOf("b1 = arena 64\ni0 = integer 4\nb0 = " + std::string(source) +
                "\nstore_integer b0, i0, 8\n" + end),
        "program main: instruction 3 (store_integer): expected writable "
        "memory to store to, found b0, which may be an input or a "
        "constant");
  }
  EXPECT_EQ(
      ErrorOf("i0 = integer 4\nb1 = arena 64\nappend b0, i0, b1, i0\n" + end),
      "program main: instruction 2 (append): expected a register written "
      "on every path, found b0");
}

// Tests the verifier with programs whose fields are changed directly, for
// errors that the text form cannot express.
class StructureTest : public testing::Test {
 protected:
  ModuleDefinition module_ = SampleNamed("static");
  Program& program() { return module_.programs[0]; }
  std::string Error() {
    const Status status = VerifyProgram(module_, 0);
    return status.ok() ? "OK" : std::string(status.message());
  }
};

TEST_F(StructureTest, NumbersAreInRange) {
  EXPECT_EQ(Error(), "OK");
  program().instructions[0].b = 1;
  EXPECT_EQ(
      Error(),
      "program main: instruction 0 (input): expected a input below 1, found 1");
  program().instructions[0] = {ProgramOpcode::kInputBuffer, 99, 0, 0, 0};
  EXPECT_EQ(Error(),
            "program main: instruction 0 (input): expected a buffer register "
            "below 6, found 99");
  program().instructions[0] = {ProgramOpcode::kInputBuffer, 0, 0, 7, 0};
  EXPECT_EQ(Error(),
            "program main: instruction 0 (input): expected 0 in an unused "
            "field, found 7");
  program().instructions[0] = {ProgramOpcode::kConstantBuffer, 0, 2, 0, 0};
  EXPECT_EQ(Error(),
            "program main: instruction 0 (constant): expected a constant below "
            "2, found 2");
  program().instructions[0] = {ProgramOpcode::kBranch, 0, 0, 0, 12};
  EXPECT_EQ(Error(),
            "program main: instruction 0 (branch): expected a branch target "
            "below 12, found 12");
  program().instructions[0] = {ProgramOpcode::kInputDim, 0, 0, 0, 2};
  EXPECT_EQ(Error(),
            "program main: instruction 0 (input_dim): expected a dim below 2, "
            "found 2");
}

TEST_F(StructureTest, OperandListsAreComplete) {
  program().instructions[7].c = 2;
  EXPECT_EQ(Error(),
            "program main: instruction 7 (dispatch): dispatch @gemm: expected "
            "3 operands, found 2");
  program().instructions[7].c = 3;
  program().operands[2] = 6;
  EXPECT_EQ(Error(),
            "program main: instruction 7 (dispatch): expected a buffer "
            "register below 6, found 6");
  program().operands[2] = 2;
  program().instructions[8].b = 2;
  EXPECT_EQ(Error(),
            "program main: instruction 8 (dispatch): expected at most 5 "
            "operands from position 3, "
            "found 3 from position 2");
  program().instructions[8].b = 3;
  program().operands.push_back(0);
  EXPECT_EQ(Error(), "program main: expected 8 operands in all, found 9");
}

TEST_F(StructureTest, LimitsHold) {
  program().integer_register_count = 1 << 30;
  EXPECT_EQ(Error(),
            "program main: expected at most 1048576 registers of a kind, found "
            "1073741824");
  program().integer_register_count = 2;
  program().inputs[0].dims[0] = -2;
  EXPECT_EQ(Error(),
            "program main: input 'x:0': expected dims that are extents or one "
            "of 0 symbols, found "
            "-2");
  program().inputs[0].dims.assign(40, 1);
  EXPECT_EQ(Error(),
            "program main: input 'x:0': expected at most 32 dims, found 40");
}

// A program with many blocks and many registers must be refused before its
// analysis, which would take gigabytes.
TEST_F(StructureTest, ComplexityIsBounded) {
  program().buffer_register_count = 1 << 20;
  std::vector<ProgramInstruction> code(100,
                                       {ProgramOpcode::kBranch, 0, 0, 0, 0});
  for (size_t i = 0; i < code.size(); ++i)
    code[i].immediate = static_cast<int64_t>(i);
  program().instructions = code;
  program().operands.clear();
  EXPECT_EQ(Error().substr(0, 57),
            "program main: expected at most 4194304 blocks times regis");
}

}  // namespace
}  // namespace ember::vm
