// Every arithmetic row on every type against tensor::EvaluateScalar, bit for
// bit: one value at a time, and in lanes.
#include <vector>

#include "gtest/gtest.h"
#include "jit/gpu/arithmetic_testing.h"
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

void ExpectCase(const ArithmeticCase& test) {
  const bool keeps = KeepsSubnormals();
  gpu::ArithmeticNest nest =
      gpu::MakeArithmeticNest({&test, 1}, keeps ? nullptr : DropSubnormals);
  const Status status = RunOnDevice(nest.nest, {}, nest.buffers);
  ASSERT_TRUE(status.ok()) << status.ToString() << "\n" << test.expression;
  gpu::ExpectResults(nest, keeps ? nullptr : AcceptZeros);
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
