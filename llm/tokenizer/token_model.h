// The interface of the models: from one piece of text to tokens.
//
// A model is made for a vocabulary that outlives it, and is thread-safe after
// creation. Encoding appends ids; a character without a token becomes byte
// tokens or the unknown token, or is left out if the vocabulary has neither.
#ifndef EMBER_LLM_TOKENIZER_TOKEN_MODEL_H_
#define EMBER_LLM_TOKENIZER_TOKEN_MODEL_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/tokenizer/definition.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

class TokenModel {
 public:
  virtual ~TokenModel() = default;
  // The piece is valid UTF-8 and shorter than 2 GiB.
  virtual void Encode(std::string_view piece,
                      std::vector<int32_t>* ids) const = 0;
};

// Reads the definition's merges, flags and special ids, not its tokens.
StatusOr<std::unique_ptr<TokenModel>> MakeTokenModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary);

// The models, one per ModelKind; MakeTokenModel chooses.
StatusOr<std::unique_ptr<TokenModel>> MakeBytePairModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary);
StatusOr<std::unique_ptr<TokenModel>> MakeScoredPairModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary);
StatusOr<std::unique_ptr<TokenModel>> MakeUnigramModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary);
StatusOr<std::unique_ptr<TokenModel>> MakeWordPieceModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary);

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_TOKEN_MODEL_H_
