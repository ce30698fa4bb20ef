// Finds and reads the tokenizer and the chat template of a language model.
//
//   EMBER_ASSIGN_OR_RETURN(
//       const llm::Tokenizer tokenizer,
//       TokenizerOfModel(ModelSource::OfUserPath("model.gguf")));
//   EMBER_ASSIGN_OR_RETURN(const llm::ChatTemplate chat_template,
//                          TemplateOf(tokenizer));
//
// The tokenizer of a model is in its GGUF file, in tokenizer.json beside the
// weights of a Hugging Face folder, or in the metadata of a module
// (kept_tokenizer.h). A file that the user names as a tokenizer's is a GGUF
// file, a tokenizer.json or a folder with one. The template is with the
// tokenizer.
//
// Errors are one line. Those of tokenizers begin with the source's name.
// Callers add the flag or option that gives another tokenizer or template.
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_LOAD_TOKENIZER_H_
#define EMBER_TOOLS_LIB_GENERATE_LOAD_TOKENIZER_H_

#include "base/status.h"
#include "llm/template/chat_template.h"
#include "llm/tokenizer/tokenizer.h"
#include "tools/lib/models/model_source.h"

namespace ember::tools {

// Return the tokenizer of a model, or of a file that the user names as the
// tokenizer's. Only the name and the path of the source are used.
StatusOr<llm::Tokenizer> TokenizerOfModel(const ModelSource& model);
StatusOr<llm::Tokenizer> TokenizerOfFile(const ModelSource& file);

// Returns the chat template that is stored with a tokenizer; NotFound if there
// is none.
StatusOr<llm::ChatTemplate> TemplateOf(const llm::Tokenizer& tokenizer);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_LOAD_TOKENIZER_H_
