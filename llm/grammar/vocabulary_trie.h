// A trie of all tokens of a vocabulary by their bytes, with which a grammar
// computes the mask of allowed tokens.
//
//   const VocabularyTrie trie(vocabulary);
//   trie.ForEachToken(node, [](int32_t id) { ... });
//
// Control and unknown tokens, and tokens without bytes, are left out. The
// vocabulary must outlive the trie. Thread-safe after construction.
#ifndef EMBER_LLM_GRAMMAR_VOCABULARY_TRIE_H_
#define EMBER_LLM_GRAMMAR_VOCABULARY_TRIE_H_

#include <cstdint>
#include <vector>

#include "llm/tokenizer/byte_trie.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {

class VocabularyTrie {
 public:
  explicit VocabularyTrie(const Vocabulary& vocabulary);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const ByteTrie& trie() const { return trie_; }

  // Calls visit(id) for each token whose bytes are the path to this node.
  template <typename Visit>
  void ForEachToken(int32_t node, const Visit& visit) const {
    for (int32_t id = trie_.ValueAt(node); id >= 0; id = next_same_[id]) {
      visit(id);
    }
  }

 private:
  static ByteTrie Build(const Vocabulary& vocabulary,
                        std::vector<int32_t>* next_same);

  const Vocabulary* vocabulary_;
  std::vector<int32_t> next_same_;  // For each token, the next token with the
                                    // same bytes, or -1.
  ByteTrie trie_;
};

}  // namespace ember::llm

#endif  // EMBER_LLM_GRAMMAR_VOCABULARY_TRIE_H_
