// Every arithmetic row on every type on the emulated grid against
// tensor::EvaluateScalar, bit for bit: one value at a time, and in lanes. PTX
// of the same is made, too.
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "gtest/gtest.h"
#include "jit/gpu/arithmetic_testing.h"
#include "jit/loops/arithmetic_cases.h"
#include "jit/ptx/assembler_testing.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/device_testing.h"
#include "jit/ptx/target.h"

namespace ember::jit::ptx {
namespace {

using loops::ArithmeticCase;
using tensor::InstructionGroup;

// So many at once: a compilation takes longer than what it makes.
constexpr size_t kTogether = 24;

void ExpectCases(const std::vector<ArithmeticCase>& cases) {
  ASSERT_FALSE(cases.empty());
  const std::shared_ptr<hal::Device> device = TestDevice();
  const Target target = Target::Of(device->target());
  for (size_t begin = 0; begin < cases.size(); begin += kTogether) {
    gpu::ArithmeticNest test = gpu::MakeArithmeticNest(std::span(cases).subspan(
        begin, std::min(kTogether, cases.size() - begin)));
    CodeTexts texts;
    auto code = CompileNest(test.nest, target, &texts);
    ASSERT_TRUE(code.ok()) << code.status().ToString();
    if (HasAssembler()) {
      EXPECT_EQ(Assemble(texts.ptx, target.processor), "");
    }
    const Status status =
        gpu::RunNest(device, test.nest, *std::move(code), {}, test.buffers);
    ASSERT_TRUE(status.ok()) << status.ToString();
    gpu::ExpectResults(test);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(PtxArithmetic, Unary) {
  ExpectCases(loops::RowCases(InstructionGroup::kUnary));
}
TEST(PtxArithmetic, Classify) {
  ExpectCases(loops::RowCases(InstructionGroup::kClassify));
}
TEST(PtxArithmetic, Binary) {
  ExpectCases(loops::RowCases(InstructionGroup::kBinary));
}
TEST(PtxArithmetic, Compare) {
  ExpectCases(loops::RowCases(InstructionGroup::kCompare));
}
TEST(PtxArithmetic, Casts) { ExpectCases(loops::CastCases()); }
TEST(PtxArithmetic, Bitcasts) { ExpectCases(loops::BitcastCases()); }
TEST(PtxArithmetic, Selects) { ExpectCases(loops::SelectCases()); }
TEST(PtxArithmetic, DivisionByConstants) {
  ExpectCases(loops::ConstantDivisionCases());
}
TEST(PtxArithmetic, ExtremesWithConstants) {
  ExpectCases(loops::ConstantExtremeCases());
}

}  // namespace
}  // namespace ember::jit::ptx
