// vm-tune: searches fast schedules for the dispatches of models.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "hal/cpu/target.h"
#include "jit/cache/options.h"
#include "jit/kernel/tuned_schedules.h"
#include "jit/target/compile_target.h"
#include "jit/target/cpu_model.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/report/table.h"
#include "tools/lib/tuning/measures.h"
#include "tools/lib/tuning/model_tasks.h"
#include "tools/lib/tuning/report_page.h"
#include "tools/lib/tuning/tuning_log.h"
#include "tune/model/tree_model.h"
#include "tune/records/record_store.h"
#include "tune/search/strategy.h"
#include "tune/search/tuner.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, import_files, merge_files;
  ImportFlags import;
  std::string target = "host", records, strategy = "draft", model = "trees",
              export_file, report;
  double seconds = 0;
  int64_t trials = 0, workers = 0, seed = 1, batch = 8;
  bool exact_schedules = false, only_report = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL", 0, 1000, &options.models);
  flags.Add("target", &options.target, "T",
            "Tunes for this target of vm-prejit --list-targets. A target that "
            "this machine cannot run is\n"
            "tuned by the cost model alone.");
  flags.Add("seconds", &options.seconds, "S",
            "Ends the search after this time, all models together. Default, "
            "without --trials: 600.");
  flags.Add("trials", &options.trials, "N",
            "Ends the search after this number of trials.");
  flags.Add("workers", &options.workers, "N",
            "Compiles with this number of processes, one of which measures at "
            "a time. Default: one per core.");
  flags.Add("records", &options.records, "FILE",
            "Keeps trials and the best schedules in this file, from which "
            "later searches continue.\n"
            "Default: ~/.local/state/ember/tuning.db.");
  const std::vector<std::string_view> names = tune::StrategyNames();
  flags.AddChoice("strategy", &options.strategy, {names.begin(), names.end()},
                  "The way in which the search proposes schedules.");
  flags.AddChoice("model", &options.model, {"trees", "analytic"},
                  "The cost model that ranks candidates: trees that were "
                  "trained ahead of time and learn from\n"
                  "trials, or a formula.");
  flags.Add("seed", &options.seed, "N", "The seed of the search's choices.");
  flags.Add("exact-schedules", &options.exact_schedules,
            "Uses only schedules that round as the interpreter does, except "
            "for the order of sums.");
  flags.Add("export", &options.export_file, "FILE",
            "Writes the best schedules of the records to a text file, for "
            "vm-prejit and other machines.");
  flags.Add("import", &options.import_files, "FILE",
            "Adds the schedules of such a file to the records.");
  flags.Add("merge", &options.merge_files, "FILE",
            "Adds the records of another file.");
  flags.Add("only-report", &options.only_report,
            "Prints what the records have for the models, and stops.");
  flags.Add("report", &options.report, "FILE",
            "Writes an HTML page about the records of the models.");
  AddImportFlags(flags, &options.import);
  flags.Example("vm-tune resnet50.vmfb --seconds=600");
  flags.Example("vm-tune bert.vmfb gpt.vmfb --trials=2000 --workers=4");
  flags.Example("vm-tune --export=best.schedules");
  flags.Example(
      "vm-prejit resnet50.vmfb --target=host --tuning-records=best.schedules "
      "-o out.vmfb");
}

volatile std::sig_atomic_t is_interrupted = 0;

void Interrupt(int) { is_interrupted = 1; }

std::string RecordsPath(const Options& options) {
  if (!options.records.empty()) return UserPath(options.records);
  const std::string secret = jit::DefaultCacheOptions().secret_file;
  const size_t slash = secret.rfind('/');
  if (slash == std::string::npos) return UserPath("tuning.db");
  return secret.substr(0, slash) + "/tuning.db";
}

StatusOr<std::unique_ptr<tune::RecordStore>> OpenRecords(
    const Options& options) {
  const std::string path = RecordsPath(options);
  if (options.records.empty())
    EMBER_RETURN_IF_ERROR(
        MakeOutputFolder("--records", path.substr(0, path.rfind('/'))));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<tune::RecordStore> store,
                         tune::RecordStore::Open(path, tune::Access::kTune));
  for (const std::string& file : options.import_files) {
    EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(UserPath(file)));
    const auto schedules = jit::TunedSchedules::Parse(text);
    if (!schedules.ok()) return schedules.status().WithContext(file);
    EMBER_ASSIGN_OR_RETURN(const int64_t taken, store->Import(*schedules));
    std::fprintf(stderr, "vm-tune: %s: took %lld of %zu schedules\n",
                 file.c_str(), static_cast<long long>(taken),
                 schedules->size());
  }
  for (const std::string& file : options.merge_files)
    EMBER_RETURN_IF_ERROR(store->Merge(UserPath(file)));
  return store;
}

StatusOr<std::vector<tune::Task>> LoadTasks(const Options& options,
                                            const std::string& target) {
  EMBER_ASSIGN_OR_RETURN(const LoadOptions load, LoadOptionsOf(options.import));
  std::vector<tune::Task> tasks;
  for (const std::string& path : options.models) {
    EMBER_ASSIGN_OR_RETURN(const LoadedModel model, LoadModel(path, load));
    StatusOr<std::vector<tune::Task>> own =
        TasksOf(model.module, target, load.shapes);
    if (!own.ok()) return own.status().WithContext(path);
    MergeTasks(*std::move(own), tasks);
  }
  return tasks;
}

// Gives the tuner what the records know: trials, the best schedule, and those
// of near tasks for a task without one.
Status UseRecords(const std::vector<tune::Task>& tasks,
                  const tune::RecordStore& store, tune::Tuner& tuner) {
  constexpr int kNear = 3;
  size_t skipped = 0;
  std::string reason;
  const auto suggest = [&](size_t task, const tune::BestRecord& record,
                           const char* origin) {
    const auto point = tune::ParsePoint(record.schedule, origin);
    const Status used =
        point.ok() ? tuner.Suggest(task, *point) : point.status();
    if (used.ok()) return;
    ++skipped;
    reason = "@" + tasks[task].name + ": " + std::string(used.message());
  };
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (tuner.is_declined(i)) continue;
    EMBER_ASSIGN_OR_RETURN(const std::optional<tune::BestRecord> best,
                           store.Best(tasks[i]));
    if (best) {
      suggest(i, *best, "records");
    } else {
      // A schedule of another shape rarely applies, so a refusal says nothing.
      EMBER_ASSIGN_OR_RETURN(const std::vector<tune::BestRecord> near,
                             store.Near(tasks[i], kNear));
      for (const tune::BestRecord& record : near) {
        const auto point = tune::ParsePoint(record.schedule, "near");
        if (point.ok()) static_cast<void>(tuner.Suggest(i, *point));
      }
    }
    EMBER_ASSIGN_OR_RETURN(const std::vector<tune::TrialRecord> trials,
                           store.Trials(tasks[i]));
    for (const tune::TrialRecord& trial : trials) {
      auto point = tune::ParsePoint(trial.schedule, trial.origin);
      if (!point.ok()) continue;
      tuner.Recall(i, {.point = *std::move(point),
                       .outcome = trial.outcome,
                       .ratio = trial.ratio});
    }
  }
  if (skipped > 0) {
    std::fprintf(stderr,
                 "vm-tune: %zu schedules of the records no longer apply, such "
                 "as %s\n",
                 skipped, reason.c_str());
  }
  return OkStatus();
}

void PrintTable(const std::vector<tune::Task>& tasks,
                const tune::Tuner& tuner) {
  Table table({"dispatch", "calls", "default_us", "tuned_us", "ratio", "trials",
               "found by"});
  const std::vector<tune::Tuner::Row> rows = tuner.rows();
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) {
    return rows[i].seconds * tasks[i].calls;
  });
  for (const size_t i : order) {
    const tune::Tuner::Row& row = rows[i];
    const auto calls = static_cast<int64_t>(tasks[i].calls);
    if (!row.declined.empty()) {
      table.AddRow({tasks[i].name, calls, Cell(), Cell(), Cell(), Cell(),
                    "none: " + row.declined});
      continue;
    }
    table.AddRow({tasks[i].name, calls, Cell(row.seconds * 1e6, 1),
                  Cell(row.seconds * row.ratio * 1e6, 1), Cell(row.ratio, 3),
                  static_cast<int64_t>(row.trials),
                  row.origin.empty() ? "default" : row.origin});
  }
  std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
}

// Returns the average number of other processes that want a core.
double LoadOfMachine() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

Status Tune(const Options& options, const std::string& target, bool runs_here,
            const std::vector<tune::Task>& tasks, tune::RecordStore& store) {
  std::signal(SIGINT, Interrupt);
  std::signal(SIGTERM, Interrupt);
  const auto should_stop = [] { return is_interrupted != 0; };
  tune::TunerOptions search{.strategy = options.strategy,
                            .seed = static_cast<uint64_t>(options.seed),
                            .batch = static_cast<size_t>(options.batch),
                            .most_trials = static_cast<size_t>(options.trials),
                            .most_seconds = options.seconds,
                            .space = {.is_exact = options.exact_schedules}};
  if (options.trials == 0 && options.seconds == 0) search.most_seconds = 600;
  TuningLog log(tasks, store,
                {.is_terminal = isatty(STDERR_FILENO) == 1,
                 .most_trials = search.most_trials,
                 .most_seconds = search.most_seconds,
                 .build = runs_here ? tune::BuildText() : "model",
                 .records_trials = runs_here});
  tune::TreeModel trees = tune::TreeModel::Shipped();
  std::optional<WorkerMeasure> workers;
  tune::Measure measure;
  if (runs_here) {
    const int cores = jit::CpuModel::Of(hal::HostTarget()).cores;
    workers.emplace(
        tasks, MeasureOptions{.workers = options.workers > 0
                                             ? static_cast<int>(options.workers)
                                             : std::max(cores, 1),
                              .evict_bytes = jit::CpuModel::Of(target).l2_bytes,
                              .should_stop = should_stop});
    measure = workers->function();
    if (const double load = LoadOfMachine(); load > cores * 0.5) {
      std::fprintf(stderr,
                   "vm-tune: other programs use this machine (load %.1f): "
                   "ratios are measured interleaved, but take longer\n",
                   load);
    }
  } else {
    std::fprintf(stderr,
                 "vm-tune: this machine cannot run %s: tuned by the cost model "
                 "alone, which may be wrong\n",
                 options.target.c_str());
    measure = PredictedMeasure(tasks, search.space, tune::TreeModel::Shipped(),
                               should_stop);
  }
  tune::Scorer scorer(options.model == "trees" ? &trees : nullptr);
  tune::Tuner tuner(tasks, search, std::move(measure), scorer, log);
  EMBER_RETURN_IF_ERROR(tuner.Prepare());
  EMBER_RETURN_IF_ERROR(UseRecords(tasks, store, tuner));
  EMBER_RETURN_IF_ERROR(tuner.Run());
  log.Finish();
  EMBER_RETURN_IF_ERROR(log.status());
  PrintTable(tasks, tuner);
  std::printf(
      "all dispatches: %.3f of the default's time, %zu trials in %.0f s, %zu "
      "of them crashed, hung or were wrong\n",
      tuner.total_ratio(), tuner.trials(), tuner.elapsed_seconds(),
      log.bad_trials());
  return OkStatus();
}

Status ReportRecords(const std::vector<tune::Task>& tasks,
                     const tune::RecordStore& store) {
  Table table({"dispatch", "calls", "tuned_us", "ratio", "trials", "build"});
  for (const tune::Task& task : tasks) {
    EMBER_ASSIGN_OR_RETURN(const std::optional<tune::BestRecord> best,
                           store.Best(task));
    EMBER_ASSIGN_OR_RETURN(const std::vector<tune::TrialRecord> trials,
                           store.Trials(task));
    table.AddRow({task.name, static_cast<int64_t>(task.calls),
                  best ? Cell(best->seconds * 1e6, 1) : Cell(),
                  best ? Cell(best->ratio, 3) : Cell(),
                  static_cast<int64_t>(trials.size()),
                  best ? Cell(best->build) : Cell()});
  }
  std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
  return OkStatus();
}

Status Run(const Options& options) {
  const bool does_more = !options.export_file.empty() ||
                         !options.import_files.empty() ||
                         !options.merge_files.empty();
  if (options.models.empty() && !does_more)
    return CommandLineError("expected a MODEL to tune (see --help)");
  if (options.seconds < 0 || options.trials < 0 || options.workers < 0)
    return CommandLineError(
        "--seconds, --trials, --workers: expected no number below 0");
  EMBER_RETURN_IF_ERROR(CheckOutputFile("--export", options.export_file));
  EMBER_RETURN_IF_ERROR(CheckOutputFile("--report", options.report));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<tune::RecordStore> store,
                         OpenRecords(options));
  if (!options.models.empty()) {
    std::string target = hal::HostTarget();
    if (options.target != "host") {
      EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget found,
                             jit::FindCompileTarget(options.target));
      target = found.target;
    }
    EMBER_ASSIGN_OR_RETURN(const std::vector<tune::Task> tasks,
                           LoadTasks(options, target));
    const bool runs_here = hal::MissingFeatures(target).empty();
    EMBER_RETURN_IF_ERROR(
        options.only_report ? ReportRecords(tasks, *store)
                            : Tune(options, target, runs_here, tasks, *store));
    if (!options.report.empty()) {
      EMBER_ASSIGN_OR_RETURN(const std::string page, ReportPage(tasks, *store));
      EMBER_RETURN_IF_ERROR(WriteUserFile(options.report, page));
    }
  }
  if (options.export_file.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const jit::TunedSchedules best, store->Export());
  return WriteUserFile(options.export_file, best.Print());
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-tune", "MODEL... [flags]",
              "Searches fast schedules for the dispatches of models, which may "
              "be modules or models of\n"
              "another format. The search may be stopped at any time and "
              "continues from its records.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Run(options); });
}
