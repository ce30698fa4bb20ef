// vm-dump: prints any part of a module as text, or its dispatches as a picture.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/did_you_mean.h"
#include "base/file.h"
#include "base/one_line.h"
#include "compiler/graph/text/text.h"
#include "frontends/registry/formats.h"
#include "tensor/text/text.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/compile_limits.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/cli/limits.h"
#include "tools/lib/cli/output_path.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/standard_streams.h"
#include "tools/lib/generate/kept_tokenizer.h"
#include "tools/lib/models/bind.h"
#include "tools/lib/models/import_flags.h"
#include "tools/lib/models/load_model.h"
#include "tools/lib/report/graph_drawing.h"
#include "tools/lib/report/module_graph.h"
#include "tools/lib/report/native_kernels_table.h"
#include "tools/lib/report/netron.h"
#include "tools/lib/report/table.h"
#include "vm/isa/text.h"

namespace ember::tools {
namespace {

struct Options {
  std::vector<std::string> models;
  ImportFlags import;
  std::string part = "module", dispatch, emit, output;
  bool values = false;
  LimitFlags limits;
};

void Declare(Options& options, Flags& flags) {
  flags.Positional("MODEL.vmfb or a model", 1, 1, &options.models);
  flags.AddChoice("part", &options.part,
                  {"module", "program", "dispatches", "constants", "signature",
                   "metadata", "kernels", "graph"},
                  "Prints this part. metadata: information that the model's "
                  "maker added. kernels: those that\n"
                  "vm-prejit wrote into the module. graph: the imported model "
                  "before any pass; it needs a model\n"
                  "that is not compiled yet.");
  flags.Add("dispatch", &options.dispatch, "NAME",
            "Prints only this dispatch.");
  flags.AddChoice("emit", &options.emit, {"dot", "svg", "netron", "json"},
                  "Draws the dispatches as Graphviz dot, as SVG, or as an ONNX "
                  "file for Netron. json: prints\n"
                  "--part=signature as JSON.");
  flags.Add("values", &options.values,
            "Prints the values of all constants. By default constants of more "
            "than 64 bytes are shown as\n"
            "hashes, and vm-compile cannot read the text back.");
  flags.Add("o", &options.output, "FILE",
            "Writes to this file instead of the terminal.");
  AddImportFlags(flags, &options.import);
  AddCompileLimitFlags(flags, &options.limits);
  flags.Example("vm-dump model.vmfb");
  flags.Example("vm-dump model.vmfb --part=signature");
  flags.Example("vm-dump model.vmfb --part=signature --emit=json");
  flags.Example("vm-dump model.vmfb --part=metadata");
  flags.Example("vm-dump model.vmfb --dispatch=conv_2");
  flags.Example("vm-dump model.vmfb --emit=svg -o model.svg");
  flags.Example("vm-dump model.onnx --part=graph");
  flags.Example("vm-dump model.vmfb --values -o model.txt");
}

std::string ConstantsTable(const vm::ModuleDefinition& module) {
  Table table({"number", "type", "bytes", "name"});
  for (size_t i = 0; i < module.constants.size(); ++i) {
    const vm::Constant& constant = module.constants[i];
    table.AddRow({static_cast<int64_t>(i),
                  vm::TensorTypeText(constant.type, constant.dims),
                  static_cast<int64_t>(constant.data.size()), constant.name});
  }
  return table.Print(TableFormat::kMarkdown);
}

std::string Signature(const vm::ModuleDefinition& module) {
  std::string text =
      "made by " + module.producer + " from " + module.source_name + "\n";
  for (const vm::Program& program : module.programs) {
    text += "program " + program.name + "\n  inputs   " +
            DescribeSignatures(program, program.inputs) + "\n  results  " +
            DescribeSignatures(program, program.results) + "\n";
  }
  return text;
}

// Returns a JSON list of inputs or results with their names, types and dims. An
// open dim is given by its name.
std::string SignatureJson(const vm::Program& program,
                          std::span<const vm::TensorSignature> signatures) {
  std::string text;
  for (const vm::TensorSignature& signature : signatures) {
    std::string dims;
    for (const int64_t dim : signature.dims) {
      dims += dims.empty() ? "" : ", ";
      dims += dim >= 0
                  ? std::to_string(dim)
                  : JsonString(program.symbols[static_cast<size_t>(-1 - dim)]);
    }
    text += (text.empty() ? "\n    {" : ",\n    {");
    text += "\"name\": " + JsonString(signature.name) +
            ", \"type\": " + JsonString(DTypeName(signature.type)) +
            ", \"meaning\": " + JsonString(signature.logical_type) +
            ", \"dims\": [" + dims + "]}";
  }
  return "[" + text + "]";
}

// Returns the signature as a JSON list of the module's programs, with the
// inputs and results of each.
std::string SignatureJson(const vm::ModuleDefinition& module) {
  std::string text;
  for (const vm::Program& program : module.programs) {
    text += (text.empty() ? "\n  {" : ",\n  {");
    text += "\"name\": " + JsonString(program.name) +
            ", \"inputs\": " + SignatureJson(program, program.inputs) +
            ", \"results\": " + SignatureJson(program, program.results) + "}";
  }
  return "{\"producer\": " + JsonString(module.producer) +
         ", \"source\": " + JsonString(module.source_name) +
         ", \"programs\": [" + text + "]}\n";
}

// Returns the metadata as text, "key: value" on one line, or a long value on
// the lines below its key. For a kept tokenizer, whose value is base64, only
// its size is shown.
std::string Metadata(const vm::ModuleDefinition& module) {
  std::string text;
  for (const vm::MetadataEntry& entry : module.metadata) {
    text += OnOneLine(entry.key) + ":";
    if (entry.key.starts_with(kTokenizerKey)) {
      text += " " + std::to_string(entry.value.size()) + " bytes\n";
      continue;
    }
    std::string_view rest = entry.value;
    const bool has_lines = rest.find('\n') != std::string_view::npos;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      text += (has_lines ? "\n  " : " ") + OnOneLine(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    text += '\n';
  }
  return text;
}

StatusOr<std::string> Dispatches(const vm::ModuleDefinition& module,
                                 const std::string& only) {
  std::string text;
  for (size_t i = 0; i < module.dispatches.size(); ++i) {
    const tensor::Dispatch& dispatch = module.dispatches[i];
    if (!only.empty() && dispatch.name != only) continue;
    if (!text.empty()) text += '\n';
    if (i < module.dispatch_origins.size() &&
        !module.dispatch_origins[i].empty()) {
      text += "// " + module.dispatch_origins[i] + "\n";
    }
    text += tensor::Print(dispatch);
  }
  if (text.empty() && !only.empty()) {
    std::vector<std::string_view> names;
    for (const tensor::Dispatch& dispatch : module.dispatches)
      names.push_back(dispatch.name);
    return CommandLineError(
        "--dispatch=" + only + ": the module has no such dispatch" +
        DidYouMean(only, names) + " (--part=program shows their names)");
  }
  return text;
}

StatusOr<std::string> Part(const Options& options,
                           const vm::ModuleDefinition& module) {
  if (options.emit == "dot") return PrintDot(MakeModuleGraph(module));
  if (options.emit == "svg") return PrintSvg(MakeModuleGraph(module));
  if (options.emit == "netron") return PrintNetron(module);
  if (!options.dispatch.empty() || options.part == "dispatches") {
    return Dispatches(module, options.dispatch);
  }
  if (options.part == "constants") return ConstantsTable(module);
  if (options.part == "signature") {
    return options.emit == "json" ? SignatureJson(module) : Signature(module);
  }
  if (options.part == "metadata") return Metadata(module);
  if (options.part == "kernels") return NativeKernelsTable(module);
  if (options.part == "module") {
    vm::ModuleTextOptions text_options;
    if (options.values) text_options.inline_constant_bytes = -1;
    return vm::PrintModule(module, text_options);
  }
  std::string text;
  for (const vm::Program& program : module.programs)
    text += vm::PrintProgram(program, module);
  return text;
}

StatusOr<std::string> MakeText(const Options& options) {
  EMBER_ASSIGN_OR_RETURN(const LoadOptions load, LoadOptionsOf(options.import));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<CompileLimits> limits,
      CompileLimits::Start(options.limits, options.models[0]));
  if (options.part == "graph" && options.emit.empty() &&
      options.dispatch.empty()) {
    if (options.models[0].ends_with(".vmfb")) {
      return InvalidArgumentError("--part=graph: expected a model (" +
                                  frontends::ExtensionsText() + "), found " +
                                  options.models[0] +
                                  " (a module has no graph any more)");
    }
    EMBER_ASSIGN_OR_RETURN(const graph::Graph graph,
                           ImportModel(options.models[0], load));
    return graph::Print(graph, {.elide_constants = !options.values});
  }
  EMBER_ASSIGN_OR_RETURN(const vm::ModuleDefinition module,
                         LoadDefinition(options.models[0], load));
  return Part(options, module);
}

Status Dump(const Options& options) {
  const bool has_values = options.emit.empty() && options.dispatch.empty() &&
                          (options.part == "module" || options.part == "graph");
  if (options.values && !has_values) {
    return CommandLineError(
        "--values: expected --part=module or --part=graph, found " +
        (!options.emit.empty()       ? "--emit=" + options.emit
         : !options.dispatch.empty() ? "--dispatch=" + options.dispatch
                                     : "--part=" + options.part));
  }
  if (options.emit == "netron" && options.output.empty()) {
    return CommandLineError(
        "--emit=netron: expected -o FILE.onnx, as the format is binary");
  }
  if (options.emit == "json" && options.part != "signature") {
    return CommandLineError("--emit=json: expected --part=signature, found " +
                            options.part);
  }
  // Text may be printed to a terminal. An ONNX file (--emit=netron) is binary,
  // so it may not.
  const bool is_stdout =
      options.output.empty() ||
      (options.output == kStandardStream && options.emit != "netron");
  if (!is_stdout)
    EMBER_RETURN_IF_ERROR(
        CheckOutputFile("-o", options.output, options.models));
  EMBER_ASSIGN_OR_RETURN(const std::string text, MakeText(options));
  if (!is_stdout) return WriteUserFile(options.output, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return OkStatus();
}

}  // namespace
}  // namespace ember::tools

int main(int argc, char** argv) {
  using namespace ember::tools;
  Options options;
  Flags flags("vm-dump", "MODEL [flags]",
              "Prints a module, or a model (vm-compile --list-formats) "
              "compiled in memory, as text "
              "or as a picture.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Dump(options); });
}
