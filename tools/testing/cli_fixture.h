// A fixture for tests that run the tools by shell commands, as a user does.
//
//   TEST_F(CliTest, Help) {
//     EXPECT_EQ(Run("vm-run --help").exit_status, 0);
//   }
//
// The test's data must hold the tools, and samples/digits/digits.onnx.
#ifndef EMBER_TOOLS_TESTING_CLI_FIXTURE_H_
#define EMBER_TOOLS_TESTING_CLI_FIXTURE_H_

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/file.h"
#include "gtest/gtest.h"

namespace ember::tools {

struct Outcome {
  int exit_status = -1;
  // Everything that the tool wrote to stdout and stderr, which are one pipe.
  std::string output;
};

class CliTest : public ::testing::Test {
 protected:
  // Runs a shell command with the tools in $PATH. The current folder has the
  // files digits.onnx and model.vmfb.
  static Outcome Run(const std::string& command) {
    Outcome outcome;
    const std::string line = "cd " + Folder() + " && PATH=$PATH:" + Tools() +
                             " " + command + " 2>&1";
    std::FILE* pipe = popen(line.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    char buffer[4096];
    while (const size_t count = std::fread(buffer, 1, sizeof(buffer), pipe)) {
      outcome.output.append(buffer, count);
    }
    outcome.exit_status = WEXITSTATUS(pclose(pipe));
    return outcome;
  }
  static std::string Folder() { return ::testing::TempDir(); }
  static std::string Tools() { return Absolute("tools"); }
  static std::string Absolute(const std::string& path) {
    char here[4096];
    return std::string(getcwd(here, sizeof(here))) + "/" + path;
  }
  static void Write(const std::string& name, std::string_view contents) {
    ASSERT_TRUE(WriteFileAtomically(Folder() + "/" + name, contents).ok());
  }
  static std::string Read(const std::string& name) {
    StatusOr<std::string> contents = ReadFile(Folder() + "/" + name);
    EXPECT_TRUE(contents.ok()) << contents.status().ToString();
    return contents.ok() ? *contents : "";
  }

  static void SetUpTestSuite() {
    unsetenv("BUILD_WORKING_DIRECTORY");
    // An empty value of EMBER_CACHE disables the kernel cache on disk.
    setenv("EMBER_CACHE", "", 1);
    const StatusOr<std::string> model = ReadFile("samples/digits/digits.onnx");
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    Write("digits.onnx", *model);
    const Outcome outcome = Run("vm-compile digits.onnx -o model.vmfb");
    ASSERT_EQ(outcome.exit_status, 0) << outcome.output;
  }

  static void ExpectError(const std::string& command,
                          const std::string& message, int status = 1) {
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.output, message + "\n") << command;
    EXPECT_EQ(outcome.exit_status, status) << command;
  }
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_TESTING_CLI_FIXTURE_H_
