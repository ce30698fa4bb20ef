// Every arithmetic row on every type against tensor::EvaluateScalar, bit for
// bit: one value at a time, in 16 lanes and in 7.
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing.h"
#include "jit/math/expand.h"
#include "tensor/instructions.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

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

// Bits of values at and around all limits, and a few random ones.
std::vector<uint64_t> Patterns(DType type) {
  std::vector<uint64_t> patterns;
  if (type == DType::kBool) return {0, 1};
  std::mt19937_64 random(7);
  const int bits = 8 * DTypeByteSize(type);
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  for (int i = 0; i < 12; ++i) patterns.push_back(random() & mask);
  if (!IsFloat(type)) {
    for (int64_t value : {0, 1, 2, 3, 7, 8, 100, -1, -2, -3, -7, -8, bits - 1,
                          bits, bits + 1, 65535, 65536, 16777217}) {
      patterns.push_back(tensor::IntegerToBits(value, type));
    }
    const uint64_t sign = uint64_t{1} << (bits - 1);
    for (uint64_t value : {sign, sign + 1, sign - 1, sign - 2, mask, mask - 1})
      patterns.push_back(value & mask);
    return patterns;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  for (double value : {0.0,
                       0.5,
                       1.0,
                       1.5,
                       2.5,
                       3.0,
                       0.49999997,
                       127.5,
                       128.0,
                       255.5,
                       256.0,
                       32767.5,
                       65504.0,
                       65519.99,
                       65520.0,
                       8388609.0,
                       2147483648.0,
                       4294967296.0,
                       9223372036854775808.0,
                       18446744073709551616.0,
                       1e-8,
                       3.4e38,
                       1e300,
                       1e-300,
                       1e-40,
                       infinity}) {
    patterns.push_back(tensor::DoubleToBits(value, type));
    patterns.push_back(tensor::DoubleToBits(-value, type));
  }
  patterns.push_back(tensor::DoubleToBits(std::nan(""), type));
  const uint64_t one = 1;
  patterns.push_back(one);  // the smallest subnormal
  patterns.push_back(one | one << (bits - 1));
  return patterns;
}

struct Case {
  DType a, b, c, result;
  std::string expression;  // of %a[i], %b[i], %c[i], with $ for the index
  // Bits of the result.
  std::function<uint64_t(uint64_t a, uint64_t b, uint64_t c)> expected;
};

std::string Indexed(std::string text, const std::string& index) {
  for (size_t at; (at = text.find('$')) != std::string::npos;)
    text.replace(at, 1, index);
  return text;
}

// All pairs of patterns of a and b; c is random.
void ExpectCase(const Case& test) {
  const std::vector<uint64_t> as = Patterns(test.a), bs = Patterns(test.b),
                              cs = Patterns(test.c);
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
  text += "phase i < " + number +
          " { %s[i] = " + Indexed(test.expression, "i") + " }\n";
  text += "phase i < " + std::to_string(count / 16) +
          " { vector l < 16 { %v[i * 16 + l] = " +
          Indexed(test.expression, "i * 16 + l") + " } }\n";
  text += "phase i < " + std::to_string(count / 7) +
          " { vector l < 7 { %o[i * 7 + l] = " +
          Indexed(test.expression, "i * 7 + l") + " } }\n}";
  const loops::LoopNest nest = ParseOrDie(text);
  const Buffers buffers = MakeBuffers(
      nest, {},
      [&](const loops::Buffer&, size_t which, int64_t element) -> uint64_t {
        const size_t i = static_cast<size_t>(element);
        if (which == 0) return as[i % as.size()];
        if (which == 1) return bs[i / as.size() % bs.size()];
        return which == 2 ? cs[i * 7 % cs.size()] : 0;
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

// jit/math expands these, or it is declined.
bool IsForOthers(Opcode opcode, DType type) {
  switch (opcode) {
    case Opcode::kExp:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kExpm1:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTan:
    case Opcode::kAsin:
    case Opcode::kAcos:
    case Opcode::kAtan:
    case Opcode::kSinh:
    case Opcode::kCosh:
    case Opcode::kTanh:
    case Opcode::kAsinh:
    case Opcode::kAcosh:
    case Opcode::kAtanh:
    case Opcode::kErf:
    case Opcode::kPower:
    case Opcode::kAtan2:
      return true;
    case Opcode::kModulo:
    case Opcode::kRemainder:
      return IsFloat(type);
    default:
      return false;
  }
}

std::string CallOf(Opcode opcode) {
  const tensor::InstructionInfo& info = InfoOf(opcode);
  const std::string text(info.text);
  const bool is_unary = tensor::RegisterOperandCount(opcode) == 1;
  if (is_unary) return text + "(%a[$])";
  if (info.notation == tensor::Notation::Infix)
    return "%a[$] " + text + " %b[$]";
  return text + "(%a[$], %b[$])";
}

void ExpectRows(InstructionGroup group) {
  for (int i = 0; i < tensor::kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    if (InfoOf(opcode).group != group) continue;
    for (DType type : kTypes) {
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      if (IsForOthers(opcode, type)) continue;
      const bool is_bool = group == InstructionGroup::kClassify ||
                           group == InstructionGroup::kCompare;
      const DType result = is_bool ? DType::kBool : type;
      ExpectCase({type, type, DType::kBool, result, CallOf(opcode),
                  [&](uint64_t a, uint64_t b, uint64_t) {
                    return tensor::EvaluateScalar(opcode, type, result, {a, b});
                  }});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ArithmeticTest, Unary) { ExpectRows(InstructionGroup::kUnary); }
TEST(ArithmeticTest, Classify) { ExpectRows(InstructionGroup::kClassify); }
TEST(ArithmeticTest, Binary) { ExpectRows(InstructionGroup::kBinary); }
TEST(ArithmeticTest, Compare) { ExpectRows(InstructionGroup::kCompare); }

TEST(ArithmeticTest, Casts) {
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      ExpectCase({from, DType::kBool, DType::kBool, to, Name(to) + "(%a[$])",
                  [&](uint64_t a, uint64_t, uint64_t) {
                    return tensor::EvaluateScalar(Opcode::kCast, from, to, {a});
                  }});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ArithmeticTest, Bitcasts) {
  for (DType from : kTypes) {
    for (DType to : kTypes) {
      if (from == DType::kBool || to == DType::kBool) continue;
      if (DTypeByteSize(from) != DTypeByteSize(to)) continue;
      ExpectCase({from, DType::kBool, DType::kBool, to,
                  "bitcast_" + Name(to) + "(%a[$])",
                  [](uint64_t a, uint64_t, uint64_t) { return a; }});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ArithmeticTest, Selects) {
  for (DType type : kTypes) {
    ExpectCase({type, type, DType::kBool, type, "select(%c[$], %a[$], %b[$])",
                [](uint64_t a, uint64_t b, uint64_t c) { return c ? a : b; }});
    if (::testing::Test::HasFatalFailure()) return;
  }
}

// Constants on either side take other paths than values in registers.
TEST(ArithmeticTest, IntegerDivisionByConstants) {
  for (const char* operation : {"floordiv", "mod", "rem"}) {
    for (const char* constant :
         {"0", "1", "-1", "2", "-2", "7", "-7", "64", "-9223372036854775808"}) {
      const Opcode opcode = operation[0] == 'f'   ? Opcode::kFloorDivide
                            : operation[0] == 'm' ? Opcode::kModulo
                                                  : Opcode::kRemainder;
      const uint64_t b = std::stoull(constant);
      ExpectCase({DType::kI64, DType::kBool, DType::kBool, DType::kI64,
                  std::string(operation) + "(%a[$], " + constant + ")",
                  [&](uint64_t a, uint64_t, uint64_t) {
                    return tensor::EvaluateScalar(opcode, DType::kI64,
                                                  DType::kI64, {a, b});
                  }});
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(ArithmeticTest, ExtremesWithConstants) {
  for (const char* operation : {"min", "max"}) {
    const Opcode opcode =
        operation[1] == 'i' ? Opcode::kMinimum : Opcode::kMaximum;
    for (DType type : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
      for (double constant : {0.0, -0.0, 6.0}) {
        const uint64_t bits = tensor::DoubleToBits(constant, type);
        const std::string literal =
            std::signbit(constant) ? "-0.0" : std::to_string(constant);
        for (bool is_first : {false, true}) {
          const std::string operands =
              is_first ? literal + ", %a[$]" : "%a[$], " + literal;
          ExpectCase({type, DType::kBool, DType::kBool, type,
                      operation + ("(" + operands + ")"),
                      [&](uint64_t a, uint64_t, uint64_t) {
                        return tensor::EvaluateScalar(
                            opcode, type, type,
                            {is_first ? bits : a, is_first ? a : bits});
                      }});
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

// What jit/math makes of a function is computed as the evaluator does: nothing
// is fused or reassociated.
void ExpectExpanded(Opcode opcode, DType type) {
  const bool is_binary = tensor::RegisterOperandCount(opcode) == 2;
  const std::vector<uint64_t> values = Patterns(type);
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
  NodeId& value = nest.phases[0].body[0].body[0].targets[0].value;
  std::vector<NodeId> operands = nest.pool[value].operands;
  if (!is_binary) operands.pop_back();
  value = ExpandMath(nest.pool, opcode, type, operands);
  ExpectAsEvaluated(
      nest, {}, [&](const loops::Buffer&, size_t number, int64_t element) {
        const size_t i = static_cast<size_t>(element);
        return values[(number == 0 ? i : i / values.size()) % values.size()];
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
