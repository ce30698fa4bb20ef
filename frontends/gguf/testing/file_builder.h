// Writes GGUF files for tests.
//
//   FileBuilder file;                       // version 3
//   file.AddText("general.architecture", "llama");
//   file.AddInteger("llama.block_count", 2);
//   file.AddTensor("output_norm.weight", 0, {64}, bytes);
//   const std::string contents = file.Build();
//
// The builder checks nothing, so that it also writes wrong files. Not
// thread-safe.
#ifndef EMBER_FRONTENDS_GGUF_TESTING_FILE_BUILDER_H_
#define EMBER_FRONTENDS_GGUF_TESTING_FILE_BUILDER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::gguf {

class FileBuilder {
 public:
  explicit FileBuilder(uint32_t version = 3) : version_(version) {}

  // Add an entry of the metadata; integers are u32.
  void AddText(std::string_view key, std::string_view value);
  void AddInteger(std::string_view key, int64_t value);
  void AddNumber(std::string_view key, float value);
  void AddBool(std::string_view key, bool value);
  void AddTexts(std::string_view key, const std::vector<std::string>& values);
  void AddIntegers(std::string_view key, const std::vector<int32_t>& values);
  void AddNumbers(std::string_view key, const std::vector<float>& values);
  // Adds an entry of the metadata from the number of its type and the bytes
  // that follow this number.
  void AddRaw(std::string_view key, uint32_t type, std::string_view bytes);

  // Adds a tensor. The dims are outermost first. `ggml_type`: number of the
  // type in ggml, such as 0 for f32.
  void AddTensor(std::string_view name, uint32_t ggml_type,
                 const std::vector<int64_t>& dims, std::string_view bytes);
  // Adds a tensor whose data is at the given offset of the file's data section.
  void AddTensorAt(std::string_view name, uint32_t ggml_type,
                   const std::vector<int64_t>& dims, uint64_t offset);

  std::string Build() const;

 private:
  std::string Size(uint64_t size) const;
  std::string String(std::string_view text) const;

  uint32_t version_;
  uint64_t entry_count_ = 0, tensor_count_ = 0;
  std::string entries_, tensors_, data_;
};

// Returns `size` bytes of an integer, little-endian.
std::string LittleEndian(uint64_t value, int size);

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_TESTING_FILE_BUILDER_H_
