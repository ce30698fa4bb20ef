#include "tools/lib/generate/kept_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "frontends/gguf/testing/file_builder.h"
#include "frontends/safetensors/testing/hub_model.h"
#include "llm/tokenizer/tokenizer.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

using ::testing::HasSubstr;

void Write(const std::string& path, const std::string& text) {
  ASSERT_TRUE(WriteFileAtomically(path, text).ok());
}

ModelSource Source(const std::string& name) {
  const std::string path = ::testing::TempDir() + "/" + name;
  return {.name = path, .path = path};
}

// Returns the bytes of a GGUF file with a small tokenizer and this chat
// template.
std::string GgufFile(uint32_t version, const std::string& chat_template) {
  gguf::FileBuilder file(version);
  file.AddText("general.architecture", "llama");
  file.AddText("general.name", "Phi-3");
  file.AddText("tokenizer.ggml.model", "gpt2");
  file.AddTexts("tokenizer.ggml.tokens", {"a", "b", "ab", "<|end|>"});
  file.AddTexts("tokenizer.ggml.merges", {"a b"});
  file.AddIntegers("tokenizer.ggml.token_type", {1, 1, 1, 3});
  file.AddInteger("tokenizer.ggml.eos_token_id", 3);
  file.AddBool("tokenizer.ggml.add_bos_token", false);
  if (!chat_template.empty())
    file.AddText("tokenizer.chat_template", chat_template);
  return file.Build();
}

TEST(KeptTokenizer, KeepsThatOfGguf) {
  // The second template is so large that the tokenizer fills two metadata
  // entries.
  for (const std::string& chat_template :
       {std::string("{{ messages }}"), std::string(1000000, 'x')}) {
    for (const uint32_t version : {1u, 2u, 3u}) {
      Write(Source("model.gguf").path, GgufFile(version, chat_template));
      std::vector<vm::MetadataEntry> metadata;
      const auto note = KeepTokenizer(Source("model.gguf"), metadata);
      ASSERT_TRUE(note.ok()) << note.status().ToString();
      EXPECT_EQ(*note, "");
      EXPECT_EQ(metadata.size(), chat_template.size() > 100 ? 2 : 1);
      auto definition = KeptTokenizer(metadata);
      ASSERT_TRUE(definition.ok()) << definition.status().ToString();
      EXPECT_EQ(definition->chat_template, chat_template);
      // For this family of models, the rules of the tokenizer depend on the
      // model's name, so the name must be kept.
      EXPECT_TRUE(definition->tokens[3].takes_space_behind);
      const auto tokenizer = llm::Tokenizer::Create(*std::move(definition));
      ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
      EXPECT_EQ(*tokenizer->Encode("abb", {}), (std::vector<int32_t>{2, 1}));
      EXPECT_TRUE(tokenizer->IsEndOfGeneration(3));
    }
  }
}

TEST(KeptTokenizer, LeavesOutALargeOne) {
  Write(Source("large.gguf").path,
        GgufFile(3, std::string(kMaxKeptBytes, 'x')));
  std::vector<vm::MetadataEntry> metadata;
  const auto note = KeepTokenizer(Source("large.gguf"), metadata);
  ASSERT_TRUE(note.ok());
  EXPECT_THAT(*note, HasSubstr("vm-generate needs --tokenizer"));
  EXPECT_TRUE(metadata.empty());
  EXPECT_EQ(KeptTokenizer(metadata).status().code(), StatusCode::kNotFound);
}

TEST(KeptTokenizer, KeepsThatOfAFolder) {
  const std::string folder = Source("hub").path;
  std::filesystem::create_directories(folder);
  const safetensors::HubModel hub = safetensors::MakeHubModel("qwen2");
  Write(folder + "/config.json", hub.config);
  Write(folder + "/model.safetensors", hub.weights);
  std::vector<vm::MetadataEntry> metadata;
  ASSERT_TRUE(KeepTokenizer(Source("hub"), metadata).ok());
  EXPECT_TRUE(metadata.empty());
  // White space between JSON tokens is not kept, but white space inside of
  // strings is.
  Write(folder + "/tokenizer.json",
        "{ \"model\":\t{\"type\" : \"BPE\",\n \"vocab\" : {\"a\": 0, "
        "\"\\\" \": 1}, \"merges\": []}}");
  Write(folder + "/chat_template.jinja", "{{ a }} \n");
  ASSERT_TRUE(KeepTokenizer(Source("hub"), metadata).ok());
  ASSERT_EQ(metadata.size(), 1);
  const auto definition = KeptTokenizer(metadata);
  ASSERT_TRUE(definition.ok()) << definition.status().ToString();
  EXPECT_EQ(definition->tokens[1].text, "\" ");
  EXPECT_EQ(definition->chat_template, "{{ a }} \n");
}

TEST(KeptTokenizer, RefusesOtherMetadata) {
  std::vector<vm::MetadataEntry> metadata;
  vm::SetMetadata("ember.tokenizer.000", "#", metadata);
  EXPECT_THAT(std::string(KeptTokenizer(metadata).status().message()),
              HasSubstr("'ember.tokenizer.000': expected base64"));
  vm::SetMetadata("ember.tokenizer.000", "AAAA", metadata);
  EXPECT_FALSE(KeptTokenizer(metadata).ok());
}

}  // namespace
}  // namespace ember::tools
