// Reads the tokenizer of a Hugging Face folder.
//
//   EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
//                          ReadJsonTokenizer(tokenizer_json));
//   EMBER_RETURN_IF_ERROR(
//       AddTokenizerConfig(tokenizer_config_json, &definition));
//
// tokenizer.json has the model, its steps and the tokens put around a text;
// tokenizer_config.json says which tokens begin and end texts, and has the chat
// template. A step that is not known is an error that names it.
//
// The texts are from strangers: they are at most kMaxTokenizerJson bytes with
// at most kMaxJsonValues values, which bounds memory. Thread-safe. Source: the
// tokenizers and transformers libraries of Hugging Face.
#ifndef EMBER_LLM_TOKENIZER_JSON_DEFINITION_H_
#define EMBER_LLM_TOKENIZER_JSON_DEFINITION_H_

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

inline constexpr size_t kMaxTokenizerJson = size_t{128} << 20;
inline constexpr size_t kMaxJsonValues = size_t{8} << 20;

StatusOr<TokenizerDefinition> ReadJsonTokenizer(std::string_view text);

// Adds the contents of tokenizer_config.json. If it has several chat templates,
// the one named "default" is used.
Status AddTokenizerConfig(std::string_view text,
                          TokenizerDefinition* definition);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_JSON_DEFINITION_H_
