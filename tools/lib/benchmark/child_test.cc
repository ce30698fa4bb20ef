#include "tools/lib/benchmark/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "gtest/gtest.h"
#include "tools/lib/cli/command_line_error.h"

namespace ember::tools {
namespace {

TEST(ChildTest, AnswersAndErrorsComeBack) {
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(*RunInChild([&] { return large; }, 0), large);
  const StatusOr<std::string> error = RunInChild(
      [] { return StatusOr<std::string>(NotFoundError("no x")); }, 0);
  EXPECT_EQ(error.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(error.status().message(), "no x");
}

TEST(ChildTest, CrashesAndTimeoutsAreErrors) {
  const auto message = [](const std::function<void()>& work, unsigned timeout) {
    const StatusOr<std::string> answer = RunInChild(
        [&] {
          work();
          return std::string();
        },
        timeout);
    return std::string(answer.status().message());
  };
  EXPECT_EQ(message([] { std::signal(SIGABRT, SIG_DFL), std::abort(); }, 0),
            "crashed: Aborted");
  const auto never_end = [] {
    while (true) pause();
  };
  EXPECT_EQ(message(never_end, 1), "took longer than 1 s");
  EXPECT_EQ(message([] { _exit(3); }, 0), "ended early with exit status 3");
}

// The reader of a pipe sees the end of file only when no process has the
// writing end open. So the end of file shows that the child has ended.
TEST(ChildTest, EndsWithItsParent) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t parent = fork();
    ASSERT_GE(parent, 0);
    if (parent == 0) {
      close(ends[0]);
      const auto never_end = [&]() -> StatusOr<std::string> {
        if (write(ends[1], "x", 1) != 1) _exit(1);
        while (true) pause();
      };
      static_cast<void>(RunInChild(never_end, 0));
      _exit(0);
    }
    close(ends[1]);
    char byte = 0;
    ASSERT_EQ(read(ends[0], &byte, 1), 1) << "the child works";
    kill(parent, signal);
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    int state = 0;
    EXPECT_EQ(waitpid(parent, &state, 0), parent);
    EXPECT_TRUE(WIFSIGNALED(state));
  }
}

TEST(ChildTest, ErrorsOfTheCommandLineStaySuch) {
  const auto run = [](bool is_marked) {
    return RunInChild(
        [is_marked]() -> StatusOr<std::string> {
          return is_marked ? CommandLineError("--x: wrong")
                           : DataLossError("a file");
        },
        0);
  };
  EXPECT_TRUE(IsCommandLineError(run(true).status()));
  EXPECT_FALSE(IsCommandLineError(run(false).status()));
}

}  // namespace
}  // namespace ember::tools
