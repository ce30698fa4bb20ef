// Measures a model in rounds, keeps the rounds in a file, and compares them
// with an earlier file (vm-bench -o json, vm-bench --compare=FILE).
//
//   Rounds rounds;
//   rounds.Add(*MeasureInChild(options));   // once in each round
//   rounds.Combined().median_ms
//
//   EMBER_ASSIGN_OR_RETURN(std::vector<EarlierRow> earlier,
//                          ReadEarlier("before.json"));
#ifndef EMBER_TOOLS_LIB_BENCHMARK_ROUNDS_H_
#define EMBER_TOOLS_LIB_BENCHMARK_ROUNDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/benchmark/benchmark.h"
#include "tools/lib/benchmark/speed_ratio.h"

namespace ember::tools {

// The measurements of one configuration, one for each round. Each round ran in
// a process of its own.
class Rounds {
 public:
  void Add(Measurement measurement);
  bool empty() const { return measurements_.empty(); }
  const std::vector<Measurement>& measurements() const { return measurements_; }
  // Returns the median time of a call in each round, in milliseconds.
  std::vector<double> Medians() const;
  // Combines all rounds into one measurement. The number of runs is the sum,
  // each time and each size is the median over the rounds, and the other fields
  // are those of the last round. There must be at least one round.
  Measurement Combined() const;

 private:
  std::vector<Measurement> measurements_;
};

// A row of the table that vm-bench -o json printed in an earlier run: the
// measurements of one configuration.
struct EarlierRow {
  std::string model, device, tier, build;
  int64_t threads = 0;
  std::vector<double> rounds_ms;  // median time of each round, in milliseconds
  double peak_gflops = 0;         // peak rate of the processor; 0: not measured
};

// Reads a table from a file. A row without rounds_ms, as earlier versions wrote
// it, gets one round: its median. Errors name the file.
StatusOr<std::vector<EarlierRow>> ReadEarlier(const std::string& path);

// Returns the row of the same model, device, tier and number of threads, or
// null.
const EarlierRow* FindEarlier(const std::vector<EarlierRow>& rows,
                              const EarlierRow& wanted);

// Returns the reasons why the comparison of two rows is not reliable, one line
// each: there are too few rounds, or the processor's own peak rate differs
// between the two measurements.
std::vector<std::string> DoubtsOf(const EarlierRow& before,
                                  const EarlierRow& now,
                                  const SpeedRatio& ratio);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_ROUNDS_H_
