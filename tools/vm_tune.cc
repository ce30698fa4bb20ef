// vm-tune: searches fast schedules for the dispatches of models.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/target_text.h"
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
#include "tools/lib/tuning/fleet/open_queue.h"
#include "tools/lib/tuning/fleet/slurm_array.h"
#include "tools/lib/tuning/fleet/tune_worker.h"
#include "tools/lib/tuning/measures.h"
#include "tools/lib/tuning/model_tasks.h"
#include "tools/lib/tuning/report_page.h"
#include "tools/lib/tuning/task_folder.h"
#include "tools/lib/tuning/throttle.h"
#include "tools/lib/tuning/tuning_log.h"
#include "tune/fleet/fleet_measure.h"
#include "tune/fleet/job_queue.h"
#include "tune/model/tree_model.h"
#include "tune/records/record_store.h"
#include "tune/search/strategy.h"
#include "tune/search/tuner.h"
#include "tune/space/space.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, import_files, merge_files;
  ImportFlags import;
  std::string target = "host", records, strategy = "draft", model = "trees",
              export_file, report;
  // value of --workers: a number of processes, slurm:N, or the address of a
  // queue
  std::string workers;
  int64_t processes = 0;  // the number in --workers; 0: one process per core
  QueueAddress queue;
  SlurmOptions slurm;
  std::string tasks;  // folder of tasks that are tuned instead of models
  std::string write_tasks, export_default;
  double seconds = 0, share = 0;
  int64_t trials = 0, seed = 1, batch = 8;
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
  flags.Add("workers", &options.workers, "N|ADDRESS",
            "Compiles with N processes of this machine, one of which measures "
            "at a time (default: one per core),\n"
            "or with vm-tune worker on other machines: nats://HOST:PORT, "
            "folder:PATH, or slurm:N for a job\n"
            "array of N workers.");
  flags.Add("batch", &options.batch, "N",
            "Proposes N candidates at a time. A fleet needs two or more per "
            "worker.");
  AddQueueFlags(flags, &options.queue);
  flags.Add("sbatch", &options.slurm.sbatch, "OPTIONS",
            "Further options of sbatch for --workers=slurm:N, with spaces "
            "between.");
  flags.Add("slurm-folder", &options.slurm.folder, "PATH",
            "The folder that the machines of --workers=slurm:N share. Default: "
            "a new one in the current\n"
            "directory.");
  flags.Add("records", &options.records, "FILE",
            "Keeps trials and the best schedules in this file, from which "
            "later searches continue.\n"
            "Default: ~/.local/state/ember/tuning.db.");
  flags.Add("share", &options.share, "S",
            "Uses at most this share of one core, at a low priority: 0.1 is a "
            "tenth. 0 is no limit.");
  flags.AddStandalone("tasks", &options.tasks, "FOLDER",
                      "Tunes the dispatches of this folder (see --write-tasks) "
                      "in place of models', until the program\n"
                      "that started this one ends.");
  flags.Add("write-tasks", &options.write_tasks, "FOLDER",
            "Writes the texts of the models' dispatches to this folder, in "
            "files NUMBER-CALLS.task, and stops.");
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
            "vm-prejit and other machines; again\n"
            "after each better one that a search finds.");
  flags.Add("export-default", &options.export_default, "FILE",
            "Writes the schedules that the default rules choose for the "
            "models' dispatches, and stops.");
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
  flags.Example("vm-tune resnet50.vmfb --workers=nats://10.0.0.1:4222");
  flags.Example("vm-tune resnet50.vmfb --workers=slurm:16 --sbatch=\"-p cpu\"");
}

volatile std::sig_atomic_t is_interrupted = 0;
// `followed`: the parent process at the start, set if --tasks is given; the
// search ends when that process ends. 0: the search does not depend on another
// process.
pid_t followed = 0;

void Interrupt(int) { is_interrupted = 1; }
bool IsInterrupted() {
  return is_interrupted != 0 || (followed != 0 && getppid() != followed);
}

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
  if (!options.tasks.empty()) return ReadTaskFolder(UserPath(options.tasks));
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

// Writes the tasks to a folder, as --write-tasks asks.
Status WriteTasks(const std::string& folder,
                  const std::vector<tune::Task>& tasks) {
  EMBER_RETURN_IF_ERROR(MakeOutputFolder("--write-tasks", folder));
  EMBER_ASSIGN_OR_RETURN(const size_t count, WriteTaskFolder(tasks, folder));
  std::fprintf(stderr, "vm-tune: %s: wrote %zu of %zu dispatches\n",
               folder.c_str(), count, tasks.size());
  return OkStatus();
}

// Writes the default schedules to a file, as --export-default asks.
Status ExportDefault(const Options& options,
                     const std::vector<tune::Task>& tasks) {
  jit::TunedSchedules schedules;
  for (const tune::Task& task : tasks) {
    const auto space =
        tune::Space::Make(task, {.is_exact = options.exact_schedules});
    if (!space.ok()) continue;
    schedules.Add({.key = task.key,
                   .target = task.request.target,
                   .name = task.name,
                   .steps = TextOf(space->start().point)});
  }
  return WriteUserFile(options.export_default, schedules.Print());
}

// Passes what the records have to the tuner: trials, and the best schedule of
// each task. A task without one gets the best schedules of similar tasks as
// suggestions.
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
      // The schedule of a task with other shapes often does not apply, so its
      // refusal is not reported.
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

// Returns the load average of the machine: how many other processes want a
// core.
double LoadOfMachine() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

// The function that measures trials, with the objects that it uses. The order
// of the members matters for destruction: the fleet before its queue, the queue
// before the array of workers.
struct Measurer {
  std::optional<WorkerMeasure> processes;
  std::unique_ptr<SlurmArray> array;
  std::unique_ptr<tune::JobQueue> queue;
  std::unique_ptr<tune::FleetMeasure> fleet;
  tune::Measure measure;
};

void UseProcesses(const Options& options, const std::string& target,
                  const std::vector<tune::Task>& tasks, Measurer& measurer) {
  const int cores = jit::CpuModel::Of(hal::HostTarget()).cores;
  measurer.processes.emplace(
      tasks, MeasureOptions{.workers = options.processes > 0
                                           ? static_cast<int>(options.processes)
                                           : std::max(cores, 1),
                            .evict_bytes = jit::CpuModel::Of(target).l2_bytes,
                            .should_stop = IsInterrupted});
  measurer.measure = measurer.processes->function();
  if (const double load = LoadOfMachine(); load > cores * 0.5) {
    std::fprintf(stderr,
                 "vm-tune: other programs use this machine (load %.1f): "
                 "ratios are measured interleaved, but take longer\n",
                 load);
  }
}

Status UseFleet(const Options& options, const std::vector<tune::Task>& tasks,
                Measurer& measurer) {
  QueueAddress address = options.queue;
  address.address = options.workers;
  if (options.slurm.workers > 0) {
    SlurmOptions slurm = options.slurm;
    slurm.target = options.target;
    EMBER_ASSIGN_OR_RETURN(measurer.array, SlurmArray::Submit(slurm));
    std::fprintf(stderr, "vm-tune: Slurm's job %s has %lld workers\n",
                 measurer.array->job().c_str(),
                 static_cast<long long>(slurm.workers));
    address.address = "folder:" + measurer.array->folder();
  }
  EMBER_ASSIGN_OR_RETURN(measurer.queue, OpenQueue(address));
  measurer.fleet = std::make_unique<tune::FleetMeasure>(
      tasks, *measurer.queue,
      tune::FleetOptions{.should_stop = IsInterrupted,
                         .notice = [](const std::string& line) {
                           std::fprintf(stderr, "vm-tune: %s\n", line.c_str());
                         }});
  measurer.measure =
      [fleet = measurer.fleet.get()](
          std::span<const tune::Trial> trials,
          const std::function<void(size_t, tune::TrialResult)>& done) {
        return fleet->Run(trials, done);
      };
  return OkStatus();
}

Status Export(const Options& options, const tune::RecordStore& store) {
  if (options.export_file.empty()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const jit::TunedSchedules best, store.Export());
  return WriteUserFile(options.export_file, best.Print());
}

Status Tune(const Options& options, const std::string& target,
            const std::vector<tune::Task>& tasks, tune::RecordStore& store) {
  std::signal(SIGINT, Interrupt);
  std::signal(SIGTERM, Interrupt);
  tune::TunerOptions search{.strategy = options.strategy,
                            .seed = static_cast<uint64_t>(options.seed),
                            .batch = static_cast<size_t>(options.batch),
                            .most_trials = static_cast<size_t>(options.trials),
                            .most_seconds = options.seconds,
                            .space = {.is_exact = options.exact_schedules}};
  if (options.trials == 0 && options.seconds == 0) search.most_seconds = 600;
  const bool uses_fleet = options.slurm.workers > 0 || !options.workers.empty();
  const bool is_measured = uses_fleet || hal::MissingFeatures(target).empty();
  TuningLog log(
      tasks, store,
      {.is_terminal = isatty(STDERR_FILENO) == 1,
       .most_trials = search.most_trials,
       .most_seconds = search.most_seconds,
       .build = is_measured ? tune::BuildText() : "model",
       .records_trials = is_measured,
       // Errors of exporting the best schedules are ignored here, because they
       // are exported again at the end of the search, where an error is
       // reported.
       .on_best = [&] { static_cast<void>(Export(options, store)); }});
  tune::TreeModel trees = tune::TreeModel::Shipped();
  Measurer measurer;
  if (uses_fleet) {
    EMBER_RETURN_IF_ERROR(UseFleet(options, tasks, measurer));
  } else if (is_measured) {
    UseProcesses(options, target, tasks, measurer);
  } else {
    std::fprintf(stderr,
                 "vm-tune: this machine cannot run %s: tuned by the cost model "
                 "alone, which may be wrong\n",
                 options.target.c_str());
    measurer.measure = PredictedMeasure(
        tasks, search.space, tune::TreeModel::Shipped(), IsInterrupted);
  }
  if (options.share > 0) {
    LowerPriority();
    measurer.measure =
        Throttled(measurer.measure, options.share, IsInterrupted);
  }
  tune::Scorer scorer(options.model == "trees" ? &trees : nullptr);
  tune::Tuner tuner(tasks, search, measurer.measure, scorer, log);
  const Status prepared = tuner.Prepare();
  if (prepared.code() == StatusCode::kCancelled) return OkStatus();
  EMBER_RETURN_IF_ERROR(prepared);
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

// Parses --workers: N, slurm:N or the address of a queue. An address is left in
// options.workers.
Status ReadWorkers(Options& options) {
  constexpr std::string_view kSlurm = "slurm:";
  constexpr int64_t kMaxWorkers = 100'000;
  const std::string text = options.workers;
  if (text.empty() || IsQueueAddress(text)) return OkStatus();
  const bool is_slurm = text.starts_with(kSlurm);
  int64_t& number = is_slurm ? options.slurm.workers : options.processes;
  const char* const begin = text.data() + (is_slurm ? kSlurm.size() : 0);
  const char* const end = text.data() + text.size();
  const auto [after, error] = std::from_chars(begin, end, number);
  options.workers.clear();
  if (error == std::errc() && after == end && number >= (is_slurm ? 1 : 0) &&
      number <= kMaxWorkers)
    return OkStatus();
  return CommandLineError(
      "--workers: expected a number, slurm:N, nats://HOST:PORT, "
      "tls://HOST:PORT or folder:PATH, found '" +
      text + "'");
}

// Returns the text of the target for which to tune. The user gives it as a name
// of vm-prejit's --target, or as the full text that a worker prints.
StatusOr<std::string> TargetOf(const std::string& name) {
  if (name == "host") return hal::HostTarget();
  if (TargetText(name).name().ends_with("-linux")) return name;
  EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget found,
                         jit::FindCompileTarget(name));
  return found.target;
}

Status Run(Options& options) {
  EMBER_RETURN_IF_ERROR(ReadWorkers(options));
  const bool does_more = !options.export_file.empty() ||
                         !options.import_files.empty() ||
                         !options.merge_files.empty();
  const bool has_tasks = !options.models.empty() || !options.tasks.empty();
  if (!has_tasks && !does_more)
    return CommandLineError("expected a MODEL to tune (see --help)");
  if (options.seconds < 0 || options.trials < 0 || options.batch < 1)
    return CommandLineError(
        "--seconds, --trials, --batch: expected no number below 0, and a batch "
        "of at least 1");
  if (options.share < 0 || options.share > 1)
    return CommandLineError("--share: expected a number from 0 to 1");
  if (!options.tasks.empty()) followed = getppid();
  EMBER_RETURN_IF_ERROR(CheckOutputFile("--export", options.export_file));
  EMBER_RETURN_IF_ERROR(
      CheckOutputFile("--export-default", options.export_default));
  EMBER_RETURN_IF_ERROR(CheckOutputFile("--report", options.report));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<tune::RecordStore> store,
                         OpenRecords(options));
  if (!options.tasks.empty()) EMBER_RETURN_IF_ERROR(Export(options, *store));
  if (has_tasks) {
    EMBER_ASSIGN_OR_RETURN(std::string target, TargetOf(options.target));
    EMBER_ASSIGN_OR_RETURN(const std::vector<tune::Task> tasks,
                           LoadTasks(options, target));
    if (!options.tasks.empty()) target = tasks[0].request.target;
    if (!options.write_tasks.empty())
      return WriteTasks(UserPath(options.write_tasks), tasks);
    if (!options.export_default.empty()) return ExportDefault(options, tasks);
    EMBER_RETURN_IF_ERROR(options.only_report
                              ? ReportRecords(tasks, *store)
                              : Tune(options, target, tasks, *store));
    if (!options.report.empty()) {
      EMBER_ASSIGN_OR_RETURN(const std::string page, ReportPage(tasks, *store));
      EMBER_RETURN_IF_ERROR(WriteUserFile(options.report, page));
    }
  }
  return Export(options, *store);
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  if (argc > 1 && std::string_view(argv[1]) == "worker")
    return RunTuneWorker(argc - 1, argv + 1);
  Options options;
  Flags flags("vm-tune", "MODEL... [flags], or vm-tune worker [flags]",
              "Searches fast schedules for the dispatches of models, which may "
              "be modules or models of\n"
              "another format. The search may be stopped at any time and "
              "continues from its records.\n"
              "vm-tune worker runs trials for other machines (see vm-tune "
              "worker --help).");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Run(options); });
}
