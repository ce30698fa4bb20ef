// Checks metal.mm with a compiler of Objective-C++, against declarations of
// Apple's API in testing/stubs: no machine of Apple's is needed. It is skipped
// where there is no such compiler.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/concat.h"
#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::hal::metal {
namespace {

using ::testing::HasSubstr;

constexpr char kCompiler[] = "clang++-19";
constexpr char kOptions[] =
    " -x objective-c++ -std=c++20 -fsyntax-only -fobjc-arc "
    "-fobjc-runtime=macosx -Wall -Wextra -Werror "
    "-isystem hal/metal/testing/stubs -I. ";
constexpr char kSource[] = "hal/metal/api/metal.mm";

bool HasCompiler() {
  return std::system(
             Concat({kCompiler, " --version >/dev/null 2>&1"}).c_str()) == 0;
}

// Returns the compiler's messages; empty if it accepts the file.
std::string Messages(const std::string& file, const char* options) {
  const std::string log =
      Concat({::testing::TempDir(), "/ember_metal_syntax_", ::getpid()});
  const bool is_accepted = std::system(Concat({kCompiler, kOptions, options,
                                               " ", file, " >", log, " 2>&1"})
                                           .c_str()) == 0;
  const StatusOr<std::string> said = ReadFile(log);
  std::remove(log.c_str());
  if (is_accepted) return "";
  return said.ok() && !said->empty() ? *said : "refused without a message";
}

TEST(Syntax, CompilerAcceptsMetal) {
  if (!HasCompiler())
    GTEST_SKIP() << "no compiler of Objective-C++: " << kCompiler;
  EXPECT_EQ(Messages(kSource, ""), "");
  EXPECT_EQ(Messages(kSource, "-DEMBER_STUB_IS_IOS"), "");
}

// Without this test, stubs that accept any call would pass.
TEST(Syntax, CompilerRefusesUnknownCalls) {
  if (!HasCompiler())
    GTEST_SKIP() << "no compiler of Objective-C++: " << kCompiler;
  const StatusOr<std::string> source = ReadFile(kSource);
  ASSERT_TRUE(source.ok());
  const struct {
    const char *from, *to, *message;
  } kCases[] = {
      {"newCommandQueue]", "newCommandQueues]", "newCommandQueues"},
      {"atIndex:index];", "atIndexes:index];", "atIndexes"},
      {"device.maxBufferLength", "device.maxBufferLengths", "maxBufferLengths"},
      {"(__bridge_retained void*)object", "(void*)object", "bridged cast"},
  };
  std::string changed = *source;
  for (const auto& row : kCases) {
    const size_t at = changed.find(row.from);
    ASSERT_NE(at, std::string::npos) << row.from;
    changed.replace(at, std::string(row.from).size(), row.to);
  }
  const std::string file =
      Concat({::testing::TempDir(), "/ember_metal_", ::getpid(), ".mm"});
  ASSERT_TRUE(WriteFileAtomically(file, changed).ok());
  const std::string messages = Messages(file, "");
  for (const auto& row : kCases)
    EXPECT_THAT(messages, HasSubstr(row.message)) << row.from;
  std::remove(file.c_str());
}

}  // namespace
}  // namespace ember::hal::metal
