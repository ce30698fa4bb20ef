#include "frontends/archive/zip_archive.h"

#include <gtest/gtest.h>

#include <string>

#include "frontends/archive/testing/zip_builder.h"

namespace ember::archive {
namespace {

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

std::string TextOf(const ZipContents& contents) {
  return {reinterpret_cast<const char*>(contents.bytes.data()),
          contents.bytes.size()};
}

std::string Sample() {
  ZipBuilder zip;
  zip.Add("a/stored", "0123456789");
  zip.AddDeflated("deflated", std::string(1000, 'x') + "end");
  return zip.Finish();
}

TEST(ZipArchive, StoredEntriesStayInPlace) {
  const std::string file = Sample();
  const auto zip = ZipArchive::Open(BytesOf(file), nullptr);
  ASSERT_TRUE(zip.ok()) << zip.status().ToString();
  EXPECT_EQ(zip->names(), (std::vector<std::string>{"a/stored", "deflated"}));
  const auto stored = zip->Read("a/stored");
  ASSERT_TRUE(stored.ok()) << stored.status().ToString();
  EXPECT_EQ(TextOf(*stored), "0123456789");
  EXPECT_EQ(reinterpret_cast<const char*>(stored->bytes.data()),
            file.data() + file.find("0123456789"));
}

TEST(ZipArchive, DeflatedEntries) {
  const std::string file = Sample();
  const auto zip = ZipArchive::Open(BytesOf(file), nullptr);
  ASSERT_TRUE(zip.ok()) << zip.status().ToString();
  const auto contents = zip->Read("deflated");
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  EXPECT_EQ(TextOf(*contents), std::string(1000, 'x') + "end");
  EXPECT_EQ(zip->Read("deflated", 10).status().code(),
            StatusCode::kResourceExhausted);
}

TEST(ZipArchive, DeflatedEntriesThatHoldNothing) {
  ZipBuilder builder;
  builder.AddDeflated("empty", "");
  const std::string file = builder.Finish();
  const auto zip = ZipArchive::Open(BytesOf(file), nullptr);
  ASSERT_TRUE(zip.ok()) << zip.status().ToString();
  const auto contents = zip->Read("empty");
  ASSERT_TRUE(contents.ok()) << contents.status().ToString();
  EXPECT_TRUE(contents->bytes.empty());
}

TEST(ZipArchive, WhatIsNotThere) {
  const std::string file = Sample();
  const auto zip = ZipArchive::Open(BytesOf(file), nullptr);
  ASSERT_TRUE(zip.ok());
  EXPECT_EQ(zip->Read("b").status().ToString(),
            "NOT_FOUND: expected 'b' of the ZIP archive, found none");
}

// A damaged archive may be read or refused. A crash, or wrong contents without
// an error, fails the test.
TEST(ZipArchive, EveryByteChangedAndEveryTruncation) {
  const std::string file = Sample();
  for (size_t i = 0; i < file.size(); ++i) {
    for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      const auto zip = ZipArchive::Open(BytesOf(damaged), nullptr);
      if (!zip.ok()) continue;
      for (const std::string& name : zip->names()) {
        const auto contents = zip->Read(name);
        if (contents.ok() && name == "deflated") {
          EXPECT_EQ(TextOf(*contents), std::string(1000, 'x') + "end");
        }
      }
    }
  }
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_FALSE(ZipArchive::Open(BytesOf(file.substr(0, size)), nullptr).ok());
}

}  // namespace
}  // namespace ember::archive
