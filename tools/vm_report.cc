// vm-report: runs a model and writes one HTML page about it, or about two runs
// that it compares.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "jit/target/peak.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/kernel_cache.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/cli/time_limit.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/models/warm_up.h"
#include "tools/lib/report/page/report_data.h"
#include "tools/lib/report/page/report_page.h"
#include "tools/lib/report/session_life.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"
#include "vm/runtime/steady_clock.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, inputs;
  ImportFlags import;
  std::string output, device = "cpu", tier = "2", jit = "auto", schedules;
  KernelCacheFlags cache;
  NativeFlags native;
  RoundingFlags rounding;
  LimitFlags limits;
  MissingInputs missing;
  int64_t threads = 0, seed = 0, runs = 11;
  bool no_texts = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL or PAGE.html", 1, 2, &options.models);
  flags.Add("o", &options.output, "FILE.html", "Writes the page to this file.");
  flags.Add("input", &options.inputs, "[NAME=]VALUE",
            "Gives an input, in a form of vm-run. Without any --input all "
            "inputs are random.");
  AddImportFlags(flags, &options.import);
  options.missing.AddFlag(flags);
  flags.Add("seed", &options.seed, "N", "Seeds the random inputs.");
  flags.Add("runs", &options.runs, "N",
            "Runs the model N times. The first run counts apart, because "
            "kernels are made in it.");
  flags.Add("threads", &options.threads, "N",
            "Computes with N threads. 0: one per core.");
  flags.AddChoice("tier", &options.tier, {"0", "1", "2", "auto"},
                  "Uses kernels as vm-run does. auto: more runs come first, "
                  "until all kernels that they\n"
                  "asked for are there.");
  AddJitFlag(flags, &options.jit);
  flags.Add("device", &options.device, "NAME",
            "Runs on this device: cpu, cuda, vulkan, vulkan:1.");
  flags.Add("schedules", &options.schedules, "DIR|FILE",
            "Uses the schedules of this folder, as vm-run does.");
  flags.Add("no-texts", &options.no_texts,
            "Leaves out schedules, loop nests and assembly. Kernels may then "
            "come from the cache, and the\n"
            "times of their compilation are those of a usual run.");
  AddRoundingFlags(flags, &options.rounding);
  AddKernelCacheFlags(flags, &options.cache);
  AddNativeFlags(flags, &options.native);
  AddLimitFlags(flags, &options.limits);
  flags.Example("vm-report model.onnx -o report.html");
  flags.Example("vm-report before.vmfb after.vmfb -o comparison.html");
  flags.Example("vm-report model.vmfb --tier=0 -o slow.html");
  flags.Example("vm-report slow.html model.vmfb -o comparison.html");
}

TierOptions TierOptionsOf(const Options& options, const std::string& model) {
  return {.tier = options.tier,
          .jit = options.jit,
          .schedule_folder = UserPath(options.schedules),
          .has_schedules_of_others = options.models.size() > 1,
          .cache = CacheOptionsOf(options.cache),
          .rounding = options.rounding,
          .native = options.native,
          .model = model};
}

Status CheckOptions(const Options& options) {
  if (options.output.empty()) {
    return CommandLineError(
        "expected -o FILE.html, the page to write; found none");
  }
  if (options.runs < 1) {
    return CommandLineError("--runs: expected 1 or more, found " +
                            std::to_string(options.runs));
  }
  EMBER_RETURN_IF_ERROR(
      CheckTierOptions(TierOptionsOf(options, options.models[0])));
  return CheckOutputFile("-o", options.output, options.models);
}

// Runs the model as often as --runs says, and records the runs.
class Runner {
 public:
  Runner(const Options& options, const hal::Device& device, const Tier& tier,
         vm::Session& session, const std::vector<vm::Tensor>& inputs,
         SessionLife& life)
      : options_(options),
        device_(device),
        tier_(tier),
        session_(session),
        inputs_(inputs),
        life_(life) {}

  Status RunAll() {
    EMBER_RETURN_IF_ERROR(RunLimited());
    if (options_.tier == "auto") {
      EMBER_RETURN_IF_ERROR(
          WarmUp("vm-report", tier_, [this] { return RunLimited(); }));
    }
    // Clears the session's profile after the warm-up, so that its counters are
    // those of the measured runs.
    if (options_.runs > 1) TakeCalls(session_, life_);
    life_.warm_up_runs = life_.runs.size();
    for (int64_t run = 1; run < options_.runs; ++run)
      EMBER_RETURN_IF_ERROR(RunLimited());
    return OkStatus();
  }

 private:
  Status RunLimited() {
    const std::unique_ptr<TimeLimit> limit =
        LimitRunOnDevice(options_.limits, device_, options_.device);
    return RunOnce(session_, inputs_, &results_, life_);
  }

  const Options& options_;
  const hal::Device& device_;
  const Tier& tier_;
  vm::Session& session_;
  const std::vector<vm::Tensor>& inputs_;
  SessionLife& life_;
  std::vector<vm::Tensor> results_;
};

// Loads a model, runs it, and returns the data of its side of the page.
StatusOr<nlohmann::json> RunModel(Options& options, const std::string& path) {
  SessionLife life = {.model = path};
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice(options.device, options.threads,
                                    CacheOptionsOf(options.cache).folder));
  EMBER_ASSIGN_OR_RETURN(LoadOptions load, LoadOptionsOf(options.import));
  load.inputs = options.inputs;
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompileLimits> compile_limits,
                         CompileLimits::Start(options.limits, path));
  life.load_begin_ns = vm::SteadyNanoseconds();
  EMBER_ASSIGN_OR_RETURN(const LoadedModel model, LoadModel(path, load));
  life.load_end_ns = vm::SteadyNanoseconds();
  life.is_compiled_here = model.compiled_here;
  compile_limits = nullptr;
  RandomTensors random(static_cast<uint64_t>(options.seed));
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         BindInputs(*model.module, options.inputs, load.shapes,
                                    random, options.limits, &options.missing));
  options.missing.Report("vm-report", options.seed);
  life.inputs = DescribeInputs(*model.module, inputs);
  const auto log = std::make_shared<KernelLog>(!options.no_texts);
  TierOptions tier_options = TierOptionsOf(options, path);
  tier_options.observer = log;
  tier_options.progress = load.progress;
  EMBER_ASSIGN_OR_RETURN(Tier opened,
                         OpenTier(tier_options, device, model.module));
  const Tier& tier = KeepTier(std::move(opened));
  vm::SessionOptions session_options = {.device = device,
                                        .device_support = vm::NewDeviceSupport,
                                        .strings = vm::NewStringSupport,
                                        .images = DecodeImage,
                                        .tiering = tier.tiering,
                                        .trace = true};
  EMBER_RETURN_IF_ERROR(SetLimits(options.limits, session_options));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(model.module, session_options));
  EMBER_RETURN_IF_ERROR(options.missing.ExplainError(
      Runner(options, *device, tier, *session, inputs, life).RunAll()));
  options.missing.made.clear();
  options.missing.guessed.clear();
  EMBER_RETURN_IF_ERROR(CheckSchedulesUsed(tier));
  // Waits until all kernels are compiled. Otherwise their compilation would
  // disturb the measurement of a second model.
  if (tier.jit != nullptr) tier.jit->Wait();
  const std::span<const vm::TraceEvent> calls = session->trace();
  life.calls.insert(life.calls.end(), calls.begin(), calls.end());
  life.kernels = log->Kernels();
  std::optional<jit::MachineLimits> limits;
  const int threads = device->host_runner().worker_count();
  if (device->is_host()) limits = jit::MeasureMachineLimits(threads);
  return ReportData({.life = life,
                     .session = *session,
                     .tiering = tier.tiering.get(),
                     .limits = limits ? &*limits : nullptr,
                     .tier = options.tier,
                     .device = options.device,
                     .threads = threads,
                     .kernels_text = JitText(tier, *model.module),
                     .max_bytes = kMaxPageData / options.models.size()});
}

// Returns the text of a file if it is a page that vm-report wrote earlier;
// nothing otherwise.
StatusOr<std::optional<std::string>> EarlierPage(const std::string& path) {
  if (!path.ends_with(".html")) return std::optional<std::string>();
  EMBER_ASSIGN_OR_RETURN(std::string text, ReadFile(UserPath(path)));
  if (!IsReportPage(text)) {
    return InvalidArgumentError(
        path + ": expected a page that vm-report wrote, found other text");
  }
  return std::optional(std::move(text));
}

StatusOr<nlohmann::json> SideOf(Options& options, const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::optional<std::string> page,
                         EarlierPage(path));
  if (!page) return RunModel(options, path);
  StatusOr<nlohmann::json> data = DataOfPage(*page);
  if (!data.ok()) return data.status().WithContext(path);
  LimitTexts(*data, kMaxPageData / options.models.size());
  return data;
}

Status Run(Options& options) {
  EMBER_RETURN_IF_ERROR(CheckOptions(options));
  std::vector<nlohmann::json> sides;
  for (const std::string& path : options.models) {
    EMBER_ASSIGN_OR_RETURN(nlohmann::json data, SideOf(options, path));
    sides.push_back(std::move(data));
  }
  const std::string page = ReportPage(std::move(sides));
  EMBER_RETURN_IF_ERROR(WriteUserFile(options.output, page));
  std::printf("%s: %.1f MB; open it in a browser\n", options.output.c_str(),
              1e-6 * static_cast<double>(page.size()));
  return OkStatus();
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-report", "MODEL [MODEL] -o FILE.html [flags]",
              "Runs a model and writes one HTML page: its graph with times, a "
              "roofline, kernels, memory and a\n"
              "timeline. With a second model, or with the page of an earlier "
              "report, the page compares both.");
  Declare(options, flags);
  return EndProcess(
      RunTool(argc, argv, flags, [&options] { return Run(options); }));
}
