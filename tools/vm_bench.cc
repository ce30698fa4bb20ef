// vm-bench: measures how long runs of models take, by tier and number of
// threads.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/concat.h"
#include "base/file.h"
#include "base/one_line.h"
#include "jit/target/peak.h"
#include "tools/lib/benchmark/benchmark.h"
#include "tools/lib/benchmark/configurations.h"
#include "tools/lib/benchmark/peer.h"
#include "tools/lib/benchmark/process.h"
#include "tools/lib/benchmark/result_tables.h"
#include "tools/lib/benchmark/rounds.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/kernel_cache.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/models/expression.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/report/dispatch_work.h"
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

void PrintPeak(const std::vector<int64_t>& threads, TableFormat format) {
  Table table({"threads", "peak_gflops", "build"});
  for (const int64_t count : threads) {
    table.AddRow({count,
                  Cell(jit::MeasureFmaPeak(static_cast<int>(count), 0.2), 1),
                  BuildId()});
  }
  std::fputs(table.Print(format).c_str(), stdout);
}

// Checks the flags that can be checked without a measurement, so that mistakes
// are reported at once.
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

// Makes the module of --expression. Returns the number of arithmetic operations
// in a run.
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

// True if the table has the column with the processor's peak rate.
bool MeasuresPeak(const Options& options) {
  return options.format == "json" && options.benchmark.device == "cpu";
}

// Prints the table of measurements, or the table of a comparison, as the flags
// say.
Status PrintTable(const Options& options,
                  const std::vector<EarlierRow>& earlier, double operations,
                  TableFormat format,
                  const std::vector<Configuration>& configurations) {
  const auto print = [format](const Table& table) {
    std::fputs(table.Print(format).c_str(), stdout);
    return OkStatus();
  };
  if (!options.peer.empty()) return print(CompareWithPeer(configurations));
  if (!options.compare.empty()) {
    EMBER_ASSIGN_OR_RETURN(
        const EarlierComparison comparison,
        CompareWithEarlier(options.compare, earlier, configurations));
    for (const std::string& doubt : comparison.doubts)
      std::fprintf(stderr, "vm-bench: note: %s\n", OnOneLine(doubt).c_str());
    return print(comparison.table);
  }
  return print(MeasuredTable({.device = options.benchmark.device,
                              .has_cancels = options.benchmark.cancels > 0,
                              .has_gflops = options.benchmark.module != nullptr,
                              .operations = operations,
                              .has_rounds = options.format == "json",
                              .has_peak = MeasuresPeak(options)},
                             configurations));
}

// Checks the flags of comparisons. Sets the number of rounds, and how long each
// round measures.
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
  // stdin cannot be read twice, so the model may not be "-": each child process
  // reads it anew.
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
  const RoundsOptions rounds = {
      .rounds = options.rounds,
      .measures_peak = MeasuresPeak(options) || !options.compare.empty(),
      .has_peer = !options.peer.empty()};
  Status error = MeasureConfigurations(rounds, configurations);
  EMBER_RETURN_IF_ERROR(
      PrintTable(options, earlier, operations, format, configurations));
  if (!options.life.empty() && error.ok())
    error = WriteUserFile(options.life, LifeText(configurations));
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
