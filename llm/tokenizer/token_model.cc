#include "llm/tokenizer/token_model.h"

namespace ember::llm {

StatusOr<std::unique_ptr<TokenModel>> MakeTokenModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary) {
  switch (definition.model) {
    case ModelKind::kBytePairs:
      return MakeBytePairModel(definition, vocabulary);
    case ModelKind::kScoredPairs:
      return MakeScoredPairModel(definition, vocabulary);
    case ModelKind::kUnigram:
      return MakeUnigramModel(definition, vocabulary);
    case ModelKind::kWordPiece:
      return MakeWordPieceModel(definition, vocabulary);
  }
  return InternalError("tokenizer: unknown kind of model");
}

}  // namespace ember::llm
