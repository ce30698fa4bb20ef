// Measures several configurations of models in alternating rounds, so that a
// change of the machine's speed affects all of them alike.
//
//   std::vector<Configuration> configurations = ...;   // with their options
//   Status error = MeasureConfigurations({.rounds = 5}, configurations);
//   configurations[0].rounds.Combined().median_ms
//
// Not thread-safe. Call MeasureConfigurations while the process has only one
// thread, as it forks.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_CONFIGURATIONS_H_
#define EMBER_TOOLS_LIB_BENCHMARK_CONFIGURATIONS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/benchmark/benchmark.h"
#include "tools/lib/benchmark/peer.h"
#include "tools/lib/benchmark/rounds.h"

namespace ember::tools {

// A model with its options (tier, number of threads), and the measurements of
// it.
struct Configuration {
  BenchmarkOptions options;
  Rounds rounds;
  // Measurements of the other engine (the peer), one for each round; empty if
  // no peer is measured.
  std::vector<PeerMeasurement> peer;
  // Peak rate of the processor in GFLOP/s, measured before each round; empty if
  // it is not measured.
  std::vector<double> peaks;
  // The first error that occurred. The measurements of earlier rounds are kept.
  Status error;
};

struct RoundsOptions {
  int64_t rounds = 1;
  bool measures_peak = false;
  // True: each model is also measured in the peer (another engine), with the
  // same inputs.
  bool has_peer = false;
  // The functions that make a measurement. Tests replace them by fakes.
  std::function<StatusOr<Measurement>(const BenchmarkOptions& options)>
      measure = MeasureInChild;
  std::function<StatusOr<PeerMeasurement>(const PeerOptions& options,
                                          const PeerInputs& inputs)>
      measure_peer = MeasurePeer;
};

// Measures each configuration once in each round, one after the other. A
// configuration with an error is left out of the later rounds. Returns the
// error of the first configuration that has one.
Status MeasureConfigurations(const RoundsOptions& options,
                             std::vector<Configuration>& configurations);

// Returns the name of the model for tables: the name of its file, or the
// expression that was compiled.
std::string NameOf(const BenchmarkOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_CONFIGURATIONS_H_
