// Declares the flags that limit a session and the compilation of a model
// (tools/lib/cli/compile_limits.h).
//
//   LimitFlags limits;
//   AddLimitFlags(flags, &limits);
//   …
//   EMBER_RETURN_IF_ERROR(SetLimits(limits, session_options));
#ifndef EMBER_TOOLS_LIB_CLI_LIMITS_H_
#define EMBER_TOOLS_LIB_CLI_LIMITS_H_

#include <string>

#include "base/status.h"
#include "tools/lib/cli/flags.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// The values of the flags. An empty text or 0 means the session's default.
struct LimitFlags {
  std::string max_memory, max_work, max_steps;
  double max_seconds = 0;
};

// Declares the flags. `values` must outlive the parsing.
void AddLimitFlags(Flags& flags, LimitFlags* values);

// Declares only --max-memory and --max-seconds, for tools that compile models
// but do not run them.
void AddCompileLimitFlags(Flags& flags, LimitFlags* values);

// Sets the limits of a session from the flags. Errors name the flag, what was
// expected and what was found.
Status SetLimits(const LimitFlags& flags, vm::SessionOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_LIMITS_H_
