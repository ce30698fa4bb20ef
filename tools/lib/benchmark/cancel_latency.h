// Measures how long a run continues after Cancel.
//
//   EMBER_ASSIGN_OR_RETURN(const CancelLatency latency,
//                          MeasureCancel(*session, inputs, 200, 1));
//
// Another thread cancels each run at a random moment within the time that a run
// takes. A long latency is no error. The session must have had its first run.
// Runs on the calling thread.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_CANCEL_LATENCY_H_
#define EMBER_TOOLS_LIB_BENCHMARK_CANCEL_LATENCY_H_

#include <cstdint>
#include <span>

#include "base/status.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

struct CancelLatency {
  // Number of runs that Cancel ended. The other runs ended before Cancel was
  // called or had an effect.
  int64_t cancelled = 0;
  // Latency of a cancellation, from the call of Cancel to the end of Run, as
  // median and maximum over the cancelled runs; 0 if no run was cancelled.
  double median_ms = 0, worst_ms = 0;
};

// Measures the latency of Cancel. `seed` decides the moments at which runs are
// cancelled. Errors: those of a run, except kCancelled, and those of one more
// run at the end, which is not cancelled.
StatusOr<CancelLatency> MeasureCancel(vm::Session& session,
                                      std::span<const vm::Tensor> inputs,
                                      int64_t count, uint64_t seed);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_CANCEL_LATENCY_H_
