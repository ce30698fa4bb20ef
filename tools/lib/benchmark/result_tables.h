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

// Says which optional columns the table of measurements has.
struct MeasuredColumns {
  std::string device = "cpu";  // devices other than "cpu" have additional
                               // columns
  bool has_cancels = false;
  // True: there is a column gflops. `operations` is the number of arithmetic
  // operations of a run, or 0 if it is not known; the column's cells are then
  // empty.
  bool has_gflops = false;
  double operations = 0;
  bool has_rounds = false;  // True: there is a column with a JSON list of the
                            // median time of each round
  bool has_peak = false;    // True: there is a column with the processor's peak
                            // rate (Configuration::peaks)
};
Table MeasuredTable(const MeasuredColumns& columns,
                    std::span<const Configuration> configurations);

// The result of a comparison with the table of an earlier run.
struct EarlierComparison {
  Table table;
  // Reasons why the comparison is not reliable, one line each.
  std::vector<std::string> doubts;
};
// Compares the measurements with the table of an earlier run. `path` is the
// file of the earlier table, for error messages. Error: the earlier table lacks
// a configuration.
StatusOr<EarlierComparison> CompareWithEarlier(
    const std::string& path, const std::vector<EarlierRow>& earlier,
    std::span<const Configuration> configurations);

// Returns a table of Ember's and the peer's times. Configurations that the peer
// did not run have no row.
Table CompareWithPeer(std::span<const Configuration> configurations);

// Returns the JSON text of --life: a list with an object for each round of each
// configuration.
std::string LifeText(std::span<const Configuration> configurations);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_RESULT_TABLES_H_
