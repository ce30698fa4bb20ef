// Tests that each sample file is recognised by its own format only, and not as
// a file that no frontend reads (other_formats.h). A file in protobuf's
// encoding must be recognised with its fields in any order, because writers use
// different orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "frontends/protobuf_fields.h"
#include "frontends/registry/formats.h"
#include "frontends/registry/other_formats.h"
#include "frontends/tensorflow/testing/sample_models.h"
#include "tests/formats/sample_files.h"

namespace ember::tests {
namespace {

std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Returns the fields of a protobuf message, each as its bytes; empty if the
// text is no message.
std::vector<std::string> FieldsOf(std::string_view message) {
  std::vector<std::string> encodings;
  frontends::ProtobufFields fields(AsBytes(message));
  frontends::ProtobufField field;
  while (fields.Next(field))
    encodings.emplace_back(field.encoding.begin(), field.encoding.end());
  if (fields.damaged()) encodings.clear();
  return encodings;
}

// Returns the message with its fields in another order, also in the messages
// within it.
std::string Shuffled(std::string_view message, int depth,
                     std::mt19937& random) {
  std::vector<std::string> fields = FieldsOf(message);
  if (fields.size() == 0 || depth == 0) return std::string(message);
  for (std::string& field : fields) {
    frontends::ProtobufFields one(AsBytes(field));
    frontends::ProtobufField read;
    if (!one.Next(read) || read.type != frontends::WireType::kBytes) continue;
    const std::string contents(read.bytes.begin(), read.bytes.end());
    // The field's contents are shuffled as a message of their own. That does
    // not change their length, so they fit in the field.
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
  // Depth of nested messages that are shuffled. The formats' recognition looks
  // at no deeper messages.
  constexpr int kDepth = 4;
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
