#include "tools/lib/cli/cut_files.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "base/file.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

TEST(CutFilesTest, AreOneLine) {
  const std::string path = ::testing::TempDir() + "/cut_files_test";
  ASSERT_TRUE(WriteFileAtomically(path, std::string(1 << 16, 'x')).ok());
  const auto read_what_is_gone = [&] {
    ReportCutFiles("vm-test");
    const MappedFile file = *MappedFile::Open(path);
    if (::truncate(path.c_str(), 0) != 0) ::_exit(2);
    const volatile uint8_t* const bytes = file.bytes().data();
    ::_exit(bytes[5000] == 'x' ? 3 : 4);
  };
  EXPECT_EXIT(read_what_is_gone(), testing::ExitedWithCode(1),
              "vm-test: a file that it reads was cut off meanwhile");
}

TEST(CutFilesTest, OtherReasonsEndAsBefore) {
  const auto raise = [] {
    ReportCutFiles("vm-test");
    ::raise(SIGBUS);
    ::_exit(2);
  };
  EXPECT_EXIT(raise(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace ember::tools
