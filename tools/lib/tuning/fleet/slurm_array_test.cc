// Tests how workers become a job array, with small programs in place of sbatch
// and scancel. ./dev tune-fleet uses the real ones.
#include "tools/lib/tuning/fleet/slurm_array.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/file.h"

namespace ember::tools {
namespace {

class SlurmArrayTest : public ::testing::Test {
 protected:
  SlurmArrayTest() { setenv("PATH", (folder_ + ":/usr/bin:/bin").c_str(), 1); }
  void Program(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/" + name;
    ASSERT_TRUE(WriteFileAtomically(path, "#!/bin/sh\n" + script).ok());
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  std::string Read(const std::string& name) const {
    const auto text = ReadFile(folder_ + "/" + name);
    return text.ok() ? *text : "";
  }

  const std::string folder_ = ::testing::TempDir();
};

TEST_F(SlurmArrayTest, SubmitsAndCancels) {
  Program("sbatch", "echo \"$@\" > " + folder_ + "/arguments; cat > " +
                        folder_ + "/script; echo '17;cluster'");
  Program("scancel", "echo \"$@\" > " + folder_ + "/cancelled");
  const std::string shared = folder_ + "/it's shared";
  {
    const auto array = SlurmArray::Submit({.workers = 3,
                                           .folder = shared,
                                           .sbatch = "-p  cpu --time=60",
                                           .target = "x86-64-v3"});
    ASSERT_TRUE(array.ok()) << array.status().ToString();
    EXPECT_EQ((*array)->job(), "17");
    EXPECT_EQ((*array)->folder(), shared);
    EXPECT_TRUE(std::filesystem::is_directory(shared));
  }
  EXPECT_EQ(Read("arguments"),
            "--parsable --job-name=vm-tune --requeue --array=0-2 --output=" +
                shared + "/worker-%a.log -p cpu --time=60\n");
  EXPECT_EQ(
      Read("script"),
      SlurmScript(std::filesystem::read_symlink("/proc/self/exe").string(),
                  shared, "x86-64-v3"));
  EXPECT_NE(Read("script").find("it'\\''s shared' --target='x86-64-v3'"),
            std::string::npos);
  EXPECT_EQ(Read("cancelled"), "--quiet 17\n");
  EXPECT_FALSE(std::filesystem::exists(shared));
}

TEST_F(SlurmArrayTest, MistakesAreOneLine) {
  Program("sbatch", "exit 4");
  EXPECT_EQ(SlurmArray::Submit({.workers = 1, .folder = folder_ + "/x"})
                .status()
                .message(),
            "sbatch: expected exit status 0, found 4");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/x"));
  EXPECT_EQ(RunProgram({"no-such-program"}, "").status().message(),
            "cannot run no-such-program: No such file or directory");
}

}  // namespace
}  // namespace ember::tools
