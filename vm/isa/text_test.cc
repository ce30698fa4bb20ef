#include "vm/isa/text.h"

#include <random>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"
#include "vm/format/verifier.h"
#include "vm/isa/analysis.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"
#include "vm/isa/operand_list.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::vm {
namespace {

void ExpectSameModule(const ModuleDefinition& a, const ModuleDefinition& b) {
  EXPECT_EQ(a.producer, b.producer);
  EXPECT_EQ(a.source_name, b.source_name);
  EXPECT_EQ(a.dispatches, b.dispatches);
  EXPECT_EQ(a.dispatch_origins, b.dispatch_origins);
  EXPECT_EQ(a.programs, b.programs);
  EXPECT_EQ(a.strings, b.strings);
  ASSERT_EQ(a.metadata.size(), b.metadata.size());
  for (size_t i = 0; i < a.metadata.size(); ++i) {
    EXPECT_EQ(a.metadata[i].key, b.metadata[i].key);
    EXPECT_EQ(a.metadata[i].value, b.metadata[i].value);
  }
  ASSERT_EQ(a.constants.size(), b.constants.size());
  for (size_t i = 0; i < a.constants.size(); ++i) {
    EXPECT_EQ(a.constants[i].name, b.constants[i].name);
    EXPECT_EQ(a.constants[i].type, b.constants[i].type);
    EXPECT_EQ(a.constants[i].dims, b.constants[i].dims);
    EXPECT_TRUE(std::ranges::equal(a.constants[i].data, b.constants[i].data));
  }
}

TEST(ModuleTextTest, SamplesRoundTrip) {
  for (const SampleModule& sample : SampleModules()) {
    const ModuleDefinition module = ParseSample(sample.text);
    const std::string text = PrintModule(module, {.inline_constant_bytes = -1});
    const StatusOr<ModuleDefinition> again = ParseModule(text);
    ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << text;
    ExpectSameModule(module, *again);
    EXPECT_EQ(PrintModule(*again, {.inline_constant_bytes = -1}), text);
  }
}

// Every instruction of the table must be in some sample, so that tests parse,
// print and run all of them.
TEST(ModuleTextTest, SamplesUseEveryInstruction) {
  std::vector<int> uses(kProgramOpcodeCount);
  for (const SampleModule& sample : SampleModules()) {
    const ModuleDefinition module = ParseSample(sample.text);
    for (const Program& program : module.programs) {
      for (const ProgramInstruction& in : program.instructions)
        ++uses[static_cast<int>(in.opcode)];
    }
  }
  for (int i = 0; i < kProgramOpcodeCount; ++i) {
    EXPECT_GT(uses[i], 0) << InfoOf(static_cast<ProgramOpcode>(i)).text;
  }
}

TEST(ModuleTextTest, PrintsReadably) {
  const ModuleDefinition module = SampleNamed("static");
  EXPECT_EQ(PrintProgram(module.programs[0], module),
            R"(program main("x:0": f32[2, 3]) -> ("z:0": f32[2, 2]) {
  b0 = input "x:0"
  b1 = arena 128
  i0 = integer 16
  b2 = view b1, i0, 0
  b3 = view b1, i0, 64
  b4 = constant 0 (w)
  b5 = constant 1 ("b:0")
  dispatch @gemm(b0, b4 -> b2)
  dispatch @bias_relu(b2, b5 -> b3)
  i1 = integer 2
  result "z:0" = b3 [i1, i1]
  return
}
)");
}

TEST(ModuleTextTest, MetadataIsSortedAndUnique) {
  const StatusOr<ModuleDefinition> module = ParseModule(
      "module a from b metadata z = \"\" metadata a = \"\\xc3\\xa4\\x0a\"");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(PrintModule(*module),
            "module \"a\" from \"b\"\nmetadata \"a\" = "
            "\"\\xc3\\xa4\\x0a\"\nmetadata \"z\" = \"\"\n");
  EXPECT_EQ(ParseModule("module a from b metadata k = \"\" metadata k = \"\"")
                .status()
                .message(),
            "1:42: expected each key once, found it again");
}

TEST(ModuleTextTest, LargeConstantsAreElided) {
  const ModuleDefinition module = SampleNamed("static");
  const std::string text = PrintModule(module, {.inline_constant_bytes = 8});
  EXPECT_NE(text.find("constant w: f32[3, 2] elided 0x"), std::string::npos)
      << text;
  const StatusOr<ModuleDefinition> again = ParseModule(text);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.status().message(),
            "3:23: constant 'w': expected its values in the text, found only "
            "their hash (vm-dump --values prints them)");
}

TEST(ModuleTextTest, ConstantsOfAllTypesRoundTrip) {
  for (int t = 0; t < kDTypeCount; ++t) {
    const DType type = static_cast<DType>(t);
    // The values cover the special cases of the types: every byte of the
    // constant is `fill`, except that one bit of the last byte is flipped. As
    // floats, 0xff gives NaNs; 0x7f gives NaNs or very large numbers; 0x01 and
    // 0x80 give numbers close to 0 (0x80 in types of 8 bits: -0); and 0x3c with
    // the flipped bit gives an infinity (f8e5m2) or a NaN (f16).
    for (uint8_t fill : {0x00, 0x01, 0x3c, 0x7f, 0x80, 0xff}) {
      ModuleDefinition module = SampleNamed("static");
      std::vector<uint8_t> bytes(3 * static_cast<size_t>(DTypeByteSize(type)),
                                 fill);
      bytes.back() ^= 0x40;
      Constant& constant = module.constants[0];
      constant.type = type;
      constant.dims = {3};
      constant.data = bytes;
      const std::string text = PrintModule(module);
      const StatusOr<ModuleDefinition> again = ParseModule(text);
      ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n" << text;
      EXPECT_TRUE(std::ranges::equal(again->constants[0].data, bytes)) << text;
    }
  }
}

std::string ParseError(const std::string& body) {
  const ModuleDefinition module = SampleNamed("static");
  const StatusOr<Program> program = ParseProgram(
      "program p(x: f32[2]) -> (y: f32[2]) {\n" + body + "}", module);
  return program.ok() ? "OK" : std::string(program.status().message());
}

TEST(ProgramTextTest, ErrorsNamePlaceAndExpectation) {
  EXPECT_EQ(ParseError("jump L0\n"),
            "2:1: expected an instruction, found 'jump'");
  EXPECT_EQ(ParseError("i0 = add i1\n"), "3:1: expected ',', found '}'");
  EXPECT_EQ(ParseError("i0 = add i1, b2\n"),
            "2:14: expected an integer register, found 'b2'");
  EXPECT_EQ(ParseError("b0 = input z\n"), "2:12: expected an input, found 'z'");
  EXPECT_EQ(ParseError("branch L3\n"),
            "2:8: expected a label of the program, found L3");
  EXPECT_EQ(ParseError("i0 = return\n"),
            "2:6: return: expected no register before it");
  EXPECT_EQ(ParseError("dispatch @nothing()\n"),
            "2:10: expected a dispatch of the module, found @nothing");
  EXPECT_EQ(ParseError("call nothing()\n"),
            "2:6: expected a library function, found 'nothing'");
  EXPECT_EQ(ParseError("i0 = integer 99999999999999999999\n"),
            "2:14: the number does not fit 64 bits");
}

// Returns a random program that has the structure of a valid one. Most such
// programs do not pass verification, but all must be the same after printing
// and parsing.
Program RandomProgram(std::mt19937_64& random, const ModuleDefinition& module) {
  const auto below = [&](uint64_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  const char* names[] = {"x", "y", "", "a:0", "f32", "12"};
  Program program;
  program.name = below(2) == 0 ? "main" : "odd name \"1\"\n";
  for (uint32_t i = below(4); i > 0; --i)
    program.symbols.push_back(below(2) == 0 ? "?" : "N");
  for (uint32_t i = below(4); i > 0; --i)
    program.parameters.push_back(names[below(6)]);
  for (auto* signatures : {&program.inputs, &program.results}) {
    for (uint32_t i = 1 + below(3); i > 0; --i) {
      TensorSignature signature{
          names[below(6)], static_cast<DType>(below(kDTypeCount)), {}};
      for (uint32_t d = below(3); d > 0; --d) {
        const bool symbolic = !program.symbols.empty() && below(2) == 0;
        signature.dims.push_back(
            symbolic ? -1 - static_cast<int64_t>(below(program.symbols.size()))
                     : below(100));
      }
      if (below(3) == 0) signature.logical_type = names[1 + below(5)];
      signatures->push_back(signature);
    }
  }
  program.messages = {"first \"one\"\n\x01", ""};
  program.integer_register_count = 8 + below(2);
  program.buffer_register_count = 8;
  const uint32_t count = 1 + below(40);
  const auto field = [&](char letter) -> int64_t {
    switch (letter) {
      case 'n':
        return below(program.inputs.size());
      case 'r':
        return below(program.results.size());
      case 'k':
        return below(module.constants.size());
      case 'd':
        return below(module.dispatches.size());
      case 'm':
        return below(2);
      case 'p':
        return below(module.programs.size());
      case 'y':
        return below(kDTypeCount);
      case 't':
        return below(count);
      case 'v':
        return static_cast<int64_t>(random());
      case '-':
        return 0;
      default:
        return below(8);
    }
  };
  for (uint32_t i = 0; i < count; ++i) {
    ProgramInstruction in;
    in.opcode = static_cast<ProgramOpcode>(below(kProgramOpcodeCount));
    const std::string_view letters = InfoOf(in.opcode).operands;
    in.a = static_cast<uint32_t>(field(letters[0]));
    in.b = static_cast<uint32_t>(field(letters[1]));
    in.c = static_cast<uint32_t>(field(letters[2]));
    in.immediate = field(letters[3]);
    if (in.opcode == ProgramOpcode::kLibraryCall)
      in.a = below(kLibraryFunctionCount);
    if (HasOperandList(in.opcode)) {
      const std::string listed = ListLetters(program, module, in);
      const uint32_t first = static_cast<uint32_t>(program.operands.size());
      const uint32_t count = static_cast<uint32_t>(listed.size());
      if (in.opcode == ProgramOpcode::kResult) {
        in.c = first;
        in.immediate = count;
      } else {
        in.b = first;
        in.c = count;
      }
      for (uint32_t k = 0; k < count; ++k) program.operands.push_back(below(8));
    }
    program.instructions.push_back(in);
  }
  return program;
}

TEST(ProgramTextTest, RandomProgramsRoundTrip) {
  const SeedRange seeds = TestSeeds(2000);
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    std::mt19937_64 random(seed);
    const ModuleDefinition module =
        SampleNamed(random() % 2 == 0 ? "shapes" : "calls");
    const Program program = RandomProgram(random, module);
    const std::string text = PrintProgram(program, module);
    const StatusOr<Program> again = ParseProgram(text, module);
    ASSERT_TRUE(again.ok()) << again.status().ToString() << "\n"
                            << text << "replay: EMBER_SEED=" << seed;
    ASSERT_EQ(program, *again)
        << text << "replay: EMBER_SEED=" << seed
        << " bazel test //vm/isa:text_test --test_env=EMBER_SEED";
  }
}

}  // namespace
}  // namespace ember::vm
