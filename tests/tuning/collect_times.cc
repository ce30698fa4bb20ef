// collect_times: measures random schedules of random networks' dispatches and
// of models, as data for the cost model of the tuner.
//
// Writes a line per schedule: the task's key, its name, the target, the origin
// of the schedule, its seconds and its features, with tabs between. The first
// line of a task is its default schedule. ./dev tune-model trains on such
// files.
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compile.h"
#include "jit/llvm/compiler.h"
#include "jit/target/compile_target.h"
#include "tests/tuning/dispatch_visitor.h"
#include "tests/tuning/random_networks.h"
#include "tests/tuning/schedule_times.h"
#include "tools/lib/benchmark/child.h"
#include "tools/lib/calls/dispatch_call.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/models/load_model.h"
#include "tune/model/nest_features.h"
#include "tune/task/task.h"

namespace ember::tests {
namespace {

struct Options {
  std::string target = "host", output;
  std::vector<std::string> models;
  int64_t count = 0, first_seed = 1, schedules = 24, rounds = 7, timeout = 300;
  int64_t limit = 40;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Positional("MODEL", 0, 1000, &options.models);
  flags.Add("o", &options.output, "FILE", "Appends the lines to this file.");
  flags.Add("target", &options.target, "NAME",
            "Makes code for this target, as vm-prejit's --target; the machine "
            "must be able to run it.");
  flags.Add("count", &options.count, "N", "Measures N random networks.");
  flags.Add("first-seed", &options.first_seed, "N",
            "The seed of the first network.");
  flags.Add("schedules", &options.schedules, "N",
            "Measures N schedules of each dispatch.");
  flags.Add("rounds", &options.rounds, "N", "Calls each kernel in N rounds.");
  flags.Add("limit", &options.limit, "N",
            "Measures at most N dispatches of a model.");
  flags.Add("timeout", &options.timeout, "S",
            "Gives each network or model at most S seconds.");
  flags.Example("collect_times --target=x86-64-v3 --count=200 -o times.txt");
  flags.Example("collect_times resnet50.onnx -o times.txt");
}

std::string LineOf(const tune::Task& task, const std::string& target,
                   const TimedSchedule& schedule) {
  std::ostringstream line;
  line << task.key << '\t' << task.name << '\t' << target << '\t'
       << schedule.origin << '\t' << schedule.seconds << '\t';
  for (size_t i = 0; i < schedule.features.size(); ++i)
    line << (i > 0 ? " " : "") << schedule.features[i];
  line << '\n';
  return line.str();
}

// Measures each dispatch of a module and returns the lines of the output file.
StatusOr<std::string> LinesOf(const Options& options,
                              const jit::CompileTarget& target,
                              const std::shared_ptr<const vm::Module>& module,
                              const std::string& name, uint64_t seed) {
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<jit::ObjectCompiler> compiler,
                         jit::llvm_ir::NewLlvmCompiler(target.llvm));
  std::string lines;
  int64_t tasks = 0;
  const auto visit = [&](const vm::KernelRequest& request,
                         const vm::KernelCall& call) {
    if (tasks >= options.limit) return;
    auto operands = tools::CallOperands::Copy(*request.dispatch, call,
                                              request.constant_inputs);
    if (!operands.ok()) return;
    vm::KernelRequest for_target = request;
    for_target.target = target.target;
    tune::Task task = tune::MakeTask(for_target);
    task.name = name + "/" + task.name;
    const auto times =
        TimeSchedules(task, operands->Buffers(), *compiler,
                      {.seed = seed + static_cast<uint64_t>(tasks),
                       .schedules = options.schedules,
                       .rounds = options.rounds});
    if (!times.ok()) return;
    ++tasks;
    for (const TimedSchedule& schedule : *times)
      lines += LineOf(task, options.target, schedule);
  };
  EMBER_RETURN_IF_ERROR(
      VisitModel(module, std::make_shared<DispatchVisitor>(visit)));
  return lines;
}

StatusOr<std::shared_ptr<const vm::Module>> NetworkOf(uint64_t seed) {
  onnx::ModelBuilder model = MakeRandomNetwork(seed);
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, model.Import());
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                         compiler::Compile(std::move(graph), {}));
  return vm::Module::FromDefinition(std::move(definition));
}

// Measures a module in a child process and appends its lines to the output. If
// the child crashes or takes too long, only this module's lines are missing.
void Collect(
    const Options& options, const jit::CompileTarget& target,
    const std::string& name, uint64_t seed,
    const std::function<StatusOr<std::shared_ptr<const vm::Module>>()>& load) {
  const auto work = [&]() -> StatusOr<std::string> {
    EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const vm::Module> module,
                           load());
    return LinesOf(options, target, module, name, seed);
  };
  const StatusOr<std::string> lines =
      tools::RunInChild(work, static_cast<unsigned>(options.timeout));
  if (!lines.ok()) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(),
                 lines.status().ToString().c_str());
    return;
  }
  std::FILE* const file = std::fopen(options.output.c_str(), "a");
  if (file == nullptr) return;
  std::fwrite(lines->data(), 1, lines->size(), file);
  std::fclose(file);
}

Status Run(const Options& options) {
  if (options.output.empty())
    return InvalidArgumentError("-o: expected the name of a file");
  EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget target,
                         jit::FindCompileTarget(options.target));
  for (int64_t i = 0; i < options.count; ++i) {
    const auto seed = static_cast<uint64_t>(options.first_seed + i);
    Collect(options, target, "seed" + std::to_string(seed), seed,
            [&] { return NetworkOf(seed); });
  }
  for (const std::string& path : options.models) {
    const std::string name = path.substr(path.find_last_of('/') + 1);
    Collect(options, target, name, 1,
            [&]() -> StatusOr<std::shared_ptr<const vm::Module>> {
              EMBER_ASSIGN_OR_RETURN(tools::LoadedModel model,
                                     tools::LoadModel(path, {}));
              return std::move(model.module);
            });
  }
  return OkStatus();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "collect_times", "[MODEL...] -o FILE [flags]",
      "Measures random schedules, as data for the tuner's cost model.");
  ember::tests::Declare(options, flags);
  return ember::tools::RunTool(argc, argv, flags,
                               [&] { return ember::tests::Run(options); });
}
