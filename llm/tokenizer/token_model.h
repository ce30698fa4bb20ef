// The interface of tokenizer models, which encode one piece of text as tokens.
// The vocabulary of a model must outlive it. A model is thread-safe after
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
  // Appends the ids of the piece, which must be valid UTF-8 and shorter than 2
  // GiB.
  virtual void Encode(std::string_view piece,
                      std::vector<int32_t>* ids) const = 0;
};

// Makes the model that the definition names. Of the definition it reads the
// merges, options and special ids; the tokens are in `vocabulary`.
StatusOr<std::unique_ptr<TokenModel>> MakeTokenModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary);

// Make the models, one for each ModelKind. MakeTokenModel calls one of them.
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
