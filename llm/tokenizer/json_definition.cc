#include "llm/tokenizer/json_definition.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "llm/tokenizer/byte_characters.h"
#include "llm/tokenizer/definition_parts.h"
#include "llm/tokenizer/json_fields.h"
#include "llm/tokenizer/json_steps.h"
#include "llm/tokenizer/vocabulary.h"

namespace ember::llm {
namespace {

using nlohmann::json;

std::string Quoted(std::string_view text) {
  return "\"" + OnOneLine(Shortened(text, 60)) + "\"";
}

class Reader {
 public:
  explicit Reader(const json& root) : root_(root) {}

  StatusOr<TokenizerDefinition> Read() {
    const json* const model = FindField(root_, "model");
    if (model == nullptr || !model->is_object()) {
      return WrongField("tokenizer.json", "model", "an object", model);
    }
    // The steps are read before the model, because they decide if the texts of
    // tokens are bytes.
    EMBER_RETURN_IF_ERROR(ReadSteps());
    EMBER_RETURN_IF_ERROR(ReadModel(*model));
    EMBER_RETURN_IF_ERROR(ReadAddedTokens());
    EMBER_RETURN_IF_ERROR(CheckTokens());
    AddEndsOfGeneration(&definition_);
    return std::move(definition_);
  }

 private:
  Status ReadSteps() {
    static constexpr std::pair<std::string_view,
                               Status (*)(const json&, TokenizerDefinition*)>
        kSteps[] = {{"normalizer", ReadNormalizer},
                    {"pre_tokenizer", ReadPreTokenizer},
                    {"decoder", ReadDecoder},
                    {"post_processor", ReadPostProcessor}};
    for (const auto& [name, read] : kSteps) {
      const json* const step = FindField(root_, name);
      if (step != nullptr) {
        EMBER_RETURN_IF_ERROR(read(*step, &definition_));
      }
    }
    return OkStatus();
  }

  Status ReadModel(const json& model) {
    const json* const vocabulary = FindField(model, "vocab");
    const bool has_merges = FindField(model, "merges") != nullptr;
    const bool is_list = vocabulary != nullptr && vocabulary->is_array();
    // Older files do not give the model's type, so it is recognised by its
    // fields.
    EMBER_ASSIGN_OR_RETURN(const std::string type,
                           TextFieldOr(model, "model", "type",
                                       has_merges ? "BPE"
                                       : is_list  ? "Unigram"
                                                  : "WordPiece"));
    if (type == "Unigram") return ReadUnigram(model, vocabulary);
    if (vocabulary == nullptr || !vocabulary->is_object()) {
      return WrongField("model", "vocab", "an object", vocabulary);
    }
    EMBER_RETURN_IF_ERROR(ReadVocabulary(*vocabulary));
    if (type == "BPE") return ReadBytePairs(model);
    if (type == "WordPiece") return ReadWordPiece(model);
    return UnimplementedError(
        Concat({"tokenizer.json: model.type: expected BPE, Unigram or "
                "WordPiece, found ",
                Quoted(type)}));
  }

  // Reads an object that maps the texts of tokens to ids. The texts are kept as
  // the file writes them.
  Status ReadVocabulary(const json& vocabulary) {
    ids_.reserve(vocabulary.size());
    for (const auto& [text, value] : vocabulary.items()) {
      if (!value.is_number_integer()) {
        return WrongField("model.vocab", OnOneLine(Shortened(text, 60)),
                          "an id", &value);
      }
      EMBER_ASSIGN_OR_RETURN(TokenDefinition* const token,
                             TokenAt(value.get<int64_t>(), text));
      token->text = text;
      ids_.emplace(text, static_cast<int32_t>(value.get<int64_t>()));
    }
    return OkStatus();
  }

  // Returns the token with this id, after adding tokens without texts up to it
  // if necessary. An id above 1023 plus four times the number of tokens in the
  // file is an error, so that a large id cannot make the vocabulary large.
  StatusOr<TokenDefinition*> TokenAt(int64_t id, std::string_view text) {
    std::vector<TokenDefinition>& tokens = definition_.tokens;
    const json* const added = FindField(root_, "added_tokens");
    const size_t most = 1024 + 4 * (ids_.size() + tokens.size() +
                                    (added == nullptr ? 0 : added->size()));
    if (id < 0 || static_cast<uint64_t>(id) >= std::min(most, kMaxTokens)) {
      return InvalidArgumentError(Concat(
          {"tokenizer.json: token ", Quoted(text), ": expected an id below ",
           std::min(most, kMaxTokens), ", found ", id}));
    }
    if (static_cast<size_t>(id) >= tokens.size()) {
      TokenDefinition missing;
      missing.kind = TokenKind::kUnused;
      tokens.resize(static_cast<size_t>(id) + 1, missing);
    }
    TokenDefinition& token = tokens[id];
    token.kind = TokenKind::kNormal;
    return &token;
  }

  Status ReadUnknown(const json& model) {
    EMBER_ASSIGN_OR_RETURN(const std::string unknown,
                           TextFieldOr(model, "model", "unk_token", ""));
    const auto id = ids_.find(unknown);
    if (id == ids_.end()) return OkStatus();
    definition_.unknown = id->second;
    definition_.tokens[id->second].kind = TokenKind::kUnknown;
    return OkStatus();
  }

  Status ReadBytePairs(const json& model) {
    TokenizerDefinition& r = definition_;
    r.model = ModelKind::kBytePairs;
    EMBER_ASSIGN_OR_RETURN(r.fuses_unknown,
                           BoolFieldOr(model, "model", "fuse_unk", false));
    EMBER_ASSIGN_OR_RETURN(r.has_byte_fallback,
                           BoolFieldOr(model, "model", "byte_fallback", false));
    EMBER_ASSIGN_OR_RETURN(r.ignores_merges,
                           BoolFieldOr(model, "model", "ignore_merges", false));
    EMBER_ASSIGN_OR_RETURN(
        r.end_of_word, TextFieldOr(model, "model", "end_of_word_suffix", ""));
    EMBER_ASSIGN_OR_RETURN(
        const std::string prefix,
        TextFieldOr(model, "model", "continuing_subword_prefix", ""));
    if (!prefix.empty()) {
      return UnimplementedError(
          Concat({"tokenizer.json: model.continuing_subword_prefix: expected "
                  "none, found ",
                  Quoted(prefix)}));
    }
    EMBER_RETURN_IF_ERROR(ReadUnknown(model));
    EMBER_RETURN_IF_ERROR(ReadMerges(model));
    if (r.has_byte_fallback) MarkByteTokens();
    if (!r.is_byte_level) return OkStatus();
    for (TokenDefinition& token : r.tokens) {
      if (token.kind == TokenKind::kNormal) {
        token.text = BytesOfCharacters(token.text);
      }
    }
    return OkStatus();
  }

  Status ReadMerges(const json& model) {
    const json* const merges = FindField(model, "merges");
    if (merges == nullptr || !merges->is_array()) {
      return WrongField("model", "merges", "an array", merges);
    }
    for (size_t i = 0; i < merges->size(); ++i) {
      const json& merge = (*merges)[i];
      std::string_view left, right;
      if (merge.is_string()) {
        const std::string_view text = merge.get_ref<const std::string&>();
        const size_t space = std::min(text.find(' '), text.size());
        left = text.substr(0, space);
        right = text.substr(std::min(space + 1, text.size()));
      } else if (merge.is_array() && merge.size() == 2 &&
                 merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get_ref<const std::string&>();
        right = merge[1].get_ref<const std::string&>();
      }
      if (left.empty() || right.empty()) {
        return WrongField("model", Concat({"merges[", i, "]"}), "two texts",
                          &merge);
      }
      if (!AddMerge(left, right, ids_, &definition_.merges)) {
        return InvalidArgumentError(
            Concat({"tokenizer.json: model.merges[", i,
                    "]: expected texts of tokens, found ", Quoted(left),
                    " and ", Quoted(right)}));
      }
    }
    return OkStatus();
  }

  Status ReadWordPiece(const json& model) {
    TokenizerDefinition& r = definition_;
    r.model = ModelKind::kWordPiece;
    EMBER_ASSIGN_OR_RETURN(
        const int64_t most,
        IntegerFieldOr(model, "model", "max_input_chars_per_word", 100));
    r.max_word_characters = static_cast<int32_t>(
        std::min<int64_t>(most, std::numeric_limits<int32_t>::max()));
    EMBER_ASSIGN_OR_RETURN(
        const std::string prefix,
        TextFieldOr(model, "model", "continuing_subword_prefix", "##"));
    EMBER_RETURN_IF_ERROR(ReadUnknown(model));
    for (TokenDefinition& token : r.tokens) {
      if (token.kind != TokenKind::kNormal) continue;
      if (!prefix.empty() && token.text.starts_with(prefix)) {
        token.text.erase(0, prefix.size());
      } else {
        token.text.insert(0, kSpaceMark);
      }
    }
    return OkStatus();
  }

  Status ReadUnigram(const json& model, const json* vocabulary) {
    TokenizerDefinition& r = definition_;
    if (vocabulary == nullptr || !vocabulary->is_array()) {
      return WrongField("model", "vocab", "an array", vocabulary);
    }
    r.model = ModelKind::kUnigram;
    r.fuses_unknown = true;
    EMBER_ASSIGN_OR_RETURN(r.has_byte_fallback,
                           BoolFieldOr(model, "model", "byte_fallback", false));
    for (size_t id = 0; id < vocabulary->size(); ++id) {
      const json& row = (*vocabulary)[id];
      if (!row.is_array() || row.size() != 2 || !row[0].is_string() ||
          !row[1].is_number()) {
        return WrongField("model", Concat({"vocab[", id, "]"}),
                          "a text and a score", &row);
      }
      TokenDefinition& token = r.tokens.emplace_back();
      token.text = row[0].get_ref<const std::string&>();
      token.score = static_cast<float>(row[1].get<double>());
      ids_.emplace(row[0].get_ref<const std::string&>(),
                   static_cast<int32_t>(id));
    }
    EMBER_ASSIGN_OR_RETURN(const int64_t unknown,
                           IntegerFieldOr(model, "model", "unk_id", -1));
    if (unknown >= 0 && unknown < static_cast<int64_t>(r.tokens.size())) {
      r.unknown = static_cast<int32_t>(unknown);
      r.tokens[unknown].kind = TokenKind::kUnknown;
    }
    if (r.has_byte_fallback) MarkByteTokens();
    return OkStatus();
  }

  void MarkByteTokens() {
    for (TokenDefinition& token : definition_.tokens) {
      if (token.kind == TokenKind::kNormal && ByteOfToken(token.text) >= 0) {
        token.kind = TokenKind::kByte;
      }
    }
  }

  Status ReadAddedTokens() {
    const json* const added = FindField(root_, "added_tokens");
    if (added == nullptr) return OkStatus();
    if (!added->is_array()) {
      return WrongField("tokenizer.json", "added_tokens", "an array", added);
    }
    constexpr std::string_view kWhat = "added_tokens";
    for (const json& row : *added) {
      EMBER_ASSIGN_OR_RETURN(std::string content,
                             TextField(row, kWhat, "content"));
      EMBER_ASSIGN_OR_RETURN(const int64_t id, IntegerField(row, kWhat, "id"));
      EMBER_ASSIGN_OR_RETURN(TokenDefinition* const token,
                             TokenAt(id, content));
      EMBER_ASSIGN_OR_RETURN(const bool is_special,
                             BoolFieldOr(row, kWhat, "special", false));
      EMBER_ASSIGN_OR_RETURN(token->takes_space_before,
                             BoolFieldOr(row, kWhat, "lstrip", false));
      EMBER_ASSIGN_OR_RETURN(token->takes_space_behind,
                             BoolFieldOr(row, kWhat, "rstrip", false));
      EMBER_ASSIGN_OR_RETURN(token->is_single_word,
                             BoolFieldOr(row, kWhat, "single_word", false));
      token->text = std::move(content);
      token->kind = is_special ? TokenKind::kControl : TokenKind::kUserDefined;
      if (id == definition_.unknown) token->kind = TokenKind::kUnknown;
    }
    return OkStatus();
  }

  // Checks that there is at least one token.
  Status CheckTokens() {
    if (definition_.tokens.empty()) {
      return DataLossError(
          "tokenizer.json: model.vocab: expected tokens, found none");
    }
    return OkStatus();
  }

  const json& root_;
  TextIds ids_;  // maps texts of tokens, as views of root_, to ids
  TokenizerDefinition definition_;
};

// Reads the id of a special token. The configuration names the token by its
// text, or by an object with the field "content".
void ReadNamedToken(const json& config, std::string_view name,
                    const TokenizerDefinition& definition, int32_t* id) {
  const json* token = FindField(config, name);
  if (token != nullptr && token->is_object()) {
    token = FindField(*token, "content");
  }
  if (token == nullptr || !token->is_string()) return;
  const auto& text = token->get_ref<const std::string&>();
  for (size_t i = 0; i < definition.tokens.size(); ++i) {
    const TokenKind kind = definition.tokens[i].kind;
    const bool is_special = kind == TokenKind::kControl ||
                            kind == TokenKind::kUnknown ||
                            kind == TokenKind::kUserDefined;
    if (is_special && definition.tokens[i].text == text) {
      *id = static_cast<int32_t>(i);
      return;
    }
  }
}

Status ReadChatTemplate(const json& config, TokenizerDefinition* definition) {
  const json* const found = FindField(config, "chat_template");
  if (found == nullptr) return OkStatus();
  if (found->is_string()) {
    definition->chat_template = found->get_ref<const std::string&>();
    return OkStatus();
  }
  if (!found->is_array()) {
    return WrongField("tokenizer_config.json", "chat_template",
                      "a text or an array", found);
  }
  for (const json& row : *found) {
    EMBER_ASSIGN_OR_RETURN(const std::string name,
                           TextField(row, "chat_template", "name"));
    if (name != "default") continue;
    EMBER_ASSIGN_OR_RETURN(definition->chat_template,
                           TextField(row, "chat_template", "template"));
  }
  return OkStatus();
}

}  // namespace

StatusOr<TokenizerDefinition> ReadJsonTokenizer(std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(const json root,
                         ParseBoundedJson(text, "tokenizer.json",
                                          kMaxTokenizerJson, kMaxJsonValues));
  return Reader(root).Read();
}

Status AddTokenizerConfig(std::string_view text,
                          TokenizerDefinition* definition) {
  EMBER_ASSIGN_OR_RETURN(const json config,
                         ParseBoundedJson(text, "tokenizer_config.json",
                                          kMaxTokenizerJson, kMaxJsonValues));
  if (!config.is_object()) {
    return DataLossError(
        Concat({"tokenizer_config.json: expected an object, found ",
                config.type_name()}));
  }
  TokenizerDefinition& r = *definition;
  ReadNamedToken(config, "bos_token", r, &r.begin_of_text);
  ReadNamedToken(config, "eos_token", r, &r.end_of_text);
  ReadNamedToken(config, "unk_token", r, &r.unknown);
  ReadNamedToken(config, "pad_token", r, &r.padding);
  ReadNamedToken(config, "sep_token", r, &r.separator);
  ReadNamedToken(config, "mask_token", r, &r.mask);
  r.ends_of_generation.clear();
  AddEndsOfGeneration(definition);
  return ReadChatTemplate(config, definition);
}

}  // namespace ember::llm
