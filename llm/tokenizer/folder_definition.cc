#include "llm/tokenizer/folder_definition.h"

#include <optional>
#include <utility>

#include "base/file.h"
#include "llm/tokenizer/json_definition.h"

namespace ember::llm {
namespace {

// Returns nothing if there is no such file.
StatusOr<std::optional<std::string>> ReadIfThere(const std::string& path) {
  StatusOr<std::string> text = ReadFile(path);
  if (text.ok()) return std::optional<std::string>(*std::move(text));
  if (text.status().code() == StatusCode::kNotFound) {
    return std::optional<std::string>();
  }
  return std::move(text).status();
}

}  // namespace

StatusOr<TokenizerDefinition> ReadFolderTokenizer(const std::string& folder) {
  EMBER_ASSIGN_OR_RETURN(const std::string text,
                         ReadFile(folder + "/tokenizer.json"));
  StatusOr<TokenizerDefinition> definition = ReadJsonTokenizer(text);
  if (!definition.ok()) return definition.status().WithContext(folder);
  // Both files with JSON have the field chat_template.
  for (const char* const name :
       {"/tokenizer_config.json", "/chat_template.json"}) {
    EMBER_ASSIGN_OR_RETURN(const std::optional<std::string> config,
                           ReadIfThere(folder + name));
    if (!config) continue;
    const Status status = AddTokenizerConfig(*config, &*definition);
    if (!status.ok()) return status.WithContext(folder + name);
  }
  EMBER_ASSIGN_OR_RETURN(std::optional<std::string> chat_template,
                         ReadIfThere(folder + "/chat_template.jinja"));
  if (chat_template) definition->chat_template = *std::move(chat_template);
  return definition;
}

}  // namespace ember::llm
