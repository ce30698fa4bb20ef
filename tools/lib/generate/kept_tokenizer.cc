#include "tools/lib/generate/kept_tokenizer.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/byte_cursor.h"
#include "compiler/graph/text/base64.h"
#include "frontends/gguf/gguf_file.h"
#include "llm/tokenizer/folder_definition.h"
#include "llm/tokenizer/gguf_definition.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

// Number of bytes of one metadata entry before base64 encoding; encoded they
// are 1 MiB, the largest size of an entry.
constexpr size_t kPart = size_t{3} << 18;
// A tokenizer of a Hugging Face folder is kept as one entry per file. Its key
// is this prefix with the name of the file.
constexpr std::string_view kFileKey = "file.";

// Writes metadata entries as a GGUF file that has no tensors.
class EntryWriter {
 public:
  explicit EntryWriter(uint32_t version) : version_(version) {}

  void Add(std::string_view key, const gguf::GgufValue& value) {
    AddSize(key.size());
    entries_ += key;
    AddInteger(static_cast<uint64_t>(value.is_array ? gguf::ValueType::kArray
                                                    : value.type),
               4);
    if (value.is_array) {
      AddInteger(static_cast<uint64_t>(value.type), 4);
      AddSize(value.count);
    } else if (value.type == gguf::ValueType::kString) {
      AddSize(value.bytes.size());
    }
    entries_ += AsText(value.bytes);
    ++count_;
  }

  void AddText(std::string_view key, std::string_view text) {
    gguf::GgufValue value;
    value.type = gguf::ValueType::kString;
    value.bytes = AsBytes(text);
    Add(key, value);
  }

  std::string Take() {
    const std::string entries = std::exchange(entries_, "GGUF");
    AddInteger(version_, 4);
    AddSize(0);
    AddSize(count_);
    std::string file = std::move(entries_) + entries;
    // A GGUF file is padded here to a multiple of 32 bytes, where the data of
    // tensors would begin.
    file.resize((file.size() + 31) / 32 * 32);
    return file;
  }

 private:
  void AddInteger(uint64_t value, int size) {
    for (int i = 0; i < size; ++i)
      entries_.push_back(static_cast<char>(value >> (8 * i)));
  }
  void AddSize(uint64_t size) { AddInteger(size, version_ == 1 ? 4 : 8); }

  uint32_t version_;
  uint64_t count_ = 0;
  std::string entries_;
};

// Returns JSON text without the white space between tokens, which makes it
// smaller.
std::string Compact(std::string_view json) {
  std::string compact;
  bool is_text = false, is_escaped = false;
  for (const char c : json) {
    if (!is_text && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
    compact.push_back(c);
    if (is_escaped) {
      is_escaped = false;
    } else if (is_text && c == '\\') {
      is_escaped = true;
    } else if (c == '"') {
      is_text = !is_text;
    }
  }
  return compact;
}

// Returns the metadata entries that a tokenizer needs from a GGUF file; empty
// if the file has no tokenizer.
StatusOr<std::string> EntriesOfGguf(const graph::ConstantData& contents) {
  EMBER_ASSIGN_OR_RETURN(const gguf::GgufFile file,
                         gguf::GgufFile::Open(contents.bytes, contents.owner));
  if (!file.Has("tokenizer.ggml.model")) return std::string();
  EntryWriter writer(file.version());
  for (const auto& [key, value] : file.metadata()) {
    // The model's name is kept, too, because some tokenizers are recognised by
    // it.
    if (key.starts_with("tokenizer.") || key == "general.name")
      writer.Add(key, value);
  }
  return writer.Take();
}

StatusOr<std::string> EntriesOfFolder(const std::string& folder) {
  const StatusOr<llm::FolderTexts> texts = llm::ReadFolderTexts(folder);
  if (!texts.ok() && texts.status().code() == StatusCode::kNotFound)
    return std::string();
  if (!texts.ok()) return texts.status();
  EntryWriter writer(3);
  for (const llm::FolderText& text : texts->files) {
    const bool is_json = text.name.ends_with(".json");
    writer.AddText(std::string(kFileKey) + text.name,
                   is_json ? Compact(text.text) : text.text);
  }
  return writer.Take();
}

StatusOr<llm::TokenizerDefinition> ReadEntries(const gguf::GgufFile& file) {
  llm::FolderTexts texts;
  for (const auto& [key, value] : file.metadata()) {
    if (!key.starts_with(kFileKey)) continue;
    EMBER_ASSIGN_OR_RETURN(const std::string_view text, file.Text(key));
    texts.files.push_back(
        {std::string(key.substr(kFileKey.size())), std::string(text)});
  }
  if (texts.files.empty()) return llm::ReadGgufTokenizer(file);
  return llm::MakeFolderTokenizer(texts);
}

std::string KeyOf(size_t part) {
  char number[16];
  std::snprintf(number, sizeof(number), "%03zu", part);
  return std::string(kTokenizerKey) + number;
}

}  // namespace

StatusOr<std::string> KeepTokenizer(const ModelSource& model,
                                    std::vector<vm::MetadataEntry>& metadata) {
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(model));
  if (opened.kind.format == nullptr) return std::string();
  std::string file;
  if (opened.kind.format->name == "gguf") {
    EMBER_ASSIGN_OR_RETURN(const graph::ConstantData contents,
                           opened.file.Map());
    EMBER_ASSIGN_OR_RETURN(file, EntriesOfGguf(contents));
  } else if (opened.kind.format->name == "safetensors") {
    EMBER_ASSIGN_OR_RETURN(file, EntriesOfFolder(opened.file.folder()));
  }
  if (file.size() > kMaxKeptBytes) {
    return "the module keeps no tokenizer, because this one has " +
           std::to_string(file.size()) + " bytes, more than " +
           std::to_string(kMaxKeptBytes) + "; vm-generate needs --tokenizer";
  }
  const std::span<const uint8_t> bytes = AsBytes(file);
  for (size_t at = 0, part = 0; at < bytes.size(); at += kPart, ++part) {
    vm::SetMetadata(KeyOf(part),
                    graph::EncodeBase64(
                        bytes.subspan(at, std::min(kPart, bytes.size() - at))),
                    metadata);
  }
  return std::string();
}

StatusOr<llm::TokenizerDefinition> KeptTokenizer(
    std::span<const vm::MetadataEntry> metadata) {
  std::vector<uint8_t> bytes;
  for (size_t part = 0;; ++part) {
    const vm::MetadataEntry* const entry =
        vm::FindMetadata(metadata, KeyOf(part));
    if (entry == nullptr) break;
    const auto decoded = graph::DecodeBase64(entry->value);
    if (!decoded) {
      return DataLossError("metadata '" + KeyOf(part) +
                           "': expected base64, found another text");
    }
    bytes.insert(bytes.end(), decoded->begin(), decoded->end());
  }
  if (bytes.empty()) {
    return NotFoundError(
        "expected a model with a tokenizer, found a compiled module, which has "
        "none");
  }
  EMBER_ASSIGN_OR_RETURN(const gguf::GgufFile file,
                         gguf::GgufFile::Open(bytes, nullptr));
  return ReadEntries(file);
}

}  // namespace ember::tools
