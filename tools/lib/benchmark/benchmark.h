// Measures one model in one configuration. Each measurement has its own
// process, so that memory and caches of one do not affect the next.
//
//   EMBER_ASSIGN_OR_RETURN(Measurement m,
//                          MeasureInChild({.model = "resnet50.vmfb",
//                                          .threads = 1}));
//
// Call MeasureInChild while the process has only one thread, as it forks.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_BENCHMARK_H_
#define EMBER_TOOLS_LIB_BENCHMARK_BENCHMARK_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "jit/cache/options.h"
#include "tools/lib/benchmark/cancel_latency.h"
#include "tools/lib/benchmark/peer.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "vm/runtime/module.h"

namespace ember::tools {

struct BenchmarkOptions {
  std::string model;
  // The module to measure. Null: the module or model in the file `model`.
  std::shared_ptr<const vm::Module> module;
  std::string device = "cpu";
  std::string tier = "auto";  // see tools/lib/models/tier.h
  std::string jit = "auto";   // see AddJitFlag
  // The kernel cache on disk. An empty folder means that there is no cache.
  jit::CacheOptions cache;
  std::string schedules;  // TierOptions::schedule_folder
  bool has_schedules_of_others = false;
  RoundingFlags rounding;
  KernelCheckFlags checks;
  NativeFlags native;
  bool no_side_by_side = false;
  int64_t threads = 1;
  LimitFlags limits;
  LoadOptions load;       // options for importing and compiling the model
  MissingInputs missing;  // Decides how inputs that the command line does not
                          // give are made.
  // True: a line on stderr names the inputs that are random.
  bool reports_random = false;
  // Number of calls before the measured ones. At least `warmup` calls are made.
  // More follow until every dispatch has its final kernel, for at most
  // `settle_seconds`.
  int64_t warmup = 5;
  double settle_seconds = 60;
  int64_t runs = 30;  // largest number of measured runs
  // Number of seconds after which no further run begins, except for the first
  // three.
  double seconds = 10;
  // Number of runs to cancel after the measured ones (cancel_latency.h).
  int64_t cancels = 0;
  // The share of a core with which the session tunes its hottest dispatches
  // during the measured runs (tools/lib/tuning/serving/serving_tuner.h). 0:
  // they are not tuned.
  double while_serving = 0;
  // Path of the file with the records of tuning; empty: the default of vm-tune.
  std::string serving_records;
  // A file descriptor by which another process decides when this process calls
  // the model. Before each call this process writes a byte to it and then waits
  // for a byte from it. After end of file no further call is made. A negative
  // number means that there is no such process.
  int64_t turns = -1;
  // The inputs are also written here, for measuring another engine with them
  // (peer.h). Null: they are not.
  const PeerInputs* peer_inputs = nullptr;
};

struct Measurement {
  double median_ms = 0, p10_ms = 0, p90_ms = 0;
  // Milliseconds to read the file, to compile it unless it is a module, and to
  // make the session.
  double load_ms = 0;
  double first_ms = 0;  // load_ms plus the milliseconds of the first run
  double rss_mb = 0;    // resident memory in megabytes after the last run
  double peak_mb = 0;
  int64_t runs = 0;
  // A text with the share of each tier in the measured calls, and with the
  // number of dispatches that ran concurrently.
  std::string tier_mix;
  // The following fields are set only on a device that is not the host. For one
  // measured run: the number of submissions, the number of commands, and the
  // CPU milliseconds of the calling thread before the work was submitted.
  // `on_host` is Placement::Text, or empty if all dispatches ran on the device.
  bool is_on_device = false;
  double submissions = 0, commands = 0, host_ms = 0;
  std::string on_host;

  // Latency of cancelled runs. It is measured only if BenchmarkOptions::cancels
  // is above 0.
  CancelLatency cancel;

  // Milliseconds of each call that the process made, from the first one on; at
  // most a million calls.
  std::vector<double> calls_ms;
  // For each call in calls_ms: the milliseconds for which the session's threads
  // waited for a core (thread_waits.h).
  std::vector<double> waits_ms;
  int64_t warmup_calls = 0;  // number of calls that were made before the
                             // measured ones
  // True if every dispatch had its final kernel before the first measured call.
  bool is_settled = false;
  double compile_ms = 0;
  int64_t kernels = 0;
  // number of kernels that were loaded from the cache on disk
  int64_t kernels_loaded = 0;
  // Number of kernels with schedules that the session found while it served.
  int64_t kernels_tuned = 0;
};

StatusOr<Measurement> Measure(const BenchmarkOptions& options);
// Calls Measure in a child process and returns its result. A crash of the child
// is an error, too.
StatusOr<Measurement> MeasureInChild(const BenchmarkOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_BENCHMARK_H_
