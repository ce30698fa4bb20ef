// Tests the small libraries of base/ that have no test file of their own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_cursor.h"
#include "base/checked_math.h"
#include "base/concat.h"
#include "base/did_you_mean.h"
#include "base/dtype.h"
#include "base/float_format.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/large_memory.h"
#include "base/parallel.h"
#include "base/printer.h"
#include "base/shortened.h"
#include "base/status.h"
#include "base/unique_names.h"
#include "gtest/gtest.h"

namespace ember {
namespace {

TEST(ByteCursorTest, ReadsLittleEndianAndNeverBeyondTheEnd) {
  const std::string bytes("EMB\x02\x01\xff\xff\xff\xff\xff\xff\xff\xff", 13);
  ByteCursor in(AsBytes(bytes));
  EXPECT_TRUE(in.Matches("EMB"));
  EXPECT_EQ(in.Unsigned(2), 0x0102u);
  EXPECT_EQ(in.position(), 5u);
  EXPECT_EQ(in.remaining(), 8u);
  ByteCursor wide = in;
  EXPECT_EQ(wide.Unsigned(8), UINT64_MAX);
  EXPECT_EQ(wide.Unsigned(0), 0u);
  EXPECT_TRUE(wide.ok());
  in.Skip(7);
  EXPECT_EQ(AsText(in.Take(1)), "\xff");
  EXPECT_TRUE(in.ok());
  EXPECT_TRUE(in.Take(UINT64_MAX).empty());
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.remaining(), 0u);
  EXPECT_EQ(in.Unsigned(1), 0u);
  EXPECT_FALSE(in.Matches(""));
}

TEST(ShortenedTest, LongTextsAreCut) {
  EXPECT_EQ(Shortened("", 0), "");
  EXPECT_EQ(Shortened("abc", 3), "abc");
  EXPECT_EQ(Shortened("abcd", 3), "abc…");
  // Shortened cuts a UTF-8 text only between characters. If the bytes are no
  // UTF-8, it may cut anywhere.
  EXPECT_EQ(Shortened("aä€", 2), "a…");
  EXPECT_EQ(Shortened("aä€", 3), "aä…");
  EXPECT_EQ(Shortened("aä€", 5), "aä…");
  EXPECT_EQ(Shortened(std::string(9, '\x80'), 5), std::string(2, '\x80') + "…");
}

TEST(UniqueNamesTest, NumbersThatNobodyHas) {
  UniqueNames names;
  names.Reserve("y");
  names.Reserve("y");
  EXPECT_EQ(names.Take("x"), "x");
  EXPECT_EQ(names.Take("x_2"), "x_2");
  EXPECT_EQ(names.Take("x"), "x_3");
  EXPECT_EQ(names.Take("x_2"), "x_2_2");
  EXPECT_EQ(names.Take("y"), "y_2");
  EXPECT_EQ(names.TakeNumbered("z"), "z_2");
  EXPECT_EQ(names.Take("z"), "z");
  EXPECT_EQ(names.Take("z"), "z_3");
  UniqueNames from_one(1);
  EXPECT_EQ(from_one.Take("x"), "x");
  EXPECT_EQ(from_one.Take("x"), "x_1");
}

// Taking one name very many times must be as fast as taking different names. If
// each call tried all numbers from the first one, the test would take hours.
TEST(UniqueNamesTest, VeryManyAlike) {
  UniqueNames names;
  std::string last;
  for (int i = 0; i < 300'000; ++i) last = names.Take("x");
  EXPECT_EQ(last, "x_300000");
}

TEST(ConcatTest, TextsAndIntegersOfEveryKind) {
  const std::string text("a\0b", 3);
  EXPECT_EQ(Concat({"x ", text, std::string_view("view").substr(1), ""}),
            std::string("x a\0biew", 8));
  EXPECT_EQ(Concat({}), "");
  EXPECT_EQ(Concat({0, " ", -7, " ", uint8_t{200}, " ", int16_t{-300}}),
            "0 -7 200 -300");
  EXPECT_EQ(Concat({INT64_MIN, " ", INT64_MAX, " ", UINT64_MAX}),
            "-9223372036854775808 9223372036854775807 18446744073709551615");
  EXPECT_EQ(Concat({INT32_MIN, " ", UINT32_MAX, " ", size_t{12}}),
            "-2147483648 4294967295 12");
}

TEST(StatusTest, CarriesCodeAndMessage) {
  EXPECT_TRUE(OkStatus().ok());
  EXPECT_EQ(OkStatus().ToString(), "OK");
  const Status status = NotFoundError("file 'x'");
  const Status copy =  // NOLINT(performance-unnecessary-copy-initialization)
      status;
  EXPECT_EQ(copy.ToString(), "NOT_FOUND: file 'x'");
  EXPECT_EQ(copy.WithContext("loading").message(), "loading: file 'x'");
  EXPECT_TRUE(OkStatus().WithContext("loading").ok());
}

StatusOr<int> Half(int value) {
  if (value % 2 != 0) return InvalidArgumentError("odd");
  return value / 2;
}
StatusOr<int> Quarter(int value) {
  EMBER_ASSIGN_OR_RETURN(const int half, Half(value));
  EMBER_RETURN_IF_ERROR(Half(half).status());
  return Half(half);
}

TEST(StatusTest, MacrosPassErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().message(), "odd");
  EXPECT_EQ(Quarter(5).status().message(), "odd");
}

TEST(StatusDeathTest, ValueOfAnErrorIsOurBug) {
  EXPECT_DEATH(Half(1).value(), "INVALID_ARGUMENT: odd");
}

TEST(CheckedMathTest, ReportsOverflow) {
  EXPECT_EQ(CheckedAdd(INT64_MAX, 0), INT64_MAX);
  EXPECT_EQ(CheckedAdd(INT64_MAX, 1), std::nullopt);
  EXPECT_EQ(CheckedSubtract(INT64_MIN, 1), std::nullopt);
  EXPECT_EQ(CheckedMultiply(int64_t{1} << 32, int64_t{1} << 31), std::nullopt);
  EXPECT_EQ(CheckedMultiply(INT64_MIN, -1), std::nullopt);
  EXPECT_EQ(CheckedRoundUp(65, 64), 128);
  EXPECT_EQ(CheckedRoundUp(-65, 64), -64);
  EXPECT_EQ(CheckedRoundUp(128, 64), 128);
  EXPECT_EQ(CheckedRoundUp(INT64_MAX, 64), std::nullopt);
  EXPECT_EQ(FloorQuotient(-7, 2), -4);
  EXPECT_EQ(FloorRemainder(-7, 2), 1);
}

TEST(HashTest, IsTheSameForever) {
  // Caches on disk use hashes as keys, so these values must stay the same
  // unless the version of the caches changes too.
  EXPECT_EQ(HashString(""), 0u);
  EXPECT_EQ(HashString("ember"), 0x53ee5e6602d49841u);
  EXPECT_EQ(HashCombine(1, 2), 0xbb7bb33166c492ffu);
  EXPECT_NE(HashString("ember"), HashString("embes"));
  EXPECT_NE(HashString(std::string_view("a\0", 2)), HashString("a"));
  EXPECT_NE(HashString("x", 1), HashString("x", 2));
  EXPECT_NE(HashCombine(1, 2), HashCombine(2, 1));
}

TEST(HashTest, EveryBitMatters) {
  std::string text(37, 'x');
  const uint64_t hash = HashString(text);
  for (size_t i = 0; i < 8 * text.size(); ++i) {
    text[i / 8] = static_cast<char>(text[i / 8] ^ (1 << (i % 8)));
    EXPECT_NE(HashString(text), hash) << i;
    text[i / 8] = static_cast<char>(text[i / 8] ^ (1 << (i % 8)));
  }
}

TEST(DTypeTest, NamesAndSizes) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType type = static_cast<DType>(i);
    EXPECT_EQ(DTypeFromName(DTypeName(type)), type);
    EXPECT_GE(DTypeByteSize(type), 1);
  }
  EXPECT_EQ(DTypeFromName("f33"), std::nullopt);
  EXPECT_FALSE(IsValidDType(kDTypeCount));
}

TEST(DTypeTest, EveryHalfSurvivesTheWayToFloatAndBack) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const Float16 half{static_cast<uint16_t>(bits)};
    const BFloat16 brain{static_cast<uint16_t>(bits)};
    if (std::isnan(ToFloat(half))) {
      EXPECT_TRUE(std::isnan(ToFloat(ToFloat16(ToFloat(half)))));
    } else {
      ASSERT_EQ(ToFloat16(ToFloat(half)).bits, bits);
      ASSERT_EQ(ToFloat16(static_cast<double>(ToFloat(half))).bits, bits);
    }
    if (!std::isnan(ToFloat(brain))) {
      ASSERT_EQ(ToBFloat16(ToFloat(brain)).bits, bits);
    }
  }
}

// A float between two neighbouring numbers of the narrow type rounds to the
// nearer one; one in the middle rounds to the number with an even mantissa.
TEST(DTypeTest, HalvesRoundToNearestEven) {
  for (uint16_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = ToFloat(Float16{bits});
    const double high = ToFloat(Float16{static_cast<uint16_t>(bits + 1)});
    const double middle = (low + high) / 2;
    const uint16_t even =
        bits % 2 == 0 ? bits : static_cast<uint16_t>(bits + 1);
    ASSERT_EQ(ToFloat16(static_cast<float>(middle)).bits, even);
    ASSERT_EQ(ToFloat16(middle).bits, even);
    ASSERT_EQ(ToFloat16(std::nextafter(middle, 0)).bits, bits);
    ASSERT_EQ(ToFloat16(std::nextafter(middle, 1e9)).bits, bits + 1);
  }
  EXPECT_EQ(ToFloat16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(ToFloat16(65519.9f).bits, 0x7bff);
  EXPECT_EQ(ToFloat16(-1e30f).bits, 0xfc00);
}

// Compares the value of every bit pattern with the tables of the OFP8
// specification: sign, exponent, mantissa.
template <typename T>
void ExpectValuesOfFields(int mantissa_bits, int bias, int first_special,
                          int infinity) {
  for (int bits = 0; bits < 256; ++bits) {
    const float value = ToFloat(T{static_cast<uint8_t>(bits)});
    const int magnitude = bits & 0x7f;
    const bool is_negative = bits >= 0x80;
    ASSERT_EQ(std::signbit(value), is_negative) << bits;
    if (magnitude >= first_special) {
      ASSERT_EQ(std::isinf(value), magnitude == infinity) << bits;
      ASSERT_EQ(std::isnan(value), magnitude != infinity) << bits;
    } else {
      const int exponent = magnitude >> mantissa_bits;
      const int fraction = magnitude % (1 << mantissa_bits);
      const double significand =
          std::ldexp(fraction, -mantissa_bits) + (exponent == 0 ? 0 : 1);
      const double expected =
          std::ldexp(significand, std::max(exponent, 1) - bias);
      ASSERT_EQ(value, is_negative ? -expected : expected) << bits;
      ASSERT_EQ(ToNarrowFloat<T>(value).bits, bits);
      ASSERT_EQ(ToNarrowFloat<T>(static_cast<double>(value)).bits, bits);
    }
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(ToFloat(ToNarrowFloat<T>(value)))) << bits;
      EXPECT_EQ(ToNarrowFloat<T>(value).bits & 0x80, bits & 0x80);
    }
  }
}

TEST(DTypeTest, FloatsOfEightBitsAreAsTheSpecificationSays) {
  ExpectValuesOfFields<Float8E4M3FN>(3, 7, 0x7f, -1);
  ExpectValuesOfFields<Float8E5M2>(2, 15, 0x7c, 0x7c);
  EXPECT_EQ(ToFloat(Float8E4M3FN{0x7e}), 448.0f);
  EXPECT_EQ(ToFloat(Float8E4M3FN{0x01}), 0x1p-9f);
  EXPECT_EQ(ToFloat(Float8E5M2{0x7b}), 57344.0f);
  EXPECT_EQ(ToFloat(Float8E5M2{0x01}), 0x1p-16f);
}

// A float between two neighbouring numbers of the narrow type rounds to the
// nearer one; one in the middle rounds to the number with an even mantissa.
// Beyond the largest number, rounding works as if one more number, `too_large`,
// followed at the same distance.
template <typename T>
void ExpectNearestEven(int largest, int too_large) {
  for (int bits = 0; bits <= largest; ++bits) {
    const double low = ToFloat(T{static_cast<uint8_t>(bits)});
    const double before =
        ToFloat(T{static_cast<uint8_t>(std::max(bits, 1) - 1)});
    const double high = bits == largest
                            ? low + (low - before)
                            : ToFloat(T{static_cast<uint8_t>(bits + 1)});
    const double middle = (low + high) / 2;
    const int above = bits == largest ? too_large : bits + 1;
    const int even = bits % 2 == 0 ? bits : above;
    ASSERT_EQ(ToNarrowFloat<T>(static_cast<float>(middle)).bits, even);
    ASSERT_EQ(ToNarrowFloat<T>(middle).bits, even);
    ASSERT_EQ(ToNarrowFloat<T>(-middle).bits, even | 0x80);
    ASSERT_EQ(ToNarrowFloat<T>(std::nextafter(middle, 0)).bits, bits);
    ASSERT_EQ(ToNarrowFloat<T>(std::nextafter(middle, 1e9)).bits, above);
    const float single = static_cast<float>(middle);
    ASSERT_EQ(ToNarrowFloat<T>(std::nextafterf(single, 0)).bits, bits);
    ASSERT_EQ(ToNarrowFloat<T>(std::nextafterf(single, 1e9f)).bits, above);
  }
}

TEST(DTypeTest, FloatsOfEightBitsRoundToNearestEven) {
  ExpectNearestEven<Float8E4M3FN>(0x7e, 0x7f);
  ExpectNearestEven<Float8E5M2>(0x7b, 0x7c);
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float value : {1e4f, 1e30f, infinity}) {
    EXPECT_EQ(ToNarrowFloat<Float8E4M3FN>(value).bits, 0x7f);
    EXPECT_EQ(ToNarrowFloat<Float8E4M3FN>(-value).bits, 0xff);
  }
  EXPECT_EQ(ToNarrowFloat<Float8E5M2>(-1e30f).bits, 0xfc);
  EXPECT_EQ(ToNarrowFloat<Float8E5M2>(infinity).bits, 0x7c);
  EXPECT_EQ(ToNarrowFloat<Float8E5M2>(1e-30f).bits, 0);
}

TEST(DTypeTest, FormatsSayWhereTheBitsAre) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType type = static_cast<DType>(i);
    if (!IsFloat(type)) continue;
    const FloatFormat format = FloatFormatOf(type);
    EXPECT_EQ(format.bits, 8 * DTypeByteSize(type)) << DTypeName(type);
    EXPECT_EQ(format.has_infinity(), type != DType::kF8E4M3FN);
  }
  EXPECT_EQ(FloatFormatOf(DType::kF32).past_finite, 0x7f800000u);
  EXPECT_EQ(FloatFormatOf(DType::kF32).quiet_nan, 0x7fc00000u);
  EXPECT_EQ(FloatFormatOf(DType::kF64).quiet_nan, 0x7ff8000000000000u);
  EXPECT_EQ(FloatFormatOf(DType::kBF16).past_finite, 0x7f80u);
  EXPECT_EQ(FloatFormatOf(DType::kF8E4M3FN).past_finite, 0x7fu);
}

TEST(PrinterTest, IndentsLines) {
  Printer printer;
  printer.Line("a {");
  {
    Printer::Indent indent(printer);
    printer.Print("b", " = ");
    printer.Line(-1, ';', uint64_t{18446744073709551615u});
    printer.EndLine();
  }
  printer.Line("}");
  EXPECT_EQ(printer.text(), "a {\n  b = -1;18446744073709551615\n\n}\n");
  Printer list;
  PrintJoined(list, std::vector<int>{1, 2, 3},
              [&](int item) { list.Print(item); });
  EXPECT_EQ(std::move(list).Take(), "1, 2, 3");
}

TEST(ParallelTest, SerialRunnerRunsAllChunks) {
  SerialRunner runner;
  std::vector<int64_t> chunks;
  runner.Run(3, [&](int64_t chunk, int worker) {
    EXPECT_EQ(worker, 0);
    chunks.push_back(chunk);
  });
  EXPECT_EQ(chunks, (std::vector<int64_t>{0, 1, 2}));
}

TEST(LargeMemoryTest, IsDoneOrStopped) {
  constexpr int64_t kBytes = (int64_t{2} << 20) + 3;
  std::vector<uint8_t> memory(kBytes + 1, 7);
  Interrupt interrupt;
  interrupt.Cancel();
  EXPECT_FALSE(ClearMemory(memory.data(), kBytes, &interrupt));
  EXPECT_EQ(memory[0], 7);
  interrupt.Start();
  EXPECT_TRUE(ClearMemory(memory.data(), kBytes, &interrupt));
  EXPECT_EQ(memory, [] {
    std::vector<uint8_t> expected(kBytes + 1, 0);
    expected.back() = 7;
    return expected;
  }());
  memory.assign(kBytes + 1, 7);
  EXPECT_TRUE(ClearMemory(memory.data(), 1, nullptr));
  EXPECT_EQ(memory[0], 0);
  EXPECT_EQ(memory[1], 7);
  std::vector<uint8_t> copy(kBytes + 1, 1);
  EXPECT_TRUE(FillMemory(memory.data(), 9, kBytes, &interrupt));
  EXPECT_TRUE(CopyMemory(copy.data(), memory.data(), kBytes, &interrupt));
  EXPECT_EQ(copy[0], 9);
  EXPECT_EQ(copy[kBytes - 1], 9);
  EXPECT_EQ(copy[kBytes], 1);
  interrupt.Cancel();
  EXPECT_FALSE(CopyMemory(copy.data(), memory.data(), kBytes, &interrupt));
}

TEST(DidYouMeanTest, NamesTheNearestCandidate) {
  const std::vector<std::string_view> names = {"unroll", "fuse", "0",
                                               "aarch64"};
  EXPECT_EQ(DidYouMean("unrol", names), "; did you mean 'unroll'?");
  EXPECT_EQ(DidYouMean("fusee", names), "; did you mean 'fuse'?");
  EXPECT_EQ(DidYouMean("", names), "");
  EXPECT_EQ(DidYouMean("9", names), "") << "nothing of the candidate is left";
  EXPECT_EQ(DidYouMean("arm64", names), "") << "three edits";
}

}  // namespace
}  // namespace ember
