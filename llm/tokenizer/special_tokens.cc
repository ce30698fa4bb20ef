#include "llm/tokenizer/special_tokens.h"

#include <algorithm>
#include <utility>

#include "llm/text/unicode.h"
#include "llm/text/utf8.h"

namespace ember::llm {
namespace {

bool IsSpecial(TokenKind kind) {
  return kind == TokenKind::kControl || kind == TokenKind::kUnknown ||
         kind == TokenKind::kUserDefined;
}

ByteTrie TrieOf(const Vocabulary& vocabulary) {
  std::vector<std::pair<std::string_view, int32_t>> strings;
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenDefinition& token = vocabulary.token(id);
    if (IsSpecial(token.kind)) strings.emplace_back(token.text, id);
  }
  return ByteTrie(std::move(strings));
}

bool IsWordCharacter(uint32_t code) {
  return code == '_' || IsAlphanumeric(code);
}

// Returns the index of the first byte of the text's last character.
size_t LastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && text.size() - at < 4 &&
         (static_cast<uint8_t>(text[at]) & 0xc0) == 0x80) {
    --at;
  }
  return at;
}

bool IsSingleWord(std::string_view text, size_t begin, size_t end) {
  if (begin > 0) {
    const std::string_view before = text.substr(0, begin);
    if (IsWordCharacter(Utf8At(before, LastCharacter(before)).code)) {
      return false;
    }
  }
  return end >= text.size() || !IsWordCharacter(Utf8At(text, end).code);
}

// Returns the index at which the white space at the end of the text begins.
size_t SpaceAtEnd(std::string_view text) {
  while (!text.empty()) {
    const size_t last = LastCharacter(text);
    if (!IsWhitespace(Utf8At(text, last).code)) break;
    text = text.substr(0, last);
  }
  return text.size();
}

size_t EndOfSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    const Utf8Char c = Utf8At(text, at);
    if (!IsWhitespace(c.code)) break;
    at += c.size;
  }
  return at;
}

}  // namespace

SpecialTokens::SpecialTokens(const Vocabulary& vocabulary)
    : vocabulary_(&vocabulary), trie_(TrieOf(vocabulary)) {}

SpecialTokens::Match SpecialTokens::LongestAt(std::string_view text, size_t at,
                                              bool parse_control) const {
  Match longest;
  int32_t node = ByteTrie::kRoot;
  for (size_t end = at; end < text.size();) {
    node = trie_.Child(node, static_cast<uint8_t>(text[end++]));
    if (node < 0) break;
    const int32_t id = trie_.ValueAt(node);
    if (id < 0) continue;
    const TokenDefinition& token = vocabulary_->token(id);
    if (!parse_control && token.kind != TokenKind::kUserDefined) continue;
    if (token.is_single_word && !IsSingleWord(text, at, end)) continue;
    longest = {id, end - at};
  }
  return longest;
}

std::vector<Fragment> SpecialTokens::Split(std::string_view text,
                                           bool parse_control) const {
  std::vector<Fragment> fragments;
  size_t text_begin = 0;
  const auto add_text = [&](size_t end) {
    if (end > text_begin) {
      fragments.push_back({-1, text.substr(text_begin, end - text_begin)});
    }
  };
  for (size_t at = 0; at < text.size();) {
    const Match match = LongestAt(text, at, parse_control);
    if (match.id < 0) {
      ++at;
      continue;
    }
    const TokenDefinition& token = vocabulary_->token(match.id);
    size_t end = at;
    if (token.takes_space_before) {
      end = text_begin + SpaceAtEnd(text.substr(text_begin, at - text_begin));
    }
    add_text(end);
    fragments.push_back({match.id, {}});
    at += match.size;
    if (token.takes_space_behind) at = EndOfSpace(text, at);
    text_begin = at;
  }
  add_text(text.size());
  return fragments;
}

}  // namespace ember::llm
