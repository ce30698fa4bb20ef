// Native kernels as a user meets them: made, listed, allowed, refused.
#include <regex>
#include <string>
#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/cli_fixture.h"

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
            "--target=armv7+neon -o native.vmfb");
    ASSERT_EQ(made.exit_status, 0) << made.output;
    output_ = made.output;
    const Outcome foreign =
        Run("vm-prejit model.vmfb --target=armv7+neon,aarch64+sve "
            "-o foreign.vmfb");
    ASSERT_EQ(foreign.exit_status, 0) << foreign.output;
    const Outcome expected =
        Run("vm-run model.vmfb --tier=0 --output=@want.npy --print=none");
    ASSERT_EQ(expected.output, "");
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
  // Beside a JIT, which may make better ones for the shape.
  const Outcome both =
      Run(std::string("vm-run native.vmfb --tier=2 --allow-native") + kCheck);
  EXPECT_EQ(both.exit_status, 0) << both.output;
  EXPECT_THAT(both.output, HasSubstr("is as expected"));
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
  // A module with one section, at its end.
  ASSERT_EQ(Run("vm-prejit model.vmfb --target=host -o host.vmfb").exit_status,
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
  ASSERT_EQ(Run("vm-sign --make-keys=mine").output, "");
  ASSERT_EQ(Run("vm-sign --make-keys=other").output, "");
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
  // Otherwise it runs portable, and says why.
  for (const auto& [module, key, why] :
       {std::tuple("signed.vmfb", "other.public",
                   "expected a signature by the given key, found another's"),
        std::tuple("native.vmfb", "mine.public",
                   "expected a signature, found none")}) {
    const std::string output = run(module, key);
    EXPECT_THAT(output, HasSubstr(why));
    EXPECT_THAT(output, Not(HasSubstr("of the module, for ")));
  }
  // Signed again by another, who then is the one that counts.
  ASSERT_EQ(Run("vm-sign signed.vmfb --key=other.secret -o again.vmfb").output,
            "");
  EXPECT_EQ(Read("again.vmfb").size(), Read("signed.vmfb").size());
  EXPECT_THAT(run("again.vmfb", "other.public"),
              HasSubstr("of the module, for "));
  ExpectError(
      "vm-sign model.vmfb --key=mine.secret -o x.vmfb",
      "vm-sign: model.vmfb: expected native kernels to sign, found none "
      "(vm-prejit makes some)");
  ExpectError("vm-run signed.vmfb --key=mine.secret",
              "vm-run: mine.secret: expected a line of 64 hexadecimal digits, "
              "found another");
}

// With the checksums made to fit, as somebody who wants to do harm would.
TEST_F(PrejitTest, TamperedModulesAreNoLongerSigned) {
  ASSERT_EQ(Run("vm-sign --make-keys=key").output, "");
  ASSERT_EQ(Run("vm-sign native.vmfb --key=key.secret -o signed.vmfb").output,
            "");
  const std::string file = Read("signed.vmfb");
  // The last bytes of the last section, and of the signature.
  for (const size_t from_end :
       {size_t{96 + 8}, size_t{96 + 900}, size_t{40}, size_t{90}}) {
    std::string bad = file;
    bad[bad.size() - from_end] ^= 1;
    Write("bad.vmfb", bad);
    const Outcome outcome =
        Run(std::string("vm-run bad.vmfb --tier=0 --profile --key=key.public") +
            kCheck);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    EXPECT_THAT(outcome.output,
                HasSubstr(from_end == 90 ? "found another's"
                                         : "found it changed since"));
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
  // One for the same target takes the other's place.
  ASSERT_EQ(Run("vm-prejit native.vmfb --target=armv7+neon -o again.vmfb")
                .exit_status,
            0);
  EXPECT_EQ(Read("again.vmfb").size(), Read("native.vmfb").size());
}

TEST_F(PrejitTest, BadCommandLines) {
  ExpectError("vm-prejit model.vmfb --target=host",
              "vm-prejit: expected -o FILE to say where the module goes (see "
              "--help)");
  ExpectError("vm-prejit model.vmfb -o x.vmfb",
              "vm-prejit: expected --target=T to say what kernels are for (see "
              "--list-targets)");
  EXPECT_THAT(
      Run("vm-prejit model.vmfb --target=x86-64-v4+amx -o x.vmfb").output,
      HasSubstr("--target: target 'x86-64-v4+amx': expected host, x86-64-v2"));
  EXPECT_THAT(Run("vm-prejit --list-targets").output,
              HasSubstr("\naarch64 (+dotprod, +i8mm, +sve)\n"));
}

}  // namespace
}  // namespace ember::tools
