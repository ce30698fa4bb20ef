// Writes a module to the file that the user names, and shows the progress.
//
//   EMBER_RETURN_IF_ERROR(
//       WriteModuleFile(definition, options.output, load.progress.get()));
//
// "-" is stdout, which must have been taken (tools/lib/cli/standard_streams.h);
// CheckOutputFile does that. A file is written under a temporary name, as by
// vm::WriteModule.
#ifndef EMBER_TOOLS_LIB_MODELS_WRITE_MODULE_H_
#define EMBER_TOOLS_LIB_MODELS_WRITE_MODULE_H_

#include <string>

#include "base/status.h"
#include "tools/lib/cli/show_progress.h"
#include "vm/isa/module_definition.h"

namespace ember::tools {

// Writes the file. Sends events of the stage "write", in bytes, to `progress`,
// which may be null. Errors: those of vm::WriteModule.
Status WriteModuleFile(const vm::ModuleDefinition& module,
                       const std::string& path, ShownProgress* progress);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_WRITE_MODULE_H_
