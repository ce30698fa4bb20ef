// vm-compile: compiles a model to a module.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "base/did_you_mean.h"
#include "base/file.h"
#include "base/metadata_rules.h"
#include "base/one_line.h"
#include "compiler/compile.h"
#include "compiler/pipeline.h"
#include "frontends/registry/formats.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/generate/kept_tokenizer.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/models/model_source.h"
#include "tools/lib/models/write_module.h"
#include "tools/lib/report/table.h"
#include "vm/isa/model_metadata.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models, inputs, metadata, disabled_passes;
  std::string output, dump_after, dump_dir;
  ImportFlags import;
  LimitFlags limits;
  bool print_pipeline = false, time_passes = false, list_formats = false;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL", 1, 1, &options.models);
  flags.Add("o", &options.output, "FILE",
            "Writes the module to this file (.vmfb).");
  AddImportFlags(flags, &options.import);
  flags.Add("input", &options.inputs, "NAME=VALUE",
            "Does the same as --constant.");
  flags.Add("metadata", &options.metadata, "KEY=VALUE",
            "Adds an entry to the module's metadata, which begins with the "
            "model's own (vm-dump\n"
            "--part=metadata), or replaces it. @FILE is the text of a "
            "file. May be repeated.");
  flags.Add("dump-after", &options.dump_after, "STEP|all",
            "Prints the text of the graph after a step of "
            "--print-pipeline, or after each. The step\n"
            "import is before all passes.");
  flags.Add("dump-dir", &options.dump_dir, "DIR",
            "Writes the dumps to files of this folder instead: "
            "03-fold-constants.txt.");
  flags.AddStandalone(
      "list-formats", &options.list_formats,
      "Prints the formats of models that can be read, and stops.");
  flags.AddStandalone("print-pipeline", &options.print_pipeline,
                      "Prints the steps in order, and stops.");
  flags.Add("disable-pass", &options.disabled_passes, "PASS",
            "Leaves a pass out. May be repeated.");
  flags.Add("time-passes", &options.time_passes,
            "Prints the time of each pass.");
  AddCompileLimitFlags(flags, &options.limits);
  flags.Example("vm-compile resnet50.onnx -o resnet50.vmfb");
  flags.Example("vm-compile mobilenet.tflite -o mobilenet.vmfb");
  flags.Example(
      "vm-compile bert.onnx -o bert.vmfb --shape input_ids=1x128 --shape "
      "mask=1x128");
  flags.Example(
      "vm-compile resize.onnx -o resize.vmfb --constant=sizes=4xi64=1,3,64,64");
  flags.Example(
      "vm-compile model.onnx -o model.vmfb --metadata labels=@labels.txt");
  flags.Example(
      "vm-compile model.onnx -o model.vmfb --dump-after=all "
      "--dump-dir=/tmp/passes");
}

struct Metadata {
  std::string key, value;
};

StatusOr<std::vector<Metadata>> ReadMetadata(
    const std::vector<std::string>& specs) {
  std::vector<Metadata> entries;
  for (const std::string& spec : specs) {
    const std::string what = "--metadata: '" + OnOneLine(spec) + "'";
    const size_t equals = spec.find('=');
    if (equals == std::string::npos || !IsMetadataKey(spec.substr(0, equals)))
      return CommandLineError(
          what + ": expected KEY=VALUE, with a key of 1 to " +
          std::to_string(kMaxMetadataKeyBytes) + " bytes in UTF-8");
    std::string value = spec.substr(equals + 1);
    if (value.starts_with('@')) {
      EMBER_ASSIGN_OR_RETURN(value, ReadFile(UserPath(value.substr(1))));
    }
    if (value.size() > kMaxMetadataValueBytes || !IsMetadataText(value))
      return CommandLineError(what + ": expected a value of at most " +
                              std::to_string(kMaxMetadataValueBytes) +
                              " bytes in UTF-8 without a byte 0, found " +
                              std::to_string(value.size()) + " bytes");
    entries.push_back({spec.substr(0, equals), std::move(value)});
  }
  return entries;
}

StatusOr<LoadOptions> MakeLoadOptions(const Options& options,
                                      Status& dump_status, Table& times) {
  EMBER_ASSIGN_OR_RETURN(LoadOptions load, LoadOptionsOf(options.import));
  EMBER_RETURN_IF_ERROR(AddConstants("--input", options.inputs, load));
  load.compile.disabled_passes = {options.disabled_passes.begin(),
                                  options.disabled_passes.end()};
  load.compile.dump_after = options.dump_after;
  load.compile.dump = [&options, &dump_status](std::string_view pass,
                                               int number,
                                               std::string_view text) {
    if (options.dump_dir.empty()) {
      std::printf("// after %s\n%.*s\n", std::string(pass).c_str(),
                  static_cast<int>(text.size()), text.data());
      return;
    }
    char prefix[16];
    std::snprintf(prefix, sizeof(prefix), "%02d-", number);
    const std::string path =
        UserPath(options.dump_dir) + "/" + prefix + std::string(pass) + ".txt";
    if (dump_status.ok()) dump_status = WriteFileAtomically(path, text);
  };
  load.compile.timing = [&times](std::string_view pass, double milliseconds) {
    times.AddRow({pass, Cell(milliseconds, 3)});
  };
  return load;
}

int64_t ConstantBytes(const vm::ModuleDefinition& module) {
  int64_t bytes = 0;
  for (const vm::Constant& constant : module.constants) {
    bytes += static_cast<int64_t>(constant.data.size());
  }
  return bytes;
}

std::string SizeText(int64_t bytes) {
  char text[32];
  const bool large = bytes >= 1000000;
  std::snprintf(text, sizeof(text), "%.1f %s",
                static_cast<double>(bytes) / (large ? 1e6 : 1e3),
                large ? "MB" : "kB");
  return text;
}

// Checks a name of --disable-pass. Error: no step of the pipeline has the name,
// or the step may not be disabled.
Status CheckPass(const std::string& name) {
  std::vector<std::string_view> known;
  for (const compiler::PipelineStep& step : compiler::Pipeline()) {
    if (step.may_be_disabled()) known.push_back(step.name);
  }
  if (std::ranges::find(known, name) != known.end()) return OkStatus();
  return CommandLineError("--disable-pass=" + name +
                          ": no such pass can be disabled" +
                          DidYouMean(name, known) + " (see --print-pipeline)");
}

Status Check(const Options& options) {
  if (options.output.empty()) {
    return CommandLineError(
        "expected -o FILE to say where the module goes (see --help)");
  }
  if (!options.dump_after.empty() && options.dump_after != "all" &&
      !compiler::HasDump(options.dump_after)) {
    return CommandLineError(
        "--dump-after=" + options.dump_after +
        ": expected all, import or a step (see vm-compile --print-pipeline)");
  }
  if (!options.dump_dir.empty() && options.dump_after.empty())
    return CommandLineError("--dump-dir needs --dump-after=STEP or all");
  for (const std::string& name : options.disabled_passes)
    EMBER_RETURN_IF_ERROR(CheckPass(name));
  EMBER_RETURN_IF_ERROR(MakeOutputFolder("--dump-dir", options.dump_dir));
  return CheckOutputFile("-o", options.output, options.models);
}

void ListFormats() {
  Table table({"format", "files", "reads"});
  for (const frontends::Format* format : frontends::Formats()) {
    std::string extensions;
    for (const std::string_view extension : format->extensions)
      extensions += (extensions.empty() ? "" : " ") + std::string(extension);
    table.AddRow({format->name, extensions, format->title});
  }
  std::fputs(table.Print(TableFormat::kMarkdown).c_str(), stdout);
}

Status Compile(const Options& options) {
  if (options.list_formats) {
    ListFormats();
    return OkStatus();
  }
  if (options.print_pipeline) {
    std::fputs(compiler::PrintPipeline().c_str(), stdout);
    return OkStatus();
  }
  EMBER_RETURN_IF_ERROR(Check(options));
  EMBER_ASSIGN_OR_RETURN(const std::vector<Metadata> metadata,
                         ReadMetadata(options.metadata));
  Status dump_status;
  Table times({"pass", "ms"});
  EMBER_ASSIGN_OR_RETURN(LoadOptions load,
                         MakeLoadOptions(options, dump_status, times));
  const auto start = std::chrono::steady_clock::now();
  EMBER_ASSIGN_OR_RETURN(
      std::unique_ptr<CompileLimits> limits,
      CompileLimits::Start(options.limits, options.models[0]));
  EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition module,
                         CompileModel(options.models[0], load));
  EMBER_ASSIGN_OR_RETURN(
      const std::string note,
      KeepTokenizer(ModelSource::OfUserPath(options.models[0]),
                    module.metadata));
  if (!note.empty())
    std::fprintf(stderr, "%s: note: %s\n", options.models[0].c_str(),
                 note.c_str());
  for (const Metadata& entry : metadata)
    vm::SetMetadata(entry.key, entry.value, module.metadata);
  EMBER_RETURN_IF_ERROR(dump_status);
  // The limits of time and memory end here. Otherwise they could end the
  // process while it writes the module.
  limits = nullptr;
  EMBER_RETURN_IF_ERROR(
      WriteModuleFile(module, options.output, load.progress.get()));
  const std::chrono::duration<double, std::milli> time =
      std::chrono::steady_clock::now() - start;
  if (options.time_passes)
    std::fputs(times.Print(TableFormat::kMarkdown).c_str(), stdout);
  const vm::Program& program = module.programs.front();
  std::printf("%s: %zu dispatches, %zu constants of %s, compiled in %.0f ms\n",
              options.output.c_str(), module.dispatches.size(),
              module.constants.size(), SizeText(ConstantBytes(module)).c_str(),
              time.count());
  std::printf("  inputs   %s\n  results  %s\n",
              DescribeSignatures(program, program.inputs).c_str(),
              DescribeSignatures(program, program.results).c_str());
  return OkStatus();
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags(
      "vm-compile", "MODEL -o MODEL.vmfb [flags]",
      "Compiles a model to a module, which vm-run and applications run. "
      "--list-formats prints\n"
      "the formats.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Compile(options); });
}
