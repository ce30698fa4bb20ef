// Keeps the tokenizer and chat template of a language model in the metadata of
// the module that was compiled from it, so that the module needs no other file.
//
//   EMBER_ASSIGN_OR_RETURN(const std::string note,
//                          KeepTokenizer(source, module.metadata));
//   EMBER_ASSIGN_OR_RETURN(llm::TokenizerDefinition definition,
//                          KeptTokenizer(module.metadata));
//
// The entries "ember.tokenizer.000", 001, … are base64 of a GGUF file without
// tensors: the entries tokenizer.* of a GGUF file, or the texts of the files of
// a Hugging Face folder, each by its name. A tokenizer of more than
// kMaxKeptBytes is left out, because the metadata of a module is limited.
//
// Errors: a file that cannot be read; entries that are not such a file.
// Metadata is from a stranger: it is checked as files are. Thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_KEPT_TOKENIZER_H_
#define EMBER_TOOLS_LIB_GENERATE_KEPT_TOKENIZER_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "llm/tokenizer/definition.h"
#include "tools/lib/models/model_source.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

inline constexpr size_t kMaxKeptBytes = size_t{9} << 20;
inline constexpr std::string_view kTokenizerKey = "ember.tokenizer.";

// Adds the tokenizer of a model, if it has one. Returns a note for the user if
// it is left out, or else an empty text.
StatusOr<std::string> KeepTokenizer(const ModelSource& model,
                                    std::vector<vm::MetadataEntry>& metadata);

// Returns NotFound if the metadata has no tokenizer.
StatusOr<llm::TokenizerDefinition> KeptTokenizer(
    std::span<const vm::MetadataEntry> metadata);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_KEPT_TOKENIZER_H_
