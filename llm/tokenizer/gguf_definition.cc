#include "llm/tokenizer/gguf_definition.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/tokenizer/byte_characters.h"
#include "llm/tokenizer/definition_parts.h"
#include "llm/tokenizer/split_rules.h"

namespace ember::llm {
namespace {

using gguf::GgufFile;
using Kind = NormalizerStep::Kind;

std::string Key(std::string_view name) {
  return "tokenizer.ggml." + std::string(name);
}

std::string Quoted(std::string_view text) {
  return "\"" + OnOneLine(Shortened(text, 60)) + "\"";
}

// The values of keys that a file may leave out. They depend on the kind of the
// model.
struct Defaults {
  int32_t begin = -1, end = -1, unknown = -1, separator = -1, padding = -1,
          mask = -1;
  bool adds_begin = false, adds_end = false, adds_separator = false;
  bool adds_space = false;
};

class Reader {
 public:
  explicit Reader(const GgufFile& file) : file_(file) {}

  StatusOr<TokenizerDefinition> Read() {
    EMBER_ASSIGN_OR_RETURN(const std::string_view model,
                           file_.Text(Key("model")));
    EMBER_RETURN_IF_ERROR(ReadTokens());
    if (model == "gpt2") {
      EMBER_RETURN_IF_ERROR(ReadBytePairs());
    } else if (model == "llama") {
      EMBER_RETURN_IF_ERROR(ReadScoredPairs());
    } else if (model == "t5") {
      EMBER_RETURN_IF_ERROR(ReadUnigram());
    } else if (model == "bert") {
      EMBER_RETURN_IF_ERROR(ReadWordPiece());
    } else {
      return UnimplementedError(
          Concat({"tokenizer.ggml.model: expected gpt2, llama, t5 or bert, "
                  "found ",
                  Quoted(model)}));
    }
    EMBER_RETURN_IF_ERROR(ReadSpecialTokens());
    EMBER_ASSIGN_OR_RETURN(const std::string_view chat_template,
                           file_.TextOr("tokenizer.chat_template", ""));
    definition_.chat_template = chat_template;
    return std::move(definition_);
  }

 private:
  Status ReadTokens() {
    EMBER_ASSIGN_OR_RETURN(texts_, file_.Texts(Key("tokens")));
    std::vector<float> scores;
    std::vector<int64_t> kinds;
    if (file_.Has(Key("scores"))) {
      EMBER_ASSIGN_OR_RETURN(scores, file_.Numbers(Key("scores")));
      EMBER_RETURN_IF_ERROR(CheckCount("scores", scores.size()));
    }
    if (file_.Has(Key("token_type"))) {
      EMBER_ASSIGN_OR_RETURN(kinds, file_.Integers(Key("token_type")));
      EMBER_RETURN_IF_ERROR(CheckCount("token_type", kinds.size()));
    }
    definition_.tokens.resize(texts_.size());
    for (size_t id = 0; id < texts_.size(); ++id) {
      TokenDefinition& token = definition_.tokens[id];
      token.text = texts_[id];
      if (!scores.empty()) token.score = scores[id];
      if (!kinds.empty()) token.kind = KindOf(kinds[id]);
    }
    return OkStatus();
  }

  Status CheckCount(std::string_view name, size_t count) const {
    if (count >= texts_.size()) return OkStatus();
    return DataLossError(Concat({Key(name), ": expected ", texts_.size(),
                                 " elements, one per token, found ", count}));
  }

  static TokenKind KindOf(int64_t number) {
    static constexpr TokenKind kKinds[] = {
        TokenKind::kNormal,  TokenKind::kNormal,      TokenKind::kUnknown,
        TokenKind::kControl, TokenKind::kUserDefined, TokenKind::kUnused,
        TokenKind::kByte};
    if (number < 0 || number >= static_cast<int64_t>(std::size(kKinds))) {
      return TokenKind::kNormal;
    }
    return kKinds[number];
  }

  Status ReadBytePairs() {
    EMBER_ASSIGN_OR_RETURN(const std::string_view name,
                           file_.TextOr(Key("pre"), "default"));
    const SplitRules* const rules = FindSplitRules(name);
    if (rules == nullptr) {
      return UnimplementedError(
          Concat({"tokenizer.ggml.pre: expected one of ", SplitRuleNames(),
                  "; found ", Quoted(name)}));
    }
    for (const std::string_view pattern : rules->patterns) {
      definition_.splits.push_back(
          SplitAt(pattern, SplitStep::Behavior::kIsolated));
    }
    definition_.model = ModelKind::kBytePairs;
    definition_.is_byte_level = true;
    definition_.ignores_merges = rules->ignores_merges;
    defaults_ = {.begin = 11, .end = 11, .adds_begin = rules->adds_begin};
    EMBER_RETURN_IF_ERROR(ReadMerges());
    for (TokenDefinition& token : definition_.tokens) {
      if (token.kind == TokenKind::kNormal) {
        token.text = BytesOfCharacters(token.text);
      }
    }
    return OkStatus();
  }

  Status ReadMerges() {
    EMBER_ASSIGN_OR_RETURN(const std::vector<std::string_view> merges,
                           file_.Texts(Key("merges")));
    TextIds ids;
    ids.reserve(texts_.size());
    for (size_t id = 0; id < texts_.size(); ++id) {
      ids.emplace(texts_[id], static_cast<int32_t>(id));
    }
    for (size_t i = 0; i < merges.size(); ++i) {
      // A merge is two texts with a space between them. Only the first text may
      // begin with a space, so the search for the separator starts at index 1.
      const size_t space = merges[i].find(' ', 1);
      if (space == std::string_view::npos) {
        return DataLossError(
            Concat({"tokenizer.ggml.merges: element ", i,
                    ": expected two texts with a space between, found ",
                    Quoted(merges[i])}));
      }
      AddMerge(merges[i].substr(0, space), merges[i].substr(space + 1), ids,
               &definition_.merges);
    }
    if (definition_.merges.empty() && !merges.empty()) {
      return DataLossError(
          "tokenizer.ggml.merges: expected texts of tokens, found none");
    }
    return OkStatus();
  }

  Status ReadScoredPairs() {
    definition_.model = ModelKind::kScoredPairs;
    definition_.has_byte_fallback = true;
    definition_.decodes_space_mark = true;
    defaults_ = {.begin = 1,
                 .end = 2,
                 .unknown = 0,
                 .adds_begin = true,
                 .adds_space = true};
    return AddSpaceMarks();
  }

  Status ReadUnigram() {
    definition_.model = ModelKind::kUnigram;
    definition_.fuses_unknown = true;
    definition_.decodes_space_mark = true;
    defaults_ = {.end = 1,
                 .unknown = 2,
                 .padding = 0,
                 .adds_end = true,
                 .adds_space = true};
    const auto map = file_.metadata().find(Key("precompiled_charsmap"));
    if (map != file_.metadata().end()) {
      const std::span<const uint8_t> bytes = map->second.bytes;
      definition_.normalizer.push_back(
          {Kind::kCharacterMap, "",
           std::string(reinterpret_cast<const char*>(bytes.data()),
                       bytes.size())});
    }
    EMBER_ASSIGN_OR_RETURN(
        const bool collapses,
        file_.BoolOr(Key("remove_extra_whitespaces"), false));
    if (collapses) {
      definition_.normalizer.push_back({Kind::kCollapseSpaces, "", ""});
    }
    return AddSpaceMarks();
  }

  // Adds steps that replace spaces by kSpaceMark and, if the file says so, put
  // a space before each text.
  Status AddSpaceMarks() {
    EMBER_ASSIGN_OR_RETURN(
        const bool adds_space,
        file_.BoolOr(Key("add_space_prefix"), defaults_.adds_space));
    if (adds_space) {
      definition_.normalizer.push_back({Kind::kPrepend, "", " "});
      definition_.decodes_without_first_space = true;
    }
    definition_.normalizer.push_back(
        {Kind::kReplace, " ", std::string(kSpaceMark)});
    return OkStatus();
  }

  Status ReadWordPiece() {
    definition_.model = ModelKind::kWordPiece;
    definition_.decodes_space_mark = true;
    definition_.decodes_without_first_space = true;
    defaults_ = {.begin = 101,
                 .unknown = 100,
                 .separator = 102,
                 .padding = 0,
                 .mask = 103,
                 .adds_begin = true,
                 .adds_separator = true};
    BertOptions options;
    EMBER_ASSIGN_OR_RETURN(options.lowercases,
                           file_.BoolOr(Key("normalizer.lowercase"), true));
    EMBER_ASSIGN_OR_RETURN(
        options.strips_accents,
        file_.BoolOr(Key("normalizer.strip_accents"), options.lowercases));
    AddBertNormalizer(options, &definition_.normalizer);
    AddBertSplits(&definition_.splits);
    return OkStatus();
  }

  // Reads an id. An id that the vocabulary does not have is treated as a
  // missing key.
  Status ReadId(std::string_view name, int32_t otherwise, int32_t* id) const {
    EMBER_ASSIGN_OR_RETURN(const int64_t found,
                           file_.IntegerOr(Key(name), otherwise));
    const auto count = static_cast<int64_t>(definition_.tokens.size());
    *id = found >= 0 && found < count ? static_cast<int32_t>(found) : -1;
    return OkStatus();
  }

  Status ReadSpecialTokens() {
    const Defaults& d = defaults_;
    TokenizerDefinition& r = definition_;
    EMBER_RETURN_IF_ERROR(ReadId("bos_token_id", d.begin, &r.begin_of_text));
    EMBER_RETURN_IF_ERROR(ReadId("eos_token_id", d.end, &r.end_of_text));
    EMBER_RETURN_IF_ERROR(ReadId("unknown_token_id", d.unknown, &r.unknown));
    EMBER_RETURN_IF_ERROR(ReadId("padding_token_id", d.padding, &r.padding));
    EMBER_RETURN_IF_ERROR(ReadId("mask_token_id", d.mask, &r.mask));
    // The misspelling "seperator" is part of the GGUF format.
    EMBER_RETURN_IF_ERROR(
        ReadId("seperator_token_id", d.separator, &r.separator));
    int32_t end_of_turn = -1, end_of_message = -1, cls = -1;
    EMBER_RETURN_IF_ERROR(ReadId("eot_token_id", -1, &end_of_turn));
    EMBER_RETURN_IF_ERROR(ReadId("eom_token_id", -1, &end_of_message));
    EMBER_RETURN_IF_ERROR(ReadId("cls_token_id", -1, &cls));
    if (r.model == ModelKind::kWordPiece && cls >= 0) r.begin_of_text = cls;
    AddEndsOfGeneration(&r);
    for (const int32_t id : {end_of_turn, end_of_message}) {
      std::vector<int32_t>& ends = r.ends_of_generation;
      if (id >= 0 && std::find(ends.begin(), ends.end(), id) == ends.end()) {
        ends.push_back(id);
      }
    }
    EMBER_ASSIGN_OR_RETURN(const bool adds_begin,
                           file_.BoolOr(Key("add_bos_token"), d.adds_begin));
    EMBER_ASSIGN_OR_RETURN(const bool adds_end,
                           file_.BoolOr(Key("add_eos_token"), d.adds_end));
    EMBER_ASSIGN_OR_RETURN(
        const bool adds_separator,
        file_.BoolOr(Key("add_sep_token"), d.adds_separator));
    if (adds_begin && r.begin_of_text >= 0) r.prefix = {r.begin_of_text};
    // Texts of BERT end with the separator token, those of all other models
    // with the end of text.
    const bool is_bert = r.model == ModelKind::kWordPiece;
    const int32_t last = is_bert ? r.separator : r.end_of_text;
    if ((is_bert ? adds_separator : adds_end) && last >= 0) r.suffix = {last};
    return MarkPhi3Tokens();
  }

  // In Phi-3's GGUF files the special tokens of messages lack the flag that
  // says that they take the white space after them. So the flag is set here.
  Status MarkPhi3Tokens() {
    EMBER_ASSIGN_OR_RETURN(const std::string_view name,
                           file_.TextOr("general.name", ""));
    std::string lower(name);
    for (char& c : lower) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
    if (lower.find("phi-3") == std::string::npos &&
        lower.find("phi3") == std::string::npos) {
      return OkStatus();
    }
    for (TokenDefinition& token : definition_.tokens) {
      const bool is_special = token.kind == TokenKind::kControl ||
                              token.kind == TokenKind::kUserDefined;
      const bool is_excepted = token.text == "<unk>" || token.text == "<s>" ||
                               token.text == "<|endoftext|>";
      token.takes_space_behind = is_special && !is_excepted;
    }
    return OkStatus();
  }

  const GgufFile& file_;
  std::vector<std::string_view> texts_;
  TokenizerDefinition definition_;
  Defaults defaults_;
};

}  // namespace

StatusOr<TokenizerDefinition> ReadGgufTokenizer(const GgufFile& file) {
  return Reader(file).Read();
}

}  // namespace ember::llm
