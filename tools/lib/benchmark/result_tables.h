// Makes the tables and the file that vm-bench prints of its measurements.
//
//   Table table = MeasuredTable({.device = "cpu"}, configurations);
//   std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
//
// Configurations without a measured round have no row.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_RESULT_TABLES_H_
#define EMBER_TOOLS_LIB_BENCHMARK_RESULT_TABLES_H_

#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/benchmark/configurations.h"
#include "tools/lib/benchmark/rounds.h"
#include "tools/lib/report/table.h"

namespace ember::tools {

// Says which columns the table of measurements has, in addition to those that
// it always has.
struct MeasuredColumns {
  std::string device = "cpu";  // other devices have columns of their own
  bool has_cancels = false;
  // True: the column gflops. `operations` is the number of arithmetic
  // operations of a run; 0 if it is not known, and the cells are then empty.
  bool has_gflops = false;
  double operations = 0;
  bool has_rounds = false;  // the median of each round, as a JSON list
  bool has_peak = false;    // the processor's peak; Configuration::peaks
};
Table MeasuredTable(const MeasuredColumns& columns,
                    std::span<const Configuration> configurations);

// A comparison with the table of an earlier run.
struct EarlierComparison {
  Table table;
  // One line for each reason for which the comparison is unsure.
  std::vector<std::string> doubts;
};
// `path`: the file of the earlier table, for errors. Error: a configuration
// that the earlier table lacks.
StatusOr<EarlierComparison> CompareWithEarlier(
    const std::string& path, const std::vector<EarlierRow>& earlier,
    std::span<const Configuration> configurations);

// Returns the table that compares with the peer. Configurations that the peer
// did not run have no row.
Table CompareWithPeer(std::span<const Configuration> configurations);

// Returns the JSON text of --life: a list with an object for each round of each
// configuration.
std::string LifeText(std::span<const Configuration> configurations);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_RESULT_TABLES_H_
