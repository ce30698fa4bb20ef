// WordPiece: encodes a word as the longest token that begins it, then the
// longest token that continues it, and so on. A word that cannot be split in
// this way is unknown. Source: Devlin et al., BERT, 2018.
#include <memory>
#include <string>
#include <utility>

#include "base/concat.h"
#include "llm/text/utf8.h"
#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/token_model.h"

namespace ember::llm {
namespace {

// Returns a trie of the tokens that begin a word, without the kSpaceMark at
// their start; if begins_word is false, of the tokens that continue one, which
// have no mark.
ByteTrie TrieOf(const Vocabulary& vocabulary, bool begins_word) {
  std::vector<std::pair<std::string_view, int32_t>> strings;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenDefinition& token = vocabulary.token(id);
    std::string_view text = token.text;
    if (token.kind != TokenKind::kNormal ||
        text.starts_with(kSpaceMark) != begins_word) {
      continue;
    }
    if (begins_word) text.remove_prefix(kSpaceMark.size());
    strings.emplace_back(text, id);
  }
  return ByteTrie(std::move(strings));
}

class WordPieceModel : public TokenModel {
 public:
  WordPieceModel(const TokenizerDefinition& definition,
                 const Vocabulary& vocabulary)
      : begins_(TrieOf(vocabulary, true)),
        continues_(TrieOf(vocabulary, false)),
        unknown_(definition.unknown),
        max_characters_(definition.max_word_characters) {}

  void Encode(std::string_view piece,
              std::vector<int32_t>* ids) const override {
    const size_t first = ids->size();
    if (!Fits(piece) || !Split(piece, ids)) {
      ids->resize(first);
      ids->push_back(unknown_);
    }
  }

 private:
  bool Fits(std::string_view piece) const {
    int32_t characters = 0;
    for (size_t at = 0; at < piece.size(); at += Utf8At(piece, at).size) {
      if (++characters > max_characters_) return false;
    }
    return true;
  }

  // Appends the tokens of the word. Returns false if the word cannot be split
  // into tokens.
  bool Split(std::string_view word, std::vector<int32_t>* ids) const {
    for (size_t at = 0; at < word.size();) {
      const ByteTrie& trie = at == 0 ? begins_ : continues_;
      int32_t node = ByteTrie::kRoot, id = -1;
      size_t end = at;
      for (size_t i = at; i < word.size();) {
        node = trie.Child(node, static_cast<uint8_t>(word[i++]));
        if (node < 0) break;
        if (trie.ValueAt(node) < 0) continue;
        id = trie.ValueAt(node);
        end = i;
      }
      if (id < 0) return false;
      ids->push_back(id);
      at = end;
    }
    return true;
  }

  ByteTrie begins_, continues_;
  int32_t unknown_;
  int32_t max_characters_;
};

}  // namespace

StatusOr<std::unique_ptr<TokenModel>> MakeWordPieceModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary) {
  if (!vocabulary.Has(definition.unknown)) {
    return InvalidArgumentError(
        Concat({"tokenizer: expected the id of the unknown token, below ",
                vocabulary.size(), ", found ", definition.unknown}));
  }
  return std::unique_ptr<TokenModel>(
      std::make_unique<WordPieceModel>(definition, vocabulary));
}

}  // namespace ember::llm
