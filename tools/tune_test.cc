// Tests vm-tune by running it as a user does: a short search, its records, and
// modules with the schedules that it found.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

class TuneTest : public CliTest {
 protected:
  static void SetUpTestSuite() {
    CliTest::SetUpTestSuite();
    const Outcome tuned =
        Run("vm-tune model.vmfb --trials=12 "
            "--workers=1 --seed=3 --records=tuning.db");
    ASSERT_EQ(tuned.exit_status, 0) << tuned.output;
    output_ = tuned.output;
  }
  static std::string output_;
};
std::string TuneTest::output_;

TEST_F(TuneTest, PrintsARowForEachDispatch) {
  EXPECT_THAT(output_, HasSubstr("| d0_conv_maximum "));
  EXPECT_THAT(output_, HasSubstr(" of the default's time, 12 trials in "));
  EXPECT_THAT(output_, HasSubstr("0 of them crashed, hung or were wrong"));
}

TEST_F(TuneTest, ContinuesFromItsRecords) {
  const Outcome report =
      Run("vm-tune model.vmfb --only-report --report=page.html "
          "--records=tuning.db");
  EXPECT_EQ(report.exit_status, 0) << report.output;
  EXPECT_THAT(report.output, HasSubstr("| d0_conv_maximum "));
  EXPECT_THAT(Read("page.html"), HasSubstr("_conv_maximum</h2>"));
  const Outcome again =
      Run("vm-tune model.vmfb --trials=1 --workers=1 --records=tuning.db");
  EXPECT_EQ(again.exit_status, 0) << again.output;
}

TEST_F(TuneTest, ModulesContainTheSchedules) {
  const Outcome exported =
      Run("vm-tune --records=tuning.db --export=best.schedules");
  ASSERT_EQ(exported.exit_status, 0) << exported.output;
  EXPECT_TRUE(Read("best.schedules").starts_with("ember schedules 1\n"));
  const Outcome made =
      Run("vm-prejit model.vmfb --target=host --tuning-records=best.schedules "
          "--keep-slow -o tuned.vmfb");
  ASSERT_EQ(made.exit_status, 0) << made.output;
  const Outcome want =
      Run("vm-run model.vmfb --tier=0 --output=@want.npy --print=none");
  ASSERT_EQ(want.exit_status, 0) << want.output;
  for (const char* flags : {"--tier=0 --allow-native", "--tier=2"}) {
    const Outcome run =
        Run(std::string("vm-run tuned.vmfb --expected=@want.npy --rtol=1e-5 "
                        "--print=none ") +
            flags);
    EXPECT_EQ(run.exit_status, 0) << run.output;
  }
}

TEST_F(TuneTest, ATargetOfAnotherMachineIsTunedByTheModel) {
  const Outcome outcome =
      Run("vm-tune model.vmfb --target=aarch64+dotprod --trials=4 "
          "--records=other.db");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("vm-tune: this machine cannot run aarch64+dotprod: "
                        "tuned by the cost model alone, which may be wrong\n"));
}

TEST_F(TuneTest, MistakesAreOneLine) {
  ExpectError("vm-tune", "vm-tune: expected a MODEL to tune (see --help)", 2);
  Write("wrong.schedules", "ember schedules 1\nfoo\n");
  ExpectError("vm-tune --records=tuning.db --import=wrong.schedules",
              "vm-tune: wrong.schedules: line 2: expected 'schedule KEY TARGET "
              "RATIO SECONDS NAME', found 'foo'");
  ExpectError("vm-prejit model.vmfb --tuning-records=wrong.schedules -o x.vmfb",
              "vm-prejit: wrong.schedules: line 2: expected 'schedule KEY "
              "TARGET RATIO SECONDS NAME', found 'foo'");
}

}  // namespace
}  // namespace ember::tools
