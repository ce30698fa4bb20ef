// A file is of one format, and of none that is not read. One in protobuf's
// encoding is so in whatever order its fields are: writers differ in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "frontends/formats.h"
#include "frontends/other_formats.h"
#include "frontends/protobuf_fields.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "tests/formats/sample_files.h"

namespace ember::tests {
namespace {

std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The fields of a message; empty if it is none.
std::vector<std::string> FieldsOf(std::string_view message) {
  std::vector<std::string> encodings;
  frontends::ProtobufFields fields(AsBytes(message));
  frontends::ProtobufField field;
  while (fields.Next(field))
    encodings.emplace_back(field.encoding.begin(), field.encoding.end());
  if (fields.damaged()) encodings.clear();
  return encodings;
}

// The message with its fields in another order, and so the messages in it.
std::string Shuffled(std::string_view message, int depth,
                     std::mt19937& random) {
  std::vector<std::string> fields = FieldsOf(message);
  if (fields.size() == 0 || depth == 0) return std::string(message);
  for (std::string& field : fields) {
    frontends::ProtobufFields one(AsBytes(field));
    frontends::ProtobufField read;
    if (!one.Next(read) || read.type != frontends::WireType::kBytes) continue;
    const std::string contents(read.bytes.begin(), read.bytes.end());
    // The length is the same.
    field.replace(field.size() - contents.size(), contents.size(),
                  Shuffled(contents, depth - 1, random));
  }
  std::shuffle(fields.begin(), fields.end(), random);
  std::string text;
  for (const std::string& field : fields) text += field;
  return text;
}

void ExpectOneFormat(const std::string& contents, std::string_view name) {
  constexpr int kOrders = 20;
  constexpr int kDepth = 4;  // levels of messages that formats look at
  ASSERT_FALSE(FieldsOf(contents).empty());
  std::mt19937 random(1);
  for (int i = 0; i < kOrders; ++i) {
    const std::string other = Shuffled(contents, kDepth, random);
    for (const frontends::Format* format : frontends::Formats()) {
      EXPECT_EQ(format->sniff(other), format->name == name)
          << format->name << " in order " << i;
    }
  }
}

TEST(Sniffing, SamplesAreOfNoOtherFormat) {
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    const auto contents = ReadFile(file.path);
    ASSERT_TRUE(contents.ok()) << contents.status().ToString();
    EXPECT_EQ(frontends::FindOtherFormat(*contents, file.path), nullptr);
  }
}

TEST(FieldOrder, IsNoMatter) {
  int files = 0;
  for (const SampleFile& file : SampleFiles()) {
    SCOPED_TRACE(file.path);
    const auto contents = ReadFile(file.path);
    ASSERT_TRUE(contents.ok()) << contents.status().ToString();
    if (FieldsOf(*contents).empty()) continue;
    ExpectOneFormat(*contents, file.format);
    ++files;
  }
  EXPECT_GE(files, 10);
}

TEST(FieldOrder, IsNoMatterOfSavedModels) {
  ExpectOneFormat(tensorflow::SampleSavedModel().SerializeAsString(),
                  "tensorflow");
}

}  // namespace
}  // namespace ember::tests
