// Makes a trace of a session's life: loading, runs with their calls, kernels
// that were made meanwhile, and counters of memory, kernels and waiting
// requests. An arrow leads from each kernel to the first call that uses it.
//
//   std::string json = PrintChromeTrace(LifeTrace(life, *session, tiering));
#ifndef EMBER_TOOLS_LIB_REPORT_LIFE_TRACE_H_
#define EMBER_TOOLS_LIB_REPORT_LIFE_TRACE_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "tools/lib/report/chrome_trace.h"
#include "tools/lib/report/session_life.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// Makes the trace. `tiering` is that of the session; null if it has none.
ChromeTrace LifeTrace(const SessionLife& life, const vm::Session& session,
                      const vm::Tiering* tiering);

// Returns for each kernel the index (in life.calls) of its first call: the
// first call of one of its sites that began after the kernel was finished.
// Nullopt: there is no such call, or the kernel was declined.
std::vector<std::optional<size_t>> FirstCalls(const SessionLife& life,
                                              const vm::Session& session,
                                              const vm::Tiering* tiering);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_LIFE_TRACE_H_
