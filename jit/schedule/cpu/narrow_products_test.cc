// Tests default schedules of products of bytes, bf16 and f16: the instructions
// that they use on each machine, and that they compute the dispatch's results.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "jit/schedule/testing/default_schedule.h"

namespace ember::schedule {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAvx2 = "x86_64-linux+avx2+fma";
constexpr const char* kVnni = "x86_64-linux+avx2+fma+avxvnni";
constexpr const char* kBFloat =
    "x86_64-linux+avx2+fma+avx512f+avx512bw+avx512vl+avx512bf16";
constexpr const char* kNeon = "aarch64-linux+neon+dotprod";

std::string Product(const std::string& a, const std::string& b,
                    const std::string& sum, int rows, int inner) {
  const std::string m = std::to_string(rows), k = std::to_string(inner);
  return "dispatch @product(%a: " + a + "[" + m + ", " + k + "], %b: " + b +
         "[" + k + ", 128]) -> (%y: " + sum + "[" + m +
         ", 128]) {\n  %y[i, j] = sum(k < " + k + ") " + sum + "(%a[i, k]) * " +
         sum + "(%b[k, j])\n}";
}

// Returns a 3x3 convolution. `beyond`: the value of the input's padding.
std::string Convolution(const std::string& x, const std::string& w,
                        const std::string& sum, const std::string& beyond,
                        int inputs) {
  const std::string c = std::to_string(inputs);
  return "dispatch @conv(%x: " + x + "[1, 9, 9, " + c + "], %w: " + w +
         "[3, 3, " + c + ", 20]) -> (%y: " + sum +
         "[1, 9, 9, 20]) {\n  %y[n, h, w, o] = sum(p < 3, q < 3, c < " + c +
         ") " + sum + "(pad(%x[n, h + p - 1, w + q - 1, c], " + beyond +
         ")) * " + sum + "(%w[p, q, c, o])\n}";
}

TEST(NarrowProducts, Bytes) {
  // CPUs with instructions for products of bytes read %a as it is; others read
  // a copy in 16-bit integers.
  const std::string product = Product("u8", "i8", "i32", 20, 32);
  for (const char* target : {kVnni, kNeon}) {
    const std::string text = ScheduleFor(target, product);
    EXPECT_THAT(text, HasSubstr("split %y k 4 -> k_step k_dot"));
    EXPECT_THAT(text, HasSubstr("tensorize %y k_dot"));
    EXPECT_THAT(text, Not(HasSubstr("%a ")));
  }
  const std::string text = ScheduleFor(kAvx2, product);
  EXPECT_THAT(text, HasSubstr("cache_read %y %a i16 -> a.packed"));
  EXPECT_THAT(text, HasSubstr("pack %y %b i16 1/"));
  EXPECT_THAT(text, HasSubstr("tensorize %y k_dot"));
}

TEST(NarrowProducts, ConvolutionsOfBytes) {
  // The input is copied, with the convolution's padding of value 120. Zeros
  // extend the sum to a multiple of four.
  for (const char* target : {kAvx2, kVnni, kNeon}) {
    for (int inputs : {8, 7}) {
      const std::string text =
          ScheduleFor(target, Convolution("u8", "i8", "i32", "120", inputs));
      EXPECT_THAT(text, HasSubstr("cache_read %y %x"));
      EXPECT_THAT(text, HasSubstr("tensorize %y c_dot"));
      EXPECT_EQ(inputs == 7, text.find("pad %y c") != std::string::npos);
    }
  }
}

TEST(NarrowProducts, SmallWeights) {
  // Weights in -64..64 are multiplied as bytes on AVX2, because the sum of two
  // products of a u8 and such a weight fits 16 bits.
  for (const int inner : {32, 30}) {
    const std::string text =
        ScheduleForKnown(kAvx2, Product("u8", "i8", "i32", 20, inner));
    EXPECT_THAT(text, HasSubstr("pack %y %b -64..64 1/"));
    EXPECT_THAT(text, HasSubstr("split %y k 4 -> k_step k_dot"));
    EXPECT_THAT(text, Not(HasSubstr(" i16 ")));
    EXPECT_EQ(inner == 30, text.find("cache_read %y %a") != std::string::npos);
  }
  EXPECT_THAT(ScheduleForKnown(kAvx2, Convolution("u8", "i8", "i32", "120", 7)),
              HasSubstr("pack %y %w -64..64 3/"));
  // Small weights are not used for i8 by i8, where the instruction for u8 by i8
  // brings nothing, nor on CPUs that multiply any bytes directly.
  EXPECT_THAT(ScheduleForKnown(kAvx2, Product("i8", "i8", "i32", 20, 32)),
              Not(HasSubstr("..")));
  EXPECT_THAT(ScheduleForKnown(kVnni, Product("u8", "i8", "i32", 20, 32)),
              Not(HasSubstr("..")));
}

// Returns a convolution in 3 groups, followed by a stage as quantizers add it:
// it adds a bias, clamps the sums and casts them to u8.
std::string GroupedConvolution(const std::string& x, int inputs, int outputs) {
  const std::string c = std::to_string(inputs), o = std::to_string(outputs);
  const std::string all = std::to_string(3 * outputs);
  return "dispatch @conv(%x: " + x + "[1, 5, 7, " + std::to_string(3 * inputs) +
         "], %w: i8[3, 3, " + c + ", " + all + "], %b: i32[" + all +
         "]) -> (%y: u8[1, 5, 7, " + all + "]) {\n  temp %s: i32[1, 5, 7, " +
         all + "]\n  for (n < 1, h < 5, w < 7, g < 3, o < " + o +
         ") %s[n, h, w, g * " + o + " + o] = sum(p < 3, q < 3, c < " + c +
         ") i32(pad(%x[n, h + p - 1, w + q - 1, g * " + c +
         " + c], 0)) * i32(%w[p, q, c, g * " + o + " + o])\n" +
         "  %y[n, h, w, o] = u8(min(max(%s[n, h, w, o] + %b[o], 0), 255))\n}";
}

TEST(NarrowProducts, GroupedConvolutions) {
  for (const char* target : {kAvx2, kVnni, kNeon}) {
    for (const auto& [type, inputs] : {std::pair("u8", 4), {"i8", 7}}) {
      for (const int outputs : {4, 12}) {
        const std::string text =
            ScheduleFor(target, GroupedConvolution(type, inputs, outputs));
        EXPECT_THAT(text, HasSubstr("tensorize %s c_dot"));
        // The sums stay in registers until the following stages convert them to
        // narrow types.
        EXPECT_THAT(text, HasSubstr("compute_at %s %y"));
      }
    }
  }
}

TEST(NarrowProducts, BFloats) {
  const std::string product = Product("bf16", "bf16", "f32", 40, 32);
  const std::string text = ScheduleFor(kBFloat, product);
  EXPECT_THAT(text, HasSubstr("tensorize %y k_dot"));
  EXPECT_THAT(text, Not(HasSubstr("%a ")));
  EXPECT_THAT(
      ScheduleFor(kBFloat, Convolution("bf16", "bf16", "f32", "0.0", 8)),
      HasSubstr("tensorize %y c_dot"));
  // f16 gets no dot loops, because the CPU has dot instructions for pairs of
  // bf16 only.
  EXPECT_THAT(ScheduleFor(kBFloat, Product("f16", "f16", "f32", 40, 32)),
              Not(HasSubstr("tensorize")));
}

TEST(NarrowProducts, WidenedCopies) {
  for (const char* type : {"f16", "bf16"}) {
    // An operand that is read often is copied once as f32. Weights that are
    // read once stay narrow, and are widened at each read.
    const std::string many =
        ScheduleFor(kAvx2, Product(type, type, "f32", 40, 32));
    EXPECT_THAT(many, HasSubstr("cache_read %y %a f32 -> a.wide"));
    EXPECT_THAT(many, HasSubstr("pack %y %b f32 1/"));
    const std::string few =
        ScheduleFor(kAvx2, Product(type, type, "f32", 2, 64));
    EXPECT_THAT(few, HasSubstr("pack %y %b 1/"));
    EXPECT_THAT(ScheduleFor(kAvx2, Convolution(type, type, "f32", "0.0", 8)),
                HasSubstr(" f32 -> x."));
  }
}

// The product reads %h, which an earlier stage computes and stores as f16.
TEST(NarrowProducts, WidenedTemporaries) {
  const std::string text = ScheduleFor(kAvx2, R"(
    dispatch @rows(%x: f32[32, 40], %w: f16[40, 24]) -> (%y: f32[32, 24]) {
      temp %h: f16[32, 40]
      %h[i, k] = f16(max(%x[i, k], 0.0))
      %y[i, j] = sum(k < 40) f32(%h[i, k]) * f32(%w[k, j])
    })");
  EXPECT_THAT(text, HasSubstr("cache_read %y %h f32 -> h.wide"));
}

}  // namespace
}  // namespace ember::schedule
