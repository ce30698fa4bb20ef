#include "frontends/gguf/testing/file_builder.h"

#include <bit>

namespace ember::gguf {
namespace {

constexpr size_t kAlignment = 32;

void Align(std::string& bytes) {
  bytes.resize((bytes.size() + kAlignment - 1) / kAlignment * kAlignment);
}

std::string FloatBytes(float value) {
  return LittleEndian(std::bit_cast<uint32_t>(value), 4);
}

}  // namespace

std::string LittleEndian(uint64_t value, int size) {
  std::string bytes;
  for (int i = 0; i < size; ++i)
    bytes.push_back(static_cast<char>(value >> (8 * i)));
  return bytes;
}

std::string FileBuilder::Size(uint64_t size) const {
  return LittleEndian(size, version_ == 1 ? 4 : 8);
}

std::string FileBuilder::String(std::string_view text) const {
  return Size(text.size()) + std::string(text);
}

void FileBuilder::AddRaw(std::string_view key, uint32_t type,
                         std::string_view bytes) {
  entries_ += String(key) + LittleEndian(type, 4) + std::string(bytes);
  ++entry_count_;
}

void FileBuilder::AddText(std::string_view key, std::string_view value) {
  AddRaw(key, 8, String(value));
}

void FileBuilder::AddInteger(std::string_view key, int64_t value) {
  AddRaw(key, 4, LittleEndian(static_cast<uint64_t>(value), 4));
}

void FileBuilder::AddNumber(std::string_view key, float value) {
  AddRaw(key, 6, FloatBytes(value));
}

void FileBuilder::AddBool(std::string_view key, bool value) {
  AddRaw(key, 7, LittleEndian(value ? 1 : 0, 1));
}

void FileBuilder::AddTexts(std::string_view key,
                           const std::vector<std::string>& values) {
  std::string bytes = LittleEndian(8, 4) + Size(values.size());
  for (const std::string& value : values) bytes += String(value);
  AddRaw(key, 9, bytes);
}

void FileBuilder::AddIntegers(std::string_view key,
                              const std::vector<int32_t>& values) {
  std::string bytes = LittleEndian(5, 4) + Size(values.size());
  for (const int32_t value : values)
    bytes += LittleEndian(static_cast<uint32_t>(value), 4);
  AddRaw(key, 9, bytes);
}

void FileBuilder::AddNumbers(std::string_view key,
                             const std::vector<float>& values) {
  std::string bytes = LittleEndian(6, 4) + Size(values.size());
  for (const float value : values) bytes += FloatBytes(value);
  AddRaw(key, 9, bytes);
}

void FileBuilder::AddTensor(std::string_view name, uint32_t ggml_type,
                            const std::vector<int64_t>& dims,
                            std::string_view bytes) {
  AddTensorAt(name, ggml_type, dims, data_.size());
  data_ += bytes;
  Align(data_);
}

void FileBuilder::AddTensorAt(std::string_view name, uint32_t ggml_type,
                              const std::vector<int64_t>& dims,
                              uint64_t offset) {
  tensors_ += String(name) + LittleEndian(dims.size(), 4);
  for (size_t i = dims.size(); i-- > 0;)
    tensors_ += Size(static_cast<uint64_t>(dims[i]));
  tensors_ += LittleEndian(ggml_type, 4) + LittleEndian(offset, 8);
  ++tensor_count_;
}

std::string FileBuilder::Build() const {
  std::string bytes = "GGUF" + LittleEndian(version_, 4) + Size(tensor_count_) +
                      Size(entry_count_) + entries_ + tensors_;
  Align(bytes);
  return bytes + data_;
}

}  // namespace ember::gguf
