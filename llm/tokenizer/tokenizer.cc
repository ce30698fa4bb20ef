#include "llm/tokenizer/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "llm/text/utf8.h"
#include "llm/tokenizer/normalizer.h"
#include "llm/tokenizer/pre_tokenizer.h"
#include "llm/tokenizer/special_tokens.h"
#include "llm/tokenizer/token_model.h"

namespace ember::llm {
namespace {

// An id in the definition with the name of its field, for error messages.
struct NamedId {
  std::string_view name;
  int32_t id;
};

Status CheckIds(const TokenizerDefinition& definition,
                const Vocabulary& vocabulary) {
  std::vector<NamedId> ids = {
      {"begin of text", definition.begin_of_text},
      {"end of text", definition.end_of_text},
      {"unknown token", definition.unknown},
      {"padding", definition.padding},
      {"separator", definition.separator},
      {"mask", definition.mask},
  };
  std::erase_if(ids, [](const NamedId& id) { return id.id == -1; });
  for (const int32_t id : definition.ends_of_generation) {
    ids.push_back({"end of generation", id});
  }
  for (const int32_t id : definition.prefix) ids.push_back({"prefix", id});
  for (const int32_t id : definition.suffix) ids.push_back({"suffix", id});
  for (const NamedId& id : ids) {
    if (vocabulary.Has(id.id)) continue;
    return InvalidArgumentError(
        Concat({"tokenizer: ", id.name, ": expected an id below ",
                vocabulary.size(), ", found ", id.id}));
  }
  return OkStatus();
}

// Returns the text with all occurrences of `mark` removed. The mark may be
// empty.
std::string WithoutMark(std::string_view text, std::string_view mark) {
  std::string rest(text);
  if (mark.empty()) return rest;
  for (size_t at = rest.find(mark); at != std::string::npos;
       at = rest.find(mark, at)) {
    rest.erase(at, mark.size());
  }
  return rest;
}

}  // namespace

struct Tokenizer::Parts {
  TokenizerDefinition definition;
  Vocabulary vocabulary;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<SpecialTokens> special;
  std::unique_ptr<TokenModel> model;

  Status EncodeText(std::string_view text, bool is_first,
                    std::vector<int32_t>* ids) const {
    EMBER_ASSIGN_OR_RETURN(const std::string normalized,
                           normalizer.Normalize(text));
    Pieces pieces;
    EMBER_RETURN_IF_ERROR(pre_tokenizer.Split(normalized, is_first, &pieces));
    for (const std::string_view piece : pieces.texts()) {
      model->Encode(piece, ids);
    }
    return OkStatus();
  }
};

Tokenizer::Tokenizer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

StatusOr<Tokenizer> Tokenizer::Create(TokenizerDefinition definition) {
  EMBER_ASSIGN_OR_RETURN(Vocabulary vocabulary,
                         Vocabulary::Create(std::move(definition.tokens),
                                            definition.decodes_space_mark));
  EMBER_RETURN_IF_ERROR(CheckIds(definition, vocabulary));
  EMBER_ASSIGN_OR_RETURN(Normalizer normalizer,
                         Normalizer::Create(definition.normalizer));
  EMBER_ASSIGN_OR_RETURN(PreTokenizer pre_tokenizer,
                         PreTokenizer::Create(definition.splits));
  // The vocabulary is moved to its final address first, because the model and
  // the special tokens keep pointers to it.
  auto parts = std::make_unique<Parts>(
      Parts{std::move(definition), std::move(vocabulary), std::move(normalizer),
            std::move(pre_tokenizer), nullptr, nullptr});
  parts->special = std::make_unique<SpecialTokens>(parts->vocabulary);
  EMBER_ASSIGN_OR_RETURN(parts->model,
                         MakeTokenModel(parts->definition, parts->vocabulary));
  parts->definition.tokens.clear();
  parts->definition.merges = {};
  return Tokenizer(std::move(parts));
}

StatusOr<std::vector<int32_t>> Tokenizer::Encode(
    std::string_view text, const EncodeOptions& options) const {
  if (text.size() > kMaxEncodedBytes) {
    return ResourceExhaustedError(
        Concat({"text: expected at most ", kMaxEncodedBytes,
                " bytes to encode, found ", text.size()}));
  }
  const std::string valid = ToValidUtf8(text);
  const TokenizerDefinition& definition = parts_->definition;
  std::vector<int32_t> ids;
  if (options.add_special) ids = definition.prefix;
  bool is_first = true;
  for (const Fragment& fragment :
       parts_->special->Split(valid, options.parse_special)) {
    if (fragment.id >= 0) {
      ids.push_back(fragment.id);
    } else {
      const std::string plain = WithoutMark(fragment.text, options.text_mark);
      if (plain.empty()) continue;
      EMBER_RETURN_IF_ERROR(parts_->EncodeText(plain, is_first, &ids));
    }
    is_first = false;
  }
  if (options.add_special) {
    ids.insert(ids.end(), definition.suffix.begin(), definition.suffix.end());
  }
  return ids;
}

std::string Tokenizer::Decode(std::span<const int32_t> ids,
                              const DecodeOptions& options) const {
  const Vocabulary& vocabulary = parts_->vocabulary;
  std::string text;
  for (const int32_t id : ids) {
    if (!vocabulary.Has(id)) continue;
    if (vocabulary.IsHidden(id) && !options.render_special) continue;
    text += vocabulary.Bytes(id);
  }
  if (options.is_start && parts_->definition.decodes_without_first_space &&
      text.starts_with(' ')) {
    text.erase(0, 1);
  }
  return text;
}

bool Tokenizer::IsEndOfGeneration(int32_t id) const {
  const std::vector<int32_t>& ends = parts_->definition.ends_of_generation;
  return std::find(ends.begin(), ends.end(), id) != ends.end();
}

const Vocabulary& Tokenizer::vocabulary() const { return parts_->vocabulary; }

const TokenizerDefinition& Tokenizer::definition() const {
  return parts_->definition;
}

}  // namespace ember::llm
