// Every arithmetic row on every type against tensor::EvaluateScalar, bit for
// bit: one value at a time, and in lanes.
#include <string>
#include <vector>

#include "base/concat.h"
#include "gtest/gtest.h"
#include "jit/loops/arithmetic_cases.h"
#include "jit/spirv/testing.h"
#include "tensor/random_values.h"
#include "tensor/scalar.h"

namespace ember::jit::spirv {
namespace {

using loops::ArithmeticCase;
using loops::IsSubnormal;
using tensor::InstructionGroup;

// On devices that may take subnormal numbers for zero there are none among the
// operands, and where one is expected, zero is as good.
void DropSubnormals(DType type, std::vector<uint8_t>& operand) {
  for (int64_t i = 0; i * DTypeByteSize(type) < std::ssize(operand); ++i) {
    if (IsSubnormal(type, tensor::LoadElement(operand.data(), i, type)))
      tensor::StoreElement(operand.data(), i, type, 0);
  }
}
void AcceptZeros(DType type, const std::vector<uint8_t>& actual,
                 std::vector<uint8_t>& expected) {
  for (int64_t i = 0; i * DTypeByteSize(type) < std::ssize(expected); ++i) {
    const uint64_t found = tensor::LoadElement(actual.data(), i, type);
    if (IsSubnormal(type, tensor::LoadElement(expected.data(), i, type)) &&
        tensor::BitsToDouble(found, type) == 0)
      tensor::StoreElement(expected.data(), i, type, found);
  }
}

// All pairs of patterns of a and b.
void ExpectCase(const ArithmeticCase& test) {
  const std::vector<uint64_t> as = loops::BitPatterns(test.a),
                              bs = loops::BitPatterns(test.b),
                              cs = loops::BitPatterns(test.c);
  const size_t count = (as.size() * bs.size() + 6) / 7 * 7;
  const auto buffer = [&](const char* name, const char* scope, DType type) {
    return Concat(
        {"%", name, ": ", scope, " ", DTypeName(type), "[", count, "]"});
  };
  const loops::LoopNest nest = ParseOrDie(Concat(
      {"loops @test(", buffer("a", "input", test.a), ", ",
       buffer("b", "input", test.b), ", ", buffer("c", "input", test.c), ", ",
       buffer("s", "output", test.result), ", ",
       buffer("v", "output", test.result), ") {\n  phase i < ", count,
       " { %s[i] = ", test.ExpressionAt("i"), " }\n  phase i < ", count / 7,
       " { vector l < 7 { %v[i * 7 + l] = ", test.ExpressionAt("i * 7 + l"),
       " } }\n}"}));
  Bytes buffers(5);
  for (size_t which = 0; which < 5; ++which) {
    const DType type = nest.buffers[which].type;
    buffers[which].resize(count * static_cast<size_t>(DTypeByteSize(type)));
    for (size_t i = 0; i < count && which < 3; ++i) {
      const uint64_t bits = which == 0   ? as[i % as.size()]
                            : which == 1 ? bs[i / as.size() % bs.size()]
                                         : cs[i * 7 % cs.size()];
      tensor::StoreElement(buffers[which].data(), static_cast<int64_t>(i), type,
                           bits);
    }
    if (which < 3 && !KeepsSubnormals()) DropSubnormals(type, buffers[which]);
  }
  std::vector<uint8_t> expected = buffers[3];
  for (size_t i = 0; i < count; ++i) {
    const auto at = [&](size_t which) {
      return tensor::LoadElement(buffers[which].data(), static_cast<int64_t>(i),
                                 nest.buffers[which].type);
    };
    tensor::StoreElement(expected.data(), static_cast<int64_t>(i), test.result,
                         test.expected(at(0), at(1), at(2)));
  }
  const Status status = RunOnDevice(nest, {}, buffers);
  ASSERT_TRUE(status.ok()) << status.ToString() << "\n" << test.expression;
  for (size_t output : {3, 4}) {
    if (!KeepsSubnormals()) AcceptZeros(test.result, buffers[output], expected);
    EXPECT_EQ(
        tensor::FirstDifferentElement(test.result, expected, buffers[output]),
        "")
        << test.expression << " of " << DTypeName(test.a) << ", %"
        << nest.buffers[output].name;
  }
}

void ExpectCases(const std::vector<ArithmeticCase>& cases) {
  if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  for (const ArithmeticCase& test : cases) {
    ExpectCase(test);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(SpirvArithmetic, Unary) {
  ExpectCases(loops::RowCases(InstructionGroup::kUnary));
}
TEST(SpirvArithmetic, Classify) {
  ExpectCases(loops::RowCases(InstructionGroup::kClassify));
}
TEST(SpirvArithmetic, Binary) {
  ExpectCases(loops::RowCases(InstructionGroup::kBinary));
}
TEST(SpirvArithmetic, Compare) {
  ExpectCases(loops::RowCases(InstructionGroup::kCompare));
}
TEST(SpirvArithmetic, Casts) { ExpectCases(loops::CastCases()); }
// A signalling NaN of f16 may become a quiet one where it is loaded.
TEST(SpirvArithmetic, Bitcasts) {
  std::vector<ArithmeticCase> cases = loops::BitcastCases();
  for (ArithmeticCase& test : cases) {
    if (test.a != DType::kF16 || test.result == DType::kF16) continue;
    test.expected = [](uint64_t a, uint64_t, uint64_t) {
      const bool is_nan = (a & 0x7fff) > 0x7c00;
      return is_nan ? a | 0x200 : a;
    };
  }
  ExpectCases(cases);
}
TEST(SpirvArithmetic, Selects) { ExpectCases(loops::SelectCases()); }
TEST(SpirvArithmetic, DivisionByConstants) {
  ExpectCases(loops::ConstantDivisionCases());
}
TEST(SpirvArithmetic, ExtremesWithConstants) {
  ExpectCases(loops::ConstantExtremeCases());
}

}  // namespace
}  // namespace ember::jit::spirv
