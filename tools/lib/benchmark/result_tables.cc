#include "tools/lib/benchmark/result_tables.h"

#include <iterator>
#include <sstream>
#include <utility>

#include "base/concat.h"
#include "tools/lib/benchmark/process.h"
#include "tools/lib/benchmark/speed_ratio.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/report/statistics.h"

namespace ember::tools {
namespace {

std::vector<Cell> RowCells(const MeasuredColumns& columns,
                           const BenchmarkOptions& options,
                           const Measurement& m) {
  std::vector<Cell> row = {NameOf(options),      options.device,
                           options.tier,         options.threads,
                           Cell(m.median_ms, 4), Cell(m.p10_ms, 4),
                           Cell(m.p90_ms, 4),    Cell(m.load_ms, 3),
                           Cell(m.first_ms, 3),  Cell(m.rss_mb, 0),
                           Cell(m.peak_mb, 0),   m.runs,
                           m.tier_mix,           BuildId()};
  if (columns.device != "cpu") {
    row.emplace_back(Cell(m.host_ms, 4));
    row.emplace_back(Cell(m.submissions, 1));
    row.emplace_back(Cell(m.commands, 1));
    row.emplace_back(m.on_host.empty() ? "no dispatch" : m.on_host);
  }
  if (columns.has_cancels) {
    row.emplace_back(m.cancel.cancelled);
    row.emplace_back(Cell(m.cancel.median_ms, 3));
    row.emplace_back(Cell(m.cancel.worst_ms, 3));
  }
  if (columns.has_gflops) {
    row.emplace_back(columns.operations == 0
                         ? Cell()
                         : Cell(1e-6 * columns.operations / m.median_ms, 2));
  }
  return row;
}

// Returns a cell with a JSON list of numbers: the median time of each round.
Cell RoundsCell(const Configuration& configuration) {
  std::ostringstream text;
  text.precision(6);
  for (const double ms : configuration.rounds.Medians())
    text << (text.tellp() == 0 ? "[" : ", ") << ms;
  Cell cell(text.str() + "]");
  cell.is_number = true;
  return cell;
}

EarlierRow RowOf(const Configuration& configuration) {
  const BenchmarkOptions& own = configuration.options;
  EarlierRow row = {.model = NameOf(own),
                    .device = own.device,
                    .tier = own.tier,
                    .build = BuildId(),
                    .threads = own.threads,
                    .rounds_ms = configuration.rounds.Medians()};
  if (!configuration.peaks.empty())
    row.peak_gflops = Quantiles(configuration.peaks).At(0.5);
  return row;
}

std::vector<Cell> RatioCells(const SpeedRatio& ratio) {
  return {Cell(ratio.ratio, 3), Cell(ratio.low, 3), Cell(ratio.high, 3),
          Cell(ratio.sure, 3), ratio.verdict()};
}

std::vector<Cell> Joined(std::vector<Cell> cells, std::vector<Cell> more) {
  cells.insert(cells.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  return cells;
}

// Returns the JSON object that describes one measurement.
std::string LifeOf(const BenchmarkOptions& options, const Measurement& m) {
  std::ostringstream text;
  text << "{\"model\": " << JsonString(NameOf(options))
       << ", \"tier\": " << JsonString(options.tier)
       << ", \"threads\": " << options.threads << ", \"load_ms\": " << m.load_ms
       << ", \"first_ms\": " << m.first_ms << ", \"median_ms\": " << m.median_ms
       << ", \"warmup_calls\": " << m.warmup_calls
       << ", \"is_settled\": " << (m.is_settled ? "true" : "false")
       << ", \"compile_ms\": " << m.compile_ms << ", \"kernels\": " << m.kernels
       << ", \"kernels_loaded\": " << m.kernels_loaded
       << ", \"kernels_tuned\": " << m.kernels_tuned
       << ", \"tier_mix\": " << JsonString(m.tier_mix) << ", \"calls_ms\": [";
  for (size_t i = 0; i < m.calls_ms.size(); ++i)
    text << (i == 0 ? "" : ", ") << m.calls_ms[i];
  text << "], \"waits_ms\": [";
  for (size_t i = 0; i < m.waits_ms.size(); ++i)
    text << (i == 0 ? "" : ", ") << m.waits_ms[i];
  text << "]}";
  return text.str();
}

}  // namespace

Table MeasuredTable(const MeasuredColumns& columns,
                    std::span<const Configuration> configurations) {
  std::vector<std::string> names = {"model",     "device", "tier",    "threads",
                                    "median_ms", "p10_ms", "p90_ms",  "load_ms",
                                    "first_ms",  "rss_mb", "peak_mb", "runs",
                                    "tier_mix",  "build"};
  if (columns.device != "cpu")
    names.insert(names.end(), {"host_ms", "submissions", "commands", "on_cpu"});
  if (columns.has_cancels)
    names.insert(names.end(), {"cancelled", "cancel_ms", "worst_ms"});
  if (columns.has_gflops) names.emplace_back("gflops");
  if (columns.has_rounds) names.emplace_back("rounds_ms");
  if (columns.has_peak) names.emplace_back("peak_gflops");
  Table table(names);
  for (const Configuration& configuration : configurations) {
    if (configuration.rounds.empty()) continue;
    std::vector<Cell> row = RowCells(columns, configuration.options,
                                     configuration.rounds.Combined());
    if (columns.has_rounds) row.push_back(RoundsCell(configuration));
    if (columns.has_peak)
      row.emplace_back(Cell(Quantiles(configuration.peaks).At(0.5), 1));
    table.AddRow(std::move(row));
  }
  return table;
}

StatusOr<EarlierComparison> CompareWithEarlier(
    const std::string& path, const std::vector<EarlierRow>& earlier,
    std::span<const Configuration> configurations) {
  EarlierComparison result = {
      Table({"model", "device", "tier", "threads", "before_ms", "now_ms",
             "ratio", "from", "to", "sure", "verdict"}),
      {}};
  for (const Configuration& configuration : configurations) {
    if (configuration.rounds.empty()) continue;
    const EarlierRow now = RowOf(configuration);
    const EarlierRow* const before = FindEarlier(earlier, now);
    if (before == nullptr) {
      return InvalidArgumentError(Concat(
          {path, ": expected a row of ", now.model, " with device ", now.device,
           ", tier ", now.tier, " and ", now.threads, " threads, found none"}));
    }
    const SpeedRatio ratio = CompareSpeeds(before->rounds_ms, now.rounds_ms);
    result.table.AddRow(Joined({now.model, now.device, now.tier, now.threads,
                                Cell(Quantiles(before->rounds_ms).At(0.5), 4),
                                Cell(Quantiles(now.rounds_ms).At(0.5), 4)},
                               RatioCells(ratio)));
    for (std::string& doubt : DoubtsOf(*before, now, ratio))
      result.doubts.push_back(std::move(doubt));
  }
  return result;
}

Table CompareWithPeer(std::span<const Configuration> configurations) {
  Table table({"model", "tier", "threads", "ember_ms", "onnxruntime_ms",
               "ratio", "from", "to", "sure", "verdict", "ember_first_ms",
               "onnxruntime_first_ms", "ember_rss_mb", "onnxruntime_rss_mb",
               "onnxruntime"});
  for (const Configuration& configuration : configurations) {
    if (configuration.rounds.empty() || configuration.peer.empty()) continue;
    std::vector<double> medians, first, memory;
    for (const PeerMeasurement& peer : configuration.peer) {
      medians.push_back(peer.median_ms);
      first.push_back(peer.first_ms);
      memory.push_back(peer.rss_mb);
    }
    const Measurement own = configuration.rounds.Combined();
    table.AddRow(Joined(
        Joined(
            {NameOf(configuration.options), configuration.options.tier,
             configuration.options.threads, Cell(own.median_ms, 4),
             Cell(Quantiles(medians).At(0.5), 4)},
            RatioCells(CompareSpeeds(medians, configuration.rounds.Medians()))),
        {Cell(own.first_ms, 1), Cell(Quantiles(first).At(0.5), 1),
         Cell(own.rss_mb, 0), Cell(Quantiles(memory).At(0.5), 0),
         configuration.peer.front().version}));
  }
  return table;
}

std::string LifeText(std::span<const Configuration> configurations) {
  std::string text;
  for (const Configuration& configuration : configurations) {
    for (const Measurement& m : configuration.rounds.measurements())
      text += (text.empty() ? "[" : ",\n ") + LifeOf(configuration.options, m);
  }
  return (text.empty() ? "[" : text) + "]\n";
}

}  // namespace ember::tools
