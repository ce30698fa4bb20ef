// Saves the state of a language model to a file and restores it, so that
// another process does not compute the tokens of a long prompt again.
//
//   EMBER_RETURN_IF_ERROR(SaveState(model, identity, "chat.state"));
//   EMBER_RETURN_IF_ERROR(RestoreState("chat.state", identity, model));
//   const std::span<const int32_t> rest = *ReuseTokens(prompt, model);
//
// The file has the tokens and, for each tensor of the state, the positions of
// these tokens. Numbers are little-endian. A file of another model or a damaged
// file is refused (DataLoss, InvalidArgument), and so is one with more tokens
// than the context has room for; the model then has no tokens. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_GENERATE_STATE_FILE_H_
#define EMBER_TOOLS_LIB_GENERATE_STATE_FILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "base/status.h"
#include "tools/lib/generate/language_model.h"
#include "vm/format/module_identity.h"

namespace ember::tools {

// Save and restore the state. `identity` is that of the model's module: a state
// is restored only with the module that made it. Paths are for the operating
// system.
Status SaveState(const LanguageModel& model, const vm::ModuleIdentity& identity,
                 const std::string& path);
Status RestoreState(const std::string& path, const vm::ModuleIdentity& identity,
                    LanguageModel& model);

// Shortens the model's sequence to the tokens that it has in common with the
// prompt, but always without the prompt's last token, whose logits are needed.
// Returns the rest of the prompt, which the caller appends. If the model cannot
// shorten its sequence, it is emptied.
StatusOr<std::span<const int32_t>> ReuseTokens(std::span<const int32_t> prompt,
                                               LanguageModel& model);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_GENERATE_STATE_FILE_H_
