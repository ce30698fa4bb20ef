// vm-bench: measures how fast models run, by tier and thread count.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/one_line.h"
#include "jit/target/peak.h"
#include "tools/lib/benchmark/benchmark.h"
#include "tools/lib/benchmark/peer.h"
#include "tools/lib/benchmark/process.h"
#include "tools/lib/benchmark/rounds.h"
#include "tools/lib/benchmark/speed_ratio.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/cli/kernel_cache.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/models/expression.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/report/dispatch_work.h"
#include "tools/lib/report/statistics.h"
#include "tools/lib/report/table.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, inputs;
  ImportFlags import;
  std::string format = "md", threads = "1", tiers, jit = "auto", life;
  std::string expression, compare, peer;
  int64_t rounds = 0;
  BenchmarkOptions benchmark;
  KernelCacheFlags cache;
  bool peak = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL...", 1, 1000, &options.models);
  flags.AddChoice("o", &options.format, {"md", "json", "csv"},
                  "Prints the table in this format.");
  flags.Add("threads", &options.threads, "N,N,...",
            "Measures with each of these numbers of threads. 0: one per "
            "core.");
  flags.Add("tier", &options.tiers, "0|1|2|auto,...",
            "Measures each of these tiers; see vm-run. The default is auto, "
            "and 2 with --expression.");
  AddJitFlag(flags, &options.jit);
  flags.Add("device", &options.benchmark.device, "NAME",
            "Runs on this device; see vm-run. For devices other than cpu "
            "the table also has host_ms, the\n"
            "CPU time of the calling thread before submissions, and the "
            "submissions and commands of a\n"
            "run.");
  flags.Add("warmup", &options.benchmark.warmup, "N",
            "Runs at least N times before measuring.");
  flags.Add("settle", &options.benchmark.settle_seconds, "S",
            "With --tier=auto: waits up to S seconds until every dispatch "
            "has its final kernel, and\n"
            "measures runs after that.");
  flags.Add("runs", &options.benchmark.runs, "N", "Measures at most N runs.");
  flags.Add("seconds", &options.benchmark.seconds, "S",
            "Begins no new run after S seconds, but makes at least three "
            "runs.");
  flags.Add("rounds", &options.rounds, "N",
            "Measures everything N times, each time in a process of its own, "
            "and one row of the table after\n"
            "the other in each round. --runs and --seconds are for all rounds "
            "together, and the times are\n"
            "medians over the rounds. 0: 5 with --compare or --peer, "
            "otherwise 1.");
  flags.Add("compare", &options.compare, "FILE",
            "Compares with the table that an earlier vm-bench -o json printed "
            "to this file, and prints what\n"
            "got slower: the ratio of the times, the interval from .. to that "
            "contains it, and how sure that\n"
            "is (docs/comparing.md). Measure both with --rounds=5 or more.");
  flags.AddChoice("peer", &options.peer, {"onnxruntime"},
                  "Measures ONNX models in ONNX Runtime, too, with the same "
                  "inputs and threads, alternately in\n"
                  "each round, and compares. It needs node and the package "
                  "onnxruntime-node of npm.");
  flags.Add("cancel", &options.benchmark.cancels, "N",
            "Adds N runs, each of which another thread cancels at a random "
            "moment. The table then has the\n"
            "number of cancelled runs and the time from the cancellation "
            "to the end of the run: cancel_ms\n"
            "(the median) and worst_ms.");
  flags.Add("life", &options.life, "FILE.json",
            "Writes the latency of every run, starting with the first, the "
            "time for which its threads\n"
            "waited for a core that other threads of this machine used, "
            "and the cost of compiling.");
  flags.Add("while-serving", &options.benchmark.while_serving, "S",
            "Lets the session tune its hottest dispatches during the measured "
            "runs, with at most this share\n"
            "of a core: 0.1 is a tenth. Better kernels are used from the next "
            "run on.");
  flags.Add("tuning-records", &options.benchmark.serving_records, "FILE",
            "Keeps what --while-serving finds in this file. Default: that of "
            "vm-tune.");
  flags.Add("turns", &options.benchmark.turns, "FD",
            "Writes a byte to this file descriptor before each call, and "
            "then waits for one from it. The\n"
            "program ends at the end of the input. Another program can so "
            "let several processes call\n"
            "alternately (tools/turns.py).");
  AddImportFlags(flags, &options.import);
  flags.Add("input", &options.inputs, "[NAME=]VALUE",
            "Gives an input in a form of vm-run --input. Without any "
            "--input all inputs are random.");
  options.benchmark.missing.AddFlag(flags);
  flags.Add("schedules", &options.benchmark.schedules, "DIR|FILE",
            "Uses the schedules of this folder, or this one; see vm-run.");
  AddRoundingFlags(flags, &options.benchmark.rounding);
  flags.Add("no-side-by-side", &options.benchmark.no_side_by_side,
            "Runs even independent dispatches one after another, each on "
            "all threads.");
  AddKernelCacheFlags(flags, &options.cache);
  AddKernelCheckFlags(flags, &options.benchmark.checks);
  AddNativeFlags(flags, &options.benchmark.native);
  AddLimitFlags(flags, &options.benchmark.limits);
  flags.AddStandalone("expression", &options.expression, "TEXT",
                      "Measures this expression in index notation "
                      "(tensor/notation/README.md) instead of models.\n"
                      "--shape=NAME=DIMS declares each of its inputs. The "
                      "table also has gflops: arithmetic\n"
                      "operations of the expression in 10^9 per second.");
  flags.AddStandalone("peak", &options.peak,
                      "Measures no model, only the processor's peak of f32 "
                      "multiply-adds.");
  flags.Example("vm-bench resnet50.vmfb");
  flags.Example("vm-bench resnet50.vmfb --device=vulkan");
  flags.Example(
      "vm-bench resnet50.onnx mobilenetv2.onnx --threads=1,2 -o json");
  flags.Example("vm-bench resnet50.onnx --rounds=5 -o json > before.json");
  flags.Example("vm-bench resnet50.onnx --compare=before.json");
  flags.Example("vm-bench resnet50.onnx --peer=onnxruntime --threads=1,2");
  flags.Example(
      "vm-bench bert.onnx --shape=input_ids=1x128 --runs=10 --seconds=30");
  flags.Example(
      "vm-bench --expression='y[i,j] = sum(k) a[i,k] * b[k,j]' "
      "--shape=a=512x512 --shape=b=512x512");
}

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

StatusOr<std::vector<int64_t>> ParseThreads(const std::string& text) {
  std::vector<int64_t> counts;
  for (const std::string& part : SplitList(text)) {
    int64_t count = 0;
    const auto [end, error] =
        std::from_chars(part.data(), part.data() + part.size(), count);
    if (error != std::errc() || end != part.data() + part.size() || count < 0) {
      return CommandLineError("--threads: expected numbers as in 1,2, found '" +
                              text + "'");
    }
    counts.push_back(count);
  }
  return counts;
}

// Returns the name of the model for tables: its file's, or the expression.
std::string NameOf(const BenchmarkOptions& options) {
  if (options.module != nullptr) return options.model;
  return options.model.substr(options.model.rfind('/') + 1);
}

// operations: number of arithmetic operations of a run; 0 if it is not known.
std::vector<Cell> RowCells(const BenchmarkOptions& options, double operations,
                           const Measurement& m) {
  std::vector<Cell> row = {NameOf(options),      options.device,
                           options.tier,         options.threads,
                           Cell(m.median_ms, 4), Cell(m.p10_ms, 4),
                           Cell(m.p90_ms, 4),    Cell(m.load_ms, 3),
                           Cell(m.first_ms, 3),  Cell(m.rss_mb, 0),
                           Cell(m.peak_mb, 0),   m.runs,
                           m.tier_mix,           BuildId()};
  if (m.is_on_device) {
    row.emplace_back(Cell(m.host_ms, 4));
    row.emplace_back(Cell(m.submissions, 1));
    row.emplace_back(Cell(m.commands, 1));
    row.emplace_back(m.on_host.empty() ? "no dispatch" : m.on_host);
  }
  if (options.cancels > 0) {
    row.emplace_back(m.cancel.cancelled);
    row.emplace_back(Cell(m.cancel.median_ms, 3));
    row.emplace_back(Cell(m.cancel.worst_ms, 3));
  }
  if (options.module != nullptr) {
    row.emplace_back(
        operations == 0 ? Cell() : Cell(1e-6 * operations / m.median_ms, 2));
  }
  return row;
}

void PrintPeak(const std::vector<int64_t>& threads, TableFormat format) {
  Table table({"threads", "peak_gflops", "build"});
  for (const int64_t count : threads) {
    table.AddRow({count,
                  Cell(jit::MeasureFmaPeak(static_cast<int>(count), 0.2), 1),
                  BuildId()});
  }
  std::fputs(table.Print(format).c_str(), stdout);
}

// Returns the JSON object of one measurement in the file that --life writes.
std::string LifeText(const BenchmarkOptions& options, const Measurement& m) {
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

// Checks the flags that do not depend on a measurement, before the first one
// begins.
Status CheckOptions(const Options& options,
                    const std::vector<std::string>& tiers,
                    const std::vector<int64_t>& threads) {
  for (const std::string& tier : tiers) {
    EMBER_RETURN_IF_ERROR(
        CheckTierOptions({.tier = tier,
                          .jit = options.jit,
                          .schedule_folder = options.benchmark.schedules,
                          .native = options.benchmark.native}));
  }
  const double share = options.benchmark.while_serving;
  if (share < 0 || share > 1)
    return CommandLineError("--while-serving: expected a number from 0 to 1");
  for (const int64_t count : threads)
    EMBER_RETURN_IF_ERROR(CheckDevice(options.benchmark.device, count));
  vm::SessionOptions session;
  EMBER_RETURN_IF_ERROR(SetLimits(options.benchmark.limits, session));
  return CheckOutputFile("--life", options.life);
}

// Makes the module of --expression. Returns the number of operations of a run.
StatusOr<double> PrepareExpression(Options& options) {
  const LoadOptions& load = options.benchmark.load;
  const std::string_view flag = !options.models.empty() ? "MODEL"
                                : !load.values.empty()  ? "--constant"
                                : !load.entry.empty()   ? "--entry"
                                                        : "";
  if (!flag.empty()) {
    return CommandLineError(
        Concat({"--expression: expected no ", flag, ", found one"}));
  }
  EMBER_ASSIGN_OR_RETURN(options.benchmark.module,
                         ModuleOfExpression(options.expression, load.shapes));
  options.models = {options.expression};
  EMBER_ASSIGN_OR_RETURN(
      const DispatchWork work,
      WorkOf(options.benchmark.module->definition().dispatches[0], {}));
  return work.operations;
}

// One row of the table: a model with a tier and a number of threads.
struct Configuration {
  BenchmarkOptions options;
  Rounds rounds;
  // The peer's measurements, if there is one.
  std::vector<PeerMeasurement> peer;
  std::vector<double> peaks;  // GFLOP/s of the processor before each round
  Status error;
};

std::vector<Configuration> ConfigurationsOf(
    const Options& options, const std::vector<std::string>& tiers,
    const std::vector<int64_t>& threads) {
  std::vector<Configuration> configurations;
  for (const std::string& model : options.models) {
    for (const std::string& tier : tiers) {
      for (const int64_t count : threads) {
        BenchmarkOptions& made = configurations.emplace_back().options;
        made = options.benchmark;
        made.model = model;
        made.tier = tier;
        made.jit = options.jit;
        made.threads = count;
        made.reports_random = tier == tiers[0] && count == threads[0];
      }
    }
  }
  return configurations;
}

// True if the table says how fast the processor itself is.
bool MeasuresPeak(const Options& options) {
  return options.format == "json" && options.benchmark.device == "cpu";
}

// Measures one round of the configuration, in the peer too if there is one.
Status MeasureRound(const Options& options, const PeerInputs* inputs,
                    Configuration& configuration) {
  BenchmarkOptions& own = configuration.options;
  constexpr double kPeakSeconds = 0.05;
  if (MeasuresPeak(options) || !options.compare.empty()) {
    configuration.peaks.push_back(
        jit::MeasureFmaPeak(static_cast<int>(own.threads), kPeakSeconds));
  }
  own.peer_inputs = inputs;
  EMBER_ASSIGN_OR_RETURN(Measurement measurement, MeasureInChild(own));
  own.reports_random = false;
  configuration.rounds.Add(std::move(measurement));
  if (inputs == nullptr) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(PeerMeasurement peer,
                         MeasurePeer({.model = own.model,
                                      .threads = own.threads,
                                      .warmup = own.warmup,
                                      .runs = own.runs,
                                      .seconds = own.seconds},
                                     *inputs));
  configuration.peer.push_back(std::move(peer));
  return OkStatus();
}

// Measures all configurations, one after the other in each round. A
// configuration with an error is left out of the later rounds.
Status MeasureAll(const Options& options,
                  std::vector<Configuration>& configurations) {
  std::optional<PeerInputs> inputs;
  if (!options.peer.empty()) {
    EMBER_ASSIGN_OR_RETURN(PeerInputs created, PeerInputs::Create());
    inputs.emplace(std::move(created));
  }
  for (int64_t round = 0; round < options.rounds; ++round) {
    for (Configuration& configuration : configurations) {
      if (!configuration.error.ok()) continue;
      configuration.error =
          MeasureRound(options, inputs ? &*inputs : nullptr, configuration);
    }
  }
  for (const Configuration& configuration : configurations)
    EMBER_RETURN_IF_ERROR(configuration.error);
  return OkStatus();
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

// Returns the table of --compare, and prints what makes it unsure to stderr.
StatusOr<Table> CompareWithEarlier(
    const Options& options, const std::vector<EarlierRow>& earlier,
    const std::vector<Configuration>& configurations) {
  Table table({"model", "device", "tier", "threads", "before_ms", "now_ms",
               "ratio", "from", "to", "sure", "verdict"});
  for (const Configuration& configuration : configurations) {
    if (configuration.rounds.empty()) continue;
    const EarlierRow now = RowOf(configuration);
    const EarlierRow* const before = FindEarlier(earlier, now);
    if (before == nullptr) {
      return InvalidArgumentError(
          Concat({options.compare, ": expected a row of ", now.model,
                  " with device ", now.device, ", tier ", now.tier, " and ",
                  now.threads, " threads, found none"}));
    }
    const SpeedRatio ratio = CompareSpeeds(before->rounds_ms, now.rounds_ms);
    table.AddRow(Joined({now.model, now.device, now.tier, now.threads,
                         Cell(Quantiles(before->rounds_ms).At(0.5), 4),
                         Cell(Quantiles(now.rounds_ms).At(0.5), 4)},
                        RatioCells(ratio)));
    for (const std::string& doubt : DoubtsOf(*before, now, ratio))
      std::fprintf(stderr, "vm-bench: note: %s\n", OnOneLine(doubt).c_str());
  }
  return table;
}

// Returns the table of --peer.
Table CompareWithPeer(const std::vector<Configuration>& configurations) {
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

// Returns the medians of all rounds, as a JSON list.
Cell RoundsCell(const Configuration& configuration) {
  std::ostringstream text;
  text.precision(6);
  for (const double ms : configuration.rounds.Medians())
    text << (text.tellp() == 0 ? "[" : ", ") << ms;
  Cell cell(text.str() + "]");
  cell.is_number = true;
  return cell;
}

// Writes the file of --life: an object for each round of each configuration.
Status WriteLife(const std::string& path,
                 const std::vector<Configuration>& configurations) {
  std::string lives;
  for (const Configuration& configuration : configurations) {
    for (const Measurement& m : configuration.rounds.measurements()) {
      lives +=
          (lives.empty() ? "[" : ",\n ") + LifeText(configuration.options, m);
    }
  }
  return WriteUserFile(path, lives + "]\n");
}

// Returns the table of the measurements.
Table MeasuredTable(const Options& options,
                    const std::vector<Configuration>& configurations,
                    double operations) {
  std::vector<std::string> columns = {
      "model",   "device", "tier",     "threads",  "median_ms",
      "p10_ms",  "p90_ms", "load_ms",  "first_ms", "rss_mb",
      "peak_mb", "runs",   "tier_mix", "build"};
  if (options.benchmark.device != "cpu") {
    columns.insert(columns.end(),
                   {"host_ms", "submissions", "commands", "on_cpu"});
  }
  if (options.benchmark.cancels > 0) {
    columns.insert(columns.end(), {"cancelled", "cancel_ms", "worst_ms"});
  }
  if (options.benchmark.module != nullptr) columns.emplace_back("gflops");
  if (options.format == "json") columns.emplace_back("rounds_ms");
  if (MeasuresPeak(options)) columns.emplace_back("peak_gflops");
  Table table(columns);
  for (const Configuration& configuration : configurations) {
    if (configuration.rounds.empty()) continue;
    std::vector<Cell> row = RowCells(configuration.options, operations,
                                     configuration.rounds.Combined());
    if (options.format == "json") row.push_back(RoundsCell(configuration));
    if (MeasuresPeak(options)) {
      row.emplace_back(Cell(Quantiles(configuration.peaks).At(0.5), 1));
    }
    table.AddRow(std::move(row));
  }
  return table;
}

// Checks the flags of comparisons, and sets the number of rounds and the work
// of each.
Status PrepareRounds(Options& options) {
  const bool compares = !options.compare.empty() || !options.peer.empty();
  if (!options.compare.empty() && !options.peer.empty()) {
    return CommandLineError(
        "--compare: expected no --peer beside it, found both");
  }
  if (options.rounds == 0) options.rounds = compares ? 5 : 1;
  BenchmarkOptions& each = options.benchmark;
  each.runs = (each.runs + options.rounds - 1) / options.rounds;
  each.seconds /= static_cast<double>(options.rounds);
  if (options.peer.empty()) return OkStatus();
  if (!options.expression.empty() || each.device != "cpu") {
    return CommandLineError("--peer: expected models and --device=cpu, found " +
                            (options.expression.empty()
                                 ? "--device=" + each.device
                                 : std::string("--expression")));
  }
  for (const std::string& model : options.models) {
    if (!model.ends_with(".onnx")) {
      return CommandLineError(
          "--peer=onnxruntime: expected models that end in .onnx, found " +
          model);
    }
  }
  return CheckPeer();
}

Status Bench(Options& options) {
  if (options.tiers.empty())
    options.tiers = options.expression.empty() ? "auto" : "2";
  EMBER_ASSIGN_OR_RETURN(const std::vector<int64_t> threads,
                         ParseThreads(options.threads));
  const std::vector<std::string> tiers = SplitList(options.tiers);
  EMBER_RETURN_IF_ERROR(CheckOptions(options, tiers, threads));
  EMBER_ASSIGN_OR_RETURN(const TableFormat format,
                         ParseTableFormat(options.format));
  if (options.peak) {
    PrintPeak(threads, format);
    return OkStatus();
  }
  EMBER_RETURN_IF_ERROR(PrepareRounds(options));
  std::vector<EarlierRow> earlier;
  if (!options.compare.empty()) {
    EMBER_ASSIGN_OR_RETURN(earlier, ReadEarlier(options.compare));
  }
  // The child processes read the model; stdin would be empty for the second
  // one.
  if (std::ranges::find(options.models, kStandardStream) !=
      options.models.end())
    EMBER_RETURN_IF_ERROR(StdinFile("MODEL").status());
  EMBER_ASSIGN_OR_RETURN(options.benchmark.load, LoadOptionsOf(options.import));
  options.benchmark.load.inputs = options.inputs;
  double operations = 0;
  if (!options.expression.empty()) {
    EMBER_ASSIGN_OR_RETURN(operations, PrepareExpression(options));
  }
  options.benchmark.schedules = UserPath(options.benchmark.schedules);
  if (!options.benchmark.serving_records.empty()) {
    options.benchmark.serving_records =
        UserPath(options.benchmark.serving_records);
  }
  options.benchmark.has_schedules_of_others = options.models.size() > 1;
  options.benchmark.cache = CacheOptionsOf(options.cache);
  std::vector<Configuration> configurations =
      ConfigurationsOf(options, tiers, threads);
  Status error = MeasureAll(options, configurations);
  if (!options.peer.empty()) {
    std::fputs(CompareWithPeer(configurations).Print(format).c_str(), stdout);
  } else if (!options.compare.empty()) {
    EMBER_ASSIGN_OR_RETURN(
        const Table table,
        CompareWithEarlier(options, earlier, configurations));
    std::fputs(table.Print(format).c_str(), stdout);
  } else {
    std::fputs(MeasuredTable(options, configurations, operations)
                   .Print(format)
                   .c_str(),
               stdout);
  }
  if (!options.life.empty() && error.ok())
    error = WriteLife(options.life, configurations);
  return error;
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-bench", "MODEL... | --expression=TEXT [flags]",
              "Measures models (.vmfb, or of another format compiled in "
              "memory), or an expression, each in a "
              "process of its own:\n"
              "median, 10th and 90th percentile of a run, loading, loading and "
              "first run, memory.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Bench(options); });
}
