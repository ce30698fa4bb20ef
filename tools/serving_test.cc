// Tests that vm-bench --while-serving replaces kernels of a running session by
// tuned ones.
#include <nlohmann/json.hpp>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

class ServingTest : public CliTest {
 protected:
  // Runs vm-bench for some seconds and returns the JSON that --life writes.
  static nlohmann::json Serve(const std::string& flags, Outcome& outcome) {
    outcome =
        Run("vm-bench model.vmfb --shape=image=1x1x28x28 --runs=100000000 "
            "--seconds=6 --no-kernel-cache --life=life.json " +
            flags);
    EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
    return nlohmann::json::parse(Read("life.json"))[0];
  }
};

// The records already have schedules (those of the default rules) when the
// session begins. So kernels are replaced even if the search finds nothing
// better.
TEST_F(ServingTest, KernelsAreReplacedWhileItServes) {
  const std::string records = " --records=serving.db";
  for (const char* command :
       {"vm-tune model.vmfb --export-default=known.schedules",
        "vm-tune --import=known.schedules"}) {
    const Outcome outcome = Run(command + records);
    ASSERT_EQ(outcome.exit_status, 0) << outcome.output;
  }
  Outcome outcome;
  const nlohmann::json life = Serve(
      "--tier=2 --while-serving=0.5 --tuning-records=serving.db", outcome);
  EXPECT_GT(life["kernels_tuned"].get<int>(), 0) << outcome.output;
  EXPECT_GT(life["kernels"].get<int>(), 5);
  // The tuner ended with the session, so the records can be opened by another
  // process.
  EXPECT_EQ(Run("vm-tune model.vmfb --only-report" + records).exit_status, 0);
}

TEST_F(ServingTest, ATunerThatCannotRunDoesNotDisturb) {
  Write("wrong.db", "no records");
  Outcome outcome;
  const nlohmann::json life =
      Serve("--tier=2 --while-serving=0.5 --tuning-records=wrong.db", outcome);
  EXPECT_EQ(life["kernels_tuned"].get<int>(), 0);
  EXPECT_THAT(outcome.output, HasSubstr("--while-serving: vm-tune: "));
  EXPECT_THAT(outcome.output, HasSubstr("wrong.db"));
}

TEST_F(ServingTest, MistakesAreOneLine) {
  ExpectError("vm-bench model.vmfb --while-serving=2",
              "vm-bench: --while-serving: expected a number from 0 to 1", 2);
}

}  // namespace
}  // namespace ember::tools
