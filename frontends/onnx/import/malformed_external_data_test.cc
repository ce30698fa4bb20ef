// Tests that external data stays in the model's folder, and that its ranges
// stay within the files. Run it with --config=asan, too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/import/import.h"
#include "frontends/onnx/node/external_data.h"
#include "frontends/onnx/node/tensor_proto.h"
#include "frontends/onnx/testing/model_builder.h"
#include "frontends/onnx/testing/sample_models.h"

namespace ember::onnx {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Entries = std::vector<std::pair<std::string, std::string>>;

// The files and links that SetUp creates. The model's folder is top/model.
//
//    top/secret.bin
//    top/elsewhere/secret.bin
//    top/model/weights.bin         1024 bytes: 0, 1, 2, 3 … as floats
//    top/model/sub/weights.bin
//    top/model/near.bin            -> weights.bin
//    top/model/link.bin            -> ../secret.bin
//    top/model/hop.bin             -> link.bin
//    top/model/linked              -> ../elsewhere
//    top/model/loop.bin            -> loop.bin
//    top/model/pipe                a FIFO: opening it would wait for ever
class ExternalData : public ::testing::Test {
 protected:
  void SetUp() override {
    top_ = fs::path(::testing::TempDir()) / "malformed_external_data_test";
    fs::remove_all(top_);
    fs::create_directories(top_ / "model" / "sub");
    fs::create_directories(top_ / "elsewhere");
    std::vector<float> numbers(256);
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<float>(i);
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()),
                            1024);
    for (const char* name : {"secret.bin", "elsewhere/secret.bin",
                             "model/weights.bin", "model/sub/weights.bin"})
      std::ofstream(top_ / name, std::ios::binary) << bytes;
    fs::create_symlink("weights.bin", top_ / "model/near.bin");
    fs::create_symlink("../secret.bin", top_ / "model/link.bin");
    fs::create_symlink("link.bin", top_ / "model/hop.bin");
    fs::create_directory_symlink("../elsewhere", top_ / "model/linked");
    fs::create_symlink("loop.bin", top_ / "model/loop.bin");
    ASSERT_EQ(mkfifo((top_ / "model/pipe").c_str(), 0600), 0);
  }
  void TearDown() override { fs::remove_all(top_); }

  static ModelBuilder WithEntries(const Entries& entries) {
    ModelBuilder m = SampleModel("external");
    TensorProto& weights = *m.graph().mutable_initializer(0);
    weights.clear_external_data();
    for (const auto& [key, value] : entries) {
      StringStringEntryProto& entry = *weights.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    return m;
  }

  std::string ErrorOf(ModelBuilder m) {
    StatusOr<graph::Graph> graph = m.Import({}, (top_ / "model").string());
    return graph.ok() ? "no error" : std::string(graph.status().message());
  }
  std::string ErrorAt(const std::string& location) {
    return ErrorOf(WithEntries({{"location", location}}));
  }
  std::string ErrorOfRange(const std::string& offset,
                           const std::string& length) {
    return ErrorOf(WithEntries(
        {{"location", "weights.bin"}, {"offset", offset}, {"length", length}}));
  }

  fs::path top_;
};

std::string Outside(const std::string& location, const std::string& found) {
  return "model 'test.onnx': tensor 'w': external data '" + location +
         "': expected a file inside the model's folder, found " + found;
}

TEST_F(ExternalData, IsRead) {
  EXPECT_EQ(ErrorOf(SampleModel("external")), "no error");
  EXPECT_EQ(ErrorAt("weights.bin"), "no error");
  EXPECT_EQ(ErrorAt("./sub/weights.bin"), "no error");
  EXPECT_EQ(ErrorAt("near.bin"), "no error");
  EXPECT_EQ(ErrorOfRange("1008", "16"), "no error");
}

// Kernels need aligned elements. The weight begins at byte 3 of its file, so
// the import must copy it instead of mapping it.
TEST_F(ExternalData, UnalignedElementsAreCopied) {
  ModelBuilder m = WithEntries(
      {{"location", "weights.bin"}, {"offset", "3"}, {"length", "16"}});
  ExternalFiles files((top_ / "model").string());
  StatusOr<TensorBytes> tensor =
      DecodeTensor(m.graph().initializer(0), nullptr, &files);
  ASSERT_TRUE(tensor.ok()) << tensor.status().ToString();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->bytes.data()) % sizeof(float),
            0);
  // Expected are the 16 bytes from byte 3 on of a file with the floats 0, 1, 2,
  // ….
  EXPECT_THAT(std::vector<uint8_t>(tensor->bytes.begin(), tensor->bytes.end()),
              ElementsAre(0, 0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40,
                          0, 0, 0x80));
}

TEST_F(ExternalData, PathsThatLeadOutside) {
  const std::string absolute = (top_ / "secret.bin").string();
  EXPECT_EQ(ErrorAt(absolute), Outside(absolute, "an absolute path"));
  EXPECT_EQ(ErrorAt("../secret.bin"),
            Outside("../secret.bin", "a path with '..'"));
  EXPECT_EQ(ErrorAt("sub/../../secret.bin"),
            Outside("sub/../../secret.bin", "a path with '..'"));
  EXPECT_EQ(ErrorAt(""), Outside("", "no location"));
  EXPECT_EQ(ErrorOf(WithEntries({})), Outside("", "no location"));
  const std::string cut("weights.bin\0.txt", 16);
  EXPECT_THAT(ErrorAt(cut), HasSubstr("found a name with a zero byte"));
}

TEST_F(ExternalData, LinksThatLeadOutside) {
  const std::string found =
      "a link out of it; if you trust the file, copy it to the link's place";
  EXPECT_EQ(ErrorAt("link.bin"), Outside("link.bin", found));
  EXPECT_EQ(ErrorAt("hop.bin"), Outside("hop.bin", found));
  EXPECT_EQ(ErrorAt("linked/secret.bin"), Outside("linked/secret.bin", found));
  EXPECT_THAT(ErrorAt("loop.bin"), HasSubstr("external data 'loop.bin': "));
}

// Download caches keep all files in one folder (blobs), and other folders hold
// links to them. Weights must be found through the model's own link.
TEST_F(ExternalData, LinksOfACache) {
  fs::create_directories(top_ / "blobs");
  fs::create_directories(top_ / "snapshot" / "onnx");
  fs::copy_file(top_ / "secret.bin", top_ / "blobs" / "d1");
  std::ofstream(top_ / "blobs" / "m1", std::ios::binary)
      << WithEntries({{"location", "model.onnx_data"}})
             .proto()
             .SerializeAsString();
  const fs::path model = top_ / "snapshot" / "onnx" / "model.onnx";
  const fs::path data = top_ / "snapshot" / "onnx" / "model.onnx_data";
  fs::create_symlink("../../blobs/m1", model);
  fs::create_symlink("../../blobs/d1", data);
  EXPECT_TRUE(ImportModel(model.string(), {}).ok());
  // A link is refused if it leads neither into the folder that holds the
  // model's link nor into the folder of the file that this link names.
  fs::remove(data);
  fs::create_symlink("../../secret.bin", data);
  const auto graph = ImportModel(model.string(), {});
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("found a link out of it; if you trust the file"));
}

TEST_F(ExternalData, WhatIsNoFile) {
  EXPECT_EQ(ErrorAt("sub"), Outside("sub", "something not a plain file"));
  EXPECT_EQ(ErrorAt("."), Outside(".", "something not a plain file"));
  EXPECT_EQ(ErrorAt("pipe"), Outside("pipe", "something not a plain file"));
  EXPECT_THAT(ErrorAt("none.bin"),
              HasSubstr("external data 'none.bin': No such file"));
  ModelBuilder m = SampleModel("external");
  StatusOr<graph::Graph> graph = m.Import();
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(std::string(graph.status().message()),
              HasSubstr("found a model without a folder"));
}

TEST_F(ExternalData, Ranges) {
  const std::string where =
      "model 'test.onnx': tensor 'w': external data 'weights.bin': expected 16 "
      "bytes at offset ";
  EXPECT_EQ(ErrorOfRange("1009", "16"),
            where + "1009, found a file of 1024 bytes");
  EXPECT_EQ(ErrorOfRange("99999", "16"),
            where + "99999, found a file of 1024 bytes");
  EXPECT_EQ(ErrorOfRange("9223372036854775000", "16"),
            where + "9223372036854775000, found a file of 1024 bytes");
  EXPECT_THAT(ErrorOfRange("0", "9223372036854775000"),
              HasSubstr("expected 9223372036854775000 bytes at offset 0, found "
                        "a file of 1024 bytes"));
  EXPECT_THAT(ErrorOfRange("0", "8"),
              HasSubstr("tensor 'w': expected 16 bytes for its dims, found 8"));
}

TEST_F(ExternalData, NumbersThatAreNone) {
  for (const char* number :
       {"-16", "+1", "0x10", "1.5", "", " 1", "1e3", "99999999999999999999"}) {
    EXPECT_EQ(ErrorOfRange(number, "16"),
              "model 'test.onnx': tensor 'w': external data: expected a number "
              "for 'offset', found '" +
                  std::string(number) + "'");
    EXPECT_EQ(ErrorOfRange("0", number),
              "model 'test.onnx': tensor 'w': external data: expected a number "
              "for 'length', found '" +
                  std::string(number) + "'");
  }
}

TEST_F(ExternalData, FourGigabytesInAKilobyte) {
  ModelBuilder m = WithEntries({{"location", "weights.bin"}});
  m.graph().mutable_initializer(0)->set_dims(0, int64_t{1} << 30);
  EXPECT_EQ(
      ErrorOf(std::move(m)),
      "model 'test.onnx': tensor 'w': external data 'weights.bin': "
      "expected 4294967296 bytes at offset 0, found a file of 1024 bytes");
}

}  // namespace
}  // namespace ember::onnx
