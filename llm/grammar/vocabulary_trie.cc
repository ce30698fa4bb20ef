#include "llm/grammar/vocabulary_trie.h"

#include <string_view>
#include <unordered_map>
#include <utility>

namespace ember::llm {

VocabularyTrie::VocabularyTrie(const Vocabulary& vocabulary)
    : vocabulary_(&vocabulary), trie_(Build(vocabulary, &next_same_)) {}

ByteTrie VocabularyTrie::Build(const Vocabulary& vocabulary,
                               std::vector<int32_t>* next_same) {
  next_same->assign(vocabulary.size(), -1);
  std::vector<std::pair<std::string_view, int32_t>> strings;
  // Maps each text to the last token so far that has it, to chain tokens with
  // equal texts.
  std::unordered_map<std::string_view, int32_t> last;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string_view bytes = vocabulary.Bytes(id);
    if (bytes.empty() || vocabulary.IsHidden(id)) continue;
    const auto [found, is_new] = last.emplace(bytes, id);
    if (is_new) {
      strings.emplace_back(bytes, id);
    } else {
      (*next_same)[found->second] = id;
      found->second = id;
    }
  }
  return ByteTrie(std::move(strings));
}

}  // namespace ember::llm
