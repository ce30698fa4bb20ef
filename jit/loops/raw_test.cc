#include "jit/loops/raw.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"

namespace ember::loops {
namespace {

using tensor::DoubleToBits;
using tensor::IntegerToBits;
using tensor::Opcode;

std::string WithValue(const std::string& value, const std::string& type) {
  return R"(loops @t(%a: input i32[4], %f: input f32[4], %y: output )" + type +
         R"([4]) {
  phase t < 4 {
    %y[t] = )" +
         value + R"(
  }
}
)";
}

TEST(RawTest, TextParsesBack) {
  for (const std::string value :
       {"raw(%a[t] / 3)", "raw(rem(%a[t], 3)) + raw(floordiv(%a[t], 3))",
        "raw(shl(%a[t], 3)) * 2", "i32(raw(i8(%f[t])))",
        "select(%a[t] < 0, raw(%a[t] / %a[0]), 1)"}) {
    const std::string text = WithValue(value, "i32");
    const StatusOr<LoopNest> nest = Parse(text);
    ASSERT_TRUE(nest.ok()) << nest.status().message();
    EXPECT_EQ(ToText(*nest), text);
    EXPECT_TRUE(Verify(*nest).ok()) << Verify(*nest).message();
  }
}

TEST(RawTest, OnlyInstructionsAreRaw) {
  const StatusOr<LoopNest> nest = Parse(WithValue("raw(%a[t])", "i32"));
  EXPECT_NE(
      nest.status().message().find("expected an instruction as the operand"),
      std::string::npos)
      << nest.status().message();
}

TEST(RawTest, VerifierRefusesWhatHasNoRawForm) {
  for (const std::string value :
       {"raw(%a[t] + 1)", "raw(min(%a[t], 1))", "raw(i32(%a[t] < 1))",
        "raw(select(%a[t] < 1, 1, 2))"}) {
    const StatusOr<LoopNest> nest = Parse(WithValue(value, "i32"));
    ASSERT_TRUE(nest.ok()) << nest.status().message();
    EXPECT_NE(Verify(*nest).message().find("has no raw form of these types"),
              std::string::npos)
        << value << ": " << Verify(*nest).message();
  }
}

// True if the raw instruction gives the same result for these operands as the
// instruction of the table.
bool IsAsInstruction(Opcode opcode, DType operand, DType result, uint64_t a,
                     uint64_t b) {
  const StatusOr<uint64_t> raw = EvaluateRaw(opcode, operand, result, {a, b});
  return raw.ok() &&
         *raw == tensor::EvaluateScalar(opcode, operand, result, {a, b});
}

TEST(RawTest, Divisions) {
  const auto divides = [](Opcode opcode, int64_t a, int64_t b) {
    return IsAsInstruction(opcode, DType::kI8, DType::kI8,
                           IntegerToBits(a, DType::kI8),
                           IntegerToBits(b, DType::kI8));
  };
  EXPECT_TRUE(divides(Opcode::kDivide, -7, 2));
  EXPECT_TRUE(divides(Opcode::kDivide, -127, -1));
  EXPECT_TRUE(divides(Opcode::kRemainder, -7, 2));
  EXPECT_TRUE(divides(Opcode::kFloorDivide, 7, 2));
  EXPECT_TRUE(divides(Opcode::kModulo, 7, 2));
  EXPECT_FALSE(divides(Opcode::kFloorDivide, -7, 2));
  EXPECT_FALSE(divides(Opcode::kModulo, 7, -2));
  const uint64_t smallest = IntegerToBits(-128, DType::kI8);
  const uint64_t minus_one = IntegerToBits(-1, DType::kI8);
  for (Opcode opcode : {Opcode::kDivide, Opcode::kRemainder}) {
    EXPECT_EQ(EvaluateRaw(opcode, DType::kI8, DType::kI8, {smallest, minus_one})
                  .status()
                  .code(),
              StatusCode::kInternal);
  }
  for (Opcode opcode : {Opcode::kDivide, Opcode::kRemainder,
                        Opcode::kFloorDivide, Opcode::kModulo}) {
    EXPECT_EQ(
        EvaluateRaw(opcode, DType::kI8, DType::kI8, {1, 0}).status().code(),
        StatusCode::kInternal);
  }
}

TEST(RawTest, Shifts) {
  for (Opcode opcode : {Opcode::kShiftLeft, Opcode::kShiftRight}) {
    EXPECT_TRUE(IsAsInstruction(opcode, DType::kU8, DType::kU8, 0x81, 7));
    EXPECT_FALSE(IsAsInstruction(opcode, DType::kU8, DType::kU8, 0x81, 8));
    EXPECT_FALSE(IsAsInstruction(opcode, DType::kI8, DType::kI8, 0x81, 0xff));
  }
}

TEST(RawTest, ExtremesPassOverNans) {
  const auto bits = [](double value) {
    return DoubleToBits(value, DType::kF32);
  };
  const uint64_t nan = DoubleToBits(std::nan(""), DType::kF32);
  const auto minimum = [&](uint64_t a, uint64_t b) {
    return *EvaluateRaw(Opcode::kMinimum, DType::kF32, DType::kF32, {a, b});
  };
  EXPECT_EQ(minimum(bits(1), bits(2)), bits(1));
  EXPECT_EQ(minimum(nan, bits(2)), bits(2));
  EXPECT_EQ(minimum(bits(2), nan), bits(2));
}

TEST(RawTest, CastsThatKeepTheNumber) {
  const auto casts = [](DType from, DType to, double value) {
    return IsAsInstruction(Opcode::kCast, from, to, DoubleToBits(value, from),
                           0);
  };
  EXPECT_TRUE(casts(DType::kF32, DType::kI8, 127.9));
  EXPECT_TRUE(casts(DType::kF32, DType::kI8, -128.9));
  EXPECT_FALSE(casts(DType::kF32, DType::kI8, 128));
  EXPECT_FALSE(casts(DType::kF32, DType::kI8, -129));
  EXPECT_TRUE(casts(DType::kF32, DType::kU8, -0.5));
  EXPECT_FALSE(casts(DType::kF32, DType::kU8, -1));
  EXPECT_TRUE(casts(DType::kI32, DType::kI8, -128));
  EXPECT_FALSE(casts(DType::kI32, DType::kI8, 128));
  EXPECT_FALSE(casts(DType::kI32, DType::kU32, -1));
  EXPECT_FALSE(casts(DType::kU32, DType::kI32, 4294967295.0));
  EXPECT_TRUE(casts(DType::kF32, DType::kF16, 1.5));
  EXPECT_FALSE(casts(DType::kF32, DType::kF16, 1.0 + 0x1p-20));
}

TEST(RawTest, UndefinedIsAnErrorOfTheRun) {
  const StatusOr<LoopNest> nest =
      Parse(WithValue("select(%a[t] == 0, 0, raw(6 / %a[t]))", "i32"));
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  std::vector<int32_t> a = {1, 2, 3, 6}, y(4);
  std::vector<float> f(4);
  void* const buffers[] = {a.data(), f.data(), y.data()};
  ASSERT_TRUE(Evaluate(*nest, {}, buffers).ok());
  EXPECT_EQ(y, (std::vector<int32_t>{6, 3, 2, 1}));
  a[2] = 0;
  EXPECT_EQ(Evaluate(*nest, {}, buffers).code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace ember::loops
