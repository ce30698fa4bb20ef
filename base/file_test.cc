#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace ember {
namespace {

std::string PathOf(const std::string& name) {
  return ::testing::TempDir() + "/" + name;
}

TEST(FileTest, WritesReadsAndMaps) {
  const std::string path = PathOf("file_test_a");
  const std::string contents("some\0bytes", 10);
  ASSERT_TRUE(WriteFileAtomically(path, contents).ok());
  EXPECT_EQ(*ReadFile(path), contents);
  StatusOr<MappedFile> opened = MappedFile::Open(path);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  MappedFile mapped = *std::move(opened);
  EXPECT_EQ(std::string(mapped.bytes().begin(), mapped.bytes().end()),
            contents);
  // Replacing the file does not change the mapping, and no temporary file is
  // left.
  ASSERT_TRUE(WriteFileAtomically(path, "new").ok());
  EXPECT_EQ(std::string(mapped.bytes().begin(), mapped.bytes().end()),
            contents);
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_NE(
      ::access((path + ".tmp." + std::to_string(::getpid()) + ".0").c_str(),
               F_OK),
      0);
  MappedFile moved = std::move(mapped);
  EXPECT_EQ(moved.bytes().size(), contents.size());
  EXPECT_TRUE(mapped.bytes().empty());  // NOLINT(bugprone-use-after-move)
}

TEST(FileTest, EmptyFilesMapToNothing) {
  const std::string path = PathOf("file_test_b");
  ASSERT_TRUE(WriteFileAtomically(path, "").ok());
  const StatusOr<MappedFile> mapped = MappedFile::Open(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_TRUE(mapped->bytes().empty());
  EXPECT_EQ(*ReadFile(path), "");
}

TEST(FileTest, ErrorsNameTheFile) {
  const std::string path = PathOf("file_test_missing");
  EXPECT_EQ(MappedFile::Open(path).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadFile(path).status().message(),
            "cannot open file '" + path + "': No such file or directory");
  EXPECT_EQ(WriteFileAtomically(path + "/x", "y").message(),
            "cannot create file '" + path + "/x': No such file or directory");
  EXPECT_EQ(MappedFile::Open(::testing::TempDir()).status().message(),
            "cannot read file '" + ::testing::TempDir() + "': Is a directory");
}

}  // namespace
}  // namespace ember
