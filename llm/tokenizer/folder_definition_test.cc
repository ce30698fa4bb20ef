#include "llm/tokenizer/folder_definition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file.h"

namespace ember::llm {
namespace {

using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& text) {
  ASSERT_TRUE(WriteFileAtomically(path, text).ok());
}

TEST(FolderDefinition, ReadsTheFilesThatAreThere) {
  const std::string folder = testing::TempDir() + "/tokenizer_folder";
  std::filesystem::create_directories(folder);
  EXPECT_THAT(ReadFolderTokenizer(folder).status().message(),
              HasSubstr("tokenizer.json"));
  Write(folder + "/tokenizer.json",
        R"({"added_tokens": [{"id": 1, "content": "</s>", "special": true}],
            "model": {"vocab": {"a": 0}, "merges": []}})");
  auto definition = ReadFolderTokenizer(folder);
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->end_of_text, -1);
  EXPECT_EQ(definition->chat_template, "");

  Write(folder + "/tokenizer_config.json",
        R"({"eos_token": "</s>", "chat_template": "one"})");
  definition = ReadFolderTokenizer(folder);
  ASSERT_TRUE(definition.ok());
  EXPECT_EQ(definition->end_of_text, 1);
  EXPECT_EQ(definition->chat_template, "one");

  Write(folder + "/chat_template.jinja", "two");
  definition = ReadFolderTokenizer(folder);
  ASSERT_TRUE(definition.ok());
  EXPECT_EQ(definition->chat_template, "two");

  Write(folder + "/tokenizer_config.json", "[");
  EXPECT_THAT(ReadFolderTokenizer(folder).status().message(),
              HasSubstr("tokenizer_config.json"));
}

}  // namespace
}  // namespace ember::llm
