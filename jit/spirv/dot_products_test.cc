// Tests dot loops: which of them become the device's dot product instructions,
// which are unrolled, and that both agree with the evaluator.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/loops/testing/text_template.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/testing/run_nest.h"
#include "jit/spirv/tools.h"
#include "jit/target/gpu_model.h"
#include "tensor/text/text.h"

namespace ember::jit::spirv {
namespace {

using loops::Replaced;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTarget[] =
    "vulkan1.3+int64+storage8+storage16+dot+subgroup32+shared49152+"
    "invocations1024";

ModuleCode EmitFor(const std::string& text, const std::string& target) {
  const auto code = Emit(ParseOrDie(text), target);
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  return code.ok() ? *code : ModuleCode();
}

std::string Assembly(const std::string& text,
                     const std::string& target = kTarget) {
  return DisassembleModule(EmitFor(text, target).words);
}

int CountOf(const std::string& what, const std::string& text) {
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

// A product of %a and %b by dot loops. %a is row-major; in %b, the four
// elements of a dot product are contiguous.
constexpr char kProduct[] = R"(
loops @product(%a: input A[8, 16], %b: input B[4, 8, 4],
               %y: output i32[8, 8]) {
  register %sum: i32[8]
  phase t < 8 {
    unroll l < 8 { %sum[l] = 0 }
    for k < 4 {
      vector l < 8 {
        dot q < 4 { %sum[l] += i32(%a[t, k * 4 + q]) * i32(%b[k, l, q]) }
      }
    }
    vector l < 8 { %y[t, l] = %sum[l] }
  }
})";

std::string Product(const std::string& a, const std::string& b) {
  return Replaced(kProduct, {{"A[", a + "["}, {"B[", b + "["}});
}

TEST(SpirvDotProductTest, SignsChooseTheInstruction) {
  const struct {
    const char *a, *b, *instruction;
  } rows[] = {{"i8", "i8", "OpSDot "},
              {"u8", "u8", "OpUDot "},
              {"u8", "i8", "OpSUDot "},
              {"i8", "u8", "OpSUDot "}};
  for (const auto& row : rows) {
    const std::string text = Product(row.a, row.b);
    const std::string code = Assembly(text);
    EXPECT_EQ(CountOf(row.instruction, code), 8) << code;
    EXPECT_THAT(code, HasSubstr("OpCapability DotProduct\n"));
    EXPECT_THAT(code, HasSubstr("OpCapability DotProductInput4x8BitPacked\n"));
    EXPECT_THAT(code, HasSubstr("OpExtension \"SPV_KHR_integer_dot_product\""));
    EXPECT_THAT(code, HasSubstr("PackedVectorFormat4x8Bit"));
    // There are three loads: one word of %a, and two vectors of four words of
    // %b.
    EXPECT_EQ(EmitFor(text, kTarget).phases[0].loads, 3);
  }
}

// A register tile of u8 by i8, for a device whose dot products are fast only
// for equal signedness. The sum of the signed factor must be computed once for
// all rows.
constexpr char kTile[] = R"(
loops @tile(%a: input u8[8, 16], %b: input i8[4, 8, 4],
            %y: output i32[8, 8]) {
  register %sum: i32[4, 8]
  phase t < 2 {
    unroll r < 4 { unroll l < 8 { %sum[r, l] = 0 } }
    for k < 4 {
      unroll r < 4 {
        vector l < 8 {
          dot q < 4 { %sum[r, l] += i32(%a[t * 4 + r, k * 4 + q]) * i32(%b[k, l, q]) }
        }
      }
    }
    unroll r < 4 { vector l < 8 { %y[t * 4 + r, l] = %sum[r, l] } }
  }
})";

TEST(SpirvDotProductTest, MixedSignsByProductsOfOne) {
  const std::string target = std::string(kTarget) + "+fast_dot";
  const std::string code = Assembly(kTile, target);
  EXPECT_EQ(CountOf("OpSDot ", code), 4 * 8 + 8);
  EXPECT_THAT(code, Not(HasSubstr("OpSUDot")));
  EXPECT_EQ(CountOf("OpSUDot ", Assembly(kTile, target + "+fast_mixed_dot")),
            4 * 8);
  EXPECT_THAT(Assembly(kTile), Not(HasSubstr("OpSDot ")));
  if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  ExpectAsEvaluated(kTile);
  ExpectAsEvaluated(kTile, {}, 0, TestTarget() + "+fast_dot");
}

// Shows that results are exact for extreme factors of both types, and that sums
// wrap.
TEST(SpirvDotProductTest, SumsAreExact) {
  if (TestDevice() == nullptr) GTEST_SKIP() << kNoDevice;
  const loops::LoopNest nest = ParseOrDie(R"(
loops @extremes(%a: input u8[1, 16], %b: input i8[1, 16], %y: output i32[3]) {
  phase t < 1 {
    %y[0] = 2147483647
    %y[1] = -2147483648
    %y[2] = 0
    for k < 4 {
      dot q < 4 { %y[0] += i32(%a[t, k * 4 + q]) * i32(%a[t, k * 4 + q]) }
    }
    for k < 4 {
      dot q < 4 { %y[1] += i32(%a[t, k * 4 + q]) * i32(%b[t, k * 4 + q]) }
    }
    for k < 4 {
      dot q < 4 { %y[2] += i32(%b[t, k * 4 + q]) * i32(%b[t, k * 4 + q]) }
    }
  }
})");
  for (const char* features : {"", "+fast_dot"}) {
    Bytes buffers = {std::vector<uint8_t>(16, 255),
                     std::vector<uint8_t>(16, 128), std::vector<uint8_t>(12)};
    const Status status =
        RunOnDevice(nest, {}, buffers, TestTarget() + features);
    ASSERT_TRUE(status.ok()) << status.ToString();
    int32_t sums[3];
    std::memcpy(sums, buffers[2].data(), sizeof(sums));
    EXPECT_EQ(sums[0], static_cast<int32_t>(2147483647u + 16u * 255 * 255));
    EXPECT_EQ(sums[1], static_cast<int32_t>(2147483648u - 16u * 255 * 128));
    EXPECT_EQ(sums[2], 16 * 128 * 128);
  }
}

// Runs the default schedules for devices with fast dot products, even if this
// machine's device has none: with and without the workgroup's memory (as for a
// CPU-like device), and from storage buffers and texel buffers.
TEST(SpirvDotProductTest, DefaultSchedules) {
  const char* const products[] = {
      "dispatch @plain(%x: u8[48, 64], %w: i8[64, 40]) -> (%y: i32[48, 40]) { "
      "%y[i, j] = sum(k < 64) i32(%x[i, k]) * i32(%w[k, j]) }",
      "dispatch @odd(%x: i8[19, 37], %w: i8[21, 37]) -> (%y: i32[19, 21]) { "
      "%y[i, j] = sum(k < 37) i32(%x[i, k]) * i32(%w[j, k]) }",
      "dispatch @batch(%x: u8[3, 16, 32], %w: u8[3, 32, 24]) -> "
      "(%y: i32[3, 16, 24]) { %y[b, i, j] = sum(k < 32) "
      "i32(%x[b, i, k]) * i32(%w[b, k, j]) }",
      "dispatch @conv(%x: u8[1, 10, 10, 36], %w: i8[3, 3, 36, 20], %c: i32[20])"
      " -> (%y: u8[1, 8, 8, 20]) { temp %s: i32[1, 8, 8, 20] "
      "%s[n, h, v, o] = sum(r < 3, q < 3, c < 36) "
      "i32(%x[n, h + r, v + q, c]) * i32(%w[r, q, c, o]) "
      "%y[n, h, v, o] = u8(max(%s[n, h, v, o] + %c[o], 0)) }"};
  for (const char* features :
       {"+dot+fast_dot+subgroup32+shared32768+invocations1024",
        "+dot+fast_dot+cpu+subgroup8+shared32768+invocations1024"}) {
    for (const char* text : products) {
      SCOPED_TRACE(std::string(features) + text);
      const auto dispatch = tensor::Parse(text);
      ASSERT_TRUE(dispatch.ok()) << dispatch.status().ToString();
      schedule::Schedule schedule(schedule::Disassemble(*dispatch, {}));
      GpuModel gpu = GpuModel::Of(std::string("vulkan1.2") + features);
      // The GPU is so small that the schedule does not split the sums.
      gpu.busy_invocations = 64;
      const Status chosen = schedule::ScheduleForGpu(gpu, schedule);
      ASSERT_TRUE(chosen.ok()) << chosen.ToString();
      const auto nest = schedule::Lower(schedule);
      ASSERT_TRUE(nest.ok()) << nest.status().ToString();
      const auto code = Emit(*nest, std::string(kTarget) + features);
      ASSERT_TRUE(code.ok()) << code.status().ToString();
      const std::string assembly = DisassembleModule(code->words);
      // The kernel must have dot product instructions for the nest's dot loops.
      EXPECT_THAT(assembly, HasSubstr("Dot ")) << loops::ToText(*nest);
      EXPECT_EQ(loops::ToText(*nest).find("dot ") == std::string::npos, false);
      EXPECT_GT(code->phases.back().multiply_adds, 0);
      if (TestDevice() == nullptr) continue;
      for (const char* texels : {"", "+texels65536"}) {
        ExpectAsEvaluated(loops::ToText(*nest), {}, 0,
                          TestTarget() + "+fast_dot" + texels);
      }
    }
  }
}

// On a target without dot products the loops are unrolled, and the module
// declares no capability or extension for them.
TEST(SpirvDotProductTest, DevicesWithoutThemGetCodeWrittenOut) {
  const std::string without = Replaced(kTarget, "+dot", "");
  const std::string code = Assembly(Product("i8", "u8"), without);
  EXPECT_THAT(code, Not(HasSubstr("Dot")));
  EXPECT_THAT(code, Not(HasSubstr("OpExtension")));
  EXPECT_THAT(code, HasSubstr("OpIMul"));
  EXPECT_THAT(Assembly(Replaced(Product("i8", "u8"), "dot q", "unroll q")),
              Not(HasSubstr("Dot")));
}

// Shows dot loops that are unrolled: pairs of 16-bit integers have no packed
// instruction, and four bytes that begin inside a word are no word.
TEST(SpirvDotProductTest, OthersAreWrittenOut) {
  const char* const others[] = {R"(
loops @pairs(%a: input i16[8, 16], %b: input i16[8, 16], %y: output i32[8]) {
  phase t < 8 {
    %y[t] = 0
    for k < 8 {
      dot q < 2 { %y[t] += i32(%a[t, k * 2 + q]) * i32(%b[t, k * 2 + q]) }
    }
  }
})",
                                R"(
loops @shifted(%a: input i8[8, 16], %b: input u8[8, 16], %y: output i32[8]) {
  phase t < 8 {
    %y[t] = 0
    for k < 3 {
      dot q < 4 { %y[t] += i32(%a[t, k * 4 + q]) * i32(%b[t, k * 4 + q + 1]) }
    }
  }
})",
                                R"(
loops @rows(%a: input i8[8, 6], %b: input u8[8, 8], %y: output i32[8]) {
  phase t < 8 {
    %y[t] = 0
    dot q < 4 { %y[t] += i32(%a[t, q]) * i32(%b[t, q]) }
  }
})",
                                R"(
loops @some_lanes(%a: input i8[4, 4, 4], %y: output i32[4, 4]) {
  phase t < 4 {
    vector l < 4 {
      %y[t, l] = 0
      if l < t {
        dot q < 4 { %y[t, l] += i32(%a[t, l, q]) * i32(%a[t, l, q]) }
      }
    }
  }
})"};
  for (const char* text : others) {
    EXPECT_THAT(Assembly(text), Not(HasSubstr("Dot"))) << text;
    if (TestDevice() != nullptr) ExpectAsEvaluated(text);
  }
}

// A product that copies parts of both factors to the workgroup's memory, word
// by word.
constexpr char kSlices[] = R"(
loops @slices(%a: input u8[16, 32], %b: input i8[8, 16, 4],
              %y: output i32[16, 16]) {
  task %x: u8[16, 16]
  task %w: i8[4, 16, 4]
  register %sum: i32[16, 4, 4]
  phase t < 1 {
    invocation i < 16 {
      unroll r < 4 { vector l < 4 { %sum[i, r, l] = 0 } }
    }
    for k0 < 2 {
      invocation i < 16 {
        for j < 4 { vector l < 4 { %x[i, j * 4 + l] = %a[i, k0 * 16 + j * 4 + l] } }
      }
      invocation i < 16 {
        for j < 4 { vector q < 4 { %w[j, i, q] = %b[k0 * 4 + j, i, q] } }
      }
      invocation i < 16 {
        for k1 < 4 {
          unroll r < 4 {
            vector l < 4 {
              dot q < 4 {
                %sum[i, r, l] += i32(%x[floordiv(i, 4) * 4 + r, k1 * 4 + q]) * i32(%w[k1, mod(i, 4) * 4 + l, q])
              }
            }
          }
        }
      }
    }
    invocation i < 16 {
      unroll r < 4 {
        vector l < 4 {
          %y[floordiv(i, 4) * 4 + r, mod(i, 4) * 4 + l] = %sum[i, r, l] + i32(%x[i, 5])
        }
      }
    }
  }
})";

TEST(SpirvDotProductTest, SlicesInMemoryOfTheWorkgroup) {
  const ModuleCode code = EmitFor(kSlices, kTarget);
  EXPECT_EQ(CountOf("OpSUDot ", DisassembleModule(code.words)), 16);
  // In the workgroup's memory each byte takes one byte, because all stores are
  // of whole words.
  EXPECT_EQ(code.phases[0].shared_bytes, 2 * 16 * 16);
  // The loads are: one for each of the two copies, four words of rows, four of
  // columns, and %x[i, 5].
  EXPECT_EQ(code.phases[0].loads, 1 + 1 + 4 + 4 + 1);
  if (TestDevice() != nullptr) ExpectAsEvaluated(kSlices);
}

// If bytes are stored one by one, each takes a whole word: packed into one
// word, concurrent stores of other invocations could overwrite each other.
TEST(SpirvDotProductTest, BytesThatAreStoredOneByOneTakeWords) {
  const std::string one_by_one = Replaced(
      kSlices, "for j < 4 { vector q < 4 { %w", "for j < 4 { for q < 4 { %w");
  const ModuleCode code = EmitFor(one_by_one, kTarget);
  EXPECT_EQ(code.phases[0].shared_bytes, 16 * 16 + 4 * 16 * 16);
  EXPECT_THAT(DisassembleModule(code.words), Not(HasSubstr("Dot")));
  if (TestDevice() != nullptr) ExpectAsEvaluated(one_by_one);
  const std::string masked =
      Replaced(kSlices, "{ %w[j, i, q] = %b[k0 * 4 + j, i, q] }",
               "{ if q + j < 9 { %w[j, i, q] = %b[k0 * 4 + j, i, q] } }");
  EXPECT_EQ(EmitFor(masked, kTarget).phases[0].shared_bytes,
            16 * 16 + 4 * 16 * 16);
  if (TestDevice() != nullptr) ExpectAsEvaluated(masked);
}

}  // namespace
}  // namespace ember::jit::spirv
