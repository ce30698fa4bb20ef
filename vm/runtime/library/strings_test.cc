// Tests strings: the table of strings, texts of numbers, Unicode, library
// functions, and sessions with strings.
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "hal/cpu/device.h"
#include "tensor/scalar.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/runtime/library/library.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/library/string_numbers.h"
#include "vm/runtime/library/string_table.h"
#include "vm/runtime/library/unicode.h"
#include "vm/runtime/run_limits.h"
#include "vm/runtime/session.h"

namespace ember::vm {
namespace {

using Texts = std::vector<std::string>;

TEST(StringTableTest, EqualStringsHaveEqualHandles) {
  const Texts initial = {"", "one"};
  StringTable table(1 << 10);
  ASSERT_TRUE(table.Reset(initial).ok());
  EXPECT_EQ(*table.Intern("one"), 1);
  EXPECT_EQ(*table.Intern("two"), 2);
  EXPECT_EQ(*table.Intern(std::string("two")), 2);
  EXPECT_EQ(*table.Get(2), "two");
  EXPECT_EQ(*table.Get(0), "");
  EXPECT_EQ(table.Get(3).status().message(),
            "strings: expected a handle below 3, found 3");
  EXPECT_FALSE(table.Get(-1).ok());
  for (const Texts& other : {initial, Texts{"two"}}) {
    ASSERT_TRUE(table.Reset(other).ok());
    EXPECT_EQ(table.size(), static_cast<int64_t>(other.size()));
    const int64_t count = table.size();
    EXPECT_EQ(*table.Intern("three"), count);
    EXPECT_EQ(*table.Intern(other.back()), count - 1);
  }
}

TEST(StringTableTest, LimitsBytes) {
  StringTable table(300);
  EXPECT_TRUE(table.Intern(std::string(100, 'x')).ok());
  EXPECT_EQ(
      table.Intern("y").status().ToString(),
      "RESOURCE_EXHAUSTED: strings: expected at most 72 more bytes, found "
      "a string of 1 and 128 for its entry");
  EXPECT_TRUE(table.Intern(std::string(100, 'x')).ok()) << "already there";
  ASSERT_TRUE(table.Reset({}).ok());
  EXPECT_TRUE(table.Intern("y").ok());
}

// After Reset was interrupted, a later Reset must remove the strings that the
// first one has left.
TEST(StringTableTest, ResetIsStopped) {
  StringTable table(1 << 10);
  const Texts initial = {"one"};
  Interrupt interrupt;
  interrupt.Cancel();
  EXPECT_EQ(table.Reset(initial, &interrupt).code(), StatusCode::kCancelled);
  ASSERT_TRUE(table.Reset(initial).ok());
  EXPECT_EQ(*table.Intern("one"), 0);
  std::string text = "x";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(table.Intern(text += "x").ok());
  interrupt.Start();
  ASSERT_TRUE(table.Reset(initial, &interrupt).ok());
  EXPECT_EQ(table.size(), 1);
  EXPECT_EQ(*table.Intern("two"), 1);
}

std::string TextOf(double value, DType type) {
  return NumberText(tensor::DoubleToBits(value, type), type);
}

TEST(StringNumbersTest, TextsOfNumbers) {
  EXPECT_EQ(TextOf(0.1f, DType::kF32), "0.1");
  EXPECT_EQ(TextOf(0.1, DType::kF64), "0.1");
  EXPECT_EQ(TextOf(0.1f, DType::kF64), "0.10000000149011612");
  EXPECT_EQ(TextOf(0.1, DType::kF16), "0.1");
  EXPECT_EQ(TextOf(0.1, DType::kBF16), "0.1");
  EXPECT_EQ(TextOf(65504, DType::kF16), "65500.0");
  EXPECT_EQ(TextOf(0.47892547f, DType::kF32), "0.47892547");
  EXPECT_EQ(TextOf(314.15926, DType::kF64), "314.15926");
  EXPECT_EQ(TextOf(-3, DType::kF32), "-3.0");
  EXPECT_EQ(TextOf(0, DType::kF32), "0.0");
  EXPECT_EQ(TextOf(-0.0, DType::kF32), "-0.0");
  EXPECT_EQ(TextOf(1e15, DType::kF64), "1000000000000000.0");
  EXPECT_EQ(TextOf(1e16, DType::kF64), "1e+16");
  EXPECT_EQ(TextOf(1.5e-4, DType::kF64), "0.00015");
  EXPECT_EQ(TextOf(1.5e-5, DType::kF64), "1.5e-05");
  EXPECT_EQ(TextOf(NAN, DType::kF32), "NaN");
  EXPECT_EQ(TextOf(INFINITY, DType::kF32), "INF");
  EXPECT_EQ(TextOf(-INFINITY, DType::kF64), "-INF");
  EXPECT_EQ(NumberText(UINT64_MAX, DType::kU64), "18446744073709551615");
  EXPECT_EQ(NumberText(UINT64_MAX, DType::kI64), "-1");
  EXPECT_EQ(NumberText(tensor::IntegerToBits(-5, DType::kI8), DType::kI8),
            "-5");
  EXPECT_EQ(NumberText(1, DType::kBool), "True");
  EXPECT_EQ(NumberText(0, DType::kBool), "False");
}

double Parsed(std::string_view text, DType type) {
  const StatusOr<uint64_t> bits = ParseNumber(text, type);
  EXPECT_TRUE(bits.ok()) << bits.status().ToString();
  return bits.ok() ? tensor::BitsToDouble(*bits, type) : -12345;
}

TEST(StringNumbersTest, ReadsFloats) {
  EXPECT_EQ(Parsed("3.14", DType::kF64), 3.14);
  EXPECT_EQ(Parsed(" +1e-5\n", DType::kF32), 1e-5f);
  EXPECT_EQ(Parsed("1E8", DType::kF32), 1e8f);
  EXPECT_EQ(Parsed("-.5", DType::kF16), -0.5);
  EXPECT_EQ(Parsed("1.", DType::kBF16), 1);
  // The text is halfway between two f32 numbers, except for its last digits,
  // which f64 cannot represent. Reading it as f64 first would round it to the
  // wrong f32 number.
  EXPECT_EQ(Parsed("1.00000005960464477540", DType::kF32), 1.0000001192092896);
  for (const char* text : {"INF", "+inf", "Infinity", "1e999"})
    EXPECT_EQ(Parsed(text, DType::kF32), INFINITY) << text;
  EXPECT_EQ(Parsed("-INF", DType::kF64), -INFINITY);
  EXPECT_EQ(Parsed("1e-999", DType::kF64), 0);
  EXPECT_EQ(Parsed("1e39", DType::kF32), INFINITY);
  EXPECT_TRUE(std::isnan(Parsed("NaN", DType::kF32)));
  for (const char* text : {"", " ", "abc", "1.5x", "--1", "+-1", "1 2", ".",
                           "0x10", "nan(1)", "1e", "i"}) {
    EXPECT_FALSE(ParseNumber(text, DType::kF64).ok()) << text;
  }
  EXPECT_EQ(ParseNumber("abc", DType::kF32).status().message(),
            "expected a number that fits f32, found 'abc'");
}

TEST(StringNumbersTest, ReadsIntegers) {
  EXPECT_EQ(*ParseNumber("-12", DType::kI64), static_cast<uint64_t>(-12));
  EXPECT_EQ(*ParseNumber("9223372036854775807", DType::kI64),
            static_cast<uint64_t>(INT64_MAX));
  EXPECT_EQ(*ParseNumber("18446744073709551615", DType::kU64), UINT64_MAX);
  EXPECT_EQ(Parsed("100.5", DType::kI32), 100);
  EXPECT_EQ(Parsed("-1.9e1", DType::kI8), -19);
  EXPECT_EQ(Parsed("+255", DType::kU8), 255);
  for (const char* text : {"256", "-1", "1e9", "nan", "inf", "1e99", ""})
    EXPECT_FALSE(ParseNumber(text, DType::kU8).ok()) << text;
  EXPECT_FALSE(ParseNumber("-1", DType::kU64).ok());
  EXPECT_FALSE(ParseNumber("18446744073709551616", DType::kU64).ok());
  EXPECT_FALSE(ParseNumber("9223372036854775808", DType::kI64).ok());
  EXPECT_EQ(Parsed("True", DType::kBool), 1);
  EXPECT_EQ(Parsed("True", DType::kI8), 1);
  EXPECT_EQ(Parsed("false", DType::kF32), 0);
  EXPECT_EQ(Parsed("0.0", DType::kBool), 0);
  EXPECT_EQ(Parsed("2", DType::kBool), 1);
}

TEST(UnicodeTest, ChangesCase) {
  EXPECT_EQ(ChangeCase("Monday, ÄÖß é Ω 1", Case::kLower), "monday, äöß é ω 1");
  EXPECT_EQ(ChangeCase("Monday, äöß é ω я 1", Case::kUpper),
            "MONDAY, ÄÖß É Ω Я 1");
  // The texts are invalid UTF-8: a single continuation byte, a truncated
  // character, a surrogate, and an overlong form.
  const std::string bad =
      "\xff"
      "a\xc3"
      "b\xed\xa0\x80\xc0\x80";
  EXPECT_EQ(ChangeCase(bad, Case::kUpper),
            "\xff"
            "A\xc3"
            "B\xed\xa0\x80\xc0\x80");
  EXPECT_EQ(SpaceLength(" a"), 1);
  EXPECT_EQ(SpaceLength("\u3000"), 3);
  EXPECT_EQ(SpaceLength("a"), 0);
  EXPECT_EQ(SpaceLength(""), 0);
  EXPECT_EQ(SpaceLength("\xa0"), 0);
  EXPECT_EQ(CharacterLength("äb"), 2);
  EXPECT_EQ(CharacterLength("\xffz"), 1);
}

class StringFunctionsTest : public testing::Test {
 protected:
  ~StringFunctionsTest() override {
    if (allocated_.block != nullptr) allocated_.block->Drop();
  }
  std::vector<int64_t> Handles(const Texts& texts) {
    std::vector<int64_t> handles(texts.size());
    EXPECT_TRUE(strings_->Intern(texts, handles.data()).ok());
    return handles;
  }
  Texts Resolved(std::span<const int64_t> handles) {
    std::shared_ptr<const Texts> texts;
    const Status status = strings_->Resolve(handles, &texts);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return texts == nullptr ? Texts() : *texts;
  }
  template <typename T>
  static LibraryMemory Memory(std::vector<T>& values) {
    return {reinterpret_cast<uint8_t*>(values.data()),
            static_cast<int64_t>(values.size() * sizeof(T)), nullptr};
  }
  Status Call(LibraryFunction function, std::vector<int64_t> integers,
              std::vector<LibraryMemory> memory) {
    return CallLibrary(function, {integers,
                                  memory,
                                  {&written_, 1},
                                  {&allocated_, 1},
                                  pool_,
                                  strings_.get(),
                                  nullptr,
                                  limits_});
  }
  Texts Changed(LibraryFunction function, const Texts& texts) {
    std::vector<int64_t> x = Handles(texts), y(texts.size());
    const Status status = Call(function, {static_cast<int64_t>(x.size())},
                               {Memory(x), Memory(y)});
    EXPECT_TRUE(status.ok()) << status.ToString();
    return Resolved(y);
  }
  // Returns the parts of each text in order; the parts of a text are followed
  // by their number.
  Texts Split(const Texts& texts, int64_t delimiter, int64_t most) {
    std::vector<int64_t> x = Handles(texts), counts(texts.size());
    if (allocated_.block != nullptr) allocated_.block->Drop();
    allocated_ = {};
    const int64_t n = static_cast<int64_t>(x.size());
    const Status status =
        Call(LibraryFunction::kStringSplit, {n, delimiter, most},
             {Memory(x), Memory(counts)});
    EXPECT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(allocated_.length, n * written_ * 8);
    const Texts parts =
        Resolved({reinterpret_cast<const int64_t*>(allocated_.data),
                  static_cast<size_t>(n * written_)});
    Texts shown;
    for (int64_t i = 0; i < n; ++i) {
      std::string row;
      for (int64_t k = 0; k < written_; ++k)
        row += parts[static_cast<size_t>(i * written_ + k)] + "|";
      shown.push_back(row + std::to_string(counts[static_cast<size_t>(i)]));
    }
    return shown;
  }

  std::unique_ptr<StringSupport> strings_ = NewStringSupport(1 << 16);
  MemoryPool pool_{*hal::CreateCpuDevice({.threads = 1}), 1 << 20};
  RunLimits* limits_ = nullptr;
  int64_t written_ = -1;
  LibraryMemory allocated_;
};

TEST_F(StringFunctionsTest, ConcatAndCase) {
  std::vector<int64_t> a = Handles({"abc", "", "x"}),
                       b = Handles({"def", "", ""});
  std::vector<int64_t> w(3);
  ASSERT_TRUE(Call(LibraryFunction::kStringConcat, {3},
                   {Memory(a), Memory(b), Memory(w)})
                  .ok());
  EXPECT_EQ(Resolved(w), (Texts{"abcdef", "", "x"}));
  EXPECT_EQ(Changed(LibraryFunction::kStringUpper, {"monday", "ä1"}),
            (Texts{"MONDAY", "Ä1"}));
  EXPECT_EQ(Changed(LibraryFunction::kStringLower, {"MonDay", ""}),
            (Texts{"monday", ""}));
}

// The expected results are the examples of ONNX, and results of Python's split.
TEST_F(StringFunctionsTest, Split) {
  const int64_t dot = Handles({"."})[0];
  EXPECT_EQ(Split({"abc.com", "def.net"}, dot, -1),
            (Texts{"abc|com|2", "def|net|2"}));
  EXPECT_EQ(Split({"a..b.", "", "x"}, dot, -1),
            (Texts{"a||b||4", "||||1", "x||||1"}));
  EXPECT_EQ(Split({"a.b.c", "d"}, dot, 1), (Texts{"a|b.c|2", "d||1"}));
  EXPECT_EQ(Split({"a.b"}, dot, 0), (Texts{"a.b|1"}));
  EXPECT_EQ(Split({"a.b.c"}, dot, INT64_MIN), (Texts{"a|b|c|3"}));
  EXPECT_EQ(Split({}, dot, -1), Texts());
  EXPECT_EQ(written_, 0);
  const int64_t wide = Handles({"--"})[0];
  EXPECT_EQ(Split({"a---b"}, wide, -1), (Texts{"a|-b|2"}));
  const int64_t empty = Handles({""})[0];
  for (const int64_t space : {int64_t{-1}, empty}) {
    EXPECT_EQ(Split({"hello world !", "  hello   world !", " hello\tworld\n! "},
                    space, -1),
              (Texts{"hello|world|!|3", "hello|world|!|3", "hello|world|!|3"}));
    EXPECT_EQ(Split({"", "  "}, space, -1), (Texts{"0", "0"}));
    EXPECT_EQ(Split({" a  b  c "}, space, 1), (Texts{"a|b  c |2"}));
    EXPECT_EQ(Split({" a b "}, space, 0), (Texts{"a b |1"}));
    EXPECT_EQ(Split({" a b "}, space, INT64_MIN), (Texts{"a|b|2"}));
    EXPECT_EQ(Split({"ä\u3000ö"}, space, -1), (Texts{"ä|ö|2"}));
  }
}

TEST_F(StringFunctionsTest, Numbers) {
  std::vector<float> values = {1.5f, -2, 0.1f};
  std::vector<int64_t> texts(3), again(3);
  const int64_t f32 = static_cast<int64_t>(DType::kF32);
  const int64_t i64 = static_cast<int64_t>(DType::kI64);
  ASSERT_TRUE(Call(LibraryFunction::kNumberToString, {f32, 3},
                   {Memory(values), Memory(texts)})
                  .ok());
  EXPECT_EQ(Resolved(texts), (Texts{"1.5", "-2.0", "0.1"}));
  std::vector<float> read(3);
  ASSERT_TRUE(Call(LibraryFunction::kStringToNumber, {f32, 3},
                   {Memory(texts), Memory(read)})
                  .ok());
  EXPECT_EQ(read, values);
  ASSERT_TRUE(Call(LibraryFunction::kStringToNumber, {i64, 3},
                   {Memory(texts), Memory(again)})
                  .ok());
  EXPECT_EQ(again, (std::vector<int64_t>{1, -2, 0}));
}

TEST_F(StringFunctionsTest, RegexMatchesAll) {
  std::vector<int64_t> x =
      Handles({"www.google.com", "www.facebook.com", "www.bbc.co.uk", ""});
  std::vector<uint8_t> w(4, 9);
  const int64_t pattern = Handles({R"(www\.[\w.-]+\.\bcom\b)"})[0];
  ASSERT_TRUE(Call(LibraryFunction::kRegexFullMatch, {4, pattern},
                   {Memory(x), Memory(w)})
                  .ok());
  EXPECT_EQ(w, (std::vector<uint8_t>{1, 1, 0, 0}));
  const int64_t bad = Handles({"(a"})[0];
  EXPECT_EQ(
      Call(LibraryFunction::kRegexFullMatch, {4, bad}, {Memory(x), Memory(w)})
          .message(),
      "expected a regular expression as RE2 has them, found '(a' (missing "
      "): (a)");
}

TEST_F(StringFunctionsTest, RanksByBytes) {
  std::vector<int64_t> x = Handles({"b", "", "B", "ä", "b", "ab"}), w(6);
  ASSERT_TRUE(
      Call(LibraryFunction::kStringRank, {6}, {Memory(x), Memory(w)}).ok());
  EXPECT_EQ(w, (std::vector<int64_t>{3, 0, 1, 4, 3, 2}));
}

// Results are copies of strings, and each copy must count under the limit.
TEST_F(StringFunctionsTest, ResultsHaveOneLimit) {
  const std::vector<int64_t> handles(3, Handles({std::string(20000, 'x')})[0]);
  std::shared_ptr<const Texts> texts;
  EXPECT_TRUE(strings_->Resolve({handles.data(), 2}, &texts).ok());
  EXPECT_EQ(strings_->Resolve({handles.data(), 1}, &texts).message(),
            "strings: expected at most 5152 more bytes, found a string of "
            "20000 and 128 for its entry");
}

TEST_F(StringFunctionsTest, BytesOfStringsAreWork) {
  Interrupt interrupt;
  RunLimits limits({.work_limit = 1000}, interrupt);
  limits_ = &limits;
  std::vector<int64_t> x = Handles({std::string(600, 'A'), "b"}), w(2);
  x[1] = x[0];
  const auto change = [&](int64_t count) {
    return Call(LibraryFunction::kStringLower, {count}, {Memory(x), Memory(w)});
  };
  limits.Start();
  EXPECT_TRUE(change(1).ok());
  limits.Start();
  EXPECT_EQ(change(2).message(),
            "strings: expected work of at most 1000 points in the run "
            "(--max-work), found more");
  limits.Start();
  interrupt.Cancel();
  EXPECT_EQ(change(1).code(), StatusCode::kCancelled);
}

// Cancel must also stop functions that do not read the bytes of strings.
TEST_F(StringFunctionsTest, CancelEndsWhatMakesOrRanksStrings) {
  Interrupt interrupt;
  ASSERT_TRUE(strings_->Start({}, &interrupt).ok());
  std::vector<int64_t> x = Handles({"a", "b"}), w(2);
  constexpr auto kI64 = static_cast<int64_t>(DType::kI64);
  const auto make = [&] {
    return Call(LibraryFunction::kNumberToString, {kI64, 2},
                {Memory(x), Memory(w)});
  };
  const auto rank = [&] {
    return Call(LibraryFunction::kStringRank, {2}, {Memory(x), Memory(w)});
  };
  EXPECT_TRUE(make().ok());
  EXPECT_TRUE(rank().ok());
  interrupt.Cancel();
  EXPECT_EQ(make().code(), StatusCode::kCancelled);
  EXPECT_EQ(rank().code(), StatusCode::kCancelled);
}

TEST_F(StringFunctionsTest, PatternsAndMatchesAreBounded) {
  const std::vector<int64_t> handles =
      Handles({std::string(4097, 'a'), std::string(40000, 'a'),
               "(a|b|aa){1,900}c", "a"});
  std::vector<uint8_t> w(1);
  std::vector<int64_t> x = {handles[1]};
  const auto match = [&](int64_t pattern) {
    return std::string(Call(LibraryFunction::kRegexFullMatch, {1, pattern},
                            {Memory(x), Memory(w)})
                           .message());
  };
  EXPECT_EQ(match(handles[0]),
            "expected a regular expression of at most 4096 bytes, found 4097");
  EXPECT_EQ(match(handles[3]), "");
  // The work of matching is the number of bytes times the number of the
  // pattern's states.
  Interrupt interrupt;
  RunLimits limits({.work_limit = 1 << 20}, interrupt);
  limits.Start();
  limits_ = &limits;
  EXPECT_EQ(match(handles[2]),
            "strings: expected work of at most 1048576 points in the run "
            "(--max-work), found more");
}

TEST_F(StringFunctionsTest, WorkingMemoryIsCharged) {
  strings_ = NewStringSupport(1 << 24);
  Texts texts;
  for (int i = 0; i < 100'000; ++i) texts.push_back(std::to_string(i));
  std::vector<int64_t> x = Handles(texts), w(x.size());
  EXPECT_EQ(Call(LibraryFunction::kStringRank, {static_cast<int64_t>(x.size())},
                 {Memory(x), Memory(w)})
                .code(),
            StatusCode::kResourceExhausted);
}

TEST_F(StringFunctionsTest, ArgumentsAreChecked) {
  std::vector<int64_t> x = {0, 77}, w(2), small(1);
  ASSERT_TRUE(strings_->Start({}, nullptr).ok());
  EXPECT_EQ(Call(LibraryFunction::kStringLower, {2}, {Memory(x), Memory(w)})
                .message(),
            "strings: expected a handle below 0, found 0");
  const auto error = [&](LibraryFunction function,
                         std::vector<int64_t> integers,
                         std::vector<LibraryMemory> memory) {
    const Status status =
        Call(function, std::move(integers), std::move(memory));
    return std::string(status.message());
  };
  const std::string short_by_one =
      "expected 2 elements of 8 bytes, found 8 bytes";
  EXPECT_EQ(
      error(LibraryFunction::kStringUpper, {2}, {Memory(small), Memory(w)}),
      "x: " + short_by_one);
  EXPECT_EQ(
      error(LibraryFunction::kStringUpper, {2}, {Memory(w), Memory(small)}),
      "result: " + short_by_one);
  EXPECT_EQ(error(LibraryFunction::kStringUpper, {-2}, {Memory(w), Memory(w)}),
            "expected a size of at least 0, found -2");
  EXPECT_EQ(error(LibraryFunction::kStringConcat, {2},
                  {Memory(w), Memory(w), Memory(small)}),
            "a, b and result: " + short_by_one);
  EXPECT_EQ(error(LibraryFunction::kStringSplit, {2, -1, -1},
                  {Memory(w), Memory(small)}),
            "counts: " + short_by_one);
  EXPECT_EQ(
      error(LibraryFunction::kStringSplit, {2, -2, -1}, {Memory(w), Memory(w)}),
      "strings: expected a handle below 0, found -2");
  EXPECT_EQ(
      error(LibraryFunction::kNumberToString, {99, 2}, {Memory(w), Memory(w)}),
      "expected the number of an element type, found 99");
  EXPECT_EQ(error(LibraryFunction::kStringToNumber, {4, 2},
                  {Memory(w), Memory(small)}),
            "result: " + short_by_one);
  EXPECT_EQ(
      error(LibraryFunction::kRegexFullMatch, {2, 5}, {Memory(w), Memory(w)}),
      "strings: expected a handle below 0, found 5");
  strings_.reset();
  EXPECT_EQ(error(LibraryFunction::kStringUpper, {2}, {Memory(w), Memory(w)}),
            "this runtime was built without string functions");
}

TEST(StringSessionTest, StringsGoInAndOut) {
  const auto module = *Module::FromDefinition(SampleNamed("strings"));
  SessionOptions options;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  EXPECT_EQ(Session::Create(module, options).status().ToString(),
            "UNIMPLEMENTED: session: 'x' is of strings, and this runtime was "
            "built without string functions");
  options.strings = NewStringSupport;
  const auto session = *Session::Create(module, options);
  Tensor e = *Tensor::Allocate(DType::kU8, {2});
  std::vector<Tensor> results;
  for (const Texts& x : {Texts{"abc", "A, b"}, Texts{"zz"}, Texts{}}) {
    const int64_t n = static_cast<int64_t>(x.size());
    const Tensor inputs[] = {e, *Tensor::OfStrings({n}, x)};
    const Status status = session->Run(inputs, &results);
    ASSERT_TRUE(status.ok()) << status.ToString();
    if (n != 2) continue;
    EXPECT_EQ(results[0].TypeText(), "2xi64 as string");
    EXPECT_EQ(*results[0].strings, (Texts{"ABCabc", "A, Ba, b"}));
    EXPECT_EQ(results[1].dims, (std::vector<int64_t>{2, 2}));
    EXPECT_EQ(*results[1].strings, (Texts{"abc", "", "A", "b"}));
    EXPECT_EQ(results[2].strings, nullptr);
    EXPECT_EQ(*results[3].strings, (Texts{"1", "2"}));
    EXPECT_EQ(results[4].elements<int64_t>()[1], 2);
    EXPECT_TRUE(results[5].elements<bool>()[0]);
    EXPECT_FALSE(results[5].elements<bool>()[1]);
  }
  // Earlier results must keep their strings, and must be usable as inputs of
  // another run.
  const Tensor inputs[] = {e, *Tensor::OfStrings({1}, {"Q"})};
  ASSERT_TRUE(session->Run(inputs, &results).ok());
  const Tensor joined = results[0];
  const Tensor chained[] = {e, joined};
  ASSERT_TRUE(session->Run(chained, &results).ok());
  EXPECT_EQ(*joined.strings, (Texts{"Qq"}));
  EXPECT_EQ(*results[0].strings, (Texts{"QQqq"}));
}

TEST(StringSessionTest, WrongInputsAreExplained) {
  const auto module = *Module::FromDefinition(SampleNamed("strings"));
  SessionOptions options;
  options.device = *hal::CreateCpuDevice({.threads = 1});
  options.strings = NewStringSupport;
  options.memory_limit = 1 << 14;
  const auto session = *Session::Create(module, options);
  const Tensor e = *Tensor::Allocate(DType::kU8, {2});
  std::vector<Tensor> results;
  const auto error = [&](const Tensor& first, const Tensor& second) {
    const Tensor inputs[] = {first, second};
    const Status status = session->Run(inputs, &results);
    return status.ok() ? "OK" : std::string(status.message());
  };
  Tensor x = *Tensor::OfStrings({1}, {"a"});
  EXPECT_EQ(error(e, x), "OK");
  EXPECT_EQ(error(e, *Tensor::Allocate(DType::kI64, {1})),
            "input 'x': expected Nxi64 as string, found 1xi64");
  EXPECT_EQ(error(x, x),
            "input 'e': expected 2xu8 as f8e4m3fn, found 1xi64 as string");
  x.dims = {2};
  EXPECT_EQ(error(e, x),
            "input 'x': expected 16 bytes for 2xi64 as string, "
            "found 8");
  x.byte_size = 16;
  EXPECT_EQ(error(e, x), "input 'x': expected 2 strings, found 1");
  EXPECT_EQ(error(e, *Tensor::OfStrings({1}, {std::string(1 << 14, 'x')}))
                .substr(0, 40),
            "strings: expected at most 16384 more byt");
  EXPECT_FALSE(Tensor::OfStrings({2}, {"a"}).ok());
  EXPECT_EQ(error(e, *Tensor::OfStrings({1}, {"a"})), "OK");
}

}  // namespace
}  // namespace ember::vm
