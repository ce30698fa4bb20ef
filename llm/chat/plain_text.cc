#include "llm/chat/plain_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ember::llm {
namespace {

// Returns the number of bytes of the first character of a UTF-8 text.
size_t FirstCharacter(std::string_view text) {
  size_t size = std::min<size_t>(1, text.size());
  while (size < text.size() &&
         (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) {
    ++size;
  }
  return size;
}

ByteTrie TrieOf(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, int32_t>> names;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    if (vocabulary.IsHidden(id))
      names.emplace_back(vocabulary.token(id).text, id);
  }
  return ByteTrie(std::move(names));
}

}  // namespace

std::string WithoutTextMarks(std::string_view text) {
  std::string rest(text);
  for (size_t at = rest.find(kTextMark); at != std::string::npos;
       at = rest.find(kTextMark, at)) {
    rest.erase(at, kTextMark.size());
  }
  return rest;
}

PlainText::PlainText(const Vocabulary& vocabulary)
    : names_(TrieOf(vocabulary)) {}

std::string PlainText::Protect(std::string_view given) const {
  const std::string text = WithoutTextMarks(given);
  std::string plain;
  bool ends_as_beginning = false;
  for (size_t at = 0; at < text.size();) {
    const size_t first = FirstCharacter(std::string_view(text).substr(at));
    bool is_name = false;
    int32_t node = ByteTrie::kRoot;
    size_t end = at;
    while (end < text.size()) {
      node = names_.Child(node, static_cast<uint8_t>(text[end]));
      if (node < 0) break;
      ++end;
      is_name = is_name || (names_.ValueAt(node) >= 0 && end - at > first);
    }
    if (node >= 0 && names_.ChildCount(node) > 0) ends_as_beginning = true;
    plain += text.substr(at, first);
    if (is_name) plain += kTextMark;
    at += first;
  }
  if (ends_as_beginning) plain += kTextMark;
  return plain;
}

}  // namespace ember::llm
