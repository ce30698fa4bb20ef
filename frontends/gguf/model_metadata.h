// Reads the numbers of a language model from a GGUF file's metadata.
//
//   EMBER_ASSIGN_OR_RETURN(const ModelOptions options, ReadModelOptions(file));
//
// Errors name the key: one that is missing, of another type or out of range; an
// architecture that is not known, with the list of those that are.
// Thread-safe. Source of the keys: the specification of GGUF, and llama.cpp.
#ifndef EMBER_FRONTENDS_GGUF_MODEL_METADATA_H_
#define EMBER_FRONTENDS_GGUF_MODEL_METADATA_H_

#include "base/status.h"
#include "frontends/gguf/gguf_file.h"
#include "frontends/language_models/model_options.h"

namespace ember::gguf {

StatusOr<language_models::ModelOptions> ReadModelOptions(const GgufFile& file);

}  // namespace ember::gguf

#endif  // EMBER_FRONTENDS_GGUF_MODEL_METADATA_H_
