// Updates of elements, in memory and in registers: nests compiled against the
// evaluator.
#include <string>

#include "gtest/gtest.h"
#include "jit/llvm/testing.h"
#include "jit/loops/text_template.h"
#include "tensor/scalar.h"

namespace ember::jit {
namespace {

using loops::Replaced;

TEST(UpdatesTest, UpdatesOfEveryKind) {
  for (const char* type :
       {"f32", "f64", "f16", "bf16", "i8", "i32", "i64", "u8", "u16"}) {
    for (const char* update : {"+=", "*=", "min=", "max="}) {
      const std::string text = R"(loops @update<N>(%x: input T[N, 16],
          %y: output T[8, 16], %h: output T[4], %s: output T[8]) {
        phase i < N {
          for j < 16 { %y[0, j] OP %x[i, j] }
          vector l < 16 {
            %y[1, l] OP %x[i, l]
            %y[2, 15 - l] OP %x[i, l]
            if l < i { %y[3, l] OP %x[i, l] }
            %y[floordiv(l, 2), l] OP %x[i, 3]
          }
          vector l < 16 {
            %h[0] OP %x[i, l]
            if l < i { %h[1] OP %x[i, l] }
            %h[2] OP %x[i, 5]
          }
          vector l < 7 {
            if 2 <= l { %h[3] OP %x[i, l] }
          }
          vector l < 16 {
            %s[mod(l, 3)] OP %x[i, l]
            if l < i { %s[4 + floordiv(l, 5)] OP %x[i, l] }
          }
        }
      })";
      // Products of powers of two are exact.
      const auto fill = [&](const loops::Buffer& buffer, size_t number,
                            int64_t element) -> uint64_t {
        if (buffer.type == DType::kBF16 && update[0] == '+')  // 8 bits
          return tensor::DoubleToBits(static_cast<double>(element % 5) / 2 - 1,
                                      buffer.type);
        if (update[0] != '*') return SmallValue(buffer, number, element);
        const uint64_t bits = SmallValue(buffer, number, element);
        const bool is_odd = (bits ^ bits >> 9 ^ bits >> 52) & 1;
        return tensor::DoubleToBits(
            (is_odd ? 2 : 1) * (element % 3 == 0 ? 0.5 : 1), buffer.type);
      };
      ExpectAsEvaluated(
          Replaced(Replaced(text, "T[", std::string(type) + "["), "OP", update),
          {5}, fill);
    }
  }
}

// As select says, a NaN gives the constant: where there is no arithmetic of
// f16, LLVM likes to call fmaxf for that.
TEST(UpdatesTest, ExtremesBySelect) {
  for (const char* type : {"f32", "f16", "bf16"}) {
    ExpectAsEvaluated(
        Replaced(R"(loops @select(%x: input T[16], %y: output T[4, 16]) {
          phase t < 1 {
            vector l < 16 {
              %y[0, l] = select(0.5 < %x[l], %x[l], 0.5)
              %y[1, l] = select(%x[l] < 0.5, %x[l], 0.5)
              %y[2, l] = select(0.5 < %x[l] * 2.0, %x[l] * 2.0, 0.5)
            }
            for l < 16 { %y[3, l] = select(0.5 < %x[l], %x[l], 0.5) }
          }
        })",
                 "T[", std::string(type) + "["),
        {}, [](const loops::Buffer& buffer, size_t number, int64_t element) {
          return element == 3
                     ? tensor::DoubleToBits(__builtin_nan(""), buffer.type)
                     : SmallValue(buffer, number, element);
        });
  }
}

// Whatever lane a NaN is in, it stays.
TEST(UpdatesTest, ExtremesOfLanesKeepNans) {
  for (int64_t where = 0; where < 17; ++where) {
    for (const char* type : {"f32", "f16", "bf16"}) {
      const std::string text = R"(loops @nan(%x: input T[16],
                                             %y: output T[2]) {
        phase t < 1 {
          vector l < 16 { { %y[0] min= %x[l] %y[1] max= %x[l] } }
        }
      })";
      ExpectAsEvaluated(
          Replaced(text, "T[", std::string(type) + "["), {},
          [&](const loops::Buffer& buffer, size_t number, int64_t element) {
            return number == 0 && element == where
                       ? tensor::DoubleToBits(__builtin_nan(""), buffer.type)
                       : SmallValue(buffer, number, element);
          });
    }
  }
}

TEST(UpdatesTest, ProductsAreFused) {
  for (const char* type : {"f32", "f64"}) {
    ExpectAsEvaluated(
        Replaced(R"(loops @dot<N>(%x: input T[N, 16], %w: input T[16],
                                  %y: output T[3], %z: output T[N, 16]) {
          register %r: T[16]
          phase i < N {
            for j < 16 { %y[0] += %x[i, j] * %w[j] }
            vector l < 16 { %y[1] += %x[i, l] * %w[l] }
            vector l < 16 { %z[i, l] += %x[i, l] * %w[3] }
            vector l < 16 { if l < i { %z[i, l] += 2.0 * %x[i, l] } }
          }
        })",
                 "T[", std::string(type) + "["),
        {6});
  }
}

TEST(UpdatesTest, MaskedRegisters) {
  ExpectAsEvaluated(
      R"(loops @registers<N>(%x: input f32[N], %y: output f32[32]) {
    register %r: f32[2, 16]
    phase t < 1 {
      unroll u < 2 {
        vector l < 16 {
          %r[u, l] = 1.0
          if u * 16 + l < N { %r[u, l] = %x[u * 16 + l] }
          if N <= u * 16 + l { %r[u, l] += 3.0 }
          if u * 16 + l < N { %y[u * 16 + l] = %r[u, l] }
        }
      }
    }
  })",
      {21});
}

// Odd counts of lanes in registers, bools and narrow types.
TEST(UpdatesTest, RegistersOfAnyType) {
  for (const char* type : {"f32", "f64", "f16", "bf16", "i8", "u16", "bool"}) {
    for (const char* lanes : {"7", "16", "1", "64"}) {
      ExpectAsEvaluated(
          Replaced(Replaced(R"(loops @registers<N>(%x: input T[N, 3, W],
                                              %y: output T[N, 3, W]) {
                register %r: T[3, W]
                phase i < N {
                  unroll u < 3 { vector l < W { %r[u, l] = %x[i, u, l] } }
                  for k < N {
                    unroll u < 3 { vector l < W { %r[u, l] max= %x[k, u, l] } }
                  }
                  unroll u < 3 {
                    vector l < W { %y[i, 2 - u, l] = %r[u, l] }
                    unroll e < 1 { %y[i, u, 0] = %r[u, e] }
                  }
                }
              })",
                            "T[", std::string(type) + "["),
                   "W", lanes),
          {4});
    }
  }
}

}  // namespace
}  // namespace ember::jit
