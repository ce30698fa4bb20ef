// Tests C programs that vm-prejit writes: compiles them with this machine's C
// compiler, runs them, and compares their results with tier 0, bit by bit where
// no float is summed. samples/cortex_m tests them on a small processor.
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

// Reads the elements of the only input from input.bin, runs the model twice,
// because a run must not depend on an earlier one, and writes the only result
// to output.bin. It exits with the model's error.
constexpr char kMain[] = R"(
#include <stdio.h>
#include "model.h"
static MODEL_IN0_TYPE input[MODEL_IN0_ELEMENTS];
static MODEL_OUT0_TYPE output[MODEL_OUT0_ELEMENTS];
int main(void) {
  FILE *file = fopen("input.bin", "rb");
  if (!file || fread(input, sizeof input, 1, file) != 1) return 100;
  fclose(file);
  for (int i = 0; i < 2; ++i) {
    const int error = model_run(input, output);
    if (error) return error;
  }
  file = fopen("output.bin", "wb");
  if (!file || fwrite(output, sizeof output, 1, file) != 1) return 101;
  return fclose(file);
}
)";

class CProgramTest : public CliTest {
 protected:
  // Writes the program of a model and compiles it. Warnings are errors, apart
  // from those that jit/c/testing turns off, too.
  static void Make(const std::string& model, const std::string& flags = "") {
    const Outcome made =
        Run("vm-prejit " + model + " " + flags +
            " --target=c11+l1=16K --emit=c-program --symbol=model -o model.c");
    ASSERT_EQ(made.exit_status, 0) << made.output;
    printed_ = made.output;
    Write("main.c", kMain);
    const Outcome compiled =
        Run("cc -std=c11 -O2 -Wall -Wextra -Werror -Wno-maybe-uninitialized "
            "-Wno-uninitialized -Wno-type-limits main.c model.c -lm -o "
            "program");
    ASSERT_EQ(compiled.exit_status, 0) << compiled.output;
  }
  static Outcome RunProgram(std::string_view input) {
    Write("input.bin", input);
    return Run("rm -f output.bin; ./program");
  }
  // Runs the program and tier 0 on the same bytes. `type` is the input's, such
  // as "2x3xf32". Returns the output of vm-run, which compares the results.
  static std::string Compare(const std::string& model, const std::string& flags,
                             const std::string& type,
                             const std::string& result_type,
                             std::string_view input,
                             const std::string& tolerance) {
    const Outcome ran = RunProgram(input);
    EXPECT_EQ(ran.exit_status, 0) << ran.output;
    const Outcome compared = Run("vm-run " + model + " " + flags +
                                 " --tier=0 --print=none --input=" + type +
                                 "=@input.bin --expected=" + result_type +
                                 "=@output.bin " + tolerance);
    EXPECT_EQ(compared.exit_status, 0) << compared.output;
    return compared.output;
  }
  static void ExpectRefused(const std::string& model,
                            const std::string& message) {
    Run("rm -f no.c no.h");
    const Outcome outcome =
        Run("vm-prejit " + model + " --target=c11 --emit=c-program -o no.c");
    EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(message));
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
        << outcome.output;
    EXPECT_NE(Run("ls no.c").exit_status, 0);
    EXPECT_NE(Run("ls no.h").exit_status, 0);
  }

  static std::string printed_;
};
std::string CProgramTest::printed_;

// Returns bytes that look random and are the same each time.
std::string Bytes(size_t count) {
  std::string bytes;
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24));
  }
  return bytes;
}

// Returns the bytes of floats from -1 to 1.
std::string Floats(size_t count) {
  const std::string bytes = Bytes(count);
  std::string result(count * sizeof(float), '\0');
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(static_cast<int8_t>(bytes[i])) / 128;
    std::memcpy(result.data() + i * sizeof(float), &value, sizeof value);
  }
  return result;
}

constexpr const char* kBitByBit = "--rtol=0 --atol=0";

TEST_F(CProgramTest, Digits) {
  const std::string flags = "--shape=image=1x1x28x28";
  Make("digits.onnx", flags);
  EXPECT_THAT(printed_, HasSubstr("\nflash: "));
  EXPECT_THAT(printed_, HasSubstr(" bytes of arena\n"));
  const std::string header = Read("model.h");
  EXPECT_THAT(header, HasSubstr("#define MODEL_IN0_TYPE float\n"));
  EXPECT_THAT(header, HasSubstr("#define MODEL_IN0_ELEMENTS 784\n"));
  EXPECT_THAT(header, HasSubstr("\n * It returns 0.\n"));
  // A sum of floats may have another order than in tier 0.
  EXPECT_THAT(Compare("digits.onnx", flags, "1x1x28x28xf32", "1x10xf32",
                      Floats(784), "--rtol=1e-5"),
              HasSubstr("is as expected"));
}

// A module with an open dim becomes a program for one value of it.
TEST_F(CProgramTest, OpenDimOfAModule) {
  Make("model.vmfb", "--shape=image=2x1x28x28");
  EXPECT_THAT(Read("model.h"), HasSubstr("#define MODEL_OUT0_ELEMENTS 20\n"));
  EXPECT_THAT(Compare("model.vmfb", "", "2x1x28x28xf32", "2x10xf32",
                      Floats(2 * 784), "--rtol=1e-5"),
              HasSubstr("is as expected"));
  ExpectRefused("model.vmfb --shape=image=2x1x28x29",
                "--shape of input 'image': expected Nx1x28x28xf32, found "
                "2x1x28x29");
}

TEST_F(CProgramTest, Int8) {
  ASSERT_EQ(Run("python3 " + Absolute("samples/cortex_m/int8_classifier.py") +
                " > int8.txt")
                .exit_status,
            0);
  Make("int8.txt");
  EXPECT_THAT(
      Compare("int8.txt", "", "12x12xi8", "10xi8", Bytes(144), kBitByBit),
      HasSubstr("is as expected"));
}

// Minima and elementwise operators have one right result in floats, too. The
// module also reads memory that it has not written, stores an integer, and has
// two values in one part of the arena.
TEST_F(CProgramTest, ElementwiseAndReduction) {
  Write("rows.txt", R"(
module "by hand" from "test"
constant weights: f32[3] = [0.5, -1.5, 1e-40]
dispatch @scale(%x: f32[5, 3], %w: f32[3]) -> (%y: f32[5, 3]) {
  %y[i, j] = sqrt(abs(%x[i, j])) / %w[j] + floor(%x[i, j] * 8.0)
}
dispatch @least(%x: f32[5, 3]) -> (%y: f32[8]) {
  for (i < 5) %y[i] = minimum(j < 3) %x[i, j]
}
dispatch @join(%x: f32[8], %n: i64[2]) -> (%y: f32[8]) {
  %y[i] = %x[i] * 3.0 + f32(%n[0] + %n[1])
}
program main(x: f32[5, 3]) -> (y: f32[8]) {
  i0 = integer 32
  i1 = integer 8
  i2 = integer 60
  i3 = integer 16
  b0 = input x
  b1 = constant 0 (weights)
  b2 = arena 192
  b3 = view b2, i2, 0
  dispatch @scale(b0, b1 -> b3)
  b4 = view b2, i0, 64
  dispatch @least(b3 -> b4)
  b5 = view b2, i3, 0
  i4 = integer -7
  store_integer b5, i4, 8
  b6 = allocate i0
  dispatch @join(b4, b5 -> b6)
  result y = b6 [i1]
  return
})");
  Make("rows.txt");
  EXPECT_THAT(
      Compare("rows.txt", "", "5x3xf32", "8xf32", Floats(15), kBitByBit),
      HasSubstr("is as expected"));
}

// The loop has a known number of iterations and a body that is a program.
TEST_F(CProgramTest, Loop) {
  Write("loop.txt", R"(
module "by hand" from "test"
dispatch @next(%x: f32[4], %n: i64[1]) -> (%y: f32[4]) {
  %y[i] = %x[i] * 0.5 + f32(%n[0])
}
program main(x: f32[4]) -> (y: f32[12]) {
  i0 = integer 0
  i1 = integer 16
  i2 = integer 48
  i3 = integer 12
  i4 = integer 8
  b0 = input x
  b1 = allocate i2
  b2 = allocate i4
L8:
  store_integer b2, i0, 0
  call_program body(b0, b2 -> b3 [i5])
  append b1, i0, b3, i1
  b0 = move_buffer b3
  release b3
  i0 = add i0, i1
  i6 = less i0, i2
  branch_if i6, L8
  result y = b1 [i3]
  return
}
program body(x: f32[4], n: i64[1]) -> (y: f32[4]) {
  i0 = integer 4
  b0 = input x
  b1 = input n
  b2 = arena 64
  dispatch @next(b0, b1 -> b2)
  result y = b2 [i0]
  return
})");
  Make("loop.txt");
  EXPECT_THAT(Compare("loop.txt", "", "4xf32", "12xf32", Floats(4), kBitByBit),
              HasSubstr("is as expected"));
}

// An index of the data that is out of range is an error of the run, not an
// access outside of the memory.
TEST_F(CProgramTest, IndexOutOfRange) {
  Write("gather.txt", R"(
module "by hand" from "test"
constant values: f32[3] = [1, 2, 4]
dispatch @copy(%n: i64[2]) -> (%m: i64[2]) {
  %m[i] = %n[i] + 1
}
dispatch @pick(%m: i64[2], %x: f32[3]) -> (%y: f32[2]) {
  %y[i] = %x[%m[i]]
}
program main(n: i64[2]) -> (y: f32[2]) {
  i0 = integer 8
  i1 = integer 2
  i2 = integer 16
  b0 = input n
  b1 = arena 64
  b2 = view b1, i2, 0
  dispatch @copy(b0 -> b2)
  b3 = constant 0 (values)
  b4 = allocate i0
  dispatch @pick(b2, b3 -> b4)
  result y = b4 [i1]
  return
})");
  Make("gather.txt");
  EXPECT_THAT(Read("model.h"), HasSubstr(" *   1  pick\n"));
  const auto bytes = [](int64_t first, int64_t second) {
    std::string text(16, '\0');
    std::memcpy(text.data(), &first, 8);
    std::memcpy(text.data() + 8, &second, 8);
    return text;
  };
  EXPECT_THAT(
      Compare("gather.txt", "", "2xi64", "2xf32", bytes(1, -1), kBitByBit),
      HasSubstr("is as expected"));
  EXPECT_EQ(RunProgram(bytes(1, 2)).exit_status, 1);
  EXPECT_EQ(RunProgram(bytes(-2, 0)).exit_status, 1);
}

// A result may be an input, a constant, or the same memory as another result.
TEST_F(CProgramTest, ResultsThatNoDispatchWrites) {
  Write("results.txt", R"(
module "by hand" from "test"
constant bits: f32[3] = hex "0000c07f0100807f00000080"
program main(x: f32[2]) -> (a: f32[2], b: f32[3], c: f32[3]) {
  i0 = integer 2
  i1 = integer 3
  b0 = input x
  b1 = constant 0 (bits)
  result a = b0 [i0]
  result b = b1 [i1]
  result c = b1 [i1]
  return
})");
  const Outcome made =
      Run("vm-prejit results.txt --target=c11 --emit=c-program -o r-1.c");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("r-1.h"));
  Write("main.c", R"(
#include <string.h>
#include "r-1.h"
int main(void) {
  const float x[2] = {1.5f, -2.5f};
  float a[2], b[3], c[3];
  if (r_1_run(x, a, b, c) != 0) return 1;
  const unsigned bits[3] = {0x7fc00000u, 0x7f800001u, 0x80000000u};
  return memcmp(a, x, sizeof a) != 0 || memcmp(b, bits, sizeof b) != 0 ||
         memcmp(c, bits, sizeof c) != 0;
}
)");
  EXPECT_EQ(Run("cc -std=c11 -Wall -Wextra -Werror main.c r-1.c -o results && "
                "./results")
                .exit_status,
            0);
}

TEST_F(CProgramTest, RefusesWhatNeedsARuntime) {
  ExpectRefused("digits.onnx",
                "input 'image': expected dims that are numbers, found "
                "Nx1x28x28xf32; give them with, for example, "
                "--shape=image=1x1x28x28");
  const std::string testdata = Absolute("vm/api/testdata/");
  ExpectRefused(testdata + "strings.vmfb", "expected numbers, found strings");
  Write("remainder.txt",
        "dispatch @rest(%x: f32[4]) -> (%y: f32[4]) { %y[i] = mod(%x[i], 3.0) "
        "}");
  ExpectRefused("remainder.txt",
                "dispatch @rest: expected a dispatch of which C can be made ");
}

TEST_F(CProgramTest, RefusesFlagsThatItDoesNotUse) {
  const auto error_of = [](const std::string& flags) {
    const Outcome outcome =
        Run("vm-prejit model.vmfb --emit=c-program " + flags);
    EXPECT_EQ(outcome.exit_status, 2) << outcome.output;
    return outcome.output;
  };
  EXPECT_THAT(error_of("--target=c11 -o model.txt"),
              HasSubstr("-o: expected the name of a C file such as model.c "
                        "with --emit=c-program, found 'model.txt'"));
  EXPECT_THAT(error_of("--target=x86-64-v3 -o x.c"),
              HasSubstr("--emit=c-program: expected --target=c11, found "
                        "x86-64-v3"));
  EXPECT_THAT(error_of("--target=c11 --packed-weights=none -o x.c"),
              HasSubstr("--packed-weights=none: expected --emit=c or another, "
                        "found c-program"));
  EXPECT_THAT(error_of("--target=c11 --symbol=1x -o x.c"),
              HasSubstr("--symbol: expected a name of C, found '1x'"));
}

}  // namespace
}  // namespace ember::tools
