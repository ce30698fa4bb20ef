#include "tools/lib/child.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace ember::tools
