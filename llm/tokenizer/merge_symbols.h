// The greedy loop of byte-pair encoding: merges the adjacent pair of highest
// priority until no pair can be merged.
//
//   std::vector<Symbol> symbols = ...;   // one per character
//   MergeSymbols(&symbols, [&](const Symbol& left, const Symbol& right) {
//     return PairMerge{rank, id};        // id -1: cannot be merged
//   });
//
// A symbol that was merged into its left neighbour is empty afterwards. Pairs
// of equal priority are merged from left to right. Takes O(n log n) for n
// symbols. Source: Sennrich et al., Neural Machine Translation of Rare Words
// with Subword Units, 2016.
#ifndef EMBER_LLM_TOKENIZER_MERGE_SYMBOLS_H_
#define EMBER_LLM_TOKENIZER_MERGE_SYMBOLS_H_

#include <cstdint>
#include <queue>
#include <vector>

namespace ember::llm {

// A symbol is a part of a piece of text, from byte `begin` to byte `end`.
struct Symbol {
  int32_t begin = 0, end = 0;
  int32_t id = -1;                   // the id of the token with this text; -1:
                                     // there is none
  int32_t previous = -1, next = -1;  // indices of the neighbours in the piece;
                                     // -1: none
};

struct PairMerge {
  double priority = 0;  // pairs with a smaller number are merged first
  int32_t id = -1;
};

// Appends a symbol, and links it to the one before it.
inline void AppendSymbol(int32_t begin, int32_t end, int32_t id,
                         std::vector<Symbol>* symbols) {
  const auto index = static_cast<int32_t>(symbols->size());
  if (index > 0) symbols->back().next = index;
  symbols->push_back({begin, end, id, index - 1, -1});
}

template <typename FindMerge>
void MergeSymbols(std::vector<Symbol>* symbols, const FindMerge& find_merge) {
  // A pair of neighbours that can be merged. The pair is skipped if one of them
  // has been merged with another symbol while the pair was in the queue:
  // `middle` and `end` then differ from the ends of the symbols.
  struct Pair {
    double priority;
    int32_t left, right, middle, end, id;
    bool operator<(const Pair& other) const {
      return priority != other.priority ? priority > other.priority
                                        : left > other.left;
    }
  };
  std::vector<Symbol>& s = *symbols;
  std::vector<Pair> storage;
  storage.reserve(s.size());
  std::priority_queue<Pair> queue({}, std::move(storage));
  const auto add = [&](int32_t left, int32_t right) {
    if (left < 0 || right < 0) return;
    const PairMerge merge = find_merge(s[left], s[right]);
    if (merge.id < 0) return;
    queue.push(
        {merge.priority, left, right, s[left].end, s[right].end, merge.id});
  };
  for (size_t i = 1; i < s.size(); ++i) {
    add(static_cast<int32_t>(i) - 1, static_cast<int32_t>(i));
  }
  while (!queue.empty()) {
    const Pair pair = queue.top();
    queue.pop();
    Symbol& left = s[pair.left];
    Symbol& right = s[pair.right];
    if (left.next != pair.right || left.end != pair.middle ||
        right.end != pair.end) {
      continue;
    }
    left.end = right.end;
    left.id = pair.id;
    left.next = right.next;
    if (right.next >= 0) s[right.next].previous = pair.left;
    right.begin = right.end;
    right.next = right.previous = -1;
    add(left.previous, pair.left);
    add(pair.left, left.next);
  }
}

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_MERGE_SYMBOLS_H_
