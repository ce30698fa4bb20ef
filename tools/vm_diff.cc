// vm-diff: names the first dispatch whose results differ between two tiers,
// devices or modules.
#include <cstdio>
#include <memory>

#include "base/one_line.h"
#include "tools/lib/calls/lockstep.h"
#include "tools/lib/calls/module_trace.h"
#include "tools/lib/calls/replay.h"
#include "tools/lib/calls/repro.h"
#include "tools/lib/calls/side.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/device.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/load_jit.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/time_limit.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/tier.h"
#include "tools/lib/tensors/compare.h"

namespace ember::tools {
namespace {

constexpr double kRtol = 1e-3;

struct Options {
  std::vector<std::string> models, inputs;
  ImportFlags import;
  std::string a = "tier:0", b, repro;
  int64_t threads = 0, seed = 0, rows = 10;
  double rtol = kRtol, atol = 1e-5, factor = 1;
  // Returns the tolerance for results of whole models. Results of single
  // dispatches are compared by CompareTiers instead.
  Tolerance OfModels() const {
    return {.rtol = rtol, .atol = atol, .allows_rounding = rtol == kRtol};
  }
  LimitFlags limits;
  MissingInputs missing;
  bool allow_tf32 = false;
  bool differs = false;  // set to true by the run if results differ
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL", 0, 2, &options.models);
  flags.Add("a", &options.a, "SIDE",
            "The side whose results count as right: tier:0, tier:1, "
            "tier:2, device:NAME (with kernels of\n"
            "tier 2), or a tier and a device with a comma between them.");
  flags.Add("b", &options.b, "SIDE",
            "The side that is compared with side a. Default: tier:2 for "
            "one model, tier:0 for two.");
  flags.Add("input", &options.inputs, "[NAME=]VALUE",
            "Gives an input in a form of vm-run --input. Without any "
            "--input all inputs are random.");
  options.missing.AddFlag(flags);
  AddImportFlags(flags, &options.import);
  flags.Add("seed", &options.seed, "N", "Seeds the random inputs.");
  flags.Add("threads", &options.threads, "N",
            "Computes with N threads. 0: one per core, or the number in "
            "the repro.");
  flags.Add("factor", &options.factor, "X",
            "Multiplies the permitted relative difference of floats in a "
            "dispatch, which is 1e-4 for f32,\n"
            "1e-9 for f64, 4e-3 for f16, 3e-2 for bf16, 0.25 for f8e4m3fn "
            "and 0.5 for f8e5m2. Integers\n"
            "must be equal.");
  flags.Add("rtol", &options.rtol, "X",
            "The relative tolerance of the model's results, and of all "
            "values when there are two models.\n"
            "Values differ if |b - a| > atol + rtol * |a|. By default "
            "floats narrower than f32 may differ\n"
            "as much as those of a dispatch.");
  flags.Add("atol", &options.atol, "X", "The absolute tolerance; see --rtol.");
  flags.Add("rows", &options.rows, "N",
            "Prints at most N dispatches that differ.");
  AddTf32Flag(flags, &options.allow_tf32);
  AddLimitFlags(flags, &options.limits);
  flags.Add("repro", &options.repro, "FOLDER",
            "Runs the call again that vm-run --shadow wrote to this "
            "folder. It needs no MODEL.");
  flags.Example("vm-diff model.onnx");
  flags.Example("vm-diff model.vmfb -b tier:1 --input=@image.npy");
  flags.Example("vm-diff model.onnx -b device:vulkan");
  flags.Example("vm-diff old.vmfb new.vmfb -a tier:0 -b tier:0");
  flags.Example("vm-diff --repro=ember-shadow/d3_conv_maximum.tier2");
}

Status OpenSideDevice(Side& side, int64_t threads) {
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice(side.device, threads));
  if (device->driver() == "null") {
    return InvalidArgumentError(
        "device:null: expected a device that runs dispatches, which null does "
        "not");
  }
  if (!device->is_host()) side.opened = std::move(device);
  return OkStatus();
}

void PrintDifferences(const std::vector<DispatchDifference>& differences,
                      int64_t rows) {
  for (size_t i = 0; i < differences.size(); ++i) {
    if (static_cast<int64_t>(i) == rows) {
      std::printf("%zu more\n", differences.size() - i);
      return;
    }
    const DispatchDifference& d = differences[i];
    std::printf(
        "%s dispatch %lld @%s%s with %s: %s\n",
        i == 0 ? "first to differ:" : "then", static_cast<long long>(d.call),
        d.dispatch.c_str(),
        d.origin.empty() ? "" : (" [" + OnOneLine(d.origin) + "]").c_str(),
        d.parameters.c_str(), d.difference.c_str());
  }
}

// Prints how each result of the model compares between the two sides. Returns
// true if a result differs.
bool CompareResults(const Options& options, const vm::Module& module,
                    const std::vector<vm::Tensor>& b,
                    const std::vector<vm::Tensor>& a) {
  bool differs = false;
  for (size_t i = 0; i < a.size(); ++i) {
    const Comparison comparison = Compare(b[i], a[i], options.OfModels());
    differs |= !comparison.equal;
    const std::string name = OnOneLine(module.results()[i].name);
    if (comparison.equal) {
      std::printf("result %s is equal; largest difference %.3g\n", name.c_str(),
                  comparison.max_absolute);
    } else {
      std::printf("result %s differs: %s\n", name.c_str(),
                  comparison.message.c_str());
    }
  }
  return differs;
}

Status CompareTiersOf(Options& options, const Side& a, const Side& b,
                      const std::shared_ptr<const vm::Module>& module,
                      std::shared_ptr<hal::Device> device,
                      std::shared_ptr<jit::Jit> jit,
                      const std::vector<vm::Tensor>& inputs) {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Lockstep> lockstep,
                         Lockstep::Create(module, {.device = std::move(device),
                                                   .a = a,
                                                   .b = b,
                                                   .jit = std::move(jit),
                                                   .factor = options.factor,
                                                   .limits = options.limits}));
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> results_a,
                         lockstep->Run(inputs));
  const LockstepReport& report = lockstep->report();
  std::printf(
      "%lld dispatches ran; %lld with a kernel, compared on the same operands: "
      "%lld differ (got is b, %s; want is a, %s)\n",
      static_cast<long long>(report.calls),
      static_cast<long long>(report.compared),
      static_cast<long long>(report.differing), b.Text().c_str(),
      a.Text().c_str());
  for (const std::string& line : report.declined)
    std::printf("not compiled: %s\n", line.c_str());
  PrintDifferences(report.differences, options.rows);
  const std::unique_ptr<TimeLimit> limit =
      b.opened == nullptr
          ? nullptr
          : LimitRunOnDevice(options.limits, *b.opened, b.device);
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> results_b,
                         lockstep->RunB(inputs));
  const bool results_differ =
      CompareResults(options, *module, results_b, results_a);
  options.differs = results_differ || report.differing > 0;
  if (report.calls > 0 && report.compared == 0 && !options.differs) {
    return FailedPreconditionError(
        "expected at least one dispatch with a kernel, found none: nothing was "
        "compared");
  }
  return OkStatus();
}

Status CompareModules(Options& options, const Side& a, const Side& b,
                      const std::shared_ptr<const vm::Module>& module_a,
                      const std::shared_ptr<const vm::Module>& module_b,
                      const std::shared_ptr<hal::Device>& device,
                      const std::shared_ptr<jit::Jit>& jit,
                      const std::vector<vm::Tensor>& inputs) {
  if (module_a->results().size() != module_b->results().size()) {
    return InvalidArgumentError(options.models[1] + ": expected " +
                                std::to_string(module_a->results().size()) +
                                " results as " + options.models[0] +
                                " has, found " +
                                std::to_string(module_b->results().size()));
  }
  EMBER_ASSIGN_OR_RETURN(
      const ModuleTrace trace_a,
      ModuleTrace::Record(module_a, a, jit, device, inputs, options.limits));
  StatusOr<ModuleTrace> trace_b =
      ModuleTrace::Record(module_b, b, jit, device, inputs, options.limits);
  if (!trace_b.ok()) return trace_b.status().WithContext(options.models[1]);
  const TraceComparison comparison =
      CompareTraces(*trace_b, trace_a, options.OfModels());
  // Two models may compute equal results by different dispatches. So the exit
  // status depends on the models' results only; differing dispatches show where
  // a difference begins.
  options.differs =
      CompareResults(options, *module_a, trace_b->results, trace_a.results);
  std::printf("%lld dispatches correspond, %lld do not; %lld differ%s",
              static_cast<long long>(comparison.compared),
              static_cast<long long>(comparison.without_partner),
              static_cast<long long>(comparison.differing),
              comparison.differing == 0 ? "\n" : "");
  if (comparison.differing == 0) return OkStatus();
  std::printf("%s (got is b, %s, want is a, %s)\n",
              options.differs ? "" : " on the way to equal results",
              options.models[1].c_str(), options.models[0].c_str());
  PrintDifferences(comparison.differences, options.rows);
  return OkStatus();
}

Status RunRepro(Options& options) {
  const std::string folder = UserPath(options.repro);
  EMBER_ASSIGN_OR_RETURN(const Repro repro, ReadRepro(folder));
  const int64_t threads =
      options.threads == 0 ? repro.threads : options.threads;
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<hal::Device> device,
                         OpenDevice("cpu", threads));
  if (device->target() != repro.target) {
    std::printf("recorded for %s, run again for %s\n", repro.target.c_str(),
                std::string(device->target()).c_str());
  }
  EMBER_ASSIGN_OR_RETURN(const Replay replay,
                         ReplayRepro(repro, folder, *device));
  std::fputs(replay.Text().c_str(), stdout);
  options.differs = !replay.difference.empty();
  return OkStatus();
}

StatusOr<LoadedModel> LoadWithin(const LimitFlags& limits,
                                 const std::string& path,
                                 const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<CompileLimits> compile_limits,
                         CompileLimits::Start(limits, path));
  return LoadModel(path, options);
}

Status Run(Options& options) {
  const size_t models = options.models.size();
  if (options.repro.empty() != (models > 0)) {
    return InvalidArgumentError(
        options.repro.empty()
            ? "expected MODEL, MODEL MODEL or --repro=FOLDER, found nothing "
              "(see vm-diff --help)"
            : "expected MODEL or --repro=FOLDER, found both");
  }
  if (models == 0) return RunRepro(options);
  if (options.b.empty()) options.b = models == 1 ? "tier:2" : "tier:0";
  EMBER_ASSIGN_OR_RETURN(Side a, ParseSide("-a", options.a));
  EMBER_ASSIGN_OR_RETURN(Side b, ParseSide("-b", options.b));
  if (models == 1 && a.tier == b.tier && a.device == b.device) {
    return InvalidArgumentError("-a, -b: expected two sides, found " +
                                a.Text() + " twice");
  }
  EMBER_ASSIGN_OR_RETURN(std::shared_ptr<hal::Device> device,
                         OpenDevice("cpu", options.threads));
  EMBER_RETURN_IF_ERROR(OpenSideDevice(a, options.threads));
  EMBER_RETURN_IF_ERROR(OpenSideDevice(b, options.threads));
  std::shared_ptr<jit::Jit> jit;
  if (a.tier > 0 || b.tier > 0) {
    jit::JitOptions jit_options;
    jit_options.threads = 0;
    jit_options.allow_tf32 = options.allow_tf32;
    EMBER_ASSIGN_OR_RETURN(jit, LoadJit(jit_options));
  }
  EMBER_ASSIGN_OR_RETURN(LoadOptions load, LoadOptionsOf(options.import));
  load.inputs = options.inputs;
  EMBER_ASSIGN_OR_RETURN(const LoadedModel model,
                         LoadWithin(options.limits, options.models[0], load));
  RandomTensors random(static_cast<uint64_t>(options.seed));
  EMBER_ASSIGN_OR_RETURN(const std::vector<vm::Tensor> inputs,
                         BindInputs(*model.module, options.inputs, load.shapes,
                                    random, options.limits, &options.missing));
  options.missing.Report("vm-diff", options.seed);
  if (models == 1) {
    return CompareTiersOf(options, a, b, model.module, std::move(device),
                          std::move(jit), inputs);
  }
  EMBER_ASSIGN_OR_RETURN(const LoadedModel other,
                         LoadWithin(options.limits, options.models[1], load));
  return CompareModules(options, a, b, model.module, other.module, device, jit,
                        inputs);
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags(
      "vm-diff", "MODEL [MODEL] [flags]",
      "Names the first dispatch whose results differ. One model: runs "
      "each\n"
      "dispatch by both sides on the same operands, then the model by side b "
      "alone. Two models:\n"
      "runs both on the same inputs and compares results, which say whether "
      "they differ, and the\n"
      "dispatches that both have, which say where it begins.\n"
      "Exit status: 0 equal, 1 different, 2 the comparison could not be made.");
  Declare(options, flags);
  const int status =
      RunTool(argc, argv, flags, [&options] { return Run(options); });
  if (status != 0) return 2;
  return options.differs ? 1 : 0;
}
