#include "tools/lib/cli/end_by_signal.h"

#include <csignal>
#include <filesystem>
#include <string>

#include "base/atomic_file_writer.h"
#include "base/file.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

int FilesBeside(const std::string& path) {
  int count = 0;
  const std::filesystem::path folder =
      std::filesystem::path(path).parent_path();
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    count += entry.path().filename().string().starts_with(
        std::filesystem::path(path).filename().string());
  return count;
}

class EndBySignalTest : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, EndBySignalTest,
                         ::testing::Values(SIGINT, SIGTERM, SIGHUP, SIGPIPE));

TEST_P(EndBySignalTest, LeavesNoTemporaryFileAndTheOldContents) {
  const int signal = GetParam();
  const std::string path = std::string(::testing::TempDir()) + "/ended_by_" +
                           std::to_string(signal) + ".txt";
  ASSERT_TRUE(WriteFileAtomically(path, "old").ok());
  const auto write = [&] {
    std::signal(signal, SIG_DFL);
    DeleteTemporaryFilesOnSignals();
    auto writer = AtomicFileWriter::Create(path);
    static_cast<void>(writer->Write("half of the new con"));
    std::raise(signal);
  };
  EXPECT_EXIT(write(), ::testing::KilledBySignal(signal), "");
  EXPECT_EQ(FilesBeside(path), 1);
  EXPECT_EQ(*ReadFile(path), "old");
}

TEST(EndBySignalTest, IgnoredSignalsStayIgnored) {
  const auto run = [] {
    std::signal(SIGHUP, SIG_IGN);
    DeleteTemporaryFilesOnSignals();
    std::raise(SIGHUP);
    std::_Exit(7);
  };
  EXPECT_EXIT(run(), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace ember::tools
