#include "tools/lib/generate/load_tokenizer.h"

#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/byte_cursor.h"
#include "base/file.h"
#include "frontends/gguf/gguf_file.h"
#include "llm/tokenizer/folder_definition.h"
#include "llm/tokenizer/gguf_definition.h"
#include "llm/tokenizer/json_definition.h"
#include "tools/lib/generate/kept_tokenizer.h"
#include "vm/format/reader.h"

namespace ember::tools {
namespace {

using llm::TokenizerDefinition;

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

// Returns the tokenizer of a folder, or NotFound if it has no tokenizer.json.
StatusOr<TokenizerDefinition> ReadFolder(const std::string& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder + "/tokenizer.json", error))
    return NotFoundError("expected tokenizer.json in the folder, found none");
  return llm::ReadFolderTokenizer(folder);
}

StatusOr<TokenizerDefinition> ReadGguf(std::span<const uint8_t> bytes) {
  EMBER_ASSIGN_OR_RETURN(const gguf::GgufFile file,
                         gguf::GgufFile::Open(bytes, nullptr));
  return llm::ReadGgufTokenizer(file);
}

StatusOr<TokenizerDefinition> ReadOfModule(std::span<const uint8_t> bytes) {
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition module,
                         vm::ReadModule(bytes, nullptr));
  return KeptTokenizer(module.metadata);
}

// Reads the tokenizer from a file or folder that the user names with
// --tokenizer.
StatusOr<TokenizerDefinition> ReadNamed(const std::string& path) {
  if (IsFolder(path)) return ReadFolder(path);
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  if (gguf::GgufFile::IsGguf(AsText(file.bytes())))
    return ReadGguf(file.bytes());
  // The whole folder is read, because the chat template is in
  // tokenizer_config.json beside tokenizer.json.
  if (std::filesystem::path(path).filename() == "tokenizer.json")
    return ReadFolder(FolderOf(path));
  if (SniffModelFile(AsText(file.bytes()), "").is_module)
    return ReadOfModule(file.bytes());
  return llm::ReadJsonTokenizer(AsText(file.bytes()));
}

// Reads the tokenizer that belongs to the model at `path`.
StatusOr<TokenizerDefinition> ReadOfModel(const std::string& path) {
  if (IsFolder(path)) return ReadFolder(path);
  EMBER_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
  const std::string_view contents = AsText(file.bytes());
  if (gguf::GgufFile::IsGguf(contents)) return ReadGguf(file.bytes());
  if (SniffModelFile(contents, path).is_module)
    return ReadOfModule(file.bytes());
  return ReadFolder(FolderOf(path));
}

StatusOr<llm::Tokenizer> Make(const ModelSource& source,
                              StatusOr<TokenizerDefinition> definition) {
  StatusOr<llm::Tokenizer> tokenizer =
      definition.ok() ? llm::Tokenizer::Create(*std::move(definition))
                      : StatusOr<llm::Tokenizer>(definition.status());
  if (tokenizer.ok()) return tokenizer;
  const Status& status = tokenizer.status();
  if (status.message().find(source.name) != std::string_view::npos)
    return status;
  return status.WithContext(source.name);
}

}  // namespace

StatusOr<llm::Tokenizer> TokenizerOfModel(const ModelSource& model) {
  return Make(model, ReadOfModel(model.path));
}

StatusOr<llm::Tokenizer> TokenizerOfFile(const ModelSource& file) {
  return Make(file, ReadNamed(file.path));
}

StatusOr<llm::ChatTemplate> TemplateOf(const llm::Tokenizer& tokenizer) {
  const std::string& text = tokenizer.definition().chat_template;
  if (text.empty()) {
    return NotFoundError(
        "chat template: expected one with the tokenizer, found none");
  }
  return llm::ChatTemplate::Parse(text);
}

}  // namespace ember::tools
