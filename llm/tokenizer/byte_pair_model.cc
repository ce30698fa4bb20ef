// Byte-pair encoding by a list of merges. The symbols that are merged are bytes
// or characters.
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/concat.h"
#include "base/hash.h"
#include "llm/text/utf8.h"
#include "llm/tokenizer/merge_symbols.h"
#include "llm/tokenizer/token_model.h"
#include "llm/tokenizer/unknown_text.h"

namespace ember::llm {
namespace {

// A hash table with open addressing that maps a pair of ids to the rank and the
// result of their merge. A lookup reads one or two cache lines.
class MergeTable {
 public:
  explicit MergeTable(const std::vector<MergeDefinition>& merges) {
    size_t size = 16;
    while (size < 2 * merges.size()) size *= 2;
    entries_.resize(size);
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      const MergeDefinition& merge = merges[rank];
      Entry& entry = entries_[Index(merge.left, merge.right)];
      if (entry.result >= 0)
        continue;  // the first of several merges of one
                   // pair counts
      entry = {merge.left, merge.right, merge.result,
               static_cast<int32_t>(rank)};
    }
  }

  PairMerge Find(int32_t left, int32_t right) const {
    const Entry& entry = entries_[Index(left, right)];
    return {static_cast<double>(entry.rank), entry.result};
  }

 private:
  struct Entry {
    int32_t left = -1, right = -1, result = -1, rank = 0;
  };

  // Returns the index of the pair's entry, or of an empty entry where it can be
  // inserted. At least half of the entries are empty, so the search is short.
  size_t Index(int32_t left, int32_t right) const {
    const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(left))
                             << 32 |
                         static_cast<uint32_t>(right);
    for (size_t i = HashMix(key);; ++i) {
      const Entry& entry = entries_[i & (entries_.size() - 1)];
      if (entry.result < 0 || (entry.left == left && entry.right == right)) {
        return i & (entries_.size() - 1);
      }
    }
  }

  std::vector<Entry> entries_;
};

class BytePairModel : public TokenModel {
 public:
  BytePairModel(const TokenizerDefinition& definition,
                const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        unknown_(definition, vocabulary),
        merges_(definition.merges),
        is_byte_level_(definition.is_byte_level),
        ignores_merges_(definition.ignores_merges),
        end_of_word_(definition.end_of_word) {
    for (int byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      byte_ids_[byte] = vocabulary.Find({&text, 1});
    }
  }

  void Encode(std::string_view piece,
              std::vector<int32_t>* ids) const override {
    if (ignores_merges_) {
      const int32_t id = vocabulary_.Find(piece);
      if (id >= 0) return ids->push_back(id);
    }
    std::vector<Symbol> symbols = Split(piece);
    MergeSymbols(&symbols, [this](const Symbol& left, const Symbol& right) {
      return left.id < 0 || right.id < 0 ? PairMerge()
                                         : merges_.Find(left.id, right.id);
    });
    const size_t first = ids->size();
    for (const Symbol& symbol : symbols) {
      if (symbol.begin == symbol.end) continue;
      if (symbol.id >= 0) {
        ids->push_back(symbol.id);
      } else {
        unknown_.Append(piece.substr(symbol.begin, symbol.end - symbol.begin),
                        first, ids);
      }
    }
  }

 private:
  // Splits the piece into symbols, one for each byte or character.
  std::vector<Symbol> Split(std::string_view piece) const {
    std::vector<Symbol> symbols;
    symbols.reserve(piece.size());
    for (size_t at = 0; at < piece.size();) {
      size_t end = at + 1;
      int32_t id = -1;
      if (is_byte_level_ && end_of_word_.empty()) {
        id = byte_ids_[static_cast<uint8_t>(piece[at])];
      } else {
        if (!is_byte_level_) end = at + Utf8At(piece, at).size;
        std::string text(piece.substr(at, end - at));
        if (end == piece.size()) text += end_of_word_;
        id = vocabulary_.Find(text);
      }
      AppendSymbol(static_cast<int32_t>(at), static_cast<int32_t>(end), id,
                   &symbols);
      at = end;
    }
    return symbols;
  }

  const Vocabulary& vocabulary_;
  UnknownText unknown_;
  MergeTable merges_;
  std::array<int32_t, 256> byte_ids_;
  bool is_byte_level_;
  bool ignores_merges_;
  std::string end_of_word_;
};

}  // namespace

StatusOr<std::unique_ptr<TokenModel>> MakeBytePairModel(
    const TokenizerDefinition& definition, const Vocabulary& vocabulary) {
  for (size_t i = 0; i < definition.merges.size(); ++i) {
    const MergeDefinition& merge = definition.merges[i];
    if (vocabulary.Has(merge.left) && vocabulary.Has(merge.right) &&
        vocabulary.Has(merge.result)) {
      continue;
    }
    return InvalidArgumentError(Concat(
        {"tokenizer: merge ", i, ": expected ids below ", vocabulary.size(),
         ", found ", merge.left, ", ", merge.right, " and ", merge.result}));
  }
  return std::unique_ptr<TokenModel>(
      std::make_unique<BytePairModel>(definition, vocabulary));
}

}  // namespace ember::llm
