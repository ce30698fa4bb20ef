#include "frontends/gguf/gguf_file.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/byte_cursor.h"
#include "frontends/gguf/testing/file_builder.h"

namespace ember::gguf {
namespace {

StatusOr<GgufFile> Open(const std::string& contents) {
  return GgufFile::Open(AsBytes(contents), nullptr);
}

// Expects an error of one line that contains the text.
void ExpectRefused(const std::string& contents, std::string_view text) {
  const StatusOr<GgufFile> file = Open(contents);
  ASSERT_FALSE(file.ok()) << text;
  EXPECT_NE(file.status().message().find(text), std::string_view::npos)
      << file.status().ToString();
  EXPECT_EQ(file.status().message().find('\n'), std::string_view::npos);
}

FileBuilder Sample(uint32_t version) {
  FileBuilder file(version);
  file.AddText("general.architecture", "llama");
  file.AddInteger("llama.block_count", 3);
  file.AddNumber("llama.epsilon", 0.5f);
  file.AddBool("flag", true);
  file.AddTexts("tokens", {"a", "", "xyz"});
  file.AddIntegers("types", {1, -2, 3});
  file.AddNumbers("scores", {0.25f, -1});
  file.AddRaw("i8", 1, "\xff");
  file.AddRaw("u64", 10, LittleEndian(uint64_t{1} << 40, 8));
  file.AddRaw("huge", 10, LittleEndian(uint64_t{1} << 63, 8));
  file.AddTensor("a", 0, {2, 3}, std::string(24, '\1'));
  file.AddTensor("b", 2, {1, 64}, std::string(36, '\2'));
  file.AddTensor("c", 16, {256}, std::string(66, '\3'));
  return file;
}

TEST(GgufFile, ReadsEveryVersion) {
  for (const uint32_t version : {1u, 2u, 3u}) {
    const std::string contents = Sample(version).Build();
    const StatusOr<GgufFile> file = Open(contents);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    EXPECT_EQ(file->version(), version);
    EXPECT_EQ(*file->Text("general.architecture"), "llama");
    EXPECT_EQ(*file->Integer("llama.block_count"), 3);
    EXPECT_EQ(*file->Number("llama.epsilon"), 0.5);
    EXPECT_EQ(*file->Number("llama.block_count"), 3);
    EXPECT_TRUE(*file->Bool("flag"));
    EXPECT_EQ(*file->Integer("i8"), -1);
    EXPECT_EQ(*file->Integer("u64"), int64_t{1} << 40);
    EXPECT_EQ(*file->Texts("tokens"),
              (std::vector<std::string_view>{"a", "", "xyz"}));
    EXPECT_EQ(*file->Integers("types"), (std::vector<int64_t>{1, -2, 3}));
    EXPECT_EQ(*file->Numbers("scores"), (std::vector<float>{0.25f, -1}));
    EXPECT_EQ(*file->Numbers("types"), (std::vector<float>{1, -2, 3}));
    ASSERT_EQ(file->tensors().size(), 3u);
    const GgufTensor* b = file->FindTensor("b");
    ASSERT_NE(b, nullptr);
    EXPECT_EQ(b->dims, (std::vector<int64_t>{1, 64}));
    EXPECT_EQ(AsText(b->bytes), std::string(36, '\2'));
    EXPECT_EQ(file->FindTensor("a")->dims, (std::vector<int64_t>{2, 3}));
    // A tensor whose type Ember does not support has no format, but the file
    // opens and the type has a name for messages.
    EXPECT_FALSE(file->FindTensor("c")->format.has_value());
    EXPECT_EQ(file->FindTensor("c")->type_name, "IQ2_XXS");
    EXPECT_EQ(file->FindTensor("d"), nullptr);
  }
}

TEST(GgufFile, GettersCheckTypes) {
  const std::string contents = Sample(3).Build();
  const StatusOr<GgufFile> file = Open(contents);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->Integer("nothing").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(*file->IntegerOr("nothing", 7), 7);
  EXPECT_EQ(*file->NumberOr("nothing", 0.5), 0.5);
  EXPECT_EQ(*file->TextOr("nothing", "x"), "x");
  EXPECT_TRUE(*file->BoolOr("nothing", true));
  EXPECT_EQ(file->IntegerOr("flag", 0).value(), 1);
  for (const Status& status :
       {file->Integer("tokens").status(), file->Integer("huge").status(),
        file->IntegerOr("general.architecture", 1).status(),
        file->Text("flag").status(), file->Bool("llama.block_count").status(),
        file->Texts("types").status(), file->Integers("scores").status(),
        file->Integers("llama.block_count").status(),
        file->Numbers("tokens").status()}) {
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.ToString();
  }
  EXPECT_EQ(file->Integers("scores").status().message(),
            "metadata 'scores': expected an array of integers, found an array "
            "of F32");
}

TEST(GgufFile, RefusesHeaders) {
  ExpectRefused("", "expected the magic GGUF");
  ExpectRefused("GGUF", "cut short");
  ExpectRefused("GGUF" + LittleEndian(4, 4) + std::string(16, '\0'),
                "found version 4");
  ExpectRefused(std::string("GGUF\0\0\0\3", 8) + std::string(16, '\0'),
                "found a big-endian file");
  ExpectRefused("GGUF" + LittleEndian(3, 4) + LittleEndian(~uint64_t{0}, 8) +
                    LittleEndian(0, 8),
                "expected at most 65536 tensors");
  ExpectRefused(
      "GGUF" + LittleEndian(3, 4) + LittleEndian(0, 8) + LittleEndian(65536, 8),
      "found the end of the file");
}

TEST(GgufFile, RefusesMetadata) {
  FileBuilder twice;
  twice.AddInteger("a", 1);
  twice.AddInteger("a", 2);
  ExpectRefused(twice.Build(), "found 'a' twice");
  FileBuilder type;
  type.AddRaw("a", 13, "");
  ExpectRefused(type.Build(), "'a': expected a type from 0 to 12, found 13");
  FileBuilder nested;
  nested.AddRaw("a", 9, LittleEndian(9, 4) + LittleEndian(1, 8));
  ExpectRefused(nested.Build(), "found an array of arrays");
  // Arrays of u8, strings and f64 whose element count is beyond the end of the
  // file, or overflows when it is multiplied by the element's size.
  for (const uint32_t element : {0u, 8u, 12u}) {
    for (const uint64_t count :
         {uint64_t{1} << 20, uint64_t{1} << 61, ~uint64_t{0}}) {
      FileBuilder array;
      array.AddRaw("a", 9, LittleEndian(element, 4) + LittleEndian(count, 8));
      ExpectRefused(array.Build(), "cut short");
    }
  }
  FileBuilder text;
  text.AddRaw("a", 8, LittleEndian(~uint64_t{0}, 8) + "abc");
  ExpectRefused(text.Build(), "cut short");
}

TEST(GgufFile, RefusesTensors) {
  auto refused = [](const std::vector<int64_t>& dims, uint32_t type,
                    uint64_t offset, std::string_view text) {
    FileBuilder file;
    file.AddTensor("whole", 0, {8}, std::string(32, 'x'));
    file.AddTensorAt("t\n", type, dims, offset);
    ExpectRefused(file.Build(), text);
  };
  refused({1, 1, 1, 1, 1}, 0, 0, "'t\\x0a': expected at most 4 dims, found 5");
  refused({0}, 0, 0, "expected dims from 1 to 2^40, found 0");
  refused({-1}, 0, 0, "expected dims from 1 to 2^40");
  refused({33}, 2, 0, "whole blocks of 32 elements (type Q4_0)");
  refused({int64_t{1} << 40, int64_t{1} << 40}, 0, 0, "a size below 2^63");
  refused({8}, 0, 1, "expected an offset that is a multiple of 32, found 1");
  refused({8}, 0, 32, "cut short");
  refused({8}, 0, ~uint64_t{31}, "cut short");
  refused({8}, 0, 0, "found an overlap");
  FileBuilder twice;
  twice.AddTensor("t", 0, {1}, "abcd");
  twice.AddTensor("t", 0, {1}, "abcd");
  ExpectRefused(twice.Build(), "found 't' twice");
  FileBuilder alignment;
  alignment.AddInteger("general.alignment", 24);
  alignment.AddTensor("t", 0, {1}, "abcd");
  ExpectRefused(alignment.Build(), "expected a power of two");
}

TEST(GgufFile, EveryTruncationIsRefused) {
  const std::string whole = Sample(3).Build();
  // The test cuts the file anywhere before the end of the last tensor of known
  // size. Behind that tensor are 28 bytes of padding and 96 bytes of a tensor
  // whose type is not supported, so that its size is unknown.
  const size_t needed = whole.size() - 96 - 28;
  for (size_t size = 0; size < needed; ++size)
    EXPECT_FALSE(Open(whole.substr(0, size)).ok()) << size;
}

}  // namespace
}  // namespace ember::gguf
