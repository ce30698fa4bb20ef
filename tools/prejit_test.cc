// Tests how native kernels are made, listed, allowed and refused, by running
// the tools as a user does.
#include <cstdint>
#include <cstring>
#include <regex>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PrejitTest : public CliTest {
 protected:
  static void SetUpTestSuite() {
    CliTest::SetUpTestSuite();
    const Outcome made =
        Run("vm-prejit model.vmfb --target=host,aarch64+dotprod "
            "--target=armv7+neon --packed-weights=none -o native.vmfb");
    ASSERT_EQ(made.exit_status, 0) << made.output;
    output_ = made.output;
    const Outcome foreign =
        Run("vm-prejit model.vmfb --target=armv7+neon,aarch64+sve "
            "-o foreign.vmfb");
    ASSERT_EQ(foreign.exit_status, 0) << foreign.output;
    const Outcome expected =
        Run("vm-run model.vmfb --tier=0 --output=@want.npy --print=none");
    ASSERT_EQ(expected.exit_status, 0) << expected.output;
  }
  static std::string output_;
};
std::string PrejitTest::output_;

constexpr const char* kCheck = " --expected=@want.npy --rtol=1e-5 --print=none";

TEST_F(PrejitTest, SaysWhatWasMade) {
  EXPECT_THAT(output_, HasSubstr("\naarch64+dotprod: "));
  EXPECT_THAT(output_, HasSubstr("\narmv7+neon: "));
  EXPECT_TRUE(std::regex_search(
      output_, std::regex("armv7.neon: [1-9] kernels of [1-9], [0-9]+ bytes")))
      << output_;
}

TEST_F(PrejitTest, NativeKernelsRunOnlyIfAllowed) {
  const Outcome without =
      Run(std::string("vm-run native.vmfb --tier=0") + kCheck);
  EXPECT_EQ(without.exit_status, 0);
  EXPECT_THAT(without.output,
              HasSubstr("the module's native kernels are not used, as they run "
                        "only with --allow-native or --key\n"));
  const Outcome with = Run(std::string("vm-run native.vmfb --tier=0 "
                                       "--allow-native --profile") +
                           kCheck);
  EXPECT_EQ(with.exit_status, 0) << with.output;
  EXPECT_THAT(with.output, HasSubstr("native kernels for "));
  EXPECT_THAT(with.output, HasSubstr("of the module, for "));
  EXPECT_THAT(with.output, HasSubstr("is as expected"));
  EXPECT_THAT(with.output, Not(HasSubstr("are not used")));
  // If a JIT is there, kernels that it compiles for the shape may replace those
  // of the module. The results must be right all the same.
  const Outcome both =
      Run(std::string("vm-run native.vmfb --tier=2 --allow-native") + kCheck);
  EXPECT_EQ(both.exit_status, 0) << both.output;
  EXPECT_THAT(both.output, HasSubstr("is as expected"));
}

// This machine prints the text of its target. vm-prejit on another machine must
// accept that text.
TEST_F(PrejitTest, TargetsOfFiles) {
  const Outcome host = Run("vm-prejit --print-host");
  ASSERT_EQ(host.exit_status, 0) << host.output;
  Write("host.target", "# this machine\n  " + host.output);
  const Outcome made =
      Run("vm-prejit model.vmfb --target=aarch64,@host.target -o two.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  const std::string name = host.output.substr(0, host.output.find('\n'));
  EXPECT_THAT(made.output, HasSubstr("\n" + name + ": "));
  const Outcome ran =
      Run(std::string("vm-run two.vmfb --tier=0 --allow-native --profile") +
          kCheck);
  EXPECT_EQ(ran.exit_status, 0) << ran.output;
  EXPECT_THAT(ran.output, HasSubstr("native kernels for "));
}

TEST_F(PrejitTest, ModulesWithoutNativeKernelsRunAsEver) {
  const Outcome plain = Run(std::string("vm-run model.vmfb --tier=0") + kCheck);
  EXPECT_THAT(plain.output, Not(HasSubstr("native")));
  EXPECT_THAT(
      Run("vm-run model.vmfb --tier=0 --allow-native --print=none").output,
      HasSubstr("the module has no native kernels\n"));
  const Outcome foreign =
      Run(std::string("vm-run foreign.vmfb --tier=0 --allow-native") + kCheck);
  EXPECT_EQ(foreign.exit_status, 0) << foreign.output;
#if defined(__x86_64__)
  EXPECT_THAT(foreign.output,
              HasSubstr("no native kernels for this machine\n"));
  EXPECT_THAT(foreign.output,
              HasSubstr("native section armv7-linux+neon+cores=4: this machine "
                        "lacks armv7-linux\n"));
#endif
}

TEST_F(PrejitTest, DamagedSectionsAreLeftOut) {
  // This module has one native section, which is the last part of the file.
  ASSERT_EQ(Run("vm-prejit model.vmfb --target=host --packed-weights=none -o "
                "host.vmfb")
                .exit_status,
            0);
  std::string file = Read("host.vmfb");
  file[file.size() - 100] ^= 4;
  Write("tampered.vmfb", file);
  const Outcome outcome =
      Run(std::string("vm-run tampered.vmfb --tier=0 --allow-native") + kCheck);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("expected hash "));
  EXPECT_THAT(outcome.output, HasSubstr("is as expected"));
}

TEST_F(PrejitTest, SignedModulesRunWithTheKey) {
  EXPECT_EQ(Run("vm-sign --make-keys=mine").output,
            "mine.secret signs, and must stay with you; mine.public is for "
            "those who run\n");
  ASSERT_EQ(Run("vm-sign --make-keys=other").exit_status, 0);
  EXPECT_EQ(Run("stat -c %a mine.secret").output, "600\n");
  ExpectError("vm-sign --make-keys=mine",
              "vm-sign: cannot make 'mine.secret': File exists");
  ASSERT_EQ(Run("vm-sign native.vmfb --key=mine.secret -o signed.vmfb").output,
            "");
  const auto run = [](const std::string& module, const std::string& key) {
    const Outcome outcome =
        Run("vm-run " + module + " --tier=0 --profile --key=" + key + kCheck);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("is as expected"));
    return outcome.output;
  };
  EXPECT_THAT(run("signed.vmfb", "mine.public"),
              HasSubstr("of the module, for "));
  // If the key is another one, or if the module has no signature, the module
  // runs without its kernels and says why.
  for (const auto& [module, key, why] :
       {std::tuple("signed.vmfb", "other.public",
                   "expected a signature by the given key, found another's"),
        std::tuple("native.vmfb", "mine.public",
                   "expected a signature, found none")}) {
    const std::string output = run(module, key);
    EXPECT_THAT(output, HasSubstr("no native kernels are used\n"));
    EXPECT_THAT(output, HasSubstr(why));
    EXPECT_THAT(output, Not(HasSubstr("of the module, for ")));
  }
  // Signing again with another key replaces the first signature.
  ASSERT_EQ(Run("vm-sign signed.vmfb --key=other.secret -o again.vmfb").output,
            "");
  EXPECT_EQ(Read("again.vmfb").size(), Read("signed.vmfb").size());
  EXPECT_THAT(run("again.vmfb", "other.public"),
              HasSubstr("of the module, for "));
  ExpectError(
      "vm-sign model.vmfb --key=mine.secret -o x.vmfb",
      "vm-sign: model.vmfb: expected native kernels to sign, found none "
      "(vm-prejit makes some)");
  ExpectError(
      "vm-run signed.vmfb --key=mine.public --allow-native",
      "vm-run: --key: expected no --allow-native beside it, which would let "
      "unsigned code run",
      2);
  ExpectError("vm-sign signed.vmfb --make-keys=third",
              "vm-sign: --make-keys: expected nothing beside it, as it signs "
              "nothing",
              2);
  ExpectError("vm-run signed.vmfb --key=mine.secret",
              "vm-run: mine.secret: expected a line of 64 hexadecimal digits, "
              "found another");
}

// This test flips one bit of the last native section or of the signature. The
// module's native kernels must then not be used.
TEST_F(PrejitTest, TamperedModulesAreNoLongerSigned) {
  ASSERT_EQ(Run("vm-sign --make-keys=key").exit_status, 0);
  ASSERT_EQ(Run("vm-sign native.vmfb --key=key.secret -o signed.vmfb").output,
            "");
  const std::string file = Read("signed.vmfb");
  // Offsets of the flipped bit from the end of the file: the first two lie in
  // the last native section, the others in the signature.
  for (const size_t from_end :
       {size_t{96 + 8}, size_t{96 + 900}, size_t{40}, size_t{90}}) {
    std::string bad = file;
    bad[bad.size() - from_end] ^= 1;
    Write("bad.vmfb", bad);
    const Outcome outcome =
        Run(std::string("vm-run bad.vmfb --tier=0 --profile --key=key.public") +
            kCheck);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    EXPECT_THAT(
        outcome.output,
        HasSubstr(from_end == 90 ? "found another's" : "found changed ones"));
    EXPECT_THAT(outcome.output, Not(HasSubstr("of the module, for ")));
  }
}

TEST_F(PrejitTest, DumpListsKernels) {
  const std::string text = Run("vm-dump native.vmfb --part=kernels").output;
  EXPECT_THAT(text, HasSubstr("target aarch64-linux+neon+dotprod+cores=4: "));
  EXPECT_THAT(text, HasSubstr("runs here"));
  EXPECT_THAT(text, HasSubstr("| dispatch"));
  EXPECT_EQ(Run("vm-dump model.vmfb --part=kernels").output,
            "no native kernels (vm-prejit makes some)\n");
  // A new native section for a target replaces the old section for the same
  // target.
  ASSERT_EQ(
      Run("vm-prejit native.vmfb --target=armv7+neon --packed-weights=none "
          "-o again.vmfb")
          .exit_status,
      0);
  EXPECT_EQ(Read("again.vmfb").size(), Read("native.vmfb").size());
}

// A file with weights packed in the kernels' layouts is larger, and the weights
// are not packed again when the file is loaded. Packed weights are read from
// the disk only when they are used.
TEST_F(PrejitTest, WeightsArePackedWhenTheFileIsMade) {
  // Targets with short names are used, because vm-run cuts the line about the
  // profile at a certain length.
#if defined(__x86_64__)
  const std::string targets = "--target=x86-64-v2,armv7+neon";
#else
  const std::string targets = "--target=aarch64,armv7+neon";
#endif
  const Outcome made =
      Run("vm-prejit model.vmfb " + targets + " -o packed.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  std::smatch match;
  ASSERT_TRUE(std::regex_search(
      made.output, match, std::regex("bytes, ([0-9]+) of packed weights")))
      << made.output;
  EXPECT_GT(std::stoi(match[1]), 10000);
  ASSERT_EQ(Run("vm-prejit model.vmfb " + targets +
                " --packed-weights=none -o unpacked.vmfb")
                .exit_status,
            0);
  EXPECT_GT(Read("packed.vmfb").size(),
            Read("unpacked.vmfb").size() + 2 * std::stoul(match[1]) / 3);
  for (const bool is_packed : {true, false}) {
    const Outcome run =
        Run(std::string("vm-run ") + (is_packed ? "" : "un") +
            "packed.vmfb --tier=0 --allow-native --profile" + kCheck);
    EXPECT_THAT(run.output, HasSubstr("is as expected"));
    EXPECT_EQ(run.output.find(", packed before") != std::string::npos,
              is_packed)
        << run.output;
  }
  // Packed weights are not part of the signed bytes, as other constants are
  // not. A damaged weight makes results wrong but is no danger.
  ASSERT_EQ(
      Run("vm-prejit model.vmfb --target=host -o packed.vmfb").exit_status, 0);
  ASSERT_EQ(Run("vm-sign --make-keys=weights").exit_status, 0);
  ASSERT_EQ(
      Run("vm-sign packed.vmfb --key=weights.secret -o signed_weights.vmfb")
          .output,
      "");
  std::string file = Read("signed_weights.vmfb");
  for (size_t i = 0; i < 30000; ++i) file[file.size() - 96 - 1 - i] = 0x41;
  Write("wrong_weights.vmfb", file);
  const Outcome wrong = Run(
      std::string("vm-run wrong_weights.vmfb --tier=0 --key=weights.public") +
      kCheck);
  EXPECT_EQ(wrong.exit_status, 1);
  EXPECT_THAT(wrong.output, HasSubstr("is not as expected"));
}

TEST_F(PrejitTest, SharedObjectsAreLoadedByHand) {
  const Outcome made =
      Run("vm-prejit model.vmfb --target=host --emit=shared -o libmodel.so");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("libmodel.so: exports ember_kernels\n"));
  const Outcome run =
      Run(std::string("vm-run model.vmfb --tier=0 "
                      "--native-library=libmodel.so --profile") +
          kCheck);
  EXPECT_EQ(run.exit_status, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("native kernels for "));
  EXPECT_THAT(run.output, HasSubstr("linked, for "));
  EXPECT_THAT(run.output, HasSubstr("is as expected"));
  // vm-run must refuse a native library whose kernels are those of another
  // model.
  ASSERT_EQ(Run("vm-compile digits.onnx --shape=image=1x1x28x28 -o one.vmfb")
                .exit_status,
            0);
  const Outcome other =
      Run("vm-run one.vmfb --tier=0 --input=1x1x28x28xf32 "
          "--native-library=libmodel.so");
  EXPECT_EQ(other.exit_status, 1);
  EXPECT_TRUE(std::regex_match(
      other.output,
      std::regex("vm-run: --native-library: libmodel.so: native kernels: "
                 "expected kernels of this module \\([0-9a-f]{16}\\), found "
                 "those of another one \\([0-9a-f]{16}\\)\n")))
      << other.output;
  EXPECT_THAT(Run("vm-run model.vmfb --native-library=none.so").output,
              HasSubstr("none.so: cannot open shared object file"));
  // The module now contains native sections, but the library's kernels still
  // fit it, because sections are not part of the module's identity.
  const Outcome beside =
      Run(std::string("vm-run native.vmfb --tier=0 --print=none "
                      "--native-library=libmodel.so"));
  EXPECT_EQ(beside.exit_status, 0) << beside.output;
  EXPECT_THAT(beside.output,
              HasSubstr("the module's native kernels are not used, as they run "
                        "only with --allow-native or --key; those of "
                        "--native-library are used\n"));
}

TEST_F(PrejitTest, ObjectFilesHaveAHeader) {
  const Outcome made = Run(
      "vm-prejit model.vmfb --target=aarch64,aarch64+dotprod --emit=static -o "
      "my-model.o");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_THAT(made.output,
              HasSubstr("my-model.h declares ember_kernels_my_model\n"));
  EXPECT_THAT(Read("my-model.h"), HasSubstr("extern const struct EmberKernels "
                                            "ember_kernels_my_model;"));
  EXPECT_EQ(Read("my-model.o").substr(0, 4),
            "\x7f"
            "ELF");
  const Outcome ios =
      Run("vm-prejit model.vmfb --target=aarch64 --emit=static --platform=ios "
          "--symbol=kernels -o ios.o");
  ASSERT_EQ(ios.exit_status, 0) << ios.output;
  EXPECT_EQ(Read("ios.o").substr(0, 4), "\xcf\xfa\xed\xfe");
  EXPECT_THAT(Read("ios.h"), HasSubstr("struct EmberKernels kernels;"));
}

// The C file is compiled for this machine and its kernels are loaded from
// there.
TEST_F(PrejitTest, FilesOfCAreCompiledByTheUser) {
  if (Run("cc --version").exit_status != 0) GTEST_SKIP() << "no C compiler";
  for (const std::string packed : {"all", "none"}) {
    SCOPED_TRACE(packed);
    const Outcome made =
        Run("vm-prejit model.vmfb --target=c11 --emit=c --symbol=ember_kernels "
            "--packed-weights=" +
            packed + " -o kernels.c");
    ASSERT_EQ(made.exit_status, 0) << made.output;
    EXPECT_THAT(made.output, HasSubstr("kernels.h declares ember_kernels\n"));
    const Outcome compiled =
        Run("cc -std=c11 -O1 -pedantic-errors -Wall -Wextra -Werror "
            "-Wno-unused -Wno-maybe-uninitialized -shared -fPIC -o "
            "libkernels.so kernels.c -lm");
    ASSERT_EQ(compiled.output, "");
    const Outcome run =
        Run(std::string("vm-run model.vmfb --tier=0 "
                        "--native-library=libkernels.so --profile") +
            kCheck);
    EXPECT_EQ(run.exit_status, 0) << run.output;
    EXPECT_TRUE(std::regex_search(
        run.output,
        std::regex("native kernels for ([0-9]+) of \\1 dispatches \\(c11\\)")))
        << run.output;
    EXPECT_THAT(run.output, HasSubstr("linked, for c11"));
    EXPECT_THAT(run.output, HasSubstr("is as expected"));
    EXPECT_EQ(run.output.find(", packed before") != std::string::npos,
              packed == "all");
  }
  // A program may link the C files of several models, which may contain equal
  // kernels. Their symbols must not collide.
  ASSERT_EQ(
      Run("vm-prejit model.vmfb --target=c11 --emit=c -o two.c").exit_status,
      0);
  EXPECT_THAT(Read("two.h"),
              HasSubstr("extern const struct EmberKernels ember_kernels_two;"));
  EXPECT_EQ(
      Run("cc -std=c11 -shared -fPIC -o libboth.so kernels.c two.c -lm").output,
      "");
  EXPECT_EQ(Run("cc -std=c11 -Wall -Werror -fsyntax-only -x c two.h").output,
            "");
}

TEST_F(PrejitTest, FilesOfCAreOfC) {
  ExpectError("vm-prejit model.vmfb --target=c11 -o x.vmfb",
              "vm-prejit: --target=c11: expected --emit=c, found section", 2);
  ExpectError("vm-prejit model.vmfb --target=c11 --emit=static -o x.o",
              "vm-prejit: --target=c11: expected --emit=c, found static", 2);
  ExpectError("vm-prejit model.vmfb --target=aarch64 --emit=c -o x.c",
              "vm-prejit: --emit=c: expected --target=c11, found aarch64", 2);
  ExpectError("vm-prejit model.vmfb --target=c11,c11+l1=8K --emit=c -o x.c",
              "vm-prejit: --emit=c: expected one --target, found 2", 2);
}

TEST_F(PrejitTest, OverlaysAreFoundBesideTheModule) {
  ASSERT_EQ(Run("mkdir -p beside && cp model.vmfb beside/app.vmfb").output, "");
  const Outcome made =
      Run("vm-prejit beside/app.vmfb --target=host,armv7+neon --overlay");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_THAT(made.output, HasSubstr("beside/app.armv7+neon.vmfb-overlay: "));
  const std::string run = "vm-run beside/app.vmfb --tier=0 --profile";
  EXPECT_THAT(
      Run(run + kCheck).output,
      HasSubstr("the overlay's native kernels are not used, as they run "
                "only with --allow-native or --key\n"));
  const Outcome allowed = Run(run + " --allow-native" + kCheck);
  EXPECT_THAT(allowed.output, HasSubstr("native kernels for "));
  EXPECT_THAT(allowed.output, HasSubstr("is as expected"));
  // Each overlay has a signature of its own.
  const std::string host =
      Run("ls beside | grep -v armv7 | grep overlay").output;
  const std::string path = "beside/" + host.substr(0, host.find('\n'));
  ASSERT_EQ(Run("vm-sign --make-keys=overlay").exit_status, 0);
  const std::string with_key = run + " --key=overlay.public" + kCheck;
  EXPECT_THAT(Run(with_key).output,
              HasSubstr("overlay: expected a signature, found none"));
  ASSERT_EQ(Run("vm-sign " + path + " --key=overlay.secret -o " + path).output,
            "");
  EXPECT_THAT(Run(with_key).output, HasSubstr("native kernels for "));
  std::string file = Read(path);
  uint64_t section = 0;
  std::memcpy(&section, file.data() + 48, sizeof section);
  file[section + 40] ^= 1;
  Write("changed", file);
  ASSERT_EQ(Run("cp changed " + path).output, "");
  const Outcome changed = Run(with_key);
  EXPECT_THAT(changed.output,
              HasSubstr("overlay: expected the signed bytes, found changed"));
  EXPECT_THAT(changed.output, HasSubstr("is as expected"));
  // vm-run must refuse an overlay of another module, and a file that is no
  // overlay.
  ASSERT_EQ(Run("vm-compile digits.onnx --shape=image=1x1x28x28 -o "
                "beside/app.vmfb")
                .exit_status,
            0);
  EXPECT_THAT(Run("vm-run beside/app.vmfb --tier=0 --allow-native").output,
              HasSubstr("found those of another one ("));
  Write("changed", "text");
  ASSERT_EQ(Run("cp changed " + path).output, "");
  EXPECT_THAT(Run("vm-run beside/app.vmfb --tier=0 --allow-native").output,
              HasSubstr(path + ": overlay: size in bytes: expected 128"));
}

TEST_F(PrejitTest, ProfilesSayWhatIsHotForWhichShapes) {
  const Outcome recorded =
      Run("vm-run model.vmfb --tier=0 --shape=image=3x1x28x28 --runs=3 "
          "--record=three.profile --print=none");
  ASSERT_EQ(recorded.exit_status, 0) << recorded.output;
  const std::string text = Read("three.profile");
  EXPECT_TRUE(
      std::regex_search(text, std::regex("\\[3\\]: 2 calls, [0-9]+ ns")))
      << text;
  const Outcome made =
      Run("vm-prejit model.vmfb --target=host --profile=three.profile --hot=30 "
          "--verbose -o hot.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  EXPECT_TRUE(
      std::regex_search(made.output, std::regex("[1-4] dispatches are cold")))
      << made.output;
  const std::string dump = Run("vm-dump hot.vmfb --part=kernels").output;
  EXPECT_THAT(dump,
              HasSubstr("// What --tier=auto compiles first.\nprofile 1 "));
  // The profile has one shape, so each dispatch gets two kernels: one for this
  // shape and one for all shapes.
  EXPECT_TRUE(std::regex_search(dump, std::regex("\\| 3 +\\|"))) << dump;
  EXPECT_TRUE(std::regex_search(dump, std::regex("\\| all +\\|"))) << dump;
  for (const char* shape : {"3", "2"}) {
    const std::string arguments =
        std::string(" --tier=0 --shape=image=") + shape + "x1x28x28";
    ASSERT_EQ(
        Run("vm-run model.vmfb --output=@shaped.npy --print=none" + arguments)
            .exit_status,
        0);
    const Outcome run =
        Run("vm-run hot.vmfb --allow-native --print=none --profile "
            "--expected=@shaped.npy --rtol=1e-5" +
            arguments);
    EXPECT_THAT(run.output, HasSubstr("of the module, for ")) << run.output;
    EXPECT_THAT(run.output, HasSubstr("is as expected"));
  }
  // Without --target no kernels are made: vm-prejit only stores the profile in
  // the module.
  EXPECT_EQ(
      Run("vm-prejit model.vmfb --profile=three.profile -o hinted.vmfb").output,
      "");
  EXPECT_EQ(Run("vm-run hinted.vmfb --print=none").exit_status, 0);
  EXPECT_THAT(Run("vm-dump hinted.vmfb --part=kernels").output,
              HasSubstr("calls, "));
  Write("bad.profile", "profile 1 of 7");
  ExpectError(
      "vm-prejit model.vmfb --target=host --profile=bad.profile -o x.vmfb",
      "vm-prejit: bad.profile: 1:14: expected the identity of a module, found "
      "'7'");
}

TEST_F(PrejitTest, BadCommandLines) {
  ExpectError("vm-prejit digits.onnx --target=host --emit=shared -o x.so",
              "vm-prejit: digits.onnx: expected a compiled module (vm-compile "
              "makes one), found a model");
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=aarch64,armv7+neon "
                  "--emit=shared -o x.so")
                  .output,
              HasSubstr("--emit: expected targets of one kind of processor in "
                        "a file, found aarch64-linux and armv7-linux\n"));
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=aarch64 --emit=shared "
                  "--platform=ios -o x.so")
                  .output,
              HasSubstr("--emit=shared: expected --platform=elf, found ios"));
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=armv7+neon --emit=static "
                  "--platform=ios -o x.o")
                  .output,
              HasSubstr("--platform=ios: expected a processor that it has, "
                        "found armv7-linux\n"));
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=aarch64 --emit=static "
                  "--symbol=7up -o x.o")
                  .output,
              HasSubstr("--symbol: expected a name of C, found '7up'\n"));
  ExpectError("vm-prejit model.vmfb --overlay",
              "vm-prejit: expected --target=T to say what kernels are for (see "
              "--list-targets)",
              2);
  EXPECT_THAT(
      Run("vm-prejit model.vmfb --overlay --target=host,aarch64 -o x").output,
      HasSubstr("-o: expected one --target with --overlay, found 2\n"));
  EXPECT_THAT(Run("vm-prejit model.vmfb --overlay --emit=shared "
                  "--target=host -o x")
                  .output,
              HasSubstr("--overlay: expected --emit=section, found shared"));
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=host --hot=0 -o x").output,
              HasSubstr("--hot: expected a number above 0, up to 100"));
  ExpectError("vm-prejit model.vmfb --target=host",
              "vm-prejit: expected -o FILE to say where it goes (see --help)",
              2);
  ExpectError("vm-prejit model.vmfb -o x.vmfb",
              "vm-prejit: expected --target=T to say what kernels are for (see "
              "--list-targets)",
              2);
  EXPECT_THAT(
      Run("vm-prejit model.vmfb --target=x86-64-v4+amx -o x.vmfb").output,
      HasSubstr("--target: target 'x86-64-v4+amx': expected host, x86-64-v2"));
  EXPECT_THAT(
      Run("vm-prejit model.vmfb --target=x86-64-v3+cores=no -o x.vmfb").output,
      HasSubstr("expected a number, as in cores=8; found 'cores=no'\n"));
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=@none.txt -o x.vmfb").output,
              HasSubstr("--target: cannot open file 'none.txt'"));
  Write("empty.txt", "# none yet\n\n");
  EXPECT_THAT(Run("vm-prejit model.vmfb --target=@empty.txt -o x.vmfb").output,
              HasSubstr("'empty.txt': expected a target a line, found none\n"));
  EXPECT_THAT(Run("vm-prejit --list-targets").output,
              HasSubstr("\naarch64 (+dotprod, +i8mm, +sve)\n"));
}

}  // namespace
}  // namespace ember::tools
