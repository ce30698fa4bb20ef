#include "frontends/gguf/testing/model_writer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/dtype.h"

namespace ember::gguf {
namespace {

constexpr size_t kControlTokens = 4;

// Returns the tokens of a small text vocabulary: control tokens, single bytes,
// and "he". GGUF writes a byte that is no printable character of ASCII as
// another character.
std::vector<std::string> TextTokens() {
  std::vector<std::string> tokens = {
      "<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "\u010A", "\u0120"};
  for (char c = '!'; c <= '~'; ++c) tokens.emplace_back(1, c);
  tokens.emplace_back("he");
  return tokens;
}

}  // namespace

ModelWriter::ModelWriter(std::string_view architecture)
    : architecture_(architecture) {
  file_.AddText("general.architecture", architecture);
  file_.AddText("general.name", "sample " + architecture_);
}

void ModelWriter::Integer(std::string_view key, int64_t value) {
  file_.AddInteger(Key(key), value);
}
void ModelWriter::Number(std::string_view key, float value) {
  file_.AddNumber(Key(key), value);
}
void ModelWriter::Bool(std::string_view key, bool value) {
  file_.AddBool(Key(key), value);
}
void ModelWriter::Text(std::string_view key, std::string_view value) {
  file_.AddText(Key(key), value);
}

void ModelWriter::WriteCommon(std::string_view epsilon_key) {
  Integer("context_length", 512);
  Integer("embedding_length", width);
  Integer("block_count", layers);
  Integer("feed_forward_length", hidden);
  Integer("attention.head_count", heads);
  if (architecture_ != "lfm2") Integer("attention.head_count_kv", kv_heads);
  Integer("vocab_size", vocabulary);
  Number(epsilon_key, 1e-5f);
  WriteVocabulary();
}

void ModelWriter::UseTextVocabulary() {
  has_texts_ = true;
  vocabulary = static_cast<int64_t>(TextTokens().size());
}

void ModelWriter::WriteVocabulary() {
  const auto count = static_cast<size_t>(vocabulary);
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "<|endoftext|>"};
  if (has_texts_) tokens = TextTokens();
  while (tokens.size() < count)
    tokens.push_back("t" + std::to_string(tokens.size()));
  // Kinds of tokens in GGUF: 1 is a normal token, 2 the unknown token, and 3 a
  // control token.
  std::vector<int32_t> types(count, 1);
  if (has_texts_) {
    types[0] = 2;
    std::fill_n(types.begin() + 1, kControlTokens, 3);
  }
  file_.AddText("tokenizer.ggml.model", "gpt2");
  file_.AddText("tokenizer.ggml.pre", "default");
  file_.AddTexts("tokenizer.ggml.tokens", tokens);
  file_.AddTexts("tokenizer.ggml.merges", {has_texts_ ? "h e" : "t 1"});
  file_.AddIntegers("tokenizer.ggml.token_type", types);
  file_.AddInteger("tokenizer.ggml.bos_token_id", 1);
  file_.AddInteger("tokenizer.ggml.eos_token_id", 2);
  if (!has_texts_) return;
  file_.AddBool("tokenizer.ggml.add_bos_token", true);
  file_.AddText("tokenizer.chat_template",
                "{{ bos_token }}{% for message in messages %}<|im_start|>"
                "{{ message.role }}\n{{ message.content }}<|im_end|>\n"
                "{% endfor %}{% if add_generation_prompt %}<|im_start|>"
                "assistant\n{% endif %}");
}

void ModelWriter::WriteHeadSizes() {
  Integer("attention.key_length", head);
  Integer("attention.value_length", head);
}

void ModelWriter::WriteRotary(int64_t dims, float base) {
  Integer("rope.dimension_count", dims);
  Number("rope.freq_base", base);
}

float ModelWriter::Random() {
  // The linear congruential generator of Knuth's MMIX gives the same numbers on
  // every platform.
  state_ = state_ * 6364136223846793005u + 1442695040888963407u;
  return static_cast<float>(static_cast<int32_t>(state_ >> 32)) / 2147483648.0f;
}

void ModelWriter::Tensor(const std::string& name,
                         const std::vector<int64_t>& dims, float deviation,
                         float mean) {
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::string bytes;
  const float largest = deviation * std::sqrt(3.0f);
  for (int64_t i = 0; i < count; ++i) {
    bytes +=
        LittleEndian(std::bit_cast<uint32_t>(mean + largest * Random()), 4);
  }
  file_.AddTensor(name, 0, dims, bytes);
}

void ModelWriter::Matrix(const std::string& name,
                         const std::vector<int64_t>& dims, float gain) {
  const float deviation = gain / std::sqrt(static_cast<float>(dims.back()));
  if (!is_packed || dims.back() % 32 != 0) return Tensor(name, dims, deviation);
  int64_t blocks = dims.back() / 32;
  for (size_t i = 0; i + 1 < dims.size(); ++i) blocks *= dims[i];
  std::string bytes;
  const float scale = deviation * std::sqrt(3.0f) / 127;
  for (int64_t i = 0; i < blocks; ++i) {
    bytes += LittleEndian(ToFloat16(scale).bits, 2);
    for (int j = 0; j < 32; ++j)
      bytes.push_back(static_cast<char>(static_cast<int>(Random() * 127)));
  }
  file_.AddTensor(name, 8, dims, bytes);
}

void ModelWriter::Norm(const std::string& name, int64_t size, bool has_bias) {
  Tensor(name + ".weight", {size}, 0.1f, 1);
  if (has_bias) Tensor(name + ".bias", {size}, 0.1f);
}

void ModelWriter::Linear(const std::string& name, int64_t rows, int64_t columns,
                         bool has_bias, float gain) {
  Matrix(name + ".weight", {rows, columns}, gain);
  if (has_bias) Tensor(name + ".bias", {rows}, 0.1f);
}

}  // namespace ember::gguf
