#include "tools/lib/benchmark/configurations.h"

#include <optional>
#include <utility>

#include "jit/target/peak.h"

namespace ember::tools {
namespace {

// Measures one round of the configuration. Unless `inputs` is null, measures
// the peer, too, with the same inputs.
Status MeasureRound(const RoundsOptions& options, const PeerInputs* inputs,
                    Configuration& configuration) {
  BenchmarkOptions& own = configuration.options;
  constexpr double kPeakSeconds = 0.05;
  if (options.measures_peak) {
    configuration.peaks.push_back(
        jit::MeasureFmaPeak(static_cast<int>(own.threads), kPeakSeconds));
  }
  own.peer_inputs = inputs;
  EMBER_ASSIGN_OR_RETURN(Measurement measurement, options.measure(own));
  own.reports_random = false;
  configuration.rounds.Add(std::move(measurement));
  if (inputs == nullptr) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(PeerMeasurement peer,
                         options.measure_peer({.model = own.model,
                                               .threads = own.threads,
                                               .warmup = own.warmup,
                                               .runs = own.runs,
                                               .seconds = own.seconds},
                                              *inputs));
  configuration.peer.push_back(std::move(peer));
  return OkStatus();
}

}  // namespace

Status MeasureConfigurations(const RoundsOptions& options,
                             std::vector<Configuration>& configurations) {
  std::optional<PeerInputs> inputs;
  if (options.has_peer) {
    EMBER_ASSIGN_OR_RETURN(PeerInputs created, PeerInputs::Create());
    inputs.emplace(std::move(created));
  }
  for (int64_t round = 0; round < options.rounds; ++round) {
    for (Configuration& configuration : configurations) {
      if (!configuration.error.ok()) continue;
      configuration.error =
          MeasureRound(options, inputs ? &*inputs : nullptr, configuration);
      configuration.options.peer_inputs = nullptr;
    }
  }
  for (const Configuration& configuration : configurations)
    EMBER_RETURN_IF_ERROR(configuration.error);
  return OkStatus();
}

std::string NameOf(const BenchmarkOptions& options) {
  if (options.module != nullptr) return options.model;
  return options.model.substr(options.model.rfind('/') + 1);
}

}  // namespace ember::tools
