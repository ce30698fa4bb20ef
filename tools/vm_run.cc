// vm-run: runs a module, or a model compiled in memory, on given or
// random inputs.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/one_line.h"
#include "base/progress.h"
#include "jit/target/peak.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/calls/shadow.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/cli/kernel_cache.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/load_jit.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/show_progress.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/cli/time_limit.h"
#include "tools/lib/media/image_decoder.h"
#include "tools/lib/media/media.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/models/warm_up.h"
#include "tools/lib/report/chrome_trace.h"
#include "tools/lib/report/explain.h"
#include "tools/lib/report/life_trace.h"
#include "tools/lib/report/placement.h"
#include "tools/lib/report/profile.h"
#include "tools/lib/report/recorded_text.h"
#include "tools/lib/report/run_json.h"
#include "tools/lib/report/session_life.h"
#include "tools/lib/report/table.h"
#include "tools/lib/tensors/compare.h"
#include "tools/lib/tensors/print.h"
#include "tools/lib/tuning/predicted_gain.h"
#include "vm/runtime/devices/session.h"
#include "vm/runtime/library/string_functions.h"
#include "vm/runtime/session.h"
#include "vm/runtime/steady_clock.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, inputs, outputs, expected, disabled_passes;
  ImportFlags import;
  std::string device = "cpu", tier = "auto", jit = "auto", trace,
              print = "summary", dump_kernels, schedules, shadow, record,
              profile, explain;
  KernelCacheFlags cache;
  KernelCheckFlags checks;
  NativeFlags native;
  int64_t threads = 0, seed = 0, runs = 0, profile_rows = 30, shadow_runs = 3;
  double rtol = 1e-3, atol = 1e-5;
  LimitFlags limits;
  bool list_devices = false;
  bool print_pipeline = false, time_passes = false;
  RoundingFlags rounding;
  bool no_side_by_side = false;
  MissingInputs missing;
  MediaFlags media;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL.vmfb or a model", 1, 1, &options.models);
  flags.Group("Inputs");
  flags.Add("input", &options.inputs, "[NAME=]VALUE",
            "Gives an input: 2x3xf32=1,2,3,4,5,6 (one value alone fills "
            "it), @a.npy, @x.pb (ONNX tensor,\n"
            "sequence, optional or map), @cat.jpg, @cat.png, @yes.wav, "
            "2xstring=a,b, 2x3xf32=@raw.bin,\n"
            "or 2x3xf32 (random). @- is stdin. Values\n"
            "without NAME= are taken in order. Without any --input all "
            "inputs are random, and stderr says\n"
            "so: floats in [-1, 1), integers 0 or 1. If the model gives no "
            "rank for an input, its value\n"
            "decides the dims. State that the model keeps is zero.");
  AddImportFlags(flags, &options.import);
  options.missing.AddFlag(flags);
  flags.Add("seed", &options.seed, "N", "Seeds the random inputs.");
  options.media.Add(flags);
  flags.Group("Results");
  flags.Add("output", &options.outputs, "[NAME=]@FILE",
            "Writes a result: .npy, .pb, or raw elements to .bin, .raw or "
            "a name without an extension. @- is stdout, as .npy.");
  flags.Add("expected", &options.expected, "[NAME=]@FILE",
            "Compares a result with a file (.npy, .pb) or a VALUE in a "
            "form of --input. Prints the first\n"
            "element that differs and exits with 1 if |got - want| > atol "
            "+ rtol * |want|.");
  flags.Add("rtol", &options.rtol, "X",
            "The relative tolerance of --expected for floats.");
  flags.Add("atol", &options.atol, "X",
            "The absolute tolerance of --expected for floats and integers.");
  flags.AddChoice("print", &options.print, {"full", "summary", "json", "none"},
                  "Prints results in this form. With json, stdout is one "
                  "object of JSON with the results and\n"
                  "their elements, the times of the runs, and what --profile "
                  "and --explain print; other lines go\n"
                  "to stderr.");
  flags.Group("Threads, tiers and devices");
  flags.Add("threads", &options.threads, "N",
            "Computes with N threads. 0: one per core.");
  flags.AddChoice(
      "tier", &options.tier, {"0", "1", "2", "auto"},
      "0: interpreter. auto: interpreter, while hot dispatches are "
      "compiled in the background. 1,\n"
      "2: kernels that are compiled before their first run, quickly "
      "(1) or with all optimisations\n"
      "(2); dispatches that cannot be compiled are interpreted.");
  AddJitFlag(flags, &options.jit);
  flags.Group("Kernels");
  flags.Add("dump-kernels", &options.dump_kernels, "DIR",
            "Writes the schedule, the loop nest after each pass, LLVM IR and "
            "assembly of each kernel.");
  flags.AddStandalone("print-pipeline", &options.print_pipeline,
                      "Prints the passes that make kernels in order, and "
                      "stops.");
  flags.Add("disable-pass", &options.disabled_passes, "PASS",
            "Makes kernels without a pass. May be repeated.");
  flags.Group("Times and reports");
  flags.Add("time-passes", &options.time_passes,
            "Prints the time that each pass took for all kernels.");
  flags.Group("Kernels");
  flags.Add("schedules", &options.schedules, "DIR|FILE",
            "Uses the schedules of this folder, in files as --dump-kernels "
            "writes them, for the\n"
            "dispatches that have one. A file is the schedule of the only "
            "dispatch.");
  AddRoundingFlags(flags, &options.rounding);
  flags.Add("no-side-by-side", &options.no_side_by_side,
            "Runs even independent dispatches one after another, each on "
            "all threads.");
  AddKernelCacheFlags(flags, &options.cache);
  AddKernelCheckFlags(flags, &options.checks);
  AddNativeFlags(flags, &options.native);
  flags.Group("Limits");
  AddLimitFlags(flags, &options.limits);
  flags.Group("Kernels");
  flags.AddOptional(
      "shadow", &options.shadow, "FOLDER", "ember-shadow",
      "Runs tier 0 beside the first calls of each kernel. A kernel "
      "with other results is no longer\n"
      "used, its call is written to FOLDER (ember-shadow) for "
      "vm-diff --repro, and the exit status\n"
      "is 1. The results are then tier 0's.");
  flags.Add("shadow-runs", &options.shadow_runs, "N",
            "Checks N calls of each kernel and shape with --shadow. 0: "
            "all.");
  flags.Group("Threads, tiers and devices");
  flags.Add("device", &options.device, "NAME",
            "Runs on this device: cpu, cuda, vulkan, vulkan:1; see "
            "--list-devices. On devices other than\n"
            "cpu, auto is tier 2; dispatches without a kernel there run on "
            "the CPU, and stderr says how\n"
            "many.");
  flags.AddStandalone(
      "list-devices", &options.list_devices,
      "Prints the devices of each driver, or the reason why it has "
      "none, and stops.");
  flags.Group("Times and reports");
  flags.Add("runs", &options.runs, "N",
            "Runs N times and prints the time of a run. The profile leaves "
            "the first run out. 0: once; with\n"
            "--explain 11 times, and with --tier=auto as often before as hot "
            "dispatches need to get kernels.");
  flags.AddOptionalChoice("profile", &options.profile, {"text", "json"},
                          "Prints the dispatches sorted by their time. With "
                          "json, stdout is an object as with --print=json.");
  flags.Add("record", &options.record, "FILE",
            "Writes the times and shapes of the dispatches for vm-prejit "
            "--profile. With --runs the first\n"
            "run is left out. Each recording of other inputs is a file of "
            "its own.");
  flags.AddOptionalChoice(
      "explain", &options.explain, {"text", "json"},
      "Prints for each dispatch what it computes, the tier that ran "
      "it or the reason why no kernel\n"
      "did, and its median time compared with the machine's limits, "
      "which are measured. With json,\n"
      "stdout is an object as with --print=json.");
  flags.Add("profile-rows", &options.profile_rows, "N",
            "Prints at most N rows of --profile and --explain.");
  flags.Add("trace", &options.trace, "FILE.json",
            "Writes loading, runs, dispatches, compiled kernels, memory and "
            "waiting requests for\n"
            "ui.perfetto.dev or chrome://tracing.");
  flags.Example("vm-run model.vmfb");
  flags.Example("vm-run resnet50.onnx --input=@image.npy --output=@scores.npy");
  flags.Example("vm-run model.onnx --input=x=2x3xf32=1,2,3,4,5,6 --print=full");
  flags.Example(
      "vm-run mobilenet.tflite --input=@cat.jpg --image=imagenet "
      "--labels=labels.txt --top=5");
  flags.Example("vm-run ssd.onnx --input=@street.jpg --draw=boxes.png");
  flags.Example(
      "vm-run model.vmfb --input=@input_0.pb --expected=@output_0.pb "
      "--rtol=1e-4");
  flags.Example("vm-run model.vmfb --tier=2 --explain --threads=1");
  flags.Example("vm-run model.vmfb --tier=0 --runs=10 --record=model.profile");
  flags.Example("vm-run model.vmfb --device=vulkan --explain");
  flags.Example("vm-run model.vmfb --input=@x.npy --print=json");
  flags.Example("vm-compile model.onnx -o - | vm-run - --output=@- > y.npy");
  flags.Example("vm-run own.dispatch --shape=a=64x32 --tier=2 --explain");
  flags.Example(
      "vm-run model.vmfb --profile --runs=10 --threads=1 --trace=out.json");
}

// Reads the tensors of --expected, with which the results are compared.
StatusOr<std::vector<NumberedTensor>> ReadExpected(const Options& options,
                                                   const vm::Module& module) {
  RandomTensors random(static_cast<uint64_t>(options.seed));
  StatusOr<std::vector<NumberedTensor>> wanted =
      ReadTensors(module, "result", options.expected, random);
  if (!wanted.ok()) return wanted.status().WithContext("--expected");
  return wanted;
}

Status CheckExpected(const Options& options, const vm::Module& module,
                     const std::vector<NumberedTensor>& wanted,
                     const std::vector<vm::Tensor>& results) {
  for (const NumberedTensor& want : wanted) {
    const std::string& name = module.results()[want.number].name;
    const Comparison comparison = Compare(results[want.number], want.tensor,
                                          {.rtol = options.rtol,
                                           .atol = options.atol,
                                           .uses_atol_for_integers = true});
    if (!comparison.equal) {
      return InvalidArgumentError(
          "result '" + name + "' is not as expected: " + comparison.message);
    }
    std::printf("%s is as expected; largest difference %.3g\n",
                OnOneLine(name).c_str(), comparison.max_absolute);
  }
  return OkStatus();
}

// Returns the paths of the flags --output. Error: the folder of a path does not
// exist or cannot be written.
StatusOr<std::vector<NamedPath>> OutputPaths(const Options& options) {
  std::vector<NamedPath> paths;
  for (const std::string& spec : options.outputs) {
    StatusOr<NamedPath> path = ParsePathSpec(spec);
    if (!path.ok()) return path.status().WithContext("--output");
    EMBER_RETURN_IF_ERROR(CheckTensorFile(path->path).WithContext("--output"));
    EMBER_RETURN_IF_ERROR(
        CheckOutputFile("--output", path->path, options.models));
    paths.push_back(*std::move(path));
  }
  return paths;
}

// Returns for each path of --output the number of the model's result that is
// written there.
StatusOr<std::vector<size_t>> BindOutputs(const std::vector<NamedPath>& paths,
                                          const vm::Module& module) {
  std::vector<std::optional<std::string>> names;
  for (const NamedPath& path : paths) names.push_back(path.name);
  StatusOr<std::vector<size_t>> numbers = BindNames(module, "result", names);
  if (!numbers.ok()) return numbers.status().WithContext("--output");
  return numbers;
}

Status WriteOutputs(const std::vector<NamedPath>& paths,
                    const std::vector<size_t>& numbers,
                    const vm::Module& module,
                    const std::vector<vm::Tensor>& results) {
  for (size_t i = 0; i < paths.size(); ++i) {
    EMBER_RETURN_IF_ERROR(WriteTensorFile(
        paths[i].path, module.results()[numbers[i]].name, results[numbers[i]]));
  }
  return OkStatus();
}

// Writes the trace file. The calls of the first run are in `life`, those of all
// later runs still in the session.
Status WriteTrace(const std::string& path, SessionLife life,
                  const vm::Session& session, const Tier& tier) {
  const std::span<const vm::TraceEvent> calls = session.trace();
  life.calls.insert(life.calls.end(), calls.begin(), calls.end());
  return WriteUserFile(
      path, PrintChromeTrace(LifeTrace(life, session, tier.tiering.get())));
}

// True if the tool prints a JSON object to stdout, instead of texts.
bool PrintsJson(const Options& options) {
  return options.print == "json" || options.profile == "json" ||
         options.explain == "json";
}

void PrintResults(const Options& options, const vm::Module& module,
                  const std::vector<vm::Tensor>& results) {
  if (options.print == "none" || PrintsJson(options)) return;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string text = options.print == "full"
                                 ? PrintTensor(results[i])
                                 : DescribeTensor(results[i]);
    std::printf("%s: %s\n", OnOneLine(module.results()[i].name).c_str(),
                text.c_str());
  }
}

StatusOr<std::shared_ptr<Shadow>> OpenShadow(const Options& options,
                                             const hal::Device& device) {
  if (options.shadow.empty()) return std::shared_ptr<Shadow>();
  if (!device.is_host()) {
    return CommandLineError(
        "--shadow: expected --device=cpu, found " + options.device +
        "; vm-diff -b device:" + options.device + " compares its kernels");
  }
  if (options.tier == "0") {
    return CommandLineError(
        "--shadow: expected a --tier with kernels to check, found 0");
  }
  return std::make_shared<Shadow>(ShadowOptions{
      .folder = UserPath(options.shadow), .runs = options.shadow_runs});
}

// Prints what --shadow found: the numbers of checked kernels and calls, and
// each difference. Returns an error if a kernel's results differed.
Status CheckShadow(const Shadow& shadow) {
  std::fputs(shadow.Text().c_str(), stdout);
  const size_t count = shadow.findings().size();
  if (count == 0) return OkStatus();
  return InternalError("--shadow: " + std::to_string(count) +
                       (count == 1 ? " kernel" : " kernels") +
                       " gave other results than tier 0");
}

// Adds "--device=NAME" to the error's message, unless the device is the default
// one.
Status OnDevice(const std::string& device, const Status& status) {
  return device == "cpu" ? status : status.WithContext("--device=" + device);
}

// Returns the section of --explain about the work that a run on the device
// leaves to the CPU. It makes a session of its own without tracing, because
// tracing waits after each dispatch.
StatusOr<std::string> ExplainPlacement(const Options& options,
                                       vm::SessionOptions session_options,
                                       const LoadedModel& model,
                                       std::span<const vm::Tensor> inputs) {
  session_options.profile = session_options.trace = false;
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Session> session,
                         vm::Session::Create(model.module, session_options));
  std::vector<vm::Tensor> results;
  constexpr int kRuns = 5;
  constexpr int kWarmUp = 2;
  for (int run = 0; run < kRuns; ++run) {
    if (run == kWarmUp) session->ResetProfile();
    EMBER_RETURN_IF_ERROR(session->Run(inputs, &results));
  }
  return PlacementText(*session, session_options.tiering.get(),
                       options.device) +
         DeviceMemoryText(*session, session_options.device->memory_statistics(),
                          options.device);
}

TierOptions TierOptionsOf(const Options& options) {
  return {.tier = options.tier,
          .jit = options.jit,
          .dump_folder = UserPath(options.dump_kernels),
          .schedule_folder = UserPath(options.schedules),
          .disabled_passes = options.disabled_passes,
          .cache = CacheOptionsOf(options.cache),
          .rounding = options.rounding,
          .checks = options.checks,
          .native = options.native,
          .model = options.models[0]};
}

// Checks the flags that can be checked without the model.
Status CheckOptions(const Options& options) {
  EMBER_RETURN_IF_ERROR(CheckTierOptions(TierOptionsOf(options)));
  if (PrintsJson(options)) {
    EMBER_RETURN_IF_ERROR(TakeStdout(options.print == "json" ? "--print=json"
                                     : options.profile == "json"
                                         ? "--profile=json"
                                         : "--explain=json",
                                     /*is_text=*/true));
  }
  EMBER_RETURN_IF_ERROR(
      MakeOutputFolder("--dump-kernels", options.dump_kernels));
  EMBER_RETURN_IF_ERROR(
      CheckOutputFile("--trace", options.trace, options.models));
  EMBER_RETURN_IF_ERROR(
      CheckOutputFile("--record", options.record, options.models));
  return CheckOutputFolder("--shadow", options.shadow);
}

// Runs the model as often as --runs says, and records the runs. The calls of
// the first run are moved to the record, so that the session's profile has only
// the later ones.
Status RunAll(const Options& options, const Tier& tier, vm::Session& session,
              const hal::Device& device, const std::vector<vm::Tensor>& inputs,
              ShownProgress* progress, std::vector<vm::Tensor>* results,
              SessionLife& life) {
  const auto run_once = [&]() -> Status {
    const std::unique_ptr<TimeLimit> limit =
        LimitRunOnDevice(options.limits, device, options.device);
    EMBER_RETURN_IF_ERROR(
        OnDevice(options.device, RunOnce(session, inputs, results, life)));
    // If there are very many runs, only the first ones are recorded, which
    // bounds the memory.
    constexpr size_t kMaxKept = 1'000'000;
    if (life.runs.size() > kMaxKept) life.runs.pop_back();
    return OkStatus();
  };
  int64_t runs = options.runs;
  if (runs == 0) runs = options.explain.empty() ? 1 : 11;
  for (int64_t run = 0; run < runs; ++run) {
    if (run == 1 && options.runs == 0 && options.tier == "auto") {
      // Runs until the kernels are there, so that --explain describes them and
      // not the interpreter.
      EMBER_RETURN_IF_ERROR(ReportStep(progress, {"warm-up", "", 0, 0}));
      EMBER_RETURN_IF_ERROR(WarmUp("vm-run", tier, run_once));
    }
    if (run == 1) life.warm_up_runs = life.runs.size();
    if (run == 1) TakeCalls(session, life);
    EMBER_RETURN_IF_ERROR(ReportStep(progress, {"run", "", run, runs}));
    EMBER_RETURN_IF_ERROR(run_once());
  }
  if (progress != nullptr) progress->Clear();
  return OkStatus();
}

// Prints the time that each pass of the compiler took, in the order of
// execution.
Status PrintPassTimes(const Tier& tier) {
  Table table({"pass", "ms"});
  if (tier.jit != nullptr) {
    const jit::JitTotals totals = tier.jit->totals();
    EMBER_ASSIGN_OR_RETURN(const JitPipeline pipeline, LoadJitPipeline());
    for (const jit::PassInfo& pass : pipeline.passes) {
      const auto found = totals.pass_ms.find(pass.name);
      if (found != totals.pass_ms.end())
        table.AddRow({pass.name, Cell(found->second, 3)});
    }
  }
  std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
  return OkStatus();
}

Status Run(Options& options) {
  if (options.list_devices) {
    std::fputs(DevicesText(hal::AllDrivers()).c_str(), stdout);
    return OkStatus();
  }
  if (options.print_pipeline) {
    EMBER_ASSIGN_OR_RETURN(const JitPipeline pipeline, LoadJitPipeline());
    std::fputs(pipeline.text.c_str(), stdout);
    return OkStatus();
  }
  EMBER_RETURN_IF_ERROR(CheckOptions(options));
  EMBER_ASSIGN_OR_RETURN(const std::vector<NamedPath> outputs,
                         OutputPaths(options));
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice(options.device, options.threads,
                                    CacheOptionsOf(options.cache).folder));
  EMBER_ASSIGN_OR_RETURN(Media media,
                         Media::Start(options.media, options.inputs));
  const int threads = device->host_runner().worker_count();
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<Shadow> shadow,
                         OpenShadow(options, *device));
  EMBER_ASSIGN_OR_RETURN(LoadOptions load, LoadOptionsOf(options.import));
  load.inputs = options.inputs;
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<CompileLimits> compile_limits,
      CompileLimits::Start(options.limits, options.models[0]));
  SessionLife life = {.model = options.models[0]};
  life.load_begin_ns = vm::SteadyNanoseconds();
  EMBER_ASSIGN_OR_RETURN(const LoadedModel model,
                         LoadModel(options.models[0], load));
  life.load_end_ns = vm::SteadyNanoseconds();
  life.is_compiled_here = model.compiled_here;
  compile_limits = nullptr;
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> output_numbers,
                         BindOutputs(outputs, *model.module));
  EMBER_ASSIGN_OR_RETURN(const std::vector<NumberedTensor> expected,
                         ReadExpected(options, *model.module));
  RandomTensors random(static_cast<uint64_t>(options.seed));
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         BindInputs(*model.module, options.inputs, load.shapes,
                                    random, options.limits, &options.missing,
                                    media.Reader(*model.module)));
  options.missing.Report("vm-run", options.seed);
  TierOptions tier_options = TierOptionsOf(options);
  tier_options.wrapper = shadow;
  tier_options.progress = load.progress;
  const auto log = std::make_shared<KernelLog>(/*keeps_texts=*/false);
  if (!options.trace.empty()) tier_options.observer = log;
  EMBER_ASSIGN_OR_RETURN(Tier opened,
                         OpenTier(tier_options, device, model.module));
  const Tier& tier = KeepTier(std::move(opened));
  vm::SessionOptions session_options = {
      .device = device,
      .device_support = vm::NewDeviceSupport,
      .strings = vm::NewStringSupport,
      .images = DecodeImage,
      .tiering = tier.tiering,
      .side_by_side = !options.no_side_by_side,
      .profile = !options.profile.empty() || !options.record.empty(),
      .trace = !options.explain.empty() || !options.trace.empty()};
  EMBER_RETURN_IF_ERROR(SetLimits(options.limits, session_options));
  StatusOr<std::unique_ptr<vm::Session>> created =
      vm::Session::Create(model.module, session_options);
  if (!created.ok()) return OnDevice(options.device, created.status());
  std::unique_ptr<vm::Session> session = *std::move(created);
  std::vector<vm::Tensor> results;
  EMBER_RETURN_IF_ERROR(options.missing.ExplainError(
      RunAll(options, tier, *session, *device, inputs, load.progress.get(),
             &results, life)));
  EMBER_RETURN_IF_ERROR(CheckSchedulesUsed(tier));
  PrintResults(options, *model.module, results);
  if (options.runs > 1 && !PrintsJson(options))
    std::fputs(LatencyText(life).c_str(), stdout);
  JsonObject json;
  json.Add("model", JsonString(options.models[0]));
  json.Add("results",
           ResultsJson(*model.module, results, options.print == "json"));
  json.Add("runs_ms", RunTimesJson(life));
  const Placement placement = PlacementOf(session->Profile());
  if (!device->is_host() && placement.on_host > 0 && options.explain.empty()) {
    std::fprintf(stderr, "vm-run: %s (see --explain)\n",
                 placement.Text(options.device).c_str());
  }
  if (!options.profile.empty() && PrintsJson(options)) {
    json.Add("profile", ProfileJson(session->Profile(),
                                    device->is_host() ? "" : options.device));
  } else if (!options.profile.empty()) {
    std::fputs(ProfileText(session->Profile(),
                           static_cast<size_t>(options.profile_rows),
                           device->is_host() ? "" : options.device)
                   .c_str(),
               stdout);
  }
  EMBER_RETURN_IF_ERROR(
      WriteOutputs(outputs, output_numbers, *model.module, results));
  EMBER_RETURN_IF_ERROR(media.Show(*model.module, results));
  if (!options.trace.empty()) {
    life.inputs = DescribeInputs(*model.module, inputs);
    life.kernels = log->Kernels();
    EMBER_RETURN_IF_ERROR(WriteTrace(options.trace, life, *session, tier));
  }
  if (!options.record.empty())
    EMBER_RETURN_IF_ERROR(
        WriteUserFile(options.record, RecordedText(*session)));
  if (!options.explain.empty() && PrintsJson(options)) {
    json.Add("explain", device->is_host()
                            ? ExplainJson(*session, tier.tiering.get(),
                                          jit::MeasureMachineLimits(threads))
                            : ExplainDeviceJson(*session, tier.tiering.get(),
                                                options.device));
  } else if (!options.explain.empty() && !device->is_host()) {
    const std::string what =
        ExplainDeviceText(*session, tier.tiering.get(), options.device,
                          static_cast<size_t>(options.profile_rows));
    // The first session is destroyed before the second one is created, because
    // two sessions would take twice the memory.
    session = nullptr;
    EMBER_ASSIGN_OR_RETURN(
        const std::string where,
        ExplainPlacement(options, session_options, model, inputs));
    std::fputs((what + where).c_str(), stdout);
  } else if (!options.explain.empty()) {
    const jit::MachineLimits limits = jit::MeasureMachineLimits(threads);
    std::fputs(ExplainText(*session, tier.tiering.get(), limits,
                           static_cast<size_t>(options.profile_rows))
                   .c_str(),
               stdout);
    if (tier.tiering != nullptr) {
      // The table of predicted gains is left out if the cost model cannot
      // predict them; that is no error of the run.
      const StatusOr<std::string> gain =
          PredictedGainText(*session, model.module, load.shapes);
      if (gain.ok()) std::fputs(gain->c_str(), stdout);
    }
  }
  if (!options.profile.empty() || !options.explain.empty())
    std::fputs(JitText(tier, *model.module).c_str(), stdout);
  if (options.time_passes) EMBER_RETURN_IF_ERROR(PrintPassTimes(tier));
  if (PrintsJson(options))
    EMBER_RETURN_IF_ERROR(WriteTakenStdout(json.Print()));
  if (shadow != nullptr) EMBER_RETURN_IF_ERROR(CheckShadow(*shadow));
  return CheckExpected(options, *model.module, expected, results);
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-run", "MODEL [flags]",
              "Runs a module, or a model (vm-compile --list-formats) compiled "
              "in memory, and prints "
              "its results.");
  Declare(options, flags);
  return EndProcess(
      RunTool(argc, argv, flags, [&options] { return Run(options); }));
}
