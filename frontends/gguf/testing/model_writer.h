// Writes the metadata and random tensors of a small GGUF model;
// sample_models.cc uses it.
//
//   ModelWriter m("llama");
//   m.WriteCommon("attention.layer_norm_rms_epsilon");
//   m.Matrix("blk.0.ffn_up.weight", {m.hidden, m.width});
//   const std::string file = m.Build();
#ifndef EMBER_FRONTENDS_GGUF_TESTING_MODEL_WRITER_H_
#define EMBER_FRONTENDS_GGUF_TESTING_MODEL_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/gguf/testing/file_builder.h"

namespace ember::gguf {

class ModelWriter {
 public:
  explicit ModelWriter(std::string_view architecture);

  // Sizes of the model. A caller that needs other sizes sets them before it
  // calls the functions that write.
  int64_t width = 32, hidden = 32, heads = 4, kv_heads = 2, head = 8;
  int64_t vocabulary = 24, layers = 2;

  // Replaces the vocabulary of placeholders by one that encodes and decodes
  // texts of ASCII: bytes, one merge ("h" and "e"), and the control tokens of a
  // chat template, which is written, too. Call it before WriteCommon.
  void UseTextVocabulary();

  FileBuilder& file() { return file_; }
  // Add an entry of the metadata, such as "llama.block_count" for the key
  // "block_count".
  void Integer(std::string_view key, int64_t value);
  void Number(std::string_view key, float value);
  void Bool(std::string_view key, bool value);
  void Text(std::string_view key, std::string_view value);
  // Writes the entries that all models have, and the vocabulary.
  void WriteCommon(std::string_view epsilon_key);
  void WriteHeadSizes();
  void WriteRotary(int64_t dims, float base);

  // Adds a tensor of uniformly distributed numbers with this mean, and
  // `deviation` as the standard deviation.
  void Tensor(const std::string& name, const std::vector<int64_t>& dims,
              float deviation, float mean = 0);
  // Adds a random matrix whose product with a vector has `gain` times the
  // vector's standard deviation. Three dims mean one matrix per expert. If
  // `is_packed` is true and the columns are a multiple of 32, the type is Q8_0,
  // else f32.
  void Matrix(const std::string& name, const std::vector<int64_t>& dims,
              float gain = 1);
  bool is_packed = false;
  // Add the parameters of a normalisation, and those of a linear layer.
  void Norm(const std::string& name, int64_t size, bool has_bias = false);
  void Linear(const std::string& name, int64_t rows, int64_t columns,
              bool has_bias = false, float gain = 1);

  std::string Build() const { return file_.Build(); }

 private:
  // Returns a pseudo-random number in [-1, 1).
  float Random();
  void WriteVocabulary();
  std::string Key(std::string_view key) const {
    return architecture_ + "." + std::string(key);
  }

  std::string architecture_;
  FileBuilder file_;
  bool has_texts_ = false;
  uint64_t state_ = 1;
};

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_TESTING_MODEL_WRITER_H_
