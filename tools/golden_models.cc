// golden_models: runs every model of a corpus on its recorded inputs and
// compares with its recorded outputs. `./dev golden` calls it.
#include <sys/stat.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "jit/target/compile_target.h"
#include "tools/lib/benchmark/child.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/models/corpus.h"
#include "tools/lib/models/golden.h"
#include "tools/lib/models/load_prejitted.h"
#include "tools/lib/report/table.h"

namespace ember::tools {
namespace {

struct Options {
  std::string corpus = "../shared/corpus", seeded, filter = "*", format = "md";
  std::string folders =
      "models/onnx,models/tflite,models/graphdef,models/savedmodel,"
      "models/keras-h5,models/mxnet,models/caffe,models/coreml,"
      "models/torchscript,"
      "onnx-light";
  std::string only;
  int64_t threads = 1, timeout = 300;
  std::string tier = "auto", device = "cpu";
  std::string prejit;
  KernelCheckFlags checks;
  double seconds = 1;
  bool complete = false;
  // set to true by the run if the flags select no model
  bool found_nothing = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Add("corpus", &options.corpus, "DIR", "The folder with manifest.json.");
  flags.Add("seeded", &options.seeded, "DIR",
            "The folder with NAME.onnx of the light models with seeded "
            "weights (./dev golden makes them).");
  flags.Add("folders", &options.folders, "LIST",
            "Runs only these folders of the corpus, with commas between "
            "them. The end of a name may be\n"
            "left out: onnx-graphs includes onnx-graphs-contrib.");
  flags.Add("filter", &options.filter, "TEXT",
            "Runs only models whose id contains TEXT; * is all.");
  flags.Add("only", &options.only, "ID", "Runs only the model with this id.");
  flags.Add("seconds", &options.seconds, "S",
            "Measures a model for at most S seconds after its first run.");
  flags.Add("threads", &options.threads, "N",
            "Computes with N threads. 0: one per core.");
  flags.AddChoice("tier", &options.tier, {"0", "1", "2", "auto"},
                  "Runs on this tier; see vm-run.");
  flags.Add("prejit", &options.prejit, "T[,T...]",
            "Uses no tier. Makes kernels for these processors (vm-prejit "
            "--list-targets), writes them\n"
            "into the module's file, and loads them from it; tier 0 runs "
            "the other dispatches. A refused\n"
            "file or kernel is an error.");
  AddKernelCheckFlags(flags, &options.checks);
  flags.Add("device", &options.device, "NAME",
            "Runs on this device; see vm-run. The note says how much of a "
            "model ran there.");
  flags.Add("timeout", &options.timeout, "S",
            "Gives each model at most S seconds.");
  flags.Add("complete", &options.complete,
            "Counts an unsupported model as a failure.");
  flags.AddChoice("o", &options.format, {"md", "json", "csv"},
                  "Prints the table in this format.");
  flags.Example("golden_models --corpus=../shared/corpus --seeded=/tmp/seeded");
  flags.Example("golden_models --filter=squeezenet");
  flags.Example("golden_models --filter=squeezenet --device=vulkan");
  flags.Example("golden_models --folders=onnx-graphs");
  flags.Example("golden_models --prejit=host,aarch64,armv7+neon");
}

bool Exists(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0;
}

bool IsWanted(const std::string& name, const Options& options) {
  if (!options.only.empty()) return name == options.only;
  return options.filter == "*" ||
         name.find(options.filter) != std::string::npos;
}

StatusOr<std::vector<GoldenCase>> CasesOf(const Options& options) {
  EMBER_ASSIGN_OR_RETURN(std::vector<GoldenCase> cases,
                         ReadCorpus({.folder = options.corpus,
                                     .seeded = options.seeded,
                                     .parts = options.folders}));
  std::erase_if(cases, [&](const GoldenCase& golden) {
    return !IsWanted(golden.name, options);
  });
  return cases;
}

StatusOr<std::vector<jit::CompileTarget>> PrejitTargets(std::string_view list) {
  std::vector<jit::CompileTarget> targets;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    auto target = jit::FindCompileTarget(std::string(list.substr(0, comma)));
    if (!target.ok()) return target.status().WithContext("--prejit");
    targets.push_back(*std::move(target));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return targets;
}

StatusOr<GoldenResult> RunCase(const GoldenCase& golden, const Options& options,
                               const std::vector<jit::CompileTarget>& prejit) {
  if (!Exists(golden.model))
    return NotFoundError(golden.model +
                         ": expected a file, found none (see --seeded)");
  const auto prepare = [&](const std::shared_ptr<const vm::Module>& module)
      -> StatusOr<PreparedModule> {
    EMBER_ASSIGN_OR_RETURN(PrejittedModule made, LoadPrejitted(module, prejit));
    return PreparedModule{std::move(made.module), std::move(made.tiering)};
  };
  GoldenOptions golden_options{.threads = options.threads,
                               .device = options.device,
                               .tier = options.tier,
                               .checks = options.checks,
                               .seconds = options.seconds};
  if (!prejit.empty()) golden_options.prepare = prepare;
  const auto work = [&]() -> StatusOr<std::string> {
    EMBER_ASSIGN_OR_RETURN(const GoldenResult result,
                           RunGolden(golden, golden_options));
    return result.Serialize();
  };
  EMBER_ASSIGN_OR_RETURN(
      const std::string text,
      RunInChild(work, static_cast<unsigned>(options.timeout)));
  return GoldenResult::Parse(text);
}

// Returns the message without the model's path. For a Markdown table the
// message is cut to a length that fits a terminal; other formats have all of
// it.
std::string Note(const GoldenCase& golden, std::string_view message,
                 TableFormat format) {
  std::string note(message);
  const std::string prefix = golden.model + ": ";
  if (note.starts_with(prefix)) note = note.substr(prefix.size());
  constexpr size_t kLongest = 110;
  if (format != TableFormat::kMarkdown || note.size() <= kLongest) return note;
  return note.substr(0, kLongest) + "…";
}

// Returns a note about the share of the model that a device ran, such as "all
// on vulkan" or "80% on vulkan".
std::string DeviceNote(const GoldenResult& result, const Options& options) {
  if (options.device == "cpu" || result.calls == 0) return "";
  const bool is_all = result.device_calls == result.calls;
  return (is_all ? "all"
                 : std::to_string(100 * result.device_calls / result.calls) +
                       "%") +
         " on " + options.device + (result.note.empty() ? "" : "; ");
}

std::string StatusText(const StatusOr<GoldenResult>& result) {
  if (result.ok()) return result->passed ? "ok" : "differs";
  return result.status().code() == StatusCode::kUnimplemented ? "unsupported"
                                                              : "error";
}

Cell Scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2e", value);
  return std::isfinite(value) ? Cell(text) : Cell();
}

Status Run(Options& options) {
  EMBER_ASSIGN_OR_RETURN(const std::vector<GoldenCase> cases, CasesOf(options));
  if (cases.empty()) {
    options.found_nothing = true;
    return NotFoundError((options.only.empty() ? "--filter=" + options.filter
                                               : "--only=" + options.only) +
                         ": expected a model of --folders=" + options.folders +
                         ", found none");
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<jit::CompileTarget> prejit,
                         PrejitTargets(options.prejit));
  if (!prejit.empty() && options.device != "cpu") {
    return InvalidArgumentError("--prejit: expected --device=cpu, found " +
                                options.device);
  }
  EMBER_ASSIGN_OR_RETURN(const TableFormat format,
                         ParseTableFormat(options.format));
  std::vector<std::string> columns = {"model",   "status",  "sets",
                                      "max abs", "max rel", "rtol",
                                      "atol",    "ms",      "note"};
  // JSON and CSV have two more columns, "file" and "set", with which a script
  // identifies the row.
  const bool for_scripts = format != TableFormat::kMarkdown;
  if (for_scripts) columns.insert(columns.end(), {"file", "set"});
  Table table(columns);
  std::map<std::string, size_t> counts;
  size_t all_on_device = 0;
  int64_t calls = 0, kernel_calls = 0;
  for (const GoldenCase& golden : cases) {
    const StatusOr<GoldenResult> result = RunCase(golden, options, prejit);
    const std::string status = StatusText(result);
    ++counts[status];
    std::fprintf(stderr, "%s: %s\n", golden.name.c_str(), status.c_str());
    const bool ran = result.ok();
    if (ran) {
      calls += result->calls;
      kernel_calls += result->kernel_calls;
    }
    all_on_device += ran && result->passed && result->calls > 0 &&
                     result->device_calls == result->calls;
    std::vector<Cell> row = {
        golden.name,
        status,
        static_cast<int64_t>(golden.data_sets.size()),
        ran ? Scientific(result->max_absolute) : Cell(),
        ran ? Scientific(result->max_relative) : Cell(),
        Cell(golden.tolerance.rtol, 4),
        Scientific(golden.tolerance.atol),
        ran ? Cell(result->milliseconds, for_scripts ? 5 : 2) : Cell(),
        Note(golden,
             ran ? DeviceNote(*result, options) + result->note
                 : std::string(result.status().message()),
             format)};
    if (for_scripts) {
      row.emplace_back(golden.model);
      row.emplace_back(golden.data_sets.front());
    }
    table.AddRow(std::move(row));
  }
  std::fputs(table.Print(format).c_str(), stdout);
  if (format == TableFormat::kMarkdown) {
    std::string summary;
    for (const auto& [status, count] : counts) {
      summary +=
          (summary.empty() ? "" : ", ") + std::to_string(count) + " " + status;
    }
    std::printf("%zu models: %s.\n", cases.size(), summary.c_str());
    if (!prejit.empty()) {
      std::printf("%lld of %lld calls by kernels of the files.\n",
                  static_cast<long long>(kernel_calls),
                  static_cast<long long>(calls));
    }
    if (options.device != "cpu") {
      std::printf("%zu of %zu ok ran on %s with all their dispatches.\n",
                  all_on_device, counts["ok"], options.device.c_str());
    }
  }
  const size_t unsupported = options.complete ? counts["unsupported"] : 0;
  const size_t bad = counts["differs"] + counts["error"] + unsupported;
  if (bad > 0) {
    return InternalError(std::to_string(bad) + " of " +
                         std::to_string(cases.size()) +
                         " models give wrong results or errors" +
                         (options.complete ? ", or are not supported" : ""));
  }
  return OkStatus();
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("golden_models", "[flags]",
              "Runs the models of a corpus on recorded inputs and compares "
              "with recorded outputs.\n"
              "Exit status: 0 no model is wrong, 1 some are, 2 no model was "
              "selected.");
  Declare(options, flags);
  const int code =
      RunTool(argc, argv, flags, [&options] { return Run(options); });
  return options.found_nothing ? 2 : code;
}
