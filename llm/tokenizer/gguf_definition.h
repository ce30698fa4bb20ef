// Reads the tokenizer of a GGUF file.
//
//   EMBER_ASSIGN_OR_RETURN(TokenizerDefinition definition,
//                          ReadGgufTokenizer(file));
//   EMBER_ASSIGN_OR_RETURN(const Tokenizer tokenizer,
//                          Tokenizer::Create(std::move(definition)));
//
// Reads the keys tokenizer.ggml.* and tokenizer.chat_template. The models
// "gpt2" (byte-level pairs), "llama" (scored pairs), "t5" (unigram) and "bert"
// (WordPiece) are known; the splits of byte-level vocabularies are those of
// split_rules.h. Errors name the key. Thread-safe.
#ifndef EMBER_LLM_TOKENIZER_GGUF_DEFINITION_H_
#define EMBER_LLM_TOKENIZER_GGUF_DEFINITION_H_

#include "base/status.h"
#include "frontends/gguf/gguf_file.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

StatusOr<TokenizerDefinition> ReadGgufTokenizer(const gguf::GgufFile& file);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_GGUF_DEFINITION_H_
