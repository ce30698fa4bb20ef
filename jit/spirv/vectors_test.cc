// Elements that are moved together, as vectors of up to 16 bytes: where they
// are proved to lie together, and how many loads are left.
#include <string>

#include "base/dtype.h"
#include "gtest/gtest.h"
#include "jit/loops/text_template.h"
#include "jit/spirv/testing.h"

namespace ember::jit::spirv {
namespace {

using loops::Replaced;

class SpirvVectorsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  }
};

constexpr char kLanes[] = R"(
loops @lanes(%x: input TYPE[8, 32], %y: output TYPE[8, 32]) {
  phase t < 8 {
    invocation i < 2 {
      vector l < 16 { %y[t, i * 16 + l] = max(%x[t, i * 16 + l], %x[7 - t, i * 16 + l]) }
    }
  }
})";

TEST_F(SpirvVectorsTest, LanesMoveTogetherWhereTheyLieTogether) {
  for (const char* type :
       {"f32", "i32", "u32", "f16", "bf16", "i16", "u16", "i8", "u8", "bool"}) {
    SCOPED_TRACE(type);
    const std::string text = Replaced(kLanes, "TYPE", type);
    ExpectAsEvaluated(text);
    // Vectors of 16 bytes.
    const auto element =
        static_cast<int64_t>(DTypeByteSize(ParseOrDie(text).buffers[0].type));
    EXPECT_EQ(FirstPhase(text).loads, 2 * element);
  }
}

TEST_F(SpirvVectorsTest, WhatIsNotAlignedIsLoadedFromVectorsAround) {
  const char* const text = R"(
loops @shifted(%x: input f32[8, 32], %y: output f32[8, 24]) {
  phase t < 8 {
    invocation i < 3 {
      vector l < 8 { %y[t, i * 8 + l] = %x[t, i * 8 + l + 3] }
    }
  }
})";
  ExpectAsEvaluated(text);
  EXPECT_EQ(FirstPhase(text).loads, 3);
}

// Rows of 6 elements are vectors of 2, rows of 7 none; nor are indices of which
// nothing is known.
TEST_F(SpirvVectorsTest, VectorsAreAsWideAsIsProved) {
  const auto rows_of = [](const char* count) {
    return Replaced(R"(
loops @rows(%x: input f32[8, TYPE], %y: output f32[8, TYPE]) {
  phase t < 8 { vector l < TYPE { %y[t, l] = %x[t, l] } }
})",
                    "TYPE", count);
  };
  ExpectAsEvaluated(rows_of("6"));
  EXPECT_EQ(FirstPhase(rows_of("6")).loads, 3);
  ExpectAsEvaluated(rows_of("7"));
  EXPECT_EQ(FirstPhase(rows_of("7")).loads, 7);
  const char* const moved = R"(
loops @moved(%x: input f32[64], %y: output f32[4, 4]) {
  phase t < 4 { vector l < 4 { %y[t, l] = %x[t * 3 + l] } }
})";
  ExpectAsEvaluated(moved);
  EXPECT_EQ(FirstPhase(moved).loads, 4);
}

TEST_F(SpirvVectorsTest, UnrolledStepsShareAVector) {
  const char* const text = R"(
loops @steps(%x: input f32[8, 32], %w: input f32[32, 8], %y: output f32[8, 8]) {
  register %sum: f32[8]
  phase t < 8 {
    unroll l < 8 { %sum[l] = 0.0 }
    for k0 < 8 {
      unroll k1 < 4 {
        vector l < 8 { %sum[l] += %x[t, k0 * 4 + k1] * %w[k0 * 4 + k1, l] }
      }
    }
    vector l < 8 { %y[t, l] = %sum[l] }
  }
})";
  ExpectAsEvaluated(text);
  EXPECT_EQ(FirstPhase(text).loads, 1 + 4 * 2);
}

TEST_F(SpirvVectorsTest, PaddedVectorsAreInsideOrNot) {
  const char* const text = R"(
loops @padded(%x: input TYPE[6, 8], %y: output TYPE[8, 8]) {
  phase t < 8 {
    vector l < 8 { %y[t, l] = pad(%x[t - 1, l], 1) }
  }
})";
  ExpectAsEvaluated(Replaced(text, "TYPE", "i8"));
  ExpectAsEvaluated(Replaced(text, "TYPE", "i32"));
  EXPECT_EQ(FirstPhase(Replaced(text, "TYPE", "i8")).loads, 1);
  // Lanes that are, beside others.
  ExpectAsEvaluated(R"(
loops @padded(%x: input i32[8, 8], %y: output i32[8, 8]) {
  phase t < 8 {
    vector l < 8 { %y[t, l] = pad(%x[t, l - 2], 1) }
  }
})");
}

// Slices of both operands in memory of the workgroup, copied and read four at a
// time; and one element by itself.
constexpr char kSharedVectors[] = R"(
loops @slices(%x: input f32[16, 32], %w: input f32[32, 16],
              %y: output f32[16, 16]) {
  task %a: f32[16, 8]
  task %b: f32[8, 16]
  register %sum: f32[16, 4, 4]
  phase t < 1 {
    invocation i < 16 {
      unroll r < 4 { vector l < 4 { %sum[i, r, l] = 0.0 } }
    }
    for k0 < 4 {
      invocation i < 16 {
        for j < 2 { vector l < 4 { %a[i, j * 4 + l] = %x[i, k0 * 8 + j * 4 + l] } }
      }
      invocation i < 16 {
        for j < 2 {
          vector l < 4 {
            %b[floordiv(i, 4) + j * 4, mod(i, 4) * 4 + l] = %w[k0 * 8 + floordiv(i, 4) + j * 4, mod(i, 4) * 4 + l]
          }
        }
      }
      invocation i < 16 {
        for k1 < 2 {
          unroll k2 < 4 {
            unroll r < 4 {
              vector l < 4 {
                %sum[i, r, l] += %a[floordiv(i, 4) * 4 + r, k1 * 4 + k2] * %b[k1 * 4 + k2, mod(i, 4) * 4 + l]
              }
            }
          }
        }
      }
    }
    invocation i < 16 {
      unroll r < 4 {
        vector l < 4 {
          %y[floordiv(i, 4) * 4 + r, mod(i, 4) * 4 + l] = %sum[i, r, l] + %a[r, 5]
        }
      }
    }
  }
})";

TEST_F(SpirvVectorsTest, VectorsInMemoryOfTheWorkgroup) {
  ExpectAsEvaluated(kSharedVectors);
  // Copies of both operands, rows by four steps, columns of four; %a[r, 5].
  EXPECT_EQ(FirstPhase(kSharedVectors).loads, 1 + 1 + 4 + 4 + 4);
}

// Elements are read again after vectors were stored, and the other way round.
TEST_F(SpirvVectorsTest, VectorsAndElementsAreOneMemory) {
  ExpectAsEvaluated(R"(
loops @both(%x: input i8[8, 16], %y: output i8[8, 16]) {
  phase t < 8 {
    vector l < 16 { %y[t, l] = %x[t, l] }
    for j < 15 { %y[t, j] = %y[t, j] + %y[t, j + 1] }
    vector l < 16 { %y[t, l] = %y[t, l] + %x[t, l] }
    %y[t, 3] += 1
    vector l < 16 { %y[t, l] += %x[t, l] }
  }
})");
}

}  // namespace
}  // namespace ember::jit::spirv
