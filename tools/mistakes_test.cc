// Tests mistakes of users: a tool reports a mistake in one line before it
// starts its work, and ends with status 2 if the command line is wrong.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"
#include "vm/format/writer.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MistakesTest : public CliTest {
 protected:
  // Makes a module from its text and writes it to a file.
  static void WriteModule(const std::string& name, const std::string& text) {
    const auto module = vm::ParseModule(text);
    ASSERT_TRUE(module.ok()) << module.status().ToString();
    const auto bytes = vm::SerializeModule(*module);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    Write(name, {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  }
  // Returns the text of a module that computes y = (x * factor) * rest in two
  // dispatches, for comparisons by vm-diff.
  static std::string TwoSteps(const std::string& factor,
                              const std::string& rest) {
    return R"(module "m" from "test"
dispatch @d0_mul(%x: f32[4]) -> (%t: f32[4]) {
  %t[i] = %x[i] * )" +
           factor + R"(
}
dispatch @d1_mul(%t: f32[4]) -> (%y: f32[4]) {
  %y[i] = %t[i] * )" +
           rest + R"(
}
program main(x: f32[4], mask: i64[2]) -> (y: f32[4]) {
  i0 = integer 16
  i1 = integer 4
  b0 = input x
  b1 = allocate i0
  b2 = allocate i0
  dispatch @d0_mul(b0 -> b1)
  dispatch @d1_mul(b1 -> b2)
  result y = b2 [i1]
  return
}
)";
  }
};

TEST_F(MistakesTest, MissingInputs) {
  WriteModule("two.vmfb", TwoSteps("2.0", "0.5"));
  const std::string missing =
      "1 of 2 inputs is not given: mask: 2xi64; expected "
      "--input=mask=2xi64=VALUE or --input=mask=@FILE.npy, or "
      "--random-inputs";
  ExpectError("vm-run two.vmfb --input=4xf32=1", "vm-run: " + missing, 2);
  ExpectError("vm-diff two.vmfb --input=x=4xf32=1", "vm-diff: " + missing, 2);
  ExpectError("sh -c 'vm-bench two.vmfb --input=4xf32=1 >table'",
              "vm-bench: " + missing, 2);
  const Outcome random =
      Run("vm-run two.vmfb --input=4xf32=3 --random-inputs --seed=7 "
          "--expected=4xf32=3 --print=none");
  EXPECT_EQ(random.output,
            "vm-run: random inputs (seed 7): mask: 2xi64\n"
            "y is as expected; largest difference 0\n");
  EXPECT_EQ(random.exit_status, 0);
  // No input is given here, so all inputs are random, without an error: this is
  // how a user first tries a model.
  const Outcome none = Run("vm-run two.vmfb --print=none");
  EXPECT_EQ(none.output,
            "vm-run: random inputs (seed 0): x: 4xf32, mask: 2xi64\n");
  EXPECT_EQ(none.exit_status, 0);
  const Outcome bench =
      Run("vm-bench two.vmfb --tier=0 --threads=1,2 --runs=1 --warmup=1");
  EXPECT_EQ(bench.exit_status, 0);
  EXPECT_THAT(bench.output, HasSubstr("vm-bench: random inputs (seed 0): x: "));
  EXPECT_EQ(bench.output.find("random"), bench.output.rfind("random"))
      << "once for each model: " << bench.output;
}

// Each of these command lines is wrong for any model. So the mistake must be
// reported even though the model's file does not exist.
TEST_F(MistakesTest, WrongCommandLinesAreStatusTwoBeforeTheWork) {
  for (const char* command :
       {"vm-run none.vmfb --threads=100000",
        "vm-run none.vmfb --device=gpu",
        "vm-run none.vmfb --device=cpu:x",
        "vm-run none.vmfb --shape=foo",
        "vm-run none.vmfb --tier=3",
        "vm-run none.vmfb --max-memory=lots",
        "vm-run none.vmfb --output=y.npy",
        "vm-run none.vmfb --output=@y.json",
        "vm-run none.vmfb --tier=0 --schedules=folder",
        "vm-run none.vmfb --tier=0 --shadow",
        "vm-run none.vmfb --key=a.public --allow-native",
        "vm-run none.vmfb --runs=-1",
        "vm-run",
        "vm-compile none.onnx",
        "vm-compile none.onnx -o x.vmfb --shape=foo",
        "vm-compile none.onnx -o x.vmfb --input=1xf32=1",
        "vm-compile none.onnx -o x.vmfb --input=a=1xfloat32=1",
        "vm-compile none.onnx -o x.vmfb --metadata=author",
        "vm-compile none.onnx -o x.vmfb --disable-pass=fuze",
        "vm-compile none.onnx -o x.vmfb --dump-after=fuze",
        "vm-compile none.onnx -o x.vmfb --dump-dir=passes",
        "vm-compile none.onnx -o x.vmfb --max-memory=lots",
        "vm-bench none.vmfb --threads=100000",
        "vm-bench none.vmfb --threads=one",
        "vm-bench none.vmfb --device=gpu",
        "vm-bench none.vmfb --tier=3",
        "vm-bench none.vmfb --shape=foo",
        "vm-bench none.vmfb --max-work=lots",
        "vm-dump none.vmfb --emit=netron",
        "vm-dump none.vmfb --shape=foo",
        "vm-dump none.vmfb --part=everything",
        "vm-diff",
        "vm-diff none.vmfb -b device:gpu",
        "vm-prejit none.vmfb -o x.vmfb --target=arm64",
        "vm-prejit none.vmfb -o x.vmfb",
        "vm-prejit none.vmfb --target=aarch64",
        "vm-prejit none.vmfb --target=aarch64,armv7+neon --emit=shared -o x.so",
        "vm-prejit none.vmfb --target=aarch64 --emit=static --symbol=7 -o x.o",
        "vm-prejit none.vmfb --target=aarch64 --emit=c -o x.c",
        "vm-prejit none.vmfb --target=aarch64,c11 --emit=c -o x.c",
        "vm-prejit none.vmfb --target=host,aarch64 --overlay -o x",
        "vm-prejit none.vmfb --target=aarch64 --hot=0 -o x",
        "vm-sign none.vmfb -o x.vmfb",
        "vm-sign --make-keys=a none.vmfb"}) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.exit_status, 2) << command << "\n" << outcome.output;
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
        << command << "\n"
        << outcome.output;
    EXPECT_EQ(outcome.output.find("none."), std::string::npos)
        << command << "\n"
        << outcome.output;
  }
}

TEST_F(MistakesTest, OutputsAreCheckedBeforeTheWork) {
  Write("file", "");
  for (const char* command :
       {"vm-run none.vmfb --output=@nodir/y.npy",
        "vm-run none.vmfb --trace=nodir/t.json",
        "vm-run none.vmfb --record=nodir/a.profile",
        "vm-run none.vmfb --tier=2 --dump-kernels=file",
        "vm-run none.vmfb --tier=2 --dump-kernels=nodir/kernels",
        "vm-run none.vmfb --tier=2 --shadow=file/a",
        "vm-compile none.onnx -o nodir/x.vmfb",
        "vm-compile none.onnx -o passes/",
        "vm-compile none.onnx -o x.vmfb --dump-after=all --dump-dir=file",
        "vm-bench none.vmfb --life=nodir/life.json",
        "vm-dump none.vmfb -o nodir/x.txt",
        "vm-prejit none.vmfb --target=aarch64 -o nodir/x.vmfb",
        "vm-prejit nodir/none.vmfb --target=aarch64 --overlay",
        "vm-sign none.vmfb --key=a.secret -o nodir/x.vmfb"}) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.exit_status, 1) << command << "\n" << outcome.output;
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
        << command << "\n"
        << outcome.output;
    EXPECT_EQ(outcome.output.find("open file"), std::string::npos)
        << command << "\n"
        << outcome.output;
    EXPECT_TRUE(outcome.output.find("cannot write file '") !=
                    std::string::npos ||
                outcome.output.find("expected a folder to write to") !=
                    std::string::npos)
        << command << "\n"
        << outcome.output;
  }
}

TEST_F(MistakesTest, SuggestsWhatWasMeant) {
  const auto says = [](const std::string& command, const std::string& end) {
    EXPECT_THAT(Run(command).output, EndsWith("; did you mean " + end + "?\n"));
  };
  says("vm-run model.vmfb --device=gpu", "'cuda' or 'vulkan'");
  says("vm-run model.vmfb --device=vulcan", "'vulkan'");
  says("vm-run model.vmfb --print=ful", "'full'");
  says("vm-run model.vmfb --input=1x1x28x28xfloat32=0", "1x1x28x28xf32");
  says("vm-prejit model.vmfb -o x.vmfb --target=arm64", "'aarch64'");
  says("vm-prejit model.vmfb -o x.vmfb --target=armv7", "'armv7+neon'");
  says("vm-prejit model.vmfb -o x.vmfb --target=aarch64+dotprd", "'dotprod'");
  EXPECT_THAT(Run("vm-dump model.vmfb --dispatch=d0_conv_maximun").output,
              HasSubstr("; did you mean 'd0_conv_maximum'? ("));
}

TEST_F(MistakesTest, WrongSchedules) {
  const std::string run = "vm-run model.vmfb --tier=2 --schedules=";
  ExpectError(run + "nodir --input=1x1x28x28xf32",
              "vm-run: --schedules: cannot open folder 'nodir': No such file "
              "or directory");
  ASSERT_EQ(Run("rm -rf given kernels && mkdir given").output, "");
  ExpectError(run + "given --input=1x1x28x28xf32",
              "vm-run: --schedules: expected files NAME.schedule in folder "
              "'given', found none");
  // Writes the schedules that this build chooses to a folder, so that the test
  // can change one of them.
  ASSERT_EQ(Run("vm-run model.vmfb --tier=2 --print=none --no-kernel-cache "
                "--dump-kernels=kernels")
                .exit_status,
            0);
  const std::string name = "d0_conv_maximum.tier2.schedule";
  const std::string good = Read("kernels/" + name);
  Write("given/" + name, good);
  EXPECT_EQ(Run(run + "given").exit_status, 0) << Run(run + "given").output;
  EXPECT_EQ(Run(run + "kernels").exit_status, 0);
  Write("given/d0_conv_maximun.schedule", good);
  ExpectError(run + "given --input=1x1x28x28xf32",
              "vm-run: --schedules: given/d0_conv_maximun.schedule: expected "
              "the name of a dispatch of the module, found 'd0_conv_maximun'; "
              "did you mean 'd0_conv_maximum'?");
  ASSERT_EQ(Run("rm given/d0_conv_maximun.schedule").output, "");
  Write("given/" + name, "schedule @d0_conv_maximum {\n  unrol %conv i2\n}\n");
  ExpectError(run + "given --input=1x1x28x28xf32",
              "vm-run: --schedules: given/" + name +
                  ": line 2: expected a primitive (split, "
                  "fuse, ...), found 'unrol'; did you mean 'unroll'?");
  // The schedule names a stage that the dispatch does not have. That is noticed
  // only when a kernel is made.
  Write("given/" + name, "unroll %nothing i2\n");
  const Outcome refused = Run(run + "given --input=1x1x28x28xf32");
  EXPECT_EQ(refused.exit_status, 1);
  EXPECT_EQ(refused.output,
            "vm-run: --schedules: given/" + name +
                ": line 1: unroll %nothing i2: expected a stage, found "
                "'%nothing'\n");
  EXPECT_EQ(Run("vm-bench model.vmfb --tier=2 --schedules=given --runs=1 "
                "--warmup=1")
                .exit_status,
            1);
}

TEST_F(MistakesTest, FullDiskOnStdout) {
  for (const char* command :
       {"vm-run model.vmfb --print=full --input=1x1x28x28xf32",
        "vm-run --list-devices", "vm-run --help", "vm-dump model.vmfb",
        "vm-dump model.vmfb -o /dev/stdout", "vm-dump --version",
        "vm-compile digits.onnx -o x.vmfb", "vm-compile --list-formats",
        "vm-prejit --list-targets",
        "vm-bench model.vmfb --tier=0 --runs=1 --warmup=1 "
        "--input=1x1x28x28xf32"}) {
    const Outcome outcome =
        Run("sh -c '" + std::string(command) + " >/dev/full'");
    EXPECT_EQ(outcome.exit_status, 1) << command;
    EXPECT_THAT(outcome.output, HasSubstr(": cannot write ")) << command;
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
        << outcome.output;
  }
  const Outcome diff = Run("sh -c 'vm-diff model.vmfb >/dev/full'");
  EXPECT_EQ(diff.exit_status, 2) << "1 would say that the sides differ";
}

TEST_F(MistakesTest, VersionAndShortHelp) {
  const std::string version = Run("vm-run --version").output;
  const std::string number = version.substr(6, version.find(" (") - 6);
  for (const std::string tool : {"vm-compile", "vm-run", "vm-bench", "vm-dump",
                                 "vm-diff", "vm-prejit", "vm-sign"}) {
    // Each tool has its own build id, because it identifies the program file,
    // not the release.
    EXPECT_THAT(
        Run(tool + " --version").output,
        ::testing::MatchesRegex(tool + number + " \\(build [0-9a-f]{12}\\)\n"));
    EXPECT_EQ(Run(tool + " --version").exit_status, 0);
    EXPECT_EQ(Run(tool + " -h").output, Run(tool + " --help").output);
    EXPECT_EQ(Run(tool + " -h").exit_status, 0);
  }
}

TEST_F(MistakesTest, RunsPrintALatency) {
  const Outcome outcome =
      Run("vm-run model.vmfb --tier=0 --runs=3 --print=none "
          "--input=1x1x28x28xf32");
  EXPECT_THAT(outcome.output,
              ::testing::MatchesRegex("3 runs: the first [0-9.e+-]+ ms, the "
                                      "others [0-9.e+-]+ ms .median., "
                                      "[0-9.e+-]+ to [0-9.e+-]+ ms\n"));
  EXPECT_EQ(Run("vm-run model.vmfb --tier=0 --runs=1 --print=none "
                "--input=1x1x28x28xf32")
                .output,
            "");
}

TEST_F(MistakesTest, AtolIsOfIntegersToo) {
  WriteModule("integers.vmfb", R"(module "m" from "test"
program main(x: i64[2]) -> (y: i64[2]) {
  b0 = input x
  i0 = integer 2
  result y = b0 [i0]
  return
}
)");
  const std::string run =
      "vm-run integers.vmfb --input=2xi64=100000,7 --print=none "
      "--expected=2xi64=100002,7 ";
  EXPECT_EQ(Run(run).exit_status, 1);
  EXPECT_EQ(Run(run + "--atol=1.9").exit_status, 1);
  EXPECT_EQ(Run(run + "--rtol=1").exit_status, 1) << "rtol is of floats";
  EXPECT_EQ(Run(run + "--atol=2").output,
            "y is as expected; largest difference 2\n");
}

// The models a and b compute equal results by different dispatches. vm-diff
// must report no difference, because only the models' results decide.
TEST_F(MistakesTest, DiffOfTwoModelsIsOfTheirResults) {
  WriteModule("a.vmfb", TwoSteps("2.0", "0.5"));
  WriteModule("b.vmfb", TwoSteps("4.0", "0.25"));
  WriteModule("c.vmfb", TwoSteps("4.0", "0.5"));
  const std::string inputs = " --input=4xf32=1 --input=2xi64=0";
  const Outcome same = Run("vm-diff a.vmfb b.vmfb" + inputs);
  EXPECT_THAT(same.output,
              StartsWith("result y is equal; largest difference 0\n"
                         "2 dispatches correspond, 0 do not; 1 differ on the "
                         "way to equal results (got is b, b.vmfb, want is a, "
                         "a.vmfb)\nfirst to differ: dispatch 1 @d0_mul "));
  EXPECT_EQ(same.exit_status, 0);
  const Outcome other = Run("vm-diff a.vmfb c.vmfb" + inputs);
  EXPECT_EQ(other.exit_status, 1);
  EXPECT_THAT(other.output, HasSubstr("result y differs: "));
  EXPECT_THAT(other.output,
              HasSubstr("2 dispatches correspond, 0 do not; 2 differ"));
  EXPECT_THAT(other.output, HasSubstr("first to differ: dispatch 1 @d0_mul"));
}

}  // namespace
}  // namespace ember::tools
