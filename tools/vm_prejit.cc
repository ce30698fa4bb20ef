// vm-prejit: compiles kernels for named processors and writes them into a
// module or to files.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/metadata_rules.h"
#include "base/target_text.h"
#include "jit/c/target.h"
#include "jit/kernel/tuned_schedules.h"
#include "jit/pipeline/pipeline.h"
#include "jit/target/compile_target.h"
#include "tools/lib/c_program/c_program.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/compile_targets.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/show_progress.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/write_module.h"
#include "tools/lib/prejit/native_files.h"
#include "tools/lib/prejit/prejit.h"
#include "tools/lib/report/table.h"
#include "tune/records/record_store.h"
#include "vm/format/kernel_image_text.h"
#include "vm/format/recorded_profile.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, targets;
  ImportFlags import;
  std::string output, emit = "section", platform = "elf", symbol, profile,
                      tuning_records, packed_weights = "auto";
  double hot = 99;
  bool exact_schedules = false, keep_slow = false, list_targets = false,
       verbose = false;
  bool overlay = false, print_host = false, print_pipeline = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL.vmfb or a model", 1, 1, &options.models);
  flags.Add("target", &options.targets, "T[,T...]",
            "Makes kernels for these processors: host, or names of "
            "--list-targets. @FILE reads them from\n"
            "a file with one target on each line, as --print-host writes "
            "it. May be repeated.");
  flags.Add("o", &options.output, "FILE", "Writes the result to this file.");
  flags.AddChoice(
      "emit", &options.emit, {"section", "shared", "static", "c", "c-program"},
      "section: a module that contains the kernels. shared: a shared "
      "object (ELF) with only the\n"
      "kernels, for programs that may not make memory executable, or "
      "for Android's jniLibs. static:\n"
      "an object file and a C header beside it, for programs that "
      "load nothing. A shared or static\n"
      "file has one symbol, which ember.h's module_add_kernels "
      "takes, and its targets are of one\n"
      "kind of processor. c: a C file and a header beside it, with "
      "--target=c11, for processors\n"
      "that have only a C compiler. Its symbol is named as with "
      "static. c-program: the whole model as\n"
      "a C file and a header, with --target=c11, for processors that cannot "
      "hold a runtime. Its function\n"
      "is FILE_run; all shapes must be fixed.");
  flags.AddChoice("platform", &options.platform, PlatformNames(),
                  "The platform of the object files of --emit=static: ELF, or "
                  "Mach-O for one of Apple's.");
  flags.Add("symbol", &options.symbol, "NAME",
            "Names the symbol. Default: ember_kernels, and "
            "ember_kernels_FILE with --emit=static or c. With\n"
            "c-program: the function is NAME_run.");
  flags.Add("overlay", &options.overlay,
            "Writes the kernels of each target to a file of its own beside "
            "the module,\n"
            "MODEL.TARGET.vmfb-overlay, which vm-run finds there. -o is "
            "needed only for another name.");
  flags.Add("profile", &options.profile, "FILE",
            "Reads a profile that vm-run --record wrote. Makes kernels "
            "only for hot dispatches, also for\n"
            "the shapes that were recorded where the model leaves dims "
            "open. The hot part of the\n"
            "profile goes into the module and says what --tier=auto compiles "
            "first. Without --target only\n"
            "the profile is added.");
  flags.Add("hot", &options.hot, "PERCENT",
            "With --profile: makes kernels for the dispatches that "
            "together took this share of the time.");
  flags.AddChoice(
      "packed-weights", &options.packed_weights, {"auto", "all", "none"},
      "Adds constants to the file in the layouts that kernels read, "
      "so that no run has to pack\n"
      "them. They make the file larger by up to twice its weights "
      "for each target. all: also where\n"
      "they take more, such as filters of convolutions by Winograd's "
      "method.");
  flags.Add("tuning-records", &options.tuning_records, "FILE",
            "Uses the schedules that vm-tune found: its records, or a file of "
            "vm-tune --export. The module\n"
            "also keeps those of its dispatches, so that --tier=auto uses "
            "them on such a processor. Without\n"
            "--target only the schedules are added.");
  AddImportFlags(flags, &options.import);
  flags.Add("exact-schedules", &options.exact_schedules,
            "Kernels round as the interpreter does, except for the order "
            "of sums. See vm-run.");
  flags.Add("keep-slow", &options.keep_slow,
            "Keeps kernels that are slower than tier 0. By default they "
            "are left out if this machine can\n"
            "measure them: it can run code for the target, and the "
            "dispatch has no open dim.");
  flags.Add("verbose", &options.verbose,
            "Prints a row for each dispatch, not only for those without a "
            "kernel.");
  flags.AddStandalone("list-targets", &options.list_targets,
                      "Prints the targets, each with its features, and stops.");
  flags.AddStandalone("print-pipeline", &options.print_pipeline,
                      "Prints the passes that make kernels in order, and "
                      "stops.");
  flags.AddStandalone(
      "print-host", &options.print_host,
      "Prints this machine as a target, with its caches and cores, "
      "for --target on another machine,\n"
      "and stops.");
  flags.Example("vm-prejit model.vmfb --target=host -o model.vmfb");
  flags.Example(
      "vm-prejit model.vmfb --target=x86-64-v3,aarch64+dotprod,armv7+neon -o "
      "app.vmfb");
  flags.Example("vm-run app.vmfb --allow-native");
  flags.Example(
      "vm-prejit model.vmfb --target=aarch64,aarch64+dotprod --emit=shared -o "
      "libmodel.so");
  flags.Example(
      "vm-prejit model.vmfb --target=aarch64 --emit=static --platform=ios -o "
      "model.o");
  flags.Example("vm-prejit model.vmfb --target=c11 --emit=c -o kernels.c");
  flags.Example(
      "vm-prejit model.vmfb --target=c11+l1=16K --emit=c-program -o model.c");
  flags.Example("vm-prejit model.vmfb --target=x86-64-v4 --overlay");
  flags.Example(
      "vm-prejit model.vmfb --target=host --profile=model.profile -o app.vmfb");
}

// Adds a native section to the module. An earlier section for the same target
// is replaced.
void Put(vm::NativeSection section, std::vector<vm::NativeSection>& natives) {
  std::erase_if(natives, [&](const vm::NativeSection& other) {
    return other.target == section.target;
  });
  natives.push_back(std::move(section));
}

void PrintRows(const Prejitted& made, bool is_verbose) {
  Table table({"dispatch", "shape", "code bytes", "packed bytes", "phases",
               "no kernel because"});
  size_t count = 0;
  for (const PrejitRow& row : made.rows) {
    if (row.declined.empty() && !is_verbose) continue;
    ++count;
    if (row.declined.empty()) {
      table.AddRow({row.dispatch, vm::ShapeText(row.shape), row.code_bytes,
                    row.packed_bytes, static_cast<int64_t>(row.phases),
                    Cell()});
    } else {
      table.AddRow({row.dispatch, vm::ShapeText(row.shape), Cell(), Cell(),
                    Cell(), row.declined});
    }
  }
  if (count > 0)
    std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
}

void PrintMade(const jit::CompileTarget& target, const Prejitted& made,
               bool is_verbose) {
  const vm::NativeBytes& bytes = made.bytes;
  std::printf("%s: %zu kernels of %zu, %zu bytes, %zu of packed weights",
              target.name.c_str(), made.kernels, made.rows.size(),
              bytes.head.size() + bytes.code.size() + bytes.weights.size() +
                  made.functions.size(),
              bytes.weights.size());
  if (made.cold > 0) std::printf(", %zu dispatches are cold", made.cold);
  const auto tuned = std::ranges::count_if(made.rows, &PrejitRow::is_tuned);
  if (tuned > 0) std::printf(", %d tuned", static_cast<int>(tuned));
  std::printf(", in %.0f ms\n", made.ms);
  for (const PrejitRow& row : made.rows) {
    if (row.not_tuned.empty()) continue;
    std::printf("@%s: its tuned schedule no longer applies: %s\n",
                row.dispatch.c_str(), row.not_tuned.c_str());
  }
  PrintRows(made, is_verbose);
}

// True if the result is a file of C, which only target c11 has.
bool EmitsC(const Options& options) {
  return options.emit == "c" || options.emit == "c-program";
}

// A C program has one kernel for each call, with default schedules, and all
// constants in the layouts that kernels read.
Status CheckProgramFlags(const Options& options) {
  if (options.emit != "c-program") return OkStatus();
  const char* unused = !options.profile.empty()          ? "--profile"
                       : !options.tuning_records.empty() ? "--tuning-records"
                       : options.packed_weights == "none"
                           ? "--packed-weights=none"
                           : nullptr;
  if (unused == nullptr) return OkStatus();
  return CommandLineError(std::string(unused) +
                          ": expected --emit=c or another, found c-program, "
                          "which does not use it; leave it out");
}

Status CheckFlags(const Options& options) {
  EMBER_RETURN_IF_ERROR(CheckProgramFlags(options));
  if (options.targets.empty() &&
      ((options.profile.empty() && options.tuning_records.empty()) ||
       options.emit != "section" || options.overlay)) {
    return CommandLineError(
        "expected --target=T to say what kernels are for (see --list-targets)");
  }
  if (options.output.empty() && !options.overlay) {
    return CommandLineError(
        "expected -o FILE to say where it goes (see --help)");
  }
  if (options.overlay && options.emit != "section") {
    return CommandLineError("--overlay: expected --emit=section, found " +
                            options.emit);
  }
  if (options.hot <= 0 || options.hot > 100) {
    return CommandLineError("--hot: expected a number above 0, up to 100");
  }
  return OkStatus();
}

LibraryOptions LibraryOptionsOf(const Options& options) {
  return {.kind = options.emit == "shared"   ? LibraryKind::kShared
                  : options.emit == "static" ? LibraryKind::kStatic
                                             : LibraryKind::kC,
          .platform = options.platform,
          .symbol = options.symbol};
}

// Checks that target c11 is used with --emit=c or --emit=c-program and only
// with them. Kernels in C have to be compiled, so a module cannot contain them.
Status CheckTargets(const Options& options,
                    const std::vector<jit::CompileTarget>& targets) {
  for (const jit::CompileTarget& target : targets) {
    const bool is_c = TargetText(target.target).name() == jit::c::kTargetName;
    if (is_c == EmitsC(options)) continue;
    return CommandLineError(
        is_c ? "--target=" + target.name + ": expected --emit=c, found " +
                   options.emit
             : "--emit=" + options.emit + ": expected --target=c11, found " +
                   target.name);
  }
  if (EmitsC(options) && targets.size() != 1) {
    return CommandLineError("--emit=" + options.emit +
                            ": expected one --target, found " +
                            std::to_string(targets.size()));
  }
  if (options.overlay && !options.output.empty() && targets.size() != 1) {
    return CommandLineError("-o: expected one --target with --overlay, found " +
                            std::to_string(targets.size()));
  }
  if (options.emit == "section") return OkStatus();
  if (options.output == kStandardStream) {
    return CommandLineError("-o: expected the name of a file with --emit=" +
                            options.emit + ", found -");
  }
  if (options.emit == "c-program")
    return CProgramNamesFor(options.output, options.symbol).status();
  std::vector<std::string_view> names;
  for (const jit::CompileTarget& target : targets)
    names.push_back(target.target);
  return CheckNativeLibrary(names, LibraryOptionsOf(options));
}

// Checks that the output files can be written, before kernels are made, which
// may take minutes.
Status CheckFiles(const Options& options,
                  const std::vector<jit::CompileTarget>& targets) {
  EMBER_RETURN_IF_ERROR(CheckOutputFile("-o", options.output));
  if (!options.overlay || !options.output.empty()) return OkStatus();
  for (const jit::CompileTarget& target : targets) {
    EMBER_RETURN_IF_ERROR(CheckOutputFile(
        "--overlay", OverlayPath(options.models[0], target.name)));
  }
  return OkStatus();
}

// Checks that the user named a module. Overlays, libraries and profiles refer
// to a module by its contents, so the module must exist as a file.
Status CheckIsModule(const Options& options, const LoadedModel& model) {
  if (!model.compiled_here || options.emit == "c-program" ||
      (!options.overlay && options.emit == "section" &&
       options.profile.empty()))
    return OkStatus();
  return InvalidArgumentError(
      options.models[0] +
      ": expected a compiled module (vm-compile makes one), found a model");
}

// Reads the tuned schedules of --tuned: from a text file, or the best ones from
// a database of records.
StatusOr<jit::TunedSchedules> ReadTuned(const std::string& file) {
  constexpr std::string_view kDatabase = "SQLite format 3";
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(UserPath(file)));
  if (text.starts_with(kDatabase)) {
    EMBER_ASSIGN_OR_RETURN(
        const std::unique_ptr<tune::RecordStore> store,
        tune::RecordStore::Open(UserPath(file), tune::Access::kRead));
    return store->Export();
  }
  auto schedules = jit::TunedSchedules::Parse(text);
  if (!schedules.ok()) return schedules.status().WithContext(file);
  return schedules;
}

// Stores the schedules of the module's dispatches in the module's metadata.
Status AddTuned(const Options& options,
                const std::shared_ptr<const vm::Module>& module,
                const jit::TunedSchedules& tuned,
                vm::ModuleDefinition& definition) {
  const jit::TunedSchedules own = SchedulesOf(
      module, definition.profile.empty() ? nullptr : &definition.profile,
      tuned);
  if (own.size() == 0) {
    std::printf("%s has no schedule for a dispatch of this module\n",
                options.tuning_records.c_str());
    return OkStatus();
  }
  const std::string text = own.Print();
  if (text.size() > kMaxMetadataValueBytes) {
    return ResourceExhaustedError(options.tuning_records +
                                  ": expected schedules of the module of at "
                                  "most " +
                                  std::to_string(kMaxMetadataValueBytes) +
                                  " bytes, found " +
                                  std::to_string(text.size()));
  }
  vm::SetMetadata(vm::kTunedSchedulesKey, text, definition.metadata);
  return OkStatus();
}

StatusOr<std::vector<vm::DispatchProfile>> ReadProfile(
    const Options& options, const vm::ModuleDefinition& module) {
  // Largest size of a profile's file in bytes. The profile of a real module is
  // much smaller.
  constexpr size_t kMaxBytes = size_t{64} << 20;
  EMBER_ASSIGN_OR_RETURN(const std::string text,
                         ReadFile(UserPath(options.profile)));
  if (text.size() > kMaxBytes) {
    return InvalidArgumentError(
        options.profile + ": expected a profile of at most 64 MiB, found " +
        std::to_string(text.size()) + " bytes");
  }
  auto profile = vm::ParseRecordedProfile(text, module);
  if (!profile.ok()) return profile.status().WithContext(options.profile);
  return HotPart(*profile, options.hot);
}

Status WriteFiles(const Options& options, vm::ModuleDefinition definition,
                  const std::vector<jit::CompileTarget>& targets,
                  std::vector<Prejitted> made, ShownProgress* progress) {
  if (options.overlay) {
    for (size_t i = 0; i < made.size(); ++i) {
      const std::string path =
          options.output.empty()
              ? OverlayPath(options.models[0], targets[i].name)
              : options.output;
      EMBER_RETURN_IF_ERROR(WriteOverlay(definition, std::move(made[i]), path));
    }
    return OkStatus();
  }
  if (options.emit != "section") {
    return WriteNativeLibrary(definition, made, LibraryOptionsOf(options),
                              options.output);
  }
  for (Prejitted& one : made)
    Put(SectionOf(std::move(one)), definition.natives);
  return WriteModuleFile(definition, options.output, progress);
}

Status EmitProgram(const Options& options, const LoadedModel& model,
                   const LoadOptions& load, const jit::CompileTarget& target) {
  EMBER_ASSIGN_OR_RETURN(const CProgramNames names,
                         CProgramNamesFor(options.output, options.symbol));
  // A model that was compiled here has the shapes already, under names that
  // the import may have changed.
  const std::span<const NamedShape> shapes =
      model.compiled_here ? std::span<const NamedShape>() : load.shapes;
  const StatusOr<CProgramText> text =
      MakeCProgram(model.module, target, shapes, names, load.progress.get());
  if (load.progress != nullptr) load.progress->Clear();
  if (!text.ok()) return text.status().WithContext(options.models[0]);
  return WriteCProgram(*text, options.output);
}

Status Run(const Options& options) {
  if (options.list_targets) {
    std::printf("host\n");
    for (const std::string& name : jit::CompileTargetNames())
      std::printf("%s\n", name.c_str());
    return OkStatus();
  }
  if (options.print_pipeline) {
    std::fputs(jit::PrintPipeline().c_str(), stdout);
    return OkStatus();
  }
  if (options.print_host) {
    EMBER_ASSIGN_OR_RETURN(const std::string name, jit::NameOfHost());
    std::printf("%s\n", name.c_str());
    return OkStatus();
  }
  EMBER_RETURN_IF_ERROR(CheckFlags(options));
  EMBER_ASSIGN_OR_RETURN(const std::vector<jit::CompileTarget> targets,
                         FindCompileTargets(options.targets));
  EMBER_RETURN_IF_ERROR(CheckTargets(options, targets));
  EMBER_RETURN_IF_ERROR(CheckFiles(options, targets));
  EMBER_ASSIGN_OR_RETURN(const LoadOptions load, LoadOptionsOf(options.import));
  EMBER_ASSIGN_OR_RETURN(const LoadedModel model,
                         LoadModel(options.models[0], load));
  EMBER_RETURN_IF_ERROR(CheckIsModule(options, model));
  if (options.emit == "c-program")
    return EmitProgram(options, model, load, targets[0]);
  vm::ModuleDefinition definition = model.module->definition();
  PrejitOptions prejit;
  prejit.is_exact = options.exact_schedules;
  prejit.drops_slow = !options.keep_slow;
  prejit.packed_weights = options.packed_weights == "all" ? PackedWeights::kAll
                          : options.packed_weights == "none"
                              ? PackedWeights::kNone
                              : PackedWeights::kAuto;
  if (!options.profile.empty()) {
    EMBER_ASSIGN_OR_RETURN(definition.profile,
                           ReadProfile(options, definition));
    prejit.profile = &definition.profile;
  }
  jit::TunedSchedules tuned;
  if (!options.tuning_records.empty()) {
    EMBER_ASSIGN_OR_RETURN(tuned, ReadTuned(options.tuning_records));
    if (options.emit == "section" && !options.overlay)
      EMBER_RETURN_IF_ERROR(AddTuned(options, model.module, tuned, definition));
    prejit.tuned = &tuned;
  }
  prejit.progress = load.progress.get();
  std::vector<Prejitted> made;
  for (const jit::CompileTarget& target : targets) {
    EMBER_ASSIGN_OR_RETURN(Prejitted one, Prejit(model.module, target, prejit));
    if (load.progress != nullptr) load.progress->Clear();
    PrintMade(target, one, options.verbose);
    made.push_back(std::move(one));
  }
  return WriteFiles(options, definition, targets, std::move(made),
                    load.progress.get());
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-prejit", "MODEL --target=T -o OUT.vmfb",
              "Writes kernels for named processors into a module, which runs "
              "everywhere else as before,\nor into files of their own.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Run(options); });
}
