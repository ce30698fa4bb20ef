#include "frontends/metadata.h"

#include <limits>
#include <string>
#include <utility>

#include "base/metadata_rules.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ember::frontends {
namespace {

using testing::ElementsAre;
using testing::Pair;

Status Check(const graph::Metadata& metadata) {
  MetadataRules rules;
  for (const auto& [key, value] : metadata) {
    const Status status = rules.Check(key, value);
    if (!status.ok()) return status;
  }
  return OkStatus();
}

TEST(MetadataTest, KeysAreTheFormatsOwn) {
  MetadataCollector metadata("onnx");
  metadata.Add("producer_name", "somebody");
  metadata.Add("producer_name", "somebody else");
  metadata.Add("domain", "");
  metadata.AddNumber("mean", 127.5f);
  metadata.AddNumber("std", 0.1f);
  metadata.AddInteger("version", -3);
  EXPECT_THAT(std::move(metadata).Take(),
              ElementsAre(Pair("onnx.mean", "127.5"),
                          Pair("onnx.producer_name", "somebody"),
                          Pair("onnx.std", "0.1"), Pair("onnx.version", "-3")));
}

TEST(MetadataTest, OtherBytesAreHex) {
  MetadataCollector metadata("f");
  metadata.Add("a", "\xff\x01");
  metadata.Add("b", std::string_view("x\0", 2));
  metadata.Add("\xc3", "name");
  metadata.Add("long", std::string(5000, '\xff'));
  EXPECT_THAT(
      std::move(metadata).Take(),
      ElementsAre(Pair("f.a", "hex:ff01"), Pair("f.b", "hex:7800"),
                  Pair("f.hex:c3", "name"),
                  Pair("f.left_out",
                       "long: expected text, or at most 4096 other bytes, "
                       "found 5000\n")));
}

TEST(MetadataTest, WhatIsTooMuchIsNamed) {
  MetadataCollector metadata("f");
  metadata.Add("long", std::string(kMaxMetadataValueBytes + 1, 'v'));
  metadata.Add(std::string(2000, 'n'), "value");
  metadata.AddFile("model.bin", "\xff");
  const graph::Metadata taken = std::move(metadata).Take();
  EXPECT_THAT(
      taken,
      ElementsAre(Pair("f.left_out",
                       "long: expected at most 1048576 bytes, found 1048577\n" +
                           std::string(80, 'n') +
                           ": expected a name of at most 1024 bytes with the "
                           "format's, found 2002\n"
                           "model.bin: expected text in UTF-8, found other "
                           "bytes\n")));
}

TEST(MetadataTest, AllOfItObeysTheRules) {
  for (const size_t size : {size_t{1}, size_t{1} << 19}) {
    MetadataCollector metadata("f");
    for (int i = 0; i < 5000; ++i) {
      if (size > 1 && i == 50) break;
      metadata.Add(std::to_string(i), std::string(size, 'v'));
    }
    const graph::Metadata taken = std::move(metadata).Take();
    EXPECT_TRUE(Check(taken).ok()) << Check(taken).message();
    EXPECT_TRUE(taken.contains("f.left_out"));
  }
}

TEST(MetadataTest, FilesEnd) {
  MetadataCollector metadata("f");
  int read = 0;
  for (; !metadata.full() && read < 1000000; ++read)
    metadata.AddFile(std::to_string(read), "\xff");
  EXPECT_TRUE(metadata.full());
  EXPECT_LT(read, 200000);
  EXPECT_TRUE(Check(std::move(metadata).Take()).ok());
}

}  // namespace
}  // namespace ember::frontends
