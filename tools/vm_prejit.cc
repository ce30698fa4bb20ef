// vm-prejit: writes kernels for named processors into a module.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tools/lib/bind.h"
#include "tools/lib/flags.h"
#include "tools/lib/load_model.h"
#include "tools/lib/paths.h"
#include "tools/lib/prejit.h"
#include "tools/lib/table.h"
#include "vm/format/writer.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, targets, shapes;
  std::string output;
  bool exact_schedules = false, list_targets = false, verbose = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL.vmfb or a model", 1, 1, &options.models);
  flags.Add("target", &options.targets, "T[,T...]",
            "Processors to make kernels for: host, or as --list-targets "
            "names them. May be\nrepeated.");
  flags.Add("o", &options.output, "FILE", "Where to write the module.");
  flags.Add("shape", &options.shapes, "NAME=1x3x224x224",
            "As of vm-compile, for a model that is no module.");
  flags.Add("exact-schedules", &options.exact_schedules,
            "As of vm-run: kernels round as the interpreter does, but for the "
            "order of sums.");
  flags.Add("verbose", &options.verbose,
            "A row for each dispatch, not only for those without a kernel.");
  flags.AddStandalone("list-targets", &options.list_targets,
                      "Prints the targets, each with its features, and stops.");
  flags.Example("vm-prejit model.vmfb --target=host -o model.vmfb");
  flags.Example(
      "vm-prejit model.vmfb --target=x86-64-v3,aarch64+dotprod,armv7+neon -o "
      "app.vmfb");
  flags.Example("vm-run app.vmfb --allow-native");
}

StatusOr<std::vector<jit::CompileTarget>> TargetsOf(
    const std::vector<std::string>& flags) {
  std::vector<jit::CompileTarget> targets;
  for (const std::string& flag : flags) {
    for (size_t begin = 0; begin <= flag.size();) {
      const size_t end = std::min(flag.find(',', begin), flag.size());
      auto target = jit::FindCompileTarget(flag.substr(begin, end - begin));
      if (!target.ok()) return target.status().WithContext("--target");
      targets.push_back(*std::move(target));
      begin = end + 1;
    }
  }
  if (targets.empty()) {
    return InvalidArgumentError(
        "expected --target=T to say what kernels are for (see --list-targets)");
  }
  return targets;
}

// In the place of one for the same target.
void Put(vm::NativeSection section, std::vector<vm::NativeSection>& natives) {
  std::erase_if(natives, [&](const vm::NativeSection& other) {
    return other.target == section.target;
  });
  natives.push_back(std::move(section));
}

void PrintRows(const Prejitted& made, bool is_verbose) {
  Table table({"dispatch", "code bytes", "phases", "no kernel because"});
  size_t count = 0;
  for (const PrejitRow& row : made.rows) {
    if (row.declined.empty() && !is_verbose) continue;
    ++count;
    if (row.declined.empty()) {
      table.AddRow({row.dispatch, row.code_bytes,
                    static_cast<int64_t>(row.phases), Cell()});
    } else {
      table.AddRow({row.dispatch, Cell(), Cell(), row.declined});
    }
  }
  if (count > 0)
    std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
}

Status Run(const Options& options) {
  if (options.list_targets) {
    std::printf("host\n");
    for (const std::string& name : jit::CompileTargetNames())
      std::printf("%s\n", name.c_str());
    return OkStatus();
  }
  if (options.output.empty()) {
    return InvalidArgumentError(
        "expected -o FILE to say where the module goes (see --help)");
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<jit::CompileTarget> targets,
                         TargetsOf(options.targets));
  LoadOptions load;
  EMBER_ASSIGN_OR_RETURN(load.shapes, ParseShapeFlags(options.shapes));
  EMBER_ASSIGN_OR_RETURN(const LoadedModel model,
                         LoadModel(options.models[0], load));
  vm::ModuleDefinition definition = model.module->definition();
  for (const jit::CompileTarget& target : targets) {
    EMBER_ASSIGN_OR_RETURN(
        Prejitted made,
        Prejit(model.module, target, {.is_exact = options.exact_schedules}));
    std::printf("%s: %zu kernels of %zu, %zu bytes, in %.0f ms\n",
                target.name.c_str(), made.kernels, made.rows.size(),
                made.section.data.size(), made.ms);
    PrintRows(made, options.verbose);
    Put(std::move(made.section), definition.natives);
  }
  return vm::WriteModule(definition, UserPath(options.output));
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-prejit", "MODEL --target=T -o OUT.vmfb",
              "Writes kernels for named processors into a module, which runs "
              "everywhere else as before.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Run(options); });
}
