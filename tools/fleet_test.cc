// Tests vm-tune with workers in other processes, which share a folder with it,
// by running the tools as a user does.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/cli_fixture.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

class FleetTest : public CliTest {};

TEST_F(FleetTest, AWorkerMeasuresTheTrials) {
  Write("run.sh",
        "vm-tune worker --connect=folder:queue --workers=1 --idle=60 "
        "> worker.log 2>&1 &\n"
        "vm-tune model.vmfb --trials=6 --batch=3 --workers=folder:queue "
        "--records=fleet.db\n"
        "status=$?; kill $!; wait; cat worker.log; exit $status\n");
  const Outcome tuned = Run("sh run.sh");
  EXPECT_EQ(tuned.exit_status, 0) << tuned.output;
  EXPECT_THAT(tuned.output, HasSubstr("| d0_conv_maximum "));
  EXPECT_THAT(tuned.output, HasSubstr(" of the default's time, 6 trials in "));
  EXPECT_THAT(tuned.output, HasSubstr("vm-tune worker: takes trials for "));
  EXPECT_THAT(tuned.output, HasSubstr("vm-tune worker: answered "));
  // The queue's folder has no files of the session: no jobs, no jobs that a
  // worker has taken, and no answers.
  EXPECT_EQ(Run("find queue/jobs queue/taken queue/answers -type f").output,
            "");
}

TEST_F(FleetTest, TasksAreTunedWithoutTheModel) {
  const Outcome written =
      Run("vm-tune model.vmfb --write-tasks=tasks --records=tasks.db");
  EXPECT_EQ(written.exit_status, 0) << written.output;
  EXPECT_EQ(written.output, "vm-tune: tasks: wrote 5 of 5 dispatches\n");
  const Outcome tuned =
      Run("vm-tune --tasks=tasks --trials=2 --workers=1 --share=0.9 "
          "--records=tasks.db");
  EXPECT_EQ(tuned.exit_status, 0) << tuned.output;
  EXPECT_THAT(tuned.output, HasSubstr("| d0_conv_maximum "));
}

TEST_F(FleetTest, MistakesAreOneLine) {
  ExpectError("vm-tune worker",
              "vm-tune worker: expected --connect=nats://HOST:PORT or "
              "--connect=folder:PATH (see --help)",
              2);
  ExpectError("vm-tune worker --connect=http://x",
              "vm-tune worker: expected nats://HOST:PORT, tls://HOST:PORT or "
              "folder:PATH, found 'http://x'",
              2);
  ExpectError("vm-tune worker --connect=folder:queue,lease=1",
              "vm-tune worker: folder:queue,lease=1: expected a lease of 2 to "
              "86400 seconds, found '1'",
              2);
  ExpectError("vm-tune worker --connect=folder:queue --target=aarch64",
              "vm-tune worker: --target: expected a target that this machine "
              "can run, which lacks aarch64-linux",
              2);
  ExpectError("vm-tune model.vmfb --workers=many --records=x.db",
              "vm-tune: --workers: expected a number, slurm:N, "
              "nats://HOST:PORT, tls://HOST:PORT or folder:PATH, found 'many'",
              2);
  ExpectError("vm-tune model.vmfb --share=2 --records=x.db",
              "vm-tune: --share: expected a number from 0 to 1", 2);
  ExpectError("vm-tune --tasks=. --records=x.db",
              "vm-tune: expected files NUMBER-CALLS.task in '.', found none");
}

}  // namespace
}  // namespace ember::tools
