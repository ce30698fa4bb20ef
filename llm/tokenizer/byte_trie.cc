#include "llm/tokenizer/byte_trie.h"

#include <algorithm>

namespace ember::llm {

ByteTrie::ByteTrie(std::vector<std::pair<std::string_view, int32_t>> strings) {
  std::stable_sort(
      strings.begin(), strings.end(),
      [](const auto& a, const auto& b) { return a.first < b.first; });
  // Each node has the sorted strings from `first` to `last`, which agree in
  // their first `depth` bytes. Nodes are made breadth-first, so that the
  // children of a node are adjacent.
  struct Range {
    size_t first, last, depth;
  };
  std::vector<Range> ranges = {{0, strings.size(), 0}};
  nodes_.emplace_back();
  for (size_t node = 0; node < nodes_.size(); ++node) {
    auto [first, last, depth] = ranges[node];
    // Strings that end at this node come before the longer ones.
    while (first < last && strings[first].first.size() == depth) {
      if (nodes_[node].value < 0 && depth > 0) {
        nodes_[node].value = strings[first].second;
      }
      ++first;
    }
    nodes_[node].first_child = static_cast<int32_t>(nodes_.size());
    while (first < last) {
      const char byte = strings[first].first[depth];
      size_t end = first + 1;
      while (end < last && strings[end].first[depth] == byte) ++end;
      Node child;
      child.byte = static_cast<uint8_t>(byte);
      nodes_.push_back(child);
      ranges.push_back({first, end, depth + 1});
      ++nodes_[node].child_count;
      first = end;
    }
  }
  std::fill(std::begin(root_children_), std::end(root_children_), -1);
  for (int32_t i = 0; i < ChildCount(kRoot); ++i) {
    const int32_t child = FirstChild(kRoot) + i;
    root_children_[ByteOf(child)] = child;
  }
}

int32_t ByteTrie::Child(int32_t node, uint8_t byte) const {
  if (node == kRoot) return root_children_[byte];
  const Node* const first = nodes_.data() + nodes_[node].first_child;
  const Node* const last = first + nodes_[node].child_count;
  const Node* const found = std::lower_bound(
      first, last, byte,
      [](const Node& child, uint8_t wanted) { return child.byte < wanted; });
  if (found == last || found->byte != byte) return -1;
  return static_cast<int32_t>(found - nodes_.data());
}

}  // namespace ember::llm
