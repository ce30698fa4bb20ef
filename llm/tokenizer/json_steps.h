// Reads the steps of a tokenizer.json: normalizer, pre_tokenizer, decoder and
// post_processor, each of which may be a sequence.
//
//   EMBER_RETURN_IF_ERROR(ReadNormalizer(*FindField(root, "normalizer"),
//                                        &definition));
//
// An unknown type is an error that names it and the known ones. Thread-safe.
#ifndef EMBER_LLM_TOKENIZER_JSON_STEPS_H_
#define EMBER_LLM_TOKENIZER_JSON_STEPS_H_

#include <nlohmann/json_fwd.hpp>

#include "base/status.h"
#include "llm/tokenizer/definition.h"

namespace ember::llm {

// Reads the normalizer: appends its steps to definition->normalizer.
Status ReadNormalizer(const nlohmann::json& value,
                      TokenizerDefinition* definition);
// Reads the pre_tokenizer: appends to definition->splits, and sets
// is_byte_level if a step is ByteLevel.
Status ReadPreTokenizer(const nlohmann::json& value,
                        TokenizerDefinition* definition);
// Reads the decoder: sets the definition's options of decoding.
Status ReadDecoder(const nlohmann::json& value,
                   TokenizerDefinition* definition);
// Reads the post_processor: sets the definition's prefix and suffix.
Status ReadPostProcessor(const nlohmann::json& value,
                         TokenizerDefinition* definition);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_JSON_STEPS_H_
