// Reads the tokenizer of a Hugging Face folder from its files.
//
//   EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
//                          ReadFolderTokenizer("models/tiny"));
//
// tokenizer.json must be there. tokenizer_config.json and chat_template.jinja
// (or chat_template.json) may be: a template in a separate file replaces the
// one in the configuration. ReadFolderTexts and MakeFolderTokenizer are the two
// steps, for texts that are kept elsewhere. Errors name the file. Thread-safe.
#ifndef EMBER_LLM_TOKENIZER_FOLDER_DEFINITION_H_
#define EMBER_LLM_TOKENIZER_FOLDER_DEFINITION_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

struct FolderText {
  std::string name;  // name of the file, such as "tokenizer.json"
  std::string text;
};

struct FolderTexts {
  std::vector<FolderText> files;  // the tokenizer's files, in any order
};

StatusOr<TokenizerDefinition> ReadFolderTokenizer(const std::string& folder);

// Reads the files of the folder. Returns NotFound if there is no
// tokenizer.json.
StatusOr<FolderTexts> ReadFolderTexts(const std::string& folder);
StatusOr<TokenizerDefinition> MakeFolderTokenizer(const FolderTexts& texts);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_FOLDER_DEFINITION_H_
