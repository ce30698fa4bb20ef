// Describes a tokenizer completely. The readers of GGUF and of tokenizer.json
// make such a definition of a file, and Tokenizer::Create makes the tokenizer
// of it.
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
// The structs are plain data. Tokenizer::Create checks them. Source: the
// formats of llama.cpp's GGUF metadata and of the tokenizers library of Hugging
// Face.
#ifndef EMBER_LLM_TOKENIZER_DEFINITION_H_
#define EMBER_LLM_TOKENIZER_DEFINITION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::llm {

// The character "▁" (U+2581), which SentencePiece writes instead of a space.
inline constexpr std::string_view kSpaceMark = "\u2581";

enum class ModelKind : uint8_t {
  kBytePairs,    // byte-pair encoding: merges pairs by a list of merges
  kScoredPairs,  // byte-pair encoding by scores of tokens, as in SentencePiece
  kUnigram,      // takes the segmentation with the highest sum of the tokens'
                 // scores
  kWordPiece,    // takes the longest matching token again and again
};

enum class TokenKind : uint8_t {
  kNormal,
  kUnknown,      // represents text that the vocabulary lacks
  kControl,      // has no text of its own: begin or end of a text, role,
                 // padding
  kUserDefined,  // is found in a text before the model runs
  kUnused,
  kByte,  // is a single byte, written as <0x0A>
};

struct TokenDefinition {
  std::string text;
  float score = 0;
  TokenKind kind = TokenKind::kNormal;
  // Options of special tokens: the token takes the white space before or after
  // it, or it is found only if no letter, digit or underscore is next to it.
  bool takes_space_before = false;
  bool takes_space_behind = false;
  bool is_single_word = false;
};

// A merge of two tokens into one. Earlier merges in the list have priority.
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
    kStripMarks,      // removes nonspacing marks; after kNfd these are the
                      // accents
    kCleanText,       // BERT: removes control characters; white space becomes '
                      // '
    kIsolateChinese,  // BERT: puts spaces around Chinese characters
    kReplace,         // replaces each occurrence of the text `pattern` by
                      // `content`
    kReplaceRegex,    // replaces each match of the regular expression `pattern`
                      // by `content`
    kPrepend,         // puts `content` before a text, unless the text is empty
    kStripLeft,       // removes white space at the begin of the text
    kStripRight,      // removes white space at the end of the text
    kCharacterMap,    // applies SentencePiece's compiled rules, which are in
                      // `content`
    kCollapseSpaces,  // removes spaces at both ends, and repeated spaces
  };
  Kind kind = Kind::kNfc;
  std::string pattern;
  std::string content;
};

// One step that splits pieces of text into smaller ones or rewrites them.
struct SplitStep {
  enum class Kind : uint8_t {
    kSplit,         // splits pieces at the matches of `pattern`
    kPrependSpace,  // puts ' ' before each piece that does not begin with one
    // Replaces each ' ' by kSpaceMark, puts a mark before pieces as `prepend`
    // says, and splits before each mark if `is_split`.
    kSpaceMark,
  };
  // Says what happens to the matches at which a piece is split.
  enum class Behavior : uint8_t {
    kIsolated,            // each match becomes a piece of its own
    kRemoved,             // matches are removed from the text
    kMergedWithPrevious,  // a match is added to the piece before it
    kMergedWithNext,      // a match is added to the piece after it
    kContiguous,          // adjacent matches become one piece
  };
  enum class Prepend : uint8_t { kNever, kFirst, kAlways };

  Kind kind = Kind::kSplit;
  std::string pattern;  // a regular expression (llm/text/regex.h)
  Behavior behavior = Behavior::kIsolated;
  bool is_inverted = false;  // true: `pattern` matches the pieces to keep, so
                             // the text between its matches counts as the match
  Prepend prepend = Prepend::kNever;
  bool is_split = false;
};

struct TokenizerDefinition {
  ModelKind model = ModelKind::kBytePairs;
  std::vector<TokenDefinition> tokens;  // the index of a token is its id
  std::vector<MergeDefinition> merges;  // kBytePairs.
  std::vector<NormalizerStep> normalizer;
  std::vector<SplitStep> splits;

  // True: texts of normal tokens are sequences of arbitrary bytes, and each
  // single byte may be a token.
  bool is_byte_level = false;
  // True: characters that the vocabulary lacks are encoded as byte tokens, if
  // these exist.
  bool has_byte_fallback = false;
  // True: a sequence of unknown characters becomes a single unknown token.
  bool fuses_unknown = false;
  // True: a piece that is a token as a whole is encoded as this token, without
  // merges.
  bool ignores_merges = false;
  // For kBytePairs: the suffix that the last character of each piece gets
  // before merging, such as "</w>".
  std::string end_of_word;
  // For kWordPiece: largest number of characters of a word; longer words are
  // unknown.
  int32_t max_word_characters = 100;

  // Options of decoding: kSpaceMark is replaced by a space; the space that the
  // normalizer put before the text is removed.
  bool decodes_space_mark = false;
  bool decodes_without_first_space = false;

  // Ids of special tokens; -1: the tokenizer has no such token.
  int32_t begin_of_text = -1;
  int32_t end_of_text = -1;
  int32_t unknown = -1;
  int32_t padding = -1;
  int32_t separator = -1;
  int32_t mask = -1;
  // Ids of tokens that end a generation, such as the end of a text or of a
  // message.
  std::vector<int32_t> ends_of_generation;
  // Ids that are put before and after a text if special tokens are requested.
  std::vector<int32_t> prefix, suffix;

  std::string chat_template;  // empty if the file has no template
};

}  // namespace ember::llm

#endif  // EMBER_LLM_TOKENIZER_DEFINITION_H_
