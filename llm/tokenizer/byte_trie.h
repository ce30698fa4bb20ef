// A trie over byte strings, each of which has a number (its value). Nodes are
// in a compact array, in which the children of a node are adjacent and sorted.
//
//   const ByteTrie trie({{"ab", 7}, {"abc", 9}});
//   int32_t node = ByteTrie::kRoot;
//   node = trie.Child(node, 'a');        // -1 if there is none
//   trie.ValueAt(trie.Child(node, 'b'));   // 7
//
// If a string occurs twice, its first number counts. An empty string has no
// effect. Thread-safe after construction, which takes time proportional to the
// bytes of all strings and to sorting them.
#ifndef EMBER_LLM_TOKENIZER_BYTE_TRIE_H_
#define EMBER_LLM_TOKENIZER_BYTE_TRIE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace ember::llm {

class ByteTrie {
 public:
  static constexpr int32_t kRoot = 0;

  // Makes the trie of pairs of a string and its value, which must not be
  // negative. The strings may be freed afterwards.
  explicit ByteTrie(std::vector<std::pair<std::string_view, int32_t>> strings);

  // Returns the child of a node for the next byte, or -1 if there is none.
  int32_t Child(int32_t node, uint8_t byte) const;
  // Returns the value of the string that ends at the node (the first one if
  // several are equal), or -1 if none ends there. The root has no value, even
  // if a string is empty.
  int32_t ValueAt(int32_t node) const { return nodes_[node].value; }

  // The node's children are the ChildCount(node) nodes from FirstChild(node)
  // on.
  int32_t FirstChild(int32_t node) const { return nodes_[node].first_child; }
  int32_t ChildCount(int32_t node) const { return nodes_[node].child_count; }
  uint8_t ByteOf(int32_t node) const { return nodes_[node].byte; }
  size_t node_count() const { return nodes_.size(); }

 private:
  struct Node {
    int32_t first_child = 0;
    int32_t value = -1;
    uint16_t child_count = 0;
    uint8_t byte = 0;
  };
  std::vector<Node> nodes_;
  int32_t root_children_[256];
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_BYTE_TRIE_H_
