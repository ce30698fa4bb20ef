// The unigram model: encodes a piece by that segmentation into tokens whose
// scores (logarithms of probabilities) have the highest sum. Source: Kudo,
// Subword Regularization, 2018; SentencePiece, unigram_model.cc.
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "llm/text/utf8.h"
#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/token_model.h"
#include "llm/tokenizer/unknown_text.h"

namespace ember::llm {
namespace {

// The score of an unknown character is lower by this number than the lowest
// score of a token.
constexpr double kUnknownPenalty = 10;

// True if the token may be part of a segmentation: it is normal and not empty.
// User-defined tokens were found before the model runs.
bool IsPart(const TokenDefinition& token) {
  return token.kind == TokenKind::kNormal && !token.text.empty();
}

ByteTrie TrieOf(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, int32_t>> strings;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenDefinition& token = vocabulary.token(id);
    if (IsPart(token)) strings.emplace_back(token.text, id);
  }
  return ByteTrie(std::move(strings));
}

class UnigramModel : public TokenModel {
 public:
  UnigramModel(const TokenizerDefinition& definition,
               const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        unknown_(definition, vocabulary),
        trie_(TrieOf(vocabulary)) {
    double lowest = 0;
    for (const TokenDefinition& token : vocabulary.tokens()) {
      if (IsPart(token)) lowest = std::min<double>(lowest, token.score);
    }
    unknown_score_ = lowest - kUnknownPenalty;
  }

  void Encode(std::string_view piece,
              std::vector<int32_t>* ids) const override {
    const std::vector<Step> best = BestSteps(piece);
    std::vector<std::pair<size_t, size_t>> parts;
    for (size_t end = piece.size(); end > 0; end = best[end].begin) {
      parts.emplace_back(best[end].begin, end);
    }
    const size_t first = ids->size();
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      const auto [begin, end] = *part;
      if (best[end].id >= 0) {
        ids->push_back(best[end].id);
      } else {
        unknown_.Append(piece.substr(begin, end - begin), first, ids);
      }
    }
  }

 private:
  // The best segmentation of the text up to a certain byte: its score, and the
  // begin and id of its last token.
  struct Step {
    double score = -std::numeric_limits<double>::infinity();
    size_t begin = 0;
    int32_t id = -1;
  };

  std::vector<Step> BestSteps(std::string_view piece) const {
    std::vector<Step> best(piece.size() + 1);
    best[0].score = 0;
    for (size_t begin = 0; begin < piece.size();) {
      const size_t character = begin + Utf8At(piece, begin).size;
      const auto improve = [&](size_t end, double score, int32_t id) {
        score += best[begin].score;
        if (score > best[end].score) best[end] = {score, begin, id};
      };
      bool has_character = false;
      int32_t node = ByteTrie::kRoot;
      for (size_t end = begin; end < piece.size();) {
        node = trie_.Child(node, static_cast<uint8_t>(piece[end++]));
        if (node < 0) break;
        const int32_t id = trie_.ValueAt(node);
        if (id < 0) continue;
        improve(end, vocabulary_.token(id).score, id);
        has_character |= end == character;
      }
      if (!has_character) improve(character, unknown_score_, -1);
      begin = character;
    }
    return best;
  }

  const Vocabulary& vocabulary_;
  UnknownText unknown_;
  ByteTrie trie_;
  double unknown_score_ = 0;
};

}  // namespace

StatusOr<std::unique_ptr<TokenModel>> MakeUnigramModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary) {
  return std::unique_ptr<TokenModel>(
      std::make_unique<UnigramModel>(definition, vocabulary));
}

}  // namespace ember::llm
