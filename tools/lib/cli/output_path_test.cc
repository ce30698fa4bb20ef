#include "tools/lib/cli/output_path.h"

#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "gtest/gtest.h"

namespace ember::tools {
namespace {

namespace fs = std::filesystem;

class OutputPathTest : public ::testing::Test {
 protected:
  OutputPathTest() {
    unsetenv("BUILD_WORKING_DIRECTORY");
    fs::remove_all(folder_);
    fs::create_directories(folder_ + "/inside");
    EXPECT_TRUE(WriteFileAtomically(folder_ + "/file", "x").ok());
  }
  std::string File(const std::string& path) {
    return std::string(CheckOutputFile("-o", path).message());
  }
  std::string InFolder(const std::string& path) {
    return std::string(CheckOutputFolder("--shadow", path).message());
  }
  std::string Made(const std::string& path) {
    return std::string(MakeOutputFolder("--dump-dir", path).message());
  }

  const std::string folder_ =
      std::string(::testing::TempDir()) + "/output_path_test";
};

TEST_F(OutputPathTest, FilesThatCanBeWritten) {
  EXPECT_EQ(File(""), "");
  EXPECT_EQ(File(folder_ + "/new"), "");
  EXPECT_EQ(File(folder_ + "/file"), "");
  EXPECT_EQ(File("new"), "") << "in the current folder";
  EXPECT_EQ(File("/dev/null"), "");
  EXPECT_FALSE(fs::exists(folder_ + "/new")) << "nothing is made";
}

TEST_F(OutputPathTest, FilesThatCannotBeWritten) {
  EXPECT_EQ(File(folder_ + "/none/new"), "-o: cannot write file '" + folder_ +
                                             "/none/new': No such file or "
                                             "directory");
  EXPECT_EQ(File(folder_ + "/inside"),
            "-o: cannot write file '" + folder_ + "/inside': Is a directory");
  EXPECT_EQ(File(folder_ + "/new/"),
            "-o: cannot write file '" + folder_ + "/new/': Is a directory");
  EXPECT_EQ(File(folder_ + "/file/new"), "-o: cannot write file '" + folder_ +
                                             "/file/new': Not a directory");
}

TEST_F(OutputPathTest, InputsAreNotOverwritten) {
  const std::string file = folder_ + "/file", link = folder_ + "/link";
  fs::create_symlink(file, link);
  EXPECT_TRUE(CheckOutputFile("-o", folder_ + "/new", {file}).ok());
  EXPECT_TRUE(CheckOutputFile("-o", file, {folder_ + "/none"}).ok());
  EXPECT_EQ(CheckOutputFile("-o", link, {file}).message(),
            "-o: expected another file than the input '" + file +
                "', which would be lost, found '" + link + "'");
}

TEST_F(OutputPathTest, Folders) {
  EXPECT_EQ(InFolder(folder_ + "/inside"), "");
  EXPECT_EQ(InFolder(folder_ + "/a/b/c"), "");
  EXPECT_FALSE(fs::exists(folder_ + "/a")) << "nothing is made";
  EXPECT_EQ(InFolder(folder_ + "/file/b"),
            "--shadow: expected a folder to write to, found '" + folder_ +
                "/file/b': Not a directory");
  EXPECT_EQ(Made(folder_ + "/made"), "");
  EXPECT_TRUE(fs::is_directory(folder_ + "/made"));
  EXPECT_EQ(Made(folder_ + "/made"), "");
  EXPECT_EQ(Made(folder_ + "/file"),
            "--dump-dir: expected a folder to write to, found '" + folder_ +
                "/file': Not a directory");
  EXPECT_EQ(Made(folder_ + "/none/inside"),
            "--dump-dir: expected a folder to write to, found '" + folder_ +
                "/none/inside': No such file or directory");
}

}  // namespace
}  // namespace ember::tools
