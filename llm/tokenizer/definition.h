// Describes a tokenizer completely: what the readers of GGUF and of
// tokenizer.json make of a file, and what Tokenizer::Create takes.
//
// A text becomes ids in these steps:
//
//   special tokens   the texts of control and user-defined tokens are found
//   normalizer       each fragment between them is rewritten, step by step
//   splits           ... and split into pieces (words)
//   model            each piece becomes tokens
//
// The text of a token is in the alphabet that its model works on. A byte-level
// model works on bytes, so " a" is a token's text, not "Ġa". A model with a
// space character works on texts whose spaces are replaced by it ("▁a"). A
// byte token ("<0x0A>") is one byte. A WordPiece token that begins a
// word begins with "▁", and one that continues it has no mark ("##").
//
// Plain data; nothing here is checked: Tokenizer::Create does that.
// Source: the formats of llama.cpp's GGUF metadata and of the tokenizers
// library of Hugging Face.
#ifndef EMBER_LLM_TOKENIZER_DEFINITION_H_
#define EMBER_LLM_TOKENIZER_DEFINITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::llm {

// The character "▁" (U+2581), by which SentencePiece writes a space.
inline constexpr std::string_view kSpaceMark = "\u2581";

enum class ModelKind : uint8_t {
  kBytePairs,    // Byte-pair encoding by a list of merges.
  kScoredPairs,  // Byte-pair encoding by scores of tokens (SentencePiece BPE).
  kUnigram,      // The likeliest segmentation by scores of tokens.
  kWordPiece,    // The longest token first.
};

enum class TokenKind : uint8_t {
  kNormal,
  kUnknown,      // The token for what the vocabulary does not have.
  kControl,      // Has no text: begin and end of a text, roles, padding.
  kUserDefined,  // Is found in every text before the model runs.
  kUnused,
  kByte,  // One byte, written as <0x0A>.
};

struct TokenDefinition {
  std::string text;
  float score = 0;
  TokenKind kind = TokenKind::kNormal;
  // A special token takes the white space before or behind it; or is found
  // only where no letter, digit or underscore is next to it.
  bool takes_space_before = false;
  bool takes_space_behind = false;
  bool is_single_word = false;
};

// Two tokens that become one; earlier merges have priority.
struct MergeDefinition {
  int32_t left = 0, right = 0, result = 0;
};

struct NormalizerStep {
  enum class Kind : uint8_t {
    kNfc,
    kNfd,
    kNfkc,
    kNfkd,
    kLowercase,
    kStripMarks,      // Removes nonspacing marks (accents behind kNfd).
    kCleanText,       // BERT: removes controls; white space becomes ' '.
    kIsolateChinese,  // BERT: puts spaces around Chinese characters.
    kReplace,         // Each `pattern` (a text) becomes `content`.
    kReplaceRegex,    // Each match of `pattern` becomes `content`.
    kPrepend,         // Puts `content` before a text that is not empty.
    kStripLeft,       // Removes white space at the begin.
    kStripRight,      // Removes white space at the end.
    kCharacterMap,    // SentencePiece's rules, compiled, in `content`.
    kCollapseSpaces,  // Removes spaces at both ends, and repeated ones.
  };
  Kind kind = Kind::kNfc;
  std::string pattern;
  std::string content;
};

// One rule that splits pieces into smaller ones or rewrites them.
struct SplitStep {
  enum class Kind : uint8_t {
    kSplit,         // Splits at the matches of `pattern`.
    kPrependSpace,  // Puts ' ' before each piece that does not begin with it.
    // Replaces ' ' by kSpaceMark, puts one before a piece as `prepend` says,
    // and splits before each mark if `is_split`.
    kSpaceMark,
  };
  // Says whether the matches of a pattern are kept, and in which piece.
  enum class Behavior : uint8_t {
    kIsolated,            // Each match is a piece.
    kRemoved,             // Matches are dropped.
    kMergedWithPrevious,  // A match belongs to the piece before it.
    kMergedWithNext,      // A match belongs to the piece behind it.
    kContiguous,          // Adjacent matches are one piece.
  };
  enum class Prepend : uint8_t { kNever, kFirst, kAlways };

  Kind kind = Kind::kSplit;
  std::string pattern;  // A regular expression (llm/text/regex.h).
  Behavior behavior = Behavior::kIsolated;
  bool is_inverted = false;  // The text between matches counts as the match.
  Prepend prepend = Prepend::kNever;
  bool is_split = false;
};

struct TokenizerDefinition {
  ModelKind model = ModelKind::kBytePairs;
  std::vector<TokenDefinition> tokens;  // The index is the id.
  std::vector<MergeDefinition> merges;  // kBytePairs.
  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> splits;

  // The texts of normal tokens are bytes, and every byte may be a token.
  bool is_byte_level = false;
  // Characters that the vocabulary lacks become byte tokens if these exist.
  bool has_byte_fallback = false;
  // Adjacent unknown characters become one unknown token.
  bool fuses_unknown = false;
  // A piece that is a token as a whole is not merged.
  bool ignores_merges = false;
  // kBytePairs: the last character of a piece has this suffix ("</w>").
  std::string end_of_word;
  // kWordPiece: a longer word is unknown.
  int32_t max_word_characters = 100;

  // Decoding replaces kSpaceMark by a space, and removes the space that the
  // normalizer put at the begin of a text.
  bool decodes_space_mark = false;
  bool decodes_without_first_space = false;

  // Ids of special tokens, or -1.
  int32_t begin_of_text = -1;
  int32_t end_of_text = -1;
  int32_t unknown = -1;
  int32_t padding = -1;
  int32_t separator = -1;
  int32_t mask = -1;
  // Tokens that end a generation: end of text, end of a message.
  std::vector<int32_t> ends_of_generation;
  // Ids put before and behind a text if special tokens are wanted.
  std::vector<int32_t> prefix, suffix;

  std::string chat_template;  // Empty if the file has none.
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_DEFINITION_H_
