#include "frontends/model_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/file.h"

namespace ember::frontends {
namespace {

std::string Written(const std::string& contents) {
  const std::string path = testing::TempDir() + "model_file";
  EXPECT_TRUE(WriteFileAtomically(path, contents).ok());
  return path;
}

StatusOr<int> Length(const graph::ConstantData& file) {
  return static_cast<int>(file.bytes.size());
}

TEST(ModelFile, HasNameAndFolder) {
  EXPECT_EQ(ModelFile("models/a.onnx").name(), "a.onnx");
  EXPECT_EQ(ModelFile("models/a.onnx").folder(), "models");
  EXPECT_EQ(ModelFile("a.onnx").folder(), ".");
}

TEST(ModelFile, IsParsedOnceForEachTypeAndVariant) {
  ModelFile file(Written("abc"));
  for (int i = 0; i < 2; ++i) {
    const auto parsed = file.Parsed<int>(Length);
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(**parsed, 3);
    EXPECT_EQ(file.parse_count(), 1);
  }
  EXPECT_TRUE(file.Parsed<int>(Length, "other").ok());
  EXPECT_EQ(file.parse_count(), 2);
  const auto text = file.Parsed<const std::string>(
      [](const graph::ConstantData& contents)
          -> StatusOr<std::unique_ptr<const std::string>> {
        return std::make_unique<const std::string>(contents.bytes.begin(),
                                                   contents.bytes.end());
      });
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(**text, "abc");
  EXPECT_EQ(file.parse_count(), 3);
}

// Shows that a file is opened only once: the test removes the file after the
// first call, so that a second attempt to open it would fail.
TEST(ModelFile, IsOpenedOnce) {
  ModelFile file(Written("abc"));
  EXPECT_TRUE(file.Map().ok());
  std::remove(file.path().c_str());
  EXPECT_TRUE(file.Map().ok());
  EXPECT_TRUE(file.Parsed<int>(Length).ok());
  EXPECT_TRUE(file.Parsed<int>(Length).ok());
}

TEST(ModelFile, IsUnmappedAfterParsingUnlessItsBytesAreKept) {
  ModelFile file(Written("abc"));
  ASSERT_TRUE(file.Parsed<int>(Length).ok());
  std::remove(file.path().c_str());
  EXPECT_FALSE(file.Map().ok());
  ModelFile kept(Written("abc"));
  const auto keep = [](const graph::ConstantData& contents) {
    return StatusOr<graph::ConstantData>(contents);
  };
  ASSERT_TRUE(kept.Parsed<graph::ConstantData>(keep).ok());
  std::remove(kept.path().c_str());
  EXPECT_TRUE(kept.Map().ok());
}

TEST(ModelFile, CanBeInMemory) {
  const uint8_t bytes[] = {'a', 'b', 'c'};
  ModelFile alone = ModelFile::InMemory("m.onnx", "", {nullptr, bytes});
  EXPECT_EQ(alone.name(), "m.onnx");
  EXPECT_EQ(alone.folder(), "");
  EXPECT_EQ(alone.Map()->bytes.data(), bytes);
  EXPECT_TRUE(alone.Parsed<int>(Length).ok());
  EXPECT_TRUE(alone.Map().ok());
  ModelFile beside = ModelFile::InMemory("m.onnx", "models", {nullptr, bytes});
  EXPECT_EQ(beside.folder(), "models");
  EXPECT_EQ(beside.path(), "models/m.onnx");
}

TEST(ModelFile, ErrorsAreReturnedAndNotKept) {
  ModelFile file(Written("abc"));
  const auto fail = [](const graph::ConstantData&) -> StatusOr<int> {
    return DataLossError("no number");
  };
  EXPECT_EQ(file.Parsed<int>(fail).status().message(), "no number");
  EXPECT_TRUE(file.Parsed<int>(Length).ok());
  EXPECT_EQ(ModelFile("/nonexistent/a").Map().status().code(),
            StatusCode::kNotFound);
}

}  // namespace
}  // namespace ember::frontends
