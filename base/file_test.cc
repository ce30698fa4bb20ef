#include "base/file.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/atomic_file_writer.h"
#include "base/temporary_files.h"
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
  // A mapping keeps the old contents when the file is replaced. The replacing
  // must leave no temporary file.
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

// Returns the names of the temporary files of `file` in its folder.
std::vector<std::string> TemporaryFilesOf(const std::string& file) {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(::testing::TempDir())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(file + ".tmp")) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

TEST(FileTest, WhatAKilledWriterLeftIsDeletedByTheNext) {
  const std::string path = PathOf("file_test_killed");
  const pid_t killed = ::fork();
  ASSERT_GE(killed, 0);
  if (killed == 0) {
    auto writer = AtomicFileWriter::Create(path);
    static_cast<void>(writer->Write("half"));
    ::raise(SIGKILL);
  }
  int state = 0;
  ASSERT_EQ(::waitpid(killed, &state, 0), killed);
  ASSERT_TRUE(WIFSIGNALED(state));
  EXPECT_EQ(TemporaryFilesOf("file_test_killed").size(), 1u);
  ASSERT_TRUE(WriteFileAtomically(path, "whole").ok());
  EXPECT_EQ(TemporaryFilesOf("file_test_killed"), std::vector<std::string>());
  EXPECT_EQ(*ReadFile(path), "whole");
}

TEST(FileTest, WhatOthersWriteStays) {
  const std::string path = PathOf("file_test_others");
  auto other = AtomicFileWriter::Create(path);
  ASSERT_TRUE(other.ok()) << other.status().message();
  ASSERT_TRUE(other->Write("other").ok());
  // These names resemble those of temporary files, but no writer makes such
  // names, so the files must not be deleted.
  const std::vector<std::string> strangers = {
      "file_test_others.tmp.", "file_test_others.tmp.1",
      "file_test_others.tmp.1.x", "file_test_others.tmp.copy"};
  for (const std::string& name : strangers) {
    std::FILE* const file = std::fopen(PathOf(name).c_str(), "w");
    ASSERT_NE(file, nullptr);
    std::fclose(file);
  }
  ASSERT_TRUE(WriteFileAtomically(path, "mine").ok());
  EXPECT_EQ(TemporaryFilesOf("file_test_others").size(), 1 + strangers.size());
  ASSERT_TRUE(other->Commit(Durability::kSurvivesWriter).ok());
  EXPECT_EQ(*ReadFile(path), "other");
  EXPECT_EQ(TemporaryFilesOf("file_test_others"), strangers);
  for (const std::string& name : strangers) ::unlink(PathOf(name).c_str());
}

TEST(FileTest, RemovesWhatIsBeingWritten) {
  const std::string path = PathOf("file_test_removed");
  auto first = AtomicFileWriter::Create(path);
  auto second = AtomicFileWriter::Create(path);
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(first->Commit(Durability::kSurvivesWriter).ok());
  EXPECT_EQ(TemporaryFilesOf("file_test_removed").size(), 1u);
  RemoveTemporaryFiles();
  EXPECT_EQ(TemporaryFilesOf("file_test_removed").size(), 0u);
  EXPECT_EQ(second->Commit(Durability::kSurvivesWriter).message(),
            "cannot replace file '" + path + "': No such file or directory");
  EXPECT_TRUE(ReadFile(path).ok());
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
