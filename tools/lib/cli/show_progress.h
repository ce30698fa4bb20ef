// Shows the progress of long work (base/progress.h) on stderr while it runs.
//
//   std::string how = "auto";
//   AddProgressFlag(flags, &how);
//   …
//   const std::unique_ptr<ShownProgress> progress = ShowProgress(how);
//   load.compile.progress = progress.get();
//   …
//   if (progress != nullptr) progress->Clear();   // before printing results
//
//   compile [==========>         ] 18/33  form-dispatches  2.1 s
//
// "bar" is one line that is rewritten again and again and removed by Clear and
// at the end. A thread rewrites it four times a second, so that the time moves
// on while a step takes long. The thread starts with the first report, so a
// process that forks must do so before that. "json" is a line per step for
// programs, {"stage": …, "item": …, "done": …, "total": …, "ms": …}. "off"
// shows nothing. "auto" is a bar if stderr is a terminal, for work that takes
// longer than half a second.
//
// The stages that tools report: "load" (a module's parts), "import" (operators
// of a model), "compile" (passes), "kernels" (dispatches for which kernels are
// made), "write" (bytes of an output file), "warm-up" and "run" (runs of a
// model). Thread-safe.
#ifndef EMBER_TOOLS_LIB_CLI_SHOW_PROGRESS_H_
#define EMBER_TOOLS_LIB_CLI_SHOW_PROGRESS_H_

#include <cstdio>
#include <memory>
#include <string>

#include "base/progress.h"
#include "tools/lib/cli/flags.h"

namespace ember::tools {

// A display of progress. Its Report always returns true, so it never stops the
// work; the user stops a tool by a signal.
class ShownProgress : public Progress {
 public:
  // Removes the bar from the terminal, so that the tool can print something.
  // The next report draws it again.
  virtual void Clear() = 0;
};

// Declares --progress. `how` must outlive the parsing.
void AddProgressFlag(Flags& flags, std::string* how);

// Makes the display. Returns null for "off", and for "auto" if `file` is not a
// terminal.
std::unique_ptr<ShownProgress> ShowProgress(const std::string& how,
                                            std::FILE* file = stderr);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_SHOW_PROGRESS_H_
