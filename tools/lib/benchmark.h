// Measures one model in one configuration, in a process of its own, so that
// memory and caches of one measurement do not show in the next.
//
//   EMBER_ASSIGN_OR_RETURN(Measurement m,
//                          MeasureInChild({.model = "resnet50.vmfb",
//                                          .threads = 1}));
//
// Call it while the process has one thread only (it forks).
#ifndef EMBER_TOOLS_LIB_BENCHMARK_H_
#define EMBER_TOOLS_LIB_BENCHMARK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/cache/cache_options.h"
#include "tools/lib/bind.h"
#include "tools/lib/cancel_latency.h"
#include "tools/lib/kernel_checks.h"
#include "tools/lib/limits.h"
#include "tools/lib/tensor_spec.h"
#include "tools/lib/tier.h"

namespace ember::tools {

struct BenchmarkOptions {
  std::string model;
  std::string device = "cpu";
  std::string tier = "auto";  // tools/lib/tier.h
  std::string jit = "auto";   // AddJitFlag
  jit::CacheOptions cache;    // no folder: none
  std::string schedules;      // TierOptions::schedule_folder
  bool has_schedules_of_others = false;
  RoundingFlags rounding;
  KernelCheckFlags checks;
  NativeFlags native;
  bool no_side_by_side = false;
  int64_t threads = 1;
  LimitFlags limits;
  std::vector<NamedShape> shapes;
  std::vector<std::string> inputs;  // tools/lib/tensor_spec.h
  MissingInputs missing;            // inputs that are not given
  bool reports_random = false;      // on stderr, if some are random
  // Calls that are not measured: so many, and more, no longer than so many
  // seconds, until every dispatch has the kernel that it will have.
  int64_t warmup = 5;
  double settle_seconds = 60;
  int64_t runs = 30;    // at most
  double seconds = 10;  // no new run after that long, but at least three runs
  int64_t cancels = 0;  // runs to cancel behind those (cancel_latency.h)
  // A file descriptor, to which a byte is written before each call, which waits
  // for one from there: who started several processes lets them call in turns.
  // At its end no further call is made. Negative: none.
  int64_t turns = -1;
};

struct Measurement {
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  double load_ms =
      0;  // the file, for .onnx compiling it, and making the session
  double first_ms = 0;  // load_ms and the first run
  double rss_mb = 0;    // when done
  double peak_mb = 0;
  int64_t runs = 0;
  std::string tier_mix;  // of the measured calls; what runs side by side
  // On a device that is not the host: of a measured run, submissions, commands
  // in them, and milliseconds of the calling thread's CPU time before they were
  // submitted; and what Placement::Text says, empty: all ran on the device.
  bool is_on_device = false;
  double submissions = 0, commands = 0, host_ms = 0;
  std::string on_host;

  CancelLatency cancel;  // if cancels were asked for

  // The life of the process. Every call from the first on, up to a million.
  std::vector<double> calls_ms;
  // Of each, how long the session's threads waited for a core (thread_waits.h).
  std::vector<double> waits_ms;
  int64_t warmup_calls = 0;  // of them, before those that are measured
  bool is_settled = false;   // when those began
  double compile_ms = 0;
  int64_t kernels = 0;
  int64_t kernels_loaded = 0;  // of them, from the cache on disk
};

StatusOr<Measurement> Measure(const BenchmarkOptions& options);
// A crash of the child is an error too.
StatusOr<Measurement> MeasureInChild(const BenchmarkOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_H_
