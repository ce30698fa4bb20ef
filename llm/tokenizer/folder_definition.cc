#include "llm/tokenizer/folder_definition.h"

#include <string_view>
#include <utility>

#include "base/file.h"
#include "llm/tokenizer/json_definition.h"

namespace ember::llm {
namespace {

constexpr const char* kTokenizer = "tokenizer.json";
// The JSON files that may contain the field chat_template. If both do, the
// second file's template is used.
constexpr const char* kConfigs[] = {"tokenizer_config.json",
                                    "chat_template.json"};
constexpr const char* kTemplate = "chat_template.jinja";

const std::string* Find(const FolderTexts& texts, std::string_view name) {
  for (const FolderText& file : texts.files)
    if (file.name == name) return &file.text;
  return nullptr;
}

}  // namespace

StatusOr<FolderTexts> ReadFolderTexts(const std::string& folder) {
  FolderTexts texts;
  for (const char* const name :
       {kTokenizer, kConfigs[0], kConfigs[1], kTemplate}) {
    StatusOr<std::string> text = ReadFile(folder + "/" + name);
    if (text.ok()) {
      texts.files.push_back({name, *std::move(text)});
    } else if (name == kTokenizer ||
               text.status().code() != StatusCode::kNotFound) {
      return std::move(text).status();
    }
  }
  return texts;
}

StatusOr<TokenizerDefinition> MakeFolderTokenizer(const FolderTexts& texts) {
  const std::string* const tokenizer = Find(texts, kTokenizer);
  if (tokenizer == nullptr)
    return NotFoundError("expected tokenizer.json, found none");
  EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
                         ReadJsonTokenizer(*tokenizer));
  for (const char* const name : kConfigs) {
    const std::string* const config = Find(texts, name);
    if (config == nullptr) continue;
    const Status status = AddTokenizerConfig(*config, &definition);
    if (!status.ok()) return status.WithContext(name);
  }
  if (const std::string* const chat_template = Find(texts, kTemplate))
    definition.chat_template = *chat_template;
  return definition;
}

StatusOr<TokenizerDefinition> ReadFolderTokenizer(const std::string& folder) {
  EMBER_ASSIGN_OR_RETURN(const FolderTexts texts, ReadFolderTexts(folder));
  StatusOr<TokenizerDefinition> definition = MakeFolderTokenizer(texts);
  if (!definition.ok()) return definition.status().WithContext(folder);
  return definition;
}

}  // namespace ember::llm
