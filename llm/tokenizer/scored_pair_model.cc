// SentencePiece's byte-pair encoding: two adjacent parts are merged if their
// text is a token, and the merge whose token has the highest score comes first.
// Source: SentencePiece, bpe_model.cc.
#include <memory>
#include <unordered_map>
#include <utility>

#include "llm/text/utf8.h"
#include "llm/tokenizer/merge_symbols.h"
#include "llm/tokenizer/token_model.h"
#include "llm/tokenizer/unknown_text.h"

namespace ember::llm {
namespace {

class ScoredPairModel : public TokenModel {
 public:
  ScoredPairModel(const TokenizerDefinition& definition,
                  const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), unknown_(definition, vocabulary) {}

  void Encode(std::string_view piece,
              std::vector<int32_t>* ids) const override {
    std::vector<Symbol> symbols;
    for (size_t at = 0; at < piece.size();) {
      const size_t end = at + Utf8At(piece, at).size;
      AppendSymbol(static_cast<int32_t>(at), static_cast<int32_t>(end),
                   vocabulary_.Find(piece.substr(at, end - at)), &symbols);
      at = end;
    }
    // For each unused token that a merge has made: the two parts of which it
    // was made.
    Splits splits;
    MergeSymbols(&symbols, [&](const Symbol& left, const Symbol& right) {
      const int32_t id =
          vocabulary_.Find(piece.substr(left.begin, right.end - left.begin));
      if (id < 0) return PairMerge();
      const TokenDefinition& token = vocabulary_.token(id);
      if (token.kind == TokenKind::kUnused) {
        splits[id] = {left.id, right.id, left.end - left.begin};
      }
      return PairMerge{-static_cast<double>(token.score), id};
    });
    const size_t first = ids->size();
    for (const Symbol& symbol : symbols) {
      if (symbol.begin == symbol.end) continue;
      Append(piece.substr(symbol.begin, symbol.end - symbol.begin), symbol.id,
             splits, first, ids);
    }
  }

 private:
  struct Split {
    int32_t left, right, left_size;
  };
  using Splits = std::unordered_map<int32_t, Split>;

  // An unused token is only an intermediate result of merges. If one is left at
  // the end, it is split into the two parts of which it was made. Each part is
  // shorter than the token, so the recursion is at most as deep as the longest
  // token has bytes.
  void Append(std::string_view text, int32_t id, const Splits& splits,
              size_t first, std::vector<int32_t>* ids) const {
    if (id < 0) return unknown_.Append(text, first, ids);
    const auto split = splits.find(id);
    if (split == splits.end()) return ids->push_back(id);
    const auto& [left, right, left_size] = split->second;
    Append(text.substr(0, left_size), left, splits, first, ids);
    Append(text.substr(left_size), right, splits, first, ids);
  }

  const Vocabulary& vocabulary_;
  UnknownText unknown_;
};

}  // namespace

StatusOr<std::unique_ptr<TokenModel>> MakeScoredPairModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary) {
  return std::unique_ptr<TokenModel>(
      std::make_unique<ScoredPairModel>(definition, vocabulary));
}

}  // namespace ember::llm
