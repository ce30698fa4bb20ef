// Tests the rules that all tools share, by running them as a user does: inputs
// and outputs, paths, limits, help, and messages about mistakes.
#include "frontends/registry/formats.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"
#include "vm/format/writer.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

TEST_F(CliTest, ModuleAndModelGiveTheSame) {
  const Outcome module =
      Run("vm-run model.vmfb --input=3x1x28x28xf32 --print=full");
  EXPECT_EQ(module.exit_status, 0) << module.output;
  EXPECT_EQ(module.output.substr(0, 27), "probabilities: 3x10xf32 = [")
      << module.output;
  EXPECT_EQ(Run("vm-run digits.onnx --input=3x1x28x28xf32 --print=full").output,
            module.output);
  // Without --input, vm-run says on stderr that the inputs are random.
  EXPECT_EQ(
      Run("vm-run model.vmfb --shape=image=3x1x28x28 --threads=1 --print=full")
          .output,
      "vm-run: random inputs (seed 0): image: 3x1x28x28xf32\n" + module.output);
}

TEST_F(CliTest, OutputsAreTheExpectedOnesOfTheNextRun) {
  for (const std::string name : {"@o.npy", "probabilities=@o.pb"}) {
    const std::string run =
        "vm-run model.vmfb --input=1x1x28x28xf32 --print=none ";
    EXPECT_EQ(Run(run + "--output=" + name).output, "");
    EXPECT_EQ(Run(run + "--expected=" + name).output,
              "probabilities is as expected; largest difference 0\n");
    const Outcome other = Run(run + "--seed=5 --expected=" + name);
    EXPECT_EQ(other.exit_status, 1);
    EXPECT_EQ(other.output.find(
                  "vm-run: result 'probabilities' is not as expected: [0, "),
              0u)
        << other.output;
  }
}

TEST_F(CliTest, RawInputIsWhatItSays) {
  EXPECT_EQ(Run("vm-run model.vmfb --input=1x1x28x28xf32 --output=@o.bin "
                "--print=none")
                .output,
            "");
  EXPECT_EQ(Read("o.bin").size(), 40u);
  ExpectError("vm-run model.vmfb --input=1x1x28x28xf32=@o.bin",
              "vm-run: '1x1x28x28xf32=@o.bin': o.bin: expected 3136 bytes for "
              "1x1x28x28xf32, found "
              "40");
}

TEST_F(CliTest, DiffWithinLimits) {
  for (const char* sides : {"-b tier:1", "model.vmfb -a tier:0 -b tier:0"}) {
    const Outcome outcome =
        Run("vm-diff model.vmfb " + std::string(sides) + " --max-work=10");
    EXPECT_EQ(outcome.exit_status, 2);
    EXPECT_NE(outcome.output.find("(--max-work)"), std::string::npos)
        << outcome.output;
  }
}

TEST_F(CliTest, PathsAreRelativeToWhereBazelRunWasCalled) {
  EXPECT_EQ(
      Run("env -C / BUILD_WORKING_DIRECTORY=" + Folder() + " PATH=" + Tools() +
          ":$PATH vm-run model.vmfb --input=1x1x28x28xf32 --print=none")
          .output,
      "");
}

TEST_F(CliTest, BadFiles) {
  const std::string module = Read("model.vmfb");
  Write("cut.vmfb", std::string_view(module).substr(0, 20000));
  ExpectError("vm-run cut.vmfb",
              "vm-run: cut.vmfb: module file: size in bytes: expected " +
                  std::to_string(module.size()) + ", found 20000");
  std::string flipped = module;
  flipped[100] ^= 1;
  Write("flipped.vmfb", flipped);
  const Outcome outcome = Run("vm-run flipped.vmfb");
  EXPECT_EQ(outcome.exit_status, 1);
  EXPECT_EQ(outcome.output.find("vm-run: flipped.vmfb: "), 0u)
      << outcome.output;
  EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1)
      << outcome.output;

  Write("cut.onnx", std::string_view(Read("digits.onnx")).substr(0, 20000));
  ExpectError("vm-run cut.onnx",
              "vm-run: cut.onnx: expected an ONNX model, found 20000 bytes "
              "that do not parse as one, or whose subgraphs are more than 64 "
              "levels deep");
  ExpectError(
      "vm-run none.vmfb",
      "vm-run: cannot open file 'none.vmfb': No such file or directory");
  Write("x.bin", "PK\x03\x04");
  ExpectError("vm-run x.bin",
              "vm-run: x.bin: expected a .vmfb module or a model (" +
                  frontends::ExtensionsText() +
                  "), found a ZIP archive (a PyTorch or Keras model?)");
  ExpectError("vm-compile model.vmfb -o x.vmfb",
              "vm-compile: model.vmfb: expected a model (" +
                  frontends::ExtensionsText() +
                  "), found a "
                  "compiled module");
}

TEST_F(CliTest, BadInputs) {
  ExpectError(
      "vm-run model.vmfb --input=2x1x28x27xf32=0",
      "vm-run: input 'image': expected Nx1x28x28xf32, found 2x1x28x27xf32");
  ExpectError(
      "vm-run model.vmfb --input=2x1x28x28xf64=0",
      "vm-run: input 'image': expected Nx1x28x28xf32, found 2x1x28x28xf64");
  ExpectError("vm-run model.vmfb --input=picture=28x28xf32=0",
              "vm-run: no input 'picture'; the module has image: Nx1x28x28xf32",
              2);
  ExpectError("vm-run model.vmfb --shape=image=1x1x2x2",
              "vm-run: --shape of input 'image': expected Nx1x28x28xf32, found "
              "1x1x2x2; only dims with names are open",
              2);
}

// A model from a stranger must not be able to write escape sequences to the
// user's terminal.
TEST_F(CliTest, NamesOfResultsArePrintedOnOneLine) {
  const auto module = vm::ParseModule(R"(module "m" from "test"
program main(x: f32[4]) -> ("a\x1b[31m\nb": f32[4]) {
  b0 = input x
  i0 = integer 4
  result "a\x1b[31m\nb" = b0 [i0]
  return
}
)");
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  const auto bytes = vm::SerializeModule(*module);
  ASSERT_TRUE(bytes.ok());
  Write("escape.vmfb",
        {reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  for (const std::string tool : {"vm-run", "vm-diff"}) {
    const Outcome outcome = Run(tool + " escape.vmfb");
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("a\\x1b[31m\\x0ab"), std::string::npos)
        << outcome.output;
    EXPECT_EQ(outcome.output.find('\x1b'), std::string::npos);
  }
}

TEST_F(CliTest, BadCommandLines) {
  ExpectError("vm-run",
              "vm-run: expected MODEL.vmfb or a model, found nothing (see "
              "vm-run --help)",
              2);
  ExpectError("vm-run model.vmfb --thread=2",
              "vm-run: unknown flag --thread; did you mean --threads?", 2);
  ExpectError("vm-run model.vmfb --device=toaster",
              "vm-run: --device: expected one of cpu, cuda, cuda-emulated, "
              "metal, null, opencl, vulkan, with :NUMBER behind it for another "
              "one of its "
              "devices, found 'toaster'",
              2);
  ExpectError("vm-compile digits.onnx",
              "vm-compile: expected -o FILE to say where the module goes "
              "(see --help)",
              2);
  ExpectError(
      "vm-compile digits.onnx -o x.vmfb --dump-after=nothing",
      "vm-compile: --dump-after=nothing: expected all, import or a step "
      "(see vm-compile --print-pipeline)",
      2);
  ExpectError("vm-compile digits.onnx -o x.vmfb --disable-pass=emit",
              "vm-compile: --disable-pass=emit: no such pass can be disabled "
              "(see --print-pipeline)",
              2);
  ExpectError("vm-compile digits.onnx -o x.vmfb --disable-pass=import",
              "vm-compile: --disable-pass=import: no such pass can be disabled "
              "(see --print-pipeline)",
              2);
  ExpectError("vm-dump model.vmfb --dispatch=nothing",
              "vm-dump: --dispatch=nothing: the module has no such dispatch "
              "(--part=program shows their names)",
              2);
  ExpectError("vm-dump model.vmfb --part=graph",
              "vm-dump: --part=graph: expected a model (" +
                  frontends::ExtensionsText() +
                  "), found "
                  "model.vmfb (a module has no "
                  "graph any more)");
}

TEST_F(CliTest, HelpGoesToStdout) {
  for (const char* tool :
       {"vm-compile", "vm-run", "vm-bench", "vm-dump", "vm-diff"}) {
    const Outcome outcome = Run(std::string(tool) + " --help");
    EXPECT_EQ(outcome.exit_status, 0);
    EXPECT_EQ(outcome.output.find("Usage: " + std::string(tool)), 0u)
        << outcome.output;
    EXPECT_NE(outcome.output.find("\nExamples:\n"), std::string::npos);
  }
}

}  // namespace
}  // namespace ember::tools
