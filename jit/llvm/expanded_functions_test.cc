// Every arithmetic row on every type against tensor::EvaluateScalar, bit for
// bit: one value at a time, in 16 lanes and in 7.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing.h"
#include "jit/loops/arithmetic_cases.h"
#include "jit/math/expand.h"
#include "tensor/instructions.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

using loops::ArithmeticCase;
using loops::BitPatterns;
using loops::IsForOthers;
using tensor::InfoOf;
using tensor::InstructionGroup;
using tensor::NodeId;
using tensor::Opcode;

constexpr DType kTypes[] = {
#define EMBER_ROW(name, ...) DType::k##name,
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
};

std::string Name(DType type) { return std::string(DTypeName(type)); }

// All pairs of patterns of a and b; c is random.
void ExpectCase(const ArithmeticCase& test) {
  const std::vector<uint64_t> as = BitPatterns(test.a),
                              bs = BitPatterns(test.b),
                              cs = BitPatterns(test.c);
  const size_t pairs = as.size() * bs.size();
  const size_t count = (pairs + 111) / 112 * 112;
  const auto number = std::to_string(count);
  const auto buffer = [&](const char* name, const char* scope, DType type) {
    return std::string("%") + name + ": " + scope + " " + Name(type) + "[" +
           number + "]";
  };
  std::string text = "loops @test(" + buffer("a", "input", test.a) + ", " +
                     buffer("b", "input", test.b) + ", " +
                     buffer("c", "input", test.c) + ", " +
                     buffer("s", "output", test.result) + ", " +
                     buffer("v", "output", test.result) + ", " +
                     buffer("o", "output", test.result) + ") {\n";
  text +=
      "phase i < " + number + " { %s[i] = " + test.ExpressionAt("i") + " }\n";
  text +=
      "phase i < " + std::to_string(count / 16) +
      " { vector l < 16 { %v[i * 16 + l] = " + test.ExpressionAt("i * 16 + l") +
      " } }\n";
  text +=
      "phase i < " + std::to_string(count / 7) +
      " { vector l < 7 { %o[i * 7 + l] = " + test.ExpressionAt("i * 7 + l") +
      " } }\n}";
  const loops::LoopNest nest = ParseOrDie(text);
  const Buffers buffers = MakeBuffers(
      nest, {},
      [&](const loops::Buffer& buffer, size_t which,
          int64_t element) -> uint64_t {
        const size_t i = static_cast<size_t>(element);
        const uint64_t bits = which == 0   ? as[i % as.size()]
                              : which == 1 ? bs[i / as.size() % bs.size()]
                              : which == 2 ? cs[i * 7 % cs.size()]
                                           : 0;
        return MayBeZero(buffer.type, bits) ? 0 : bits;
      },
      false);
  for (const Effort effort : {Effort::kFast, Effort::kFull}) {
    const auto code = CompileOrDie(nest, {.effort = effort, .keep_llvm = true});
    ASSERT_EQ(RunCompiled(nest, *code, {}, buffers), "");
    for (size_t i = 0; i < count; ++i) {
      const auto at = [&](size_t which) {
        return tensor::LoadElement(buffers[which]->data(),
                                   static_cast<int64_t>(i),
                                   nest.buffers[which].type);
      };
      const uint64_t expected = test.expected(at(0), at(1), at(2));
      for (size_t output : {3, 4, 5}) {
        if (MayBeZero(test.result, expected) &&
            tensor::BitsToDouble(at(output), test.result) == 0)
          continue;
        ASSERT_TRUE(IsSame(expected, at(output), test.result))
            << test.expression << " of " << Name(test.a) << ", "
            << (effort == Effort::kFull ? "full" : "fast") << ", %"
            << nest.buffers[output].name << ": a = " << std::hex << at(0)
            << ", b = " << at(1) << ", c = " << at(2) << ": expected "
            << expected << ", found " << at(output) << "\n"
            << code->llvm;
      }
    }
  }
}

void ExpectCases(const std::vector<ArithmeticCase>& cases) {
  for (const ArithmeticCase& test : cases) {
    ExpectCase(test);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(ArithmeticTest, Unary) {
  ExpectCases(loops::RowCases(InstructionGroup::kUnary));
}
TEST(ArithmeticTest, Classify) {
  ExpectCases(loops::RowCases(InstructionGroup::kClassify));
}
TEST(ArithmeticTest, Binary) {
  ExpectCases(loops::RowCases(InstructionGroup::kBinary));
}
TEST(ArithmeticTest, Compare) {
  ExpectCases(loops::RowCases(InstructionGroup::kCompare));
}
TEST(ArithmeticTest, Casts) { ExpectCases(loops::CastCases()); }
TEST(ArithmeticTest, Bitcasts) { ExpectCases(loops::BitcastCases()); }
TEST(ArithmeticTest, Selects) { ExpectCases(loops::SelectCases()); }
TEST(ArithmeticTest, IntegerDivisionByConstants) {
  ExpectCases(loops::ConstantDivisionCases());
}
TEST(ArithmeticTest, ExtremesWithConstants) {
  ExpectCases(loops::ConstantExtremeCases());
}

// What jit/math makes of a function is computed as the evaluator does: nothing
// is fused or reassociated.
void ExpectExpanded(Opcode opcode, DType type) {
  const bool is_binary = tensor::RegisterOperandCount(opcode) == 2;
  const std::vector<uint64_t> values = BitPatterns(type);
  const size_t pairs = values.size() * (is_binary ? values.size() : 1);
  const std::string count = std::to_string((pairs + 15) / 16 * 16);
  const std::string element = Name(type) + "[" + count + "]";
  loops::LoopNest nest = ParseOrDie("loops @expanded(%a: input " + element +
                                    ", %b: input " + element + ", %y: output " +
                                    element + R"() {
        phase i < )" + count + R"( / 16 {
          vector l < 16 { %y[i * 16 + l] = %a[i * 16 + l] * %b[i * 16 + l] }
        }
      })");
  NodeId& value = nest.phases[0].body[0].body[0].stores[0].value;
  std::vector<NodeId> operands = nest.pool[value].operands;
  if (!is_binary) operands.pop_back();
  value = ExpandMath(nest.pool, opcode, type, operands);
  ExpectAsEvaluated(
      nest, {},
      [&](const loops::Buffer&, size_t number, int64_t element) -> uint64_t {
        const size_t i = static_cast<size_t>(element);
        const uint64_t bits =
            values[(number == 0 ? i : i / values.size()) % values.size()];
        return MayBeZero(type, bits) ? 0 : bits;
      });
}

TEST(ArithmeticTest, ExpandedFunctions) {
  for (int i = 0; i < tensor::kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    for (DType type : kTypes) {
      if (InfoOf(opcode).group == InstructionGroup::kStructural) continue;
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      if (!IsForOthers(opcode, type)) continue;
      if (!IsExpanded(opcode, type)) continue;
      SCOPED_TRACE(std::string(InfoOf(opcode).text) + " of " + Name(type));
      ExpectExpanded(opcode, type);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ember::jit
