#include "llm/tokenizer/json_steps.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/text/regex.h"
#include "llm/tokenizer/definition_parts.h"
#include "llm/tokenizer/json_fields.h"
#include "llm/tokenizer/split_rules.h"

namespace ember::llm {
namespace {

using nlohmann::json;
using Behavior = SplitStep::Behavior;
using Kind = NormalizerStep::Kind;
using Prepend = SplitStep::Prepend;

constexpr std::string_view kPunctuation = "[\\p{P}!-/:-@\\[-`{-~]";

// An entry in a table of step types: the type's name, and the function that
// reads such a step.
struct StepReader {
  std::string_view type;
  Status (*read)(const json& step, TokenizerDefinition* definition);
};

// Reads a step by the table of its kind. A step of type "Sequence" contains a
// list of steps, which are read one after the other and may be sequences, too.
template <size_t kCount>
Status ReadStep(const json& step, std::string_view what,
                std::string_view sequence, const StepReader (&readers)[kCount],
                TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const std::string type, TextField(step, what, "type"));
  if (type == "Sequence") {
    const json* const steps = FindField(step, sequence);
    if (steps == nullptr || !steps->is_array()) {
      return WrongField(what, sequence, "an array", steps);
    }
    for (const json& inner : *steps) {
      EMBER_RETURN_IF_ERROR(
          ReadStep(inner, what, sequence, readers, definition));
    }
    return OkStatus();
  }
  std::string known = "Sequence";
  for (const StepReader& reader : readers) {
    if (reader.type == type) return reader.read(step, definition);
    known += ", ";
    known += reader.type;
  }
  return UnimplementedError(
      Concat({"tokenizer.json: ", what, ".type: expected one of ", known,
              "; found \"", OnOneLine(Shortened(type, 60)), "\""}));
}

template <Kind kKind>
Status ReadPlain(const json&, TokenizerDefinition* definition) {
  definition->normalizer.push_back({kKind, "", ""});
  return OkStatus();
}

// Reads a pattern, which is {"String": ...}, {"Regex": ...} or a text.
struct Pattern {
  std::string text;
  bool is_regex = false;
};
StatusOr<Pattern> ReadPattern(const json& step, std::string_view what) {
  const json* const pattern = FindField(step, "pattern");
  if (pattern != nullptr && pattern->is_string()) {
    return Pattern{pattern->get_ref<const std::string&>(), false};
  }
  if (pattern == nullptr)
    return WrongField(what, "pattern", "a pattern", pattern);
  if (FindField(*pattern, "Regex") != nullptr) {
    EMBER_ASSIGN_OR_RETURN(std::string text,
                           TextField(*pattern, what, "Regex"));
    return Pattern{std::move(text), true};
  }
  EMBER_ASSIGN_OR_RETURN(std::string text, TextField(*pattern, what, "String"));
  return Pattern{std::move(text), false};
}

Status ReadReplace(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(Pattern pattern, ReadPattern(step, "normalizer"));
  EMBER_ASSIGN_OR_RETURN(std::string content,
                         TextField(step, "normalizer", "content"));
  definition->normalizer.push_back(
      {pattern.is_regex ? Kind::kReplaceRegex : Kind::kReplace,
       std::move(pattern.text), std::move(content)});
  return OkStatus();
}

Status ReadPrepend(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(std::string content,
                         TextField(step, "normalizer", "prepend"));
  definition->normalizer.push_back({Kind::kPrepend, "", std::move(content)});
  return OkStatus();
}

Status ReadStrip(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const bool left,
                         BoolFieldOr(step, "normalizer", "strip_left", true));
  EMBER_ASSIGN_OR_RETURN(const bool right,
                         BoolFieldOr(step, "normalizer", "strip_right", true));
  if (left) definition->normalizer.push_back({Kind::kStripLeft, "", ""});
  if (right) definition->normalizer.push_back({Kind::kStripRight, "", ""});
  return OkStatus();
}

Status ReadBertNormalizer(const json& step, TokenizerDefinition* definition) {
  constexpr std::string_view kWhat = "normalizer";
  BertOptions options;
  EMBER_ASSIGN_OR_RETURN(options.cleans_text,
                         BoolFieldOr(step, kWhat, "clean_text", true));
  EMBER_ASSIGN_OR_RETURN(
      options.isolates_chinese,
      BoolFieldOr(step, kWhat, "handle_chinese_chars", true));
  EMBER_ASSIGN_OR_RETURN(options.lowercases,
                         BoolFieldOr(step, kWhat, "lowercase", true));
  EMBER_ASSIGN_OR_RETURN(
      options.strips_accents,
      BoolFieldOr(step, kWhat, "strip_accents", options.lowercases));
  AddBertNormalizer(options, &definition->normalizer);
  return OkStatus();
}

// Decodes base64. Returns nothing if the text is not valid.
std::optional<std::string> FromBase64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return bytes;
}

Status ReadPrecompiled(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const std::string text,
                         TextField(step, "normalizer", "precompiled_charsmap"));
  std::optional<std::string> bytes = FromBase64(text);
  if (!bytes) {
    return DataLossError(
        "tokenizer.json: normalizer.precompiled_charsmap: expected base64, "
        "found other characters");
  }
  definition->normalizer.push_back(
      {Kind::kCharacterMap, "", *std::move(bytes)});
  return OkStatus();
}

constexpr StepReader kNormalizers[] = {
    {"NFC", ReadPlain<Kind::kNfc>},
    {"NFD", ReadPlain<Kind::kNfd>},
    {"NFKC", ReadPlain<Kind::kNfkc>},
    {"NFKD", ReadPlain<Kind::kNfkd>},
    {"Lowercase", ReadPlain<Kind::kLowercase>},
    {"StripAccents", ReadPlain<Kind::kStripMarks>},
    {"Replace", ReadReplace},
    {"Prepend", ReadPrepend},
    {"Strip", ReadStrip},
    {"BertNormalizer", ReadBertNormalizer},
    {"Precompiled", ReadPrecompiled},
};

StatusOr<Behavior> BehaviorNamed(std::string_view name) {
  static constexpr std::pair<std::string_view, Behavior> kBehaviors[] = {
      {"Isolated", Behavior::kIsolated},
      {"Removed", Behavior::kRemoved},
      {"MergedWithPrevious", Behavior::kMergedWithPrevious},
      {"MergedWithNext", Behavior::kMergedWithNext},
      {"Contiguous", Behavior::kContiguous}};
  for (const auto& [known, behavior] : kBehaviors) {
    if (known == name) return behavior;
  }
  return UnimplementedError(
      Concat({"tokenizer.json: pre_tokenizer.behavior: expected Isolated, "
              "Removed, MergedWithPrevious, MergedWithNext or Contiguous, "
              "found \"",
              OnOneLine(Shortened(name, 60)), "\""}));
}

Status ReadSplit(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(Pattern pattern, ReadPattern(step, "pre_tokenizer"));
  EMBER_ASSIGN_OR_RETURN(const std::string name,
                         TextField(step, "pre_tokenizer", "behavior"));
  EMBER_ASSIGN_OR_RETURN(const Behavior behavior, BehaviorNamed(name));
  SplitStep split = SplitAt(
      pattern.is_regex ? pattern.text : Regex::Quoted(pattern.text), behavior);
  EMBER_ASSIGN_OR_RETURN(split.is_inverted,
                         BoolFieldOr(step, "pre_tokenizer", "invert", false));
  definition->splits.push_back(std::move(split));
  return OkStatus();
}

Status ReadByteLevel(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(
      const bool adds_space,
      BoolFieldOr(step, "pre_tokenizer", "add_prefix_space", true));
  EMBER_ASSIGN_OR_RETURN(const bool splits,
                         BoolFieldOr(step, "pre_tokenizer", "use_regex", true));
  if (adds_space) {
    SplitStep space;
    space.kind = SplitStep::Kind::kPrependSpace;
    definition->splits.push_back(space);
  }
  if (splits) {
    definition->splits.push_back(SplitAt(kGpt2Pattern, Behavior::kIsolated));
  }
  definition->is_byte_level = true;
  return OkStatus();
}

// Returns when a step puts a space mark before a text: never, before the first
// piece, or always. Older files say it by a bool instead of a scheme.
StatusOr<Prepend> ReadPrependScheme(const json& step, std::string_view what) {
  EMBER_ASSIGN_OR_RETURN(const bool adds_space,
                         BoolFieldOr(step, what, "add_prefix_space", true));
  EMBER_ASSIGN_OR_RETURN(const std::string scheme,
                         TextFieldOr(step, what, "prepend_scheme",
                                     adds_space ? "always" : "never"));
  if (scheme == "always") return Prepend::kAlways;
  if (scheme == "first") return Prepend::kFirst;
  if (scheme == "never") return Prepend::kNever;
  return UnimplementedError(
      Concat({"tokenizer.json: ", what,
              ".prepend_scheme: expected always, first or never, found \"",
              OnOneLine(Shortened(scheme, 60)), "\""}));
}

Status CheckReplacement(const json& step, std::string_view what) {
  EMBER_ASSIGN_OR_RETURN(const std::string replacement,
                         TextFieldOr(step, what, "replacement", kSpaceMark));
  if (replacement == kSpaceMark) return OkStatus();
  return UnimplementedError(
      Concat({"tokenizer.json: ", what, ".replacement: expected \"", kSpaceMark,
              "\", found \"", OnOneLine(Shortened(replacement, 60)), "\""}));
}

Status ReadMetaspace(const json& step, TokenizerDefinition* definition) {
  EMBER_RETURN_IF_ERROR(CheckReplacement(step, "pre_tokenizer"));
  SplitStep split;
  split.kind = SplitStep::Kind::kSpaceMark;
  EMBER_ASSIGN_OR_RETURN(split.prepend,
                         ReadPrependScheme(step, "pre_tokenizer"));
  EMBER_ASSIGN_OR_RETURN(split.is_split,
                         BoolFieldOr(step, "pre_tokenizer", "split", true));
  definition->splits.push_back(split);
  return OkStatus();
}

Status ReadWhitespace(const json&, TokenizerDefinition* definition) {
  SplitStep split = SplitAt("\\w+|[^\\w\\s]+", Behavior::kRemoved);
  split.is_inverted = true;
  definition->splits.push_back(std::move(split));
  return OkStatus();
}

Status ReadWhitespaceSplit(const json&, TokenizerDefinition* definition) {
  definition->splits.push_back(SplitAt("\\s+", Behavior::kRemoved));
  return OkStatus();
}

Status ReadBertSplits(const json&, TokenizerDefinition* definition) {
  AddBertSplits(&definition->splits);
  return OkStatus();
}

Status ReadDigits(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(
      const bool individual,
      BoolFieldOr(step, "pre_tokenizer", "individual_digits", false));
  definition->splits.push_back(SplitAt(
      "\\p{N}", individual ? Behavior::kIsolated : Behavior::kContiguous));
  return OkStatus();
}

Status ReadPunctuation(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(
      const std::string name,
      TextFieldOr(step, "pre_tokenizer", "behavior", "Isolated"));
  EMBER_ASSIGN_OR_RETURN(const Behavior behavior, BehaviorNamed(name));
  definition->splits.push_back(SplitAt(kPunctuation, behavior));
  return OkStatus();
}

Status ReadDelimiter(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const std::string delimiter,
                         TextField(step, "pre_tokenizer", "delimiter"));
  definition->splits.push_back(
      SplitAt(Regex::Quoted(delimiter), Behavior::kRemoved));
  return OkStatus();
}

constexpr StepReader kPreTokenizers[] = {
    {"Split", ReadSplit},
    {"ByteLevel", ReadByteLevel},
    {"Metaspace", ReadMetaspace},
    {"Whitespace", ReadWhitespace},
    {"WhitespaceSplit", ReadWhitespaceSplit},
    {"BertPreTokenizer", ReadBertSplits},
    {"Digits", ReadDigits},
    {"Punctuation", ReadPunctuation},
    {"CharDelimiterSplit", ReadDelimiter},
};

// Reads decoders that change nothing: the vocabulary already decodes bytes, and
// the texts of tokens are simply joined.
Status ReadNothing(const json&, TokenizerDefinition*) { return OkStatus(); }

Status ReadMetaspaceDecoder(const json& step, TokenizerDefinition* definition) {
  EMBER_RETURN_IF_ERROR(CheckReplacement(step, "decoder"));
  EMBER_ASSIGN_OR_RETURN(const Prepend prepend,
                         ReadPrependScheme(step, "decoder"));
  definition->decodes_space_mark = true;
  definition->decodes_without_first_space = prepend != Prepend::kNever;
  return OkStatus();
}

Status ReadWordPieceDecoder(const json&, TokenizerDefinition* definition) {
  definition->decodes_space_mark = true;
  definition->decodes_without_first_space = true;
  return OkStatus();
}

Status ReadReplaceDecoder(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const Pattern pattern, ReadPattern(step, "decoder"));
  EMBER_ASSIGN_OR_RETURN(const std::string content,
                         TextField(step, "decoder", "content"));
  if (pattern.is_regex || pattern.text != kSpaceMark || content != " ") {
    return UnimplementedError(
        Concat({"tokenizer.json: decoder: expected Replace of \"", kSpaceMark,
                "\" by a space, found \"",
                OnOneLine(Shortened(pattern.text, 60)), "\""}));
  }
  definition->decodes_space_mark = true;
  return OkStatus();
}

Status ReadStripDecoder(const json& step, TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const int64_t start,
                         IntegerFieldOr(step, "decoder", "start", 0));
  definition->decodes_without_first_space = start > 0;
  return OkStatus();
}

Status ReadSuffixDecoder(const json&, TokenizerDefinition*) {
  return UnimplementedError(
      "tokenizer.json: decoder.type: expected a decoder without word suffix, "
      "found BPEDecoder");
}

constexpr StepReader kDecoders[] = {
    {"ByteLevel", ReadNothing},
    {"ByteFallback", ReadNothing},
    {"Fuse", ReadNothing},
    {"Metaspace", ReadMetaspaceDecoder},
    {"WordPiece", ReadWordPieceDecoder},
    {"Replace", ReadReplaceDecoder},
    {"Strip", ReadStripDecoder},
    {"BPEDecoder", ReadSuffixDecoder},
};

Status ReadTemplate(const json& step, TokenizerDefinition* definition) {
  const json* const single = FindField(step, "single");
  const json* const tokens = FindField(step, "special_tokens");
  if (single == nullptr || !single->is_array()) {
    return WrongField("post_processor", "single", "an array", single);
  }
  bool is_behind = false;
  for (const json& part : *single) {
    if (FindField(part, "Sequence") != nullptr) {
      is_behind = true;
      continue;
    }
    const json* const special = FindField(part, "SpecialToken");
    if (special == nullptr) {
      return WrongField("post_processor", "single",
                        "parts SpecialToken and Sequence", &part);
    }
    EMBER_ASSIGN_OR_RETURN(const std::string name,
                           TextField(*special, "post_processor", "id"));
    const json* const token =
        tokens == nullptr ? nullptr : FindField(*tokens, name);
    const json* const ids =
        token == nullptr ? nullptr : FindField(*token, "ids");
    if (ids == nullptr || !ids->is_array()) {
      return WrongField("post_processor", "special_tokens",
                        "the ids of each token", ids);
    }
    for (const json& id : *ids) {
      if (!id.is_number_integer()) {
        return WrongField("post_processor", "ids", "integers", &id);
      }
      const auto number = static_cast<int32_t>(id.get<int64_t>());
      (is_behind ? definition->suffix : definition->prefix).push_back(number);
    }
  }
  return OkStatus();
}

// Reads the separator token in a step BertProcessing or RobertaProcessing,
// whose form is "cls": [text, id].
Status ReadPairOfTokens(const json& step, TokenizerDefinition* definition) {
  for (const auto& [name, ids] :
       {std::pair<std::string_view, std::vector<int32_t>*>{"cls",
                                                           &definition->prefix},
        {"sep", &definition->suffix}}) {
    const json* const pair = FindField(step, name);
    if (pair == nullptr || !pair->is_array() || pair->size() != 2 ||
        !(*pair)[1].is_number_integer()) {
      return WrongField("post_processor", name, "a text and an id", pair);
    }
    ids->push_back(static_cast<int32_t>((*pair)[1].get<int64_t>()));
  }
  return OkStatus();
}

constexpr StepReader kPostProcessors[] = {
    {"ByteLevel", ReadNothing},
    {"TemplateProcessing", ReadTemplate},
    {"BertProcessing", ReadPairOfTokens},
    {"RobertaProcessing", ReadPairOfTokens},
};

}  // namespace

Status ReadNormalizer(const json& value, TokenizerDefinition* definition) {
  return ReadStep(value, "normalizer", "normalizers", kNormalizers, definition);
}

Status ReadPreTokenizer(const json& value, TokenizerDefinition* definition) {
  return ReadStep(value, "pre_tokenizer", "pretokenizers", kPreTokenizers,
                  definition);
}

Status ReadDecoder(const json& value, TokenizerDefinition* definition) {
  return ReadStep(value, "decoder", "decoders", kDecoders, definition);
}

Status ReadPostProcessor(const json& value, TokenizerDefinition* definition) {
  return ReadStep(value, "post_processor", "processors", kPostProcessors,
                  definition);
}

}  // namespace ember::llm
