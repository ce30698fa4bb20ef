#include "jit/schedule_folder.h"

#include <filesystem>
#include <vector>

#include "base/file.h"
#include "gtest/gtest.h"

namespace ember::jit {
namespace {

class ScheduleFolderTest : public testing::Test {
 protected:
  ScheduleFolderTest()
      : folder_(testing::TempDir() + "/" +
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void Write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(WriteFileAtomically(folder_ + "/" + name, text).ok());
  }
  // Returns the error for a module with the dispatches d0_conv and d1_sum,
  // without the folder's name.
  std::string Problem() {
    const std::vector<std::string> dispatches = {"d0_conv", "d1_sum"};
    std::string message(ScheduleFolder(folder_).Check(dispatches).message());
    const size_t at = message.find(folder_);
    return at == std::string::npos ? message
                                   : message.erase(at, folder_.size());
  }

  const std::string folder_;
};

TEST_F(ScheduleFolderTest, FindsTheMostSpecificFile) {
  Write("d0_conv.schedule", "vectorize %y j\n");
  Write("d0_conv.tier2.schedule", "unroll %y j\n");
  const ScheduleFolder folder(folder_);
  EXPECT_EQ(Problem(), "");
  EXPECT_EQ(folder.Find("d0_conv", 1).text, "vectorize %y j\n");
  EXPECT_EQ(folder.Find("d0_conv", 2).text, "unroll %y j\n");
  EXPECT_EQ(folder.Find("d0_conv", 2).file,
            folder_ + "/d0_conv.tier2.schedule");
  EXPECT_EQ(folder.Find("d1_sum", 2).text, "");
}

TEST_F(ScheduleFolderTest, NoFolderIsNoProblem) {
  EXPECT_TRUE(ScheduleFolder("").Check({}).ok());
  EXPECT_EQ(ScheduleFolder("").Find("d0_conv", 2).text, "");
}

TEST_F(ScheduleFolderTest, FolderThatDoesNotExist) {
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(Problem(), "cannot open folder '': No such file or directory");
}

TEST_F(ScheduleFolderTest, FolderWithoutSchedules) {
  Write("d0_conv.loops", "not a schedule");
  EXPECT_EQ(Problem(), "expected files NAME.schedule in folder '', found none");
}

TEST_F(ScheduleFolderTest, FileOfNoDispatch) {
  Write("d0_cnv.tier2.schedule", "");
  EXPECT_EQ(Problem(),
            "/d0_cnv.tier2.schedule: expected the name of a dispatch of the "
            "module, found 'd0_cnv'; did you mean 'd0_conv'?");
}

TEST_F(ScheduleFolderTest, AFileIsTheScheduleOfTheOnlyDispatch) {
  Write("mine.txt", "vectorize %y j\n");
  const std::string path = folder_ + "/mine.txt";
  const ScheduleFolder file(path);
  const std::vector<std::string> one = {"d0_conv"};
  EXPECT_TRUE(file.Check(one).ok());
  EXPECT_EQ(file.Find("d0_conv", 2).text, "vectorize %y j\n");
  EXPECT_EQ(file.Find("d0_conv", 2).file, path);
  const std::vector<std::string> two = {"d0_conv", "d1_sum"};
  EXPECT_EQ(
      file.Check(two).message(),
      path + ": expected a folder for a module of 2 dispatches, found a file");
  EXPECT_EQ(file.Check(one, /*has_others=*/true).message(),
            path + ": expected a folder for several modules, found a file");
  Write("mine.txt", "unrol %y i\n");
  EXPECT_EQ(file.Check(one).message(),
            path +
                ": line 1: expected a primitive (split, fuse, ...), found "
                "'unrol'; did you mean 'unroll'?");
}

TEST_F(ScheduleFolderTest, LineThatIsNoPrimitive) {
  Write("d1_sum.schedule",
        "schedule @d1_sum {\n  vectorize %y j  // lanes\n  unrol %y i\n}\n");
  EXPECT_EQ(Problem(),
            "/d1_sum.schedule: line 3: expected a primitive "
            "(split, fuse, ...), found 'unrol'; did you mean 'unroll'?");
}

}  // namespace
}  // namespace ember::jit
