// The flags that control the import of a model. All tools that take a model
// share them.
//
//   ImportFlags import;
//   AddImportFlags(flags, &import);
//   …
//   EMBER_ASSIGN_OR_RETURN(LoadOptions load, LoadOptionsOf(import));
#ifndef EMBER_TOOLS_LIB_MODELS_IMPORT_FLAGS_H_
#define EMBER_TOOLS_LIB_MODELS_IMPORT_FLAGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/models/load_model.h"

namespace ember::tools {

struct ImportFlags {
  std::vector<std::string> shapes, constants;
  std::string entry, state_type, progress = "auto";
  bool separate_dims = false;
};

// Declares the flags, and --progress. `values` must outlive the parsing.
void AddImportFlags(Flags& flags, ImportFlags* values);

// Returns the options that the flags ask for. They include a display of
// progress. Errors name the flag, what was expected and what was found.
StatusOr<LoadOptions> LoadOptionsOf(const ImportFlags& flags);

// Parses the values NAME=VALUE of `flag` (such as "--constant") and adds them
// to the constants.
Status AddConstants(std::string_view flag,
                    const std::vector<std::string>& values,
                    LoadOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_IMPORT_FLAGS_H_
