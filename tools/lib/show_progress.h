// What long work tells (base/progress.h), shown on stderr while it goes on.
//
//   std::string how = "auto";
//   AddProgressFlag(flags, &how);
//   …
//   const std::unique_ptr<Progress> progress = ShowProgress(how);
//   load.compile.progress = progress.get();
//
//   compile  12/18  fold-constants
//
// "bar" is one line that is written again and again, and gone at the end;
// "json" a line per step, {"stage": …, "item": …, "done": …, "total": …,
// "ms": …}, for programs; "off" nothing. "auto" is a bar where stderr is a
// terminal, for work that takes longer than half a second. For one thread.
#ifndef EMBER_TOOLS_LIB_SHOW_PROGRESS_H_
#define EMBER_TOOLS_LIB_SHOW_PROGRESS_H_

#include <cstdio>
#include <memory>
#include <string>

#include "base/progress.h"
#include "tools/lib/flags.h"

namespace ember::tools {

// `how` must outlive the parsing.
void AddProgressFlag(Flags& flags, std::string* how);

// Null for "off", and for "auto" where nobody looks.
std::unique_ptr<Progress> ShowProgress(const std::string& how,
                                       std::FILE* file = stderr);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_SHOW_PROGRESS_H_
