#include "llm/tokenizer/vocabulary.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"

namespace ember::llm {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::string WithSpaces(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(kSpaceMark)) {
      result += ' ';
      at += kSpaceMark.size();
    } else {
      result += text[at++];
    }
  }
  return result;
}

}  // namespace

int ByteOfToken(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = HexDigit(text[3]), low = HexDigit(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

StatusOr<Vocabulary> Vocabulary::Create(std::vector<TokenDefinition> tokens,
                                        bool decodes_space_mark) {
  if (tokens.empty() || tokens.size() > kMaxTokens) {
    return InvalidArgumentError(Concat({"tokenizer: expected 1 to ", kMaxTokens,
                                        " tokens, found ", tokens.size()}));
  }
  Vocabulary vocabulary;
  vocabulary.tokens_ = std::move(tokens);
  vocabulary.bytes_.reserve(vocabulary.tokens_.size());
  vocabulary.byte_ids_.fill(-1);
  vocabulary.ids_.reserve(vocabulary.tokens_.size());
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenDefinition& token = vocabulary.tokens_[id];
    if (token.text.size() > kMaxTokenBytes) {
      return InvalidArgumentError(
          Concat({"tokenizer: token ", id, ": expected at most ",
                  kMaxTokenBytes, " bytes, found ", token.text.size()}));
    }
    if (!std::isfinite(token.score)) {
      return InvalidArgumentError(
          Concat({"tokenizer: token ", id,
                  ": expected a finite score, found NaN or infinity"}));
    }
    switch (token.kind) {
      case TokenKind::kByte: {
        const int byte = ByteOfToken(token.text);
        if (byte < 0) {
          return InvalidArgumentError(
              Concat({"tokenizer: token ", id,
                      ": expected a byte such as <0x0A>, found \"",
                      OnOneLine(Shortened(token.text, 40)), "\""}));
        }
        if (vocabulary.byte_ids_[byte] < 0) vocabulary.byte_ids_[byte] = id;
        vocabulary.bytes_.emplace_back(1, static_cast<char>(byte));
        continue;
      }
      case TokenKind::kControl:
      case TokenKind::kUnknown:
      case TokenKind::kUserDefined:
        vocabulary.bytes_.push_back(token.text);
        continue;
      case TokenKind::kNormal:
      case TokenKind::kUnused:
        break;
    }
    vocabulary.longest_text_ =
        std::max(vocabulary.longest_text_, token.text.size());
    vocabulary.bytes_.push_back(decodes_space_mark ? WithSpaces(token.text)
                                                   : token.text);
    vocabulary.ids_.emplace(token.text, id);
  }
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const TokenDefinition& token = vocabulary.tokens_[id];
    if (token.kind != TokenKind::kUserDefined) continue;
    vocabulary.longest_text_ =
        std::max(vocabulary.longest_text_, token.text.size());
    vocabulary.ids_.emplace(token.text, id);
  }
  return vocabulary;
}

int32_t Vocabulary::Find(std::string_view text) const {
  if (text.size() > longest_text_) return -1;
  const auto found = ids_.find(text);
  return found == ids_.end() ? -1 : found->second;
}

bool Vocabulary::HasAllBytes() const {
  return std::all_of(byte_ids_.begin(), byte_ids_.end(),
                     [](int32_t id) { return id >= 0; });
}

}  // namespace ember::llm
