// measure_models: measures how fast the guarded models are, and whether they
// are as fast as they were.
//
//   bazel run //tests/performance:measure_models -- shuffled_groups --explain
//   ./dev bench --guard
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/performance/code_properties.h"
#include "tests/performance/guard.h"
#include "tests/performance/guarded_cpus.h"
#include "tests/performance/measure.h"
#include "tests/performance/model_code.h"
#include "tests/performance/model_instructions.h"
#include "tests/performance/models.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/report/table.h"

namespace ember::tests {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string schedules, write, guard, version = "unknown", cpu, dump;
  bool record = false;
  double seconds = 1;
  bool explain = false;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Positional("MODEL...", 0, 100, &options.models);
  flags.Add("seconds", &options.seconds, "S",
            "Measures each model for S seconds, alternately with its "
            "reference.");
  flags.Add("explain", &options.explain,
            "Prints for each model what vm-run --explain prints, and the "
            "instructions of each dispatch.");
  flags.Add("schedules", &options.schedules, "DIR",
            "Uses the schedules of this folder; see vm-run.");
  flags.Add("write", &options.write, "DIR",
            "Writes DIR/MODEL.onnx, for vm-run, vm-dump and "
            "tools/compare_builds.py, and measures\n"
            "nothing.");
  flags.Add("cpu", &options.cpu, "NAME",
            "Counts instructions for this processor (avx2, avx512, "
            "avx512_bf16, neon; all), on any\n"
            "machine, instead of measuring: the vector instructions of the "
            "nests, and the contents of the\n"
            "innermost loops of the code "
            "(tests/performance/code_properties.h).");
  flags.Add("dump", &options.dump, "DIR",
            "With --cpu: writes the schedule, nest and assembly of each "
            "kernel to\n"
            "DIR/MODEL.CPU.DISPATCH.*");
  flags.Add("guard", &options.guard, "FILE",
            "Compares with the speeds in FILE, which were measured on this "
            "machine, and fails if one is\n"
            "below 0.7 of that. Makes FILE if it does not exist or is of "
            "another machine. See ./dev bench\n"
            "--guard.");
  flags.Add("record", &options.record,
            "With --guard: measures the speeds in FILE again.");
  flags.Add("version", &options.version, "NAME",
            "With --guard: writes this name of the measured version to "
            "FILE.");
  flags.Example("measure_models shuffled_groups --explain");
  flags.Example("measure_models --guard=speeds.txt");
}

Status CheckFlags(const Options& options) {
  if (!options.cpu.empty() && options.cpu != "all" &&
      FindGuardedCpu(options.cpu) == nullptr)
    return InvalidArgumentError("--cpu: there is no " + options.cpu);
  if (options.cpu.empty() && !options.dump.empty())
    return InvalidArgumentError("--dump: needs --cpu");
  if (options.guard.empty()) {
    return options.record ? InvalidArgumentError("--record: needs --guard")
                          : OkStatus();
  }
  if (options.explain || !options.schedules.empty() || !options.write.empty())
    return InvalidArgumentError(
        "--guard: goes with --record and --version alone");
  if (options.version.empty() ||
      options.version.find_first_of(" \n") != std::string::npos)
    return InvalidArgumentError("--version: expected a name without spaces");
  return OkStatus();
}

Status CheckNames(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    std::string known;
    bool is_known = false;
    for (const GuardedModel& model : GuardedModels()) {
      known += (known.empty() ? "" : ", ") + std::string(model.name);
      is_known |= name == model.name;
    }
    if (!is_known)
      return InvalidArgumentError("no model '" + name + "'; there are " +
                                  known);
  }
  return OkStatus();
}

// Lists the dispatches with the number of instructions of each.
std::string InstructionsText(const ModelInstructions& count) {
  tools::Table table({"dispatch", "M instructions"});
  for (const ModelInstructions::Dispatch& dispatch : count.dispatches)
    table.AddRow({dispatch.name, tools::Cell(1e-6 * dispatch.instructions, 3)});
  return table.Print(tools::TableFormat::kMarkdown);
}

Status CountOnCpu(const Options& options, const GuardedModel& model,
                  const GuardedCpu& cpu, tools::Table& table) {
  onnx::ModelBuilder onnx_model = model.build();
  const std::string schedules = tools::UserPath(options.schedules);
  EMBER_ASSIGN_OR_RETURN(const ModelInstructions count,
                         CountModel(onnx_model, cpu, schedules));
  EMBER_ASSIGN_OR_RETURN(const std::vector<KernelCode> kernels,
                         CodeOf(onnx_model, cpu, schedules));
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelCode& kernel = kernels[i];
    const CodeProperties& p = kernel.properties;
    table.AddRow({model.name, cpu.name, kernel.dispatch,
                  tools::Cell(1e-6 * count.dispatches[i].instructions, 3),
                  p.loops, p.instructions, p.spilled_vectors,
                  p.spilled_integers, p.gathers, p.arithmetic,
                  p.scalar_arithmetic, p.blocked_loads, p.aliased_loads});
    if (options.dump.empty()) continue;
    const std::string file = tools::UserPath(options.dump) + "/" + model.name +
                             "." + cpu.name + "." + kernel.dispatch;
    EMBER_RETURN_IF_ERROR(
        WriteFileAtomically(file + ".schedule", kernel.schedule));
    EMBER_RETURN_IF_ERROR(WriteFileAtomically(file + ".loops", kernel.nest));
    EMBER_RETURN_IF_ERROR(WriteFileAtomically(file + ".s", kernel.assembly));
  }
  return OkStatus();
}

Status CountOnCpus(const Options& options,
                   const std::vector<GuardedModel>& models) {
  tools::Table table({"model", "cpu", "dispatch", "M instructions", "loops",
                      "instructions", "spilled vectors", "spilled integers",
                      "gathers", "arithmetic", "scalar", "blocked", "aliased"});
  for (const GuardedModel& model : models) {
    for (const GuardedCpu& cpu : GuardedCpus()) {
      if (options.cpu == "all" || options.cpu == cpu.name)
        EMBER_RETURN_IF_ERROR(CountOnCpu(options, model, cpu, table));
    }
  }
  std::fputs(table.Print(tools::TableFormat::kMarkdown).c_str(), stdout);
  return OkStatus();
}

Status Run(const Options& options) {
  EMBER_RETURN_IF_ERROR(CheckFlags(options));
  EMBER_RETURN_IF_ERROR(CheckNames(options.models));
  std::vector<GuardedModel> models;
  for (const GuardedModel& model : GuardedModels()) {
    if (options.models.empty() ||
        std::ranges::find(options.models, model.name) != options.models.end())
      models.push_back(model);
  }
  if (!options.guard.empty()) {
    return Guard({.models = models,
                  .file = tools::UserPath(options.guard),
                  .records = options.record,
                  .version = options.version});
  }
  if (!options.cpu.empty()) return CountOnCpus(options, models);
  tools::Table table({"model", "speed", "Zen 3", "M instructions", "most", "ms",
                      "reference_ms", "MFLOP", "MB", "GFLOP/s", "GB/s",
                      "turns"});
  std::string explained;
  for (const GuardedModel& model : models) {
    onnx::ModelBuilder onnx_model = model.build();
    if (!options.write.empty()) {
      EMBER_RETURN_IF_ERROR(WriteFileAtomically(
          tools::UserPath(options.write) + "/" + model.name + ".onnx",
          onnx_model.proto().SerializeAsString()));
      continue;
    }
    EMBER_ASSIGN_OR_RETURN(const ModelInstructions count,
                           CountModel(onnx_model, GuardedCpus()[0],
                                      tools::UserPath(options.schedules)));
    EMBER_ASSIGN_OR_RETURN(
        const std::unique_ptr<TimedModel> timed,
        TimedModel::Create(onnx_model, tools::UserPath(options.schedules)));
    EMBER_ASSIGN_OR_RETURN(const Speed speed, timed->Measure(options.seconds));
    table.AddRow(
        {model.name, tools::Cell(speed.relative, 3),
         tools::Cell(model.usual_speed, 3), tools::Cell(1e-6 * count.total, 2),
         tools::Cell(model.most_instructions(GuardedCpus()[0]), 2),
         tools::Cell(speed.model_ms, 3), tools::Cell(speed.reference_ms, 3),
         tools::Cell(1e-6 * timed->operations(), 1),
         tools::Cell(1e-6 * timed->bytes(), 2), tools::Cell(speed.gigaflops, 1),
         tools::Cell(speed.gigabytes_per_second, 1), speed.rounds});
    if (!options.explain) continue;
    EMBER_ASSIGN_OR_RETURN(const std::string text, timed->Explain());
    explained +=
        "\n" + std::string(model.name) + "\n" + text + InstructionsText(count);
  }
  if (options.write.empty())
    std::fputs((table.Print(tools::TableFormat::kMarkdown) + explained).c_str(),
               stdout);
  return OkStatus();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "measure_models", "[MODEL...] [flags]",
      "Measures the models of performance_test (all, or those named): the "
      "speed is the time of\nthe same work in a reference, by that of the "
      "model (tests/performance/measure.h).");
  Declare(options, flags);
  return ember::tools::RunTool(
      argc, argv, flags, [&options] { return ember::tests::Run(options); });
}
