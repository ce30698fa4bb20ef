// Shows the progress of long work (base/progress.h) on stderr while it runs.
//
//   std::string how = "auto";
//   AddProgressFlag(flags, &how);
//   …
//   const std::unique_ptr<Progress> progress = ShowProgress(how);
//   load.compile.progress = progress.get();
//
//   compile  12/18  fold-constants
//
// "bar" is one line that is rewritten again and again and removed at the end.
// "json" is a line per step for programs, {"stage": …, "item": …, "done": …,
// "total": …, "ms": …}. "off" shows nothing. "auto" is a bar if stderr is a
// terminal, for work that takes longer than half a second. For one thread.
#ifndef EMBER_TOOLS_LIB_CLI_SHOW_PROGRESS_H_
#define EMBER_TOOLS_LIB_CLI_SHOW_PROGRESS_H_

#include <cstdio>
#include <memory>
#include <string>

#include "base/progress.h"
#include "tools/lib/cli/flags.h"

namespace ember::tools {

// Declares --progress. `how` must outlive the parsing.
void AddProgressFlag(Flags& flags, std::string* how);

// Makes the display. Returns null for "off", and for "auto" if `file` is not a
// terminal.
std::unique_ptr<Progress> ShowProgress(const std::string& how,
                                       std::FILE* file = stderr);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_SHOW_PROGRESS_H_
