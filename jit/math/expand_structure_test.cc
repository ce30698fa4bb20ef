// Tests powers of integers, and which instructions expansions consist of.
// Random numbers have the fixed seed 1.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "jit/math/expand.h"
#include "jit/math/testing/accuracy.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

using tensor::Opcode;

std::string Name(Opcode opcode) {
  return std::string(tensor::InfoOf(opcode).text);
}

// --- integers ---

uint64_t IntegerPower(DType type, uint64_t x, uint64_t y) {
  return tensor::EvaluateScalar(Opcode::kPower, type, type, {x, y, 0});
}

TEST(Expand, PowersOfBytesAreThoseOfTheSemantics) {
  for (DType type : {DType::kI8, DType::kU8}) {
    Expansion expansion(Opcode::kPower, type);
    for (uint64_t x = 0; x < 256; ++x) {
      for (uint64_t y = 0; y < 256; ++y) {
        ASSERT_EQ(expansion.Evaluate(x, y), IntegerPower(type, x, y))
            << DTypeName(type) << " " << x << " " << y;
      }
    }
  }
}

TEST(Expand, PowersOfIntegersAreThoseOfTheSemantics) {
  std::mt19937_64 random(1);
  for (DType type : {DType::kI16, DType::kI32, DType::kI64, DType::kU16,
                     DType::kU32, DType::kU64}) {
    Expansion expansion(Opcode::kPower, type);
    std::vector<uint64_t> values;
    for (int64_t value : {-3, -2, -1, 0, 1, 2, 3, 7, 31, 32, 63, 64, 65})
      values.push_back(tensor::IntegerToBits(value, type));
    values.push_back(tensor::LargestBits(type));
    values.push_back(tensor::SmallestBits(type));
    for (int i = 0; i < 40; ++i) {
      values.push_back(tensor::IntegerToBits(
          static_cast<int64_t>(random() >> random() % 64), type));
    }
    for (uint64_t x : values) {
      for (uint64_t y : values) {
        ASSERT_EQ(expansion.Evaluate(x, y), IntegerPower(type, x, y))
            << DTypeName(type) << " " << x << " " << y;
      }
    }
  }
}

// --- the instructions of which expansions consist ---

template <typename Function>
void ForEachOpcode(Function&& function) {
  for (int i = 0; i < tensor::kOpcodeCount; ++i)
    function(static_cast<Opcode>(i));
}

TEST(Expand, UsesOnlyInstructionsThatRemain) {
  ForEachOpcode([](Opcode opcode) {
    for (DType type : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                       DType::kI32, DType::kU8}) {
      if (!IsExpanded(opcode, type)) continue;
      const Expansion expansion(opcode, type);
      ForEachOpcode([&](Opcode other) {
        if (IsExpanded(other, type)) {
          EXPECT_FALSE(expansion.Uses(other)) << Name(opcode) << Name(other);
        }
      });
      // Expansions must not contain mod and rem of floats: LLVM would compile
      // them to calls of library functions.
      EXPECT_FALSE(expansion.Uses(Opcode::kModulo)) << Name(opcode);
      EXPECT_FALSE(expansion.Uses(Opcode::kRemainder)) << Name(opcode);
    }
  });
}

TEST(Expand, FunctionsOfF32NeedNo64BitTypes) {
  ForEachOpcode([](Opcode opcode) {
    for (DType type : {DType::kF32, DType::kF16, DType::kBF16}) {
      if (!IsExpanded(opcode, type)) continue;
      const Expansion expansion(opcode, type);
      for (DType wide : {DType::kF64, DType::kI64, DType::kU64})
        EXPECT_FALSE(expansion.Uses(wide)) << Name(opcode);
    }
  });
}

TEST(Expand, IsForTranscendentalFunctionsAndPowers) {
  EXPECT_TRUE(IsExpanded(Opcode::kExp, DType::kBF16));
  EXPECT_TRUE(IsExpanded(Opcode::kPower, DType::kU16));
  EXPECT_FALSE(IsExpanded(Opcode::kPower, DType::kBool));
  EXPECT_FALSE(IsExpanded(Opcode::kSqrt, DType::kF32));
  EXPECT_FALSE(IsExpanded(Opcode::kAdd, DType::kF32));
}

}  // namespace
}  // namespace ember::jit
