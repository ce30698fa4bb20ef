#include "tools/lib/models/load_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <set>

#include "compiler/compile.h"
#include "compiler/graph/builder/unit_dims.h"
#include "frontends/frontend.h"
#include "tools/lib/models/text_module.h"
#include "tools/lib/tensors/random.h"
#include "vm/format/reader.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Makes an input a constant with this value. The input's dims become those of
// the value. If such a dim is a symbol of the model, the symbol also has this
// extent in other inputs.
Status AddValue(const NamedTensor& value, frontends::ImportOptions& import) {
  const std::string name = value.name.value_or("");
  const vm::Tensor& tensor = value.tensor;
  frontends::KnownTensor known{
      .dtype = tensor.type,
      .dims = tensor.dims,
      .owner = tensor.memory,
      .bytes = {static_cast<const uint8_t*>(tensor.data),
                static_cast<size_t>(tensor.byte_size)},
      .strings = {},
  };
  if (tensor.strings != nullptr) known.strings = *tensor.strings;
  if (!import.input_values.emplace(name, std::move(known)).second) {
    return InvalidArgumentError("input '" + name +
                                "': expected one value, found two");
  }
  import.input_shapes[name] = {tensor.dims.begin(), tensor.dims.end()};
  return OkStatus();
}

// Returns the input that gets a value of --input: the one that the value names,
// or else the first one without a value in the model that no earlier value has
// taken. Returns null if there is none.
const frontends::InputInfo* InputOf(
    const NamedTensor& value, const std::vector<frontends::InputInfo>& inputs,
    const std::set<std::string>& taken) {
  const auto at = std::ranges::find_if(inputs, [&](const auto& input) {
    return value.name ? input.name == *value.name
                      : !input.has_value && !taken.contains(input.name);
  });
  return at == inputs.end() ? nullptr : &*at;
}

// Returns the tensors of the values of --input. A value that cannot be read is
// skipped; the error is reported later, when values are bound to inputs.
std::vector<NamedTensor> ReadValues(const std::vector<std::string>& specs) {
  RandomTensors random(0);
  std::vector<NamedTensor> values;
  for (const std::string& spec : specs) {
    StatusOr<NamedTensor> value = ReadTensorSpec(spec, random);
    if (value.ok()) values.push_back(*std::move(value));
  }
  return values;
}

// Fixes the dims of each input in `open` to those of its value, if it has a
// value.
void PinToValues(const std::vector<frontends::InputInfo>& inputs,
                 const std::set<std::string>& open,
                 const std::vector<NamedTensor>& values,
                 frontends::ImportOptions& import) {
  std::set<std::string> taken;
  for (const NamedTensor& value : values) {
    const frontends::InputInfo* input = InputOf(value, inputs, taken);
    if (input == nullptr) continue;
    taken.insert(input->name);
    const std::vector<int64_t>& dims = value.tensor.dims;
    if (open.contains(input->name))
      import.input_shapes[input->name] = {dims.begin(), dims.end()};
  }
}

// True if importing the model depends on the value that --input gives for this
// input: the model does not say the input's rank or type, the input is
// optional, or the model has a default that the user replaces.
bool NeedsValue(const frontends::InputInfo& input,
                const std::vector<std::string>& specs) {
  const auto names_it = [&](const std::string& spec) {
    return spec.starts_with(input.name + "=");
  };
  return !input.has_rank || !input.has_type || input.is_optional ||
         (input.has_value && std::ranges::any_of(specs, names_it));
}

// Adds to `import` the ranks, dims and types of inputs that only the values of
// --input say. Returns the model's inputs.
StatusOr<std::vector<frontends::InputInfo>> TakeFromValues(
    OpenedModel& opened, const std::vector<std::string>& specs,
    frontends::ImportOptions& import) {
  const frontends::Format& format = *opened.kind.format;
  EMBER_ASSIGN_OR_RETURN(std::vector<frontends::InputInfo> inputs,
                         format.inputs(opened.file, import));
  if (std::ranges::none_of(inputs, [&](const frontends::InputInfo& input) {
        return NeedsValue(input, specs);
      }))
    return inputs;
  const std::vector<NamedTensor> values = ReadValues(specs);
  // If an input is a list of tensors, the number of its items follows from the
  // names of the given values. So the names are passed to the format's reader.
  frontends::ImportOptions named = import;
  for (const NamedTensor& value : values) {
    if (!value.name) continue;
    const std::vector<int64_t>& dims = value.tensor.dims;
    named.input_shapes.try_emplace(*value.name, dims.begin(), dims.end());
  }
  EMBER_ASSIGN_OR_RETURN(inputs, format.inputs(opened.file, named));
  std::set<std::string> taken;
  for (const NamedTensor& value : values) {
    const frontends::InputInfo* input = InputOf(value, inputs, taken);
    if (input == nullptr) continue;
    taken.insert(input->name);
    const std::vector<int64_t>& dims = value.tensor.dims;
    if (!input->has_rank || input->is_optional || input->has_value)
      import.input_shapes.try_emplace(input->name, dims.begin(), dims.end());
    if (!input->has_type && value.tensor.strings == nullptr)
      import.input_types.try_emplace(input->name, value.tensor.type);
  }
  return inputs;
}

// Checks that each element type that --shape gives equals the type of that
// input in the graph.
Status CheckTypes(const graph::Graph& graph,
                  const std::vector<NamedShape>& shapes) {
  for (const NamedShape& shape : shapes) {
    if (!shape.type) continue;
    for (const graph::Value* input : graph.inputs()) {
      if (input->name() != shape.name || input->dtype() == *shape.type)
        continue;
      return InvalidArgumentError(
          "--shape of input '" + shape.name + "': expected type " +
          std::string(DTypeName(input->dtype())) + ", found " +
          std::string(DTypeName(*shape.type)));
    }
  }
  return OkStatus();
}

// Checks that at least one state tensor of the graph has the type that
// --state-type asks for.
Status CheckStateType(const graph::Graph& graph, std::optional<DType> type) {
  if (!type) return OkStatus();
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    if (graph.input_logical_types()[i] == frontends::kStateType &&
        graph.inputs()[i]->dtype() == *type)
      return OkStatus();
  }
  return InvalidArgumentError(
      "--state-type: expected a language model that keeps keys and values, "
      "found a model without; leave the flag out");
}

// Returns the names of inputs with an open dim that the import assumed not to
// be 1. Such a dim decides the rank of some value in the graph.
std::set<std::string> InputsOfRanks(const graph::Graph& graph) {
  std::set<std::string> symbols, inputs;
  for (const graph::Dim& dim : graph::DimsTakenNotUnit(graph))
    symbols.merge(dim.Symbols());
  for (const graph::Value* input : graph.inputs()) {
    for (const graph::Dim& dim : input->shape()) {
      for (const std::string& symbol : dim.Symbols())
        if (symbols.contains(symbol)) inputs.insert(input->name());
    }
  }
  return inputs;
}

// Returns an error if an option is given that applies only to importing a
// model. A module is one function that has already been compiled.
Status CheckOptionsOfModule(const std::string& path,
                            const LoadOptions& options) {
  const std::string_view flag = !options.entry.empty()    ? "--entry"
                                : !options.values.empty() ? "--constant"
                                : options.state_type      ? "--state-type"
                                                          : "";
  if (flag.empty()) return OkStatus();
  return InvalidArgumentError(
      path + ": " + std::string(flag) +
      ": expected a model to compile, found a compiled module");
}

// Imports the model and closes its file.
StatusOr<graph::Graph> ImportFile(OpenedModel opened,
                                  const LoadOptions& options) {
  const frontends::Format& format = *opened.kind.format;
  frontends::ImportOptions import;
  import.entry = options.entry;
  import.separate_dims = options.separate_dims;
  import.state_type = options.state_type;
  std::vector<std::string> notes;
  import.notes = &notes;
  import.progress = options.compile.progress;
  for (const NamedShape& shape : options.shapes) {
    import.input_shapes[shape.name] = shape.dims;
    if (shape.type) import.input_types[shape.name] = *shape.type;
  }
  for (const NamedTensor& value : options.values)
    EMBER_RETURN_IF_ERROR(AddValue(value, import));
  std::vector<frontends::InputInfo> inputs;
  if (!options.inputs.empty()) {
    StatusOr<std::vector<frontends::InputInfo>> infos =
        TakeFromValues(opened, options.inputs, import);
    if (!infos.ok()) return opened.name.Begin(infos.status());
    inputs = *std::move(infos);
  }
  StatusOr<graph::Graph> graph = format.import(opened.file, import);
  if (graph.ok() && !inputs.empty()) {
    // The import assumed that some open dims are not 1, which decides ranks. So
    // it is repeated with the dims of the inputs' values, if these are given.
    const std::set<std::string> deciding = InputsOfRanks(*graph);
    if (!deciding.empty()) {
      PinToValues(inputs, deciding, ReadValues(options.inputs), import);
      notes.clear();
      graph = format.import(opened.file, import);
    }
  }
  if (!graph.ok()) return opened.name.Begin(graph.status());
  EMBER_RETURN_IF_ERROR(opened.name.Begin(CheckTypes(*graph, options.shapes)));
  EMBER_RETURN_IF_ERROR(
      opened.name.Begin(CheckStateType(*graph, options.state_type)));
  for (const std::string& note : notes) {
    if (options.note) {
      options.note(note);
    } else {
      std::fprintf(stderr, "%s: note: %s\n", opened.name.shown.c_str(),
                   note.c_str());
    }
  }
  return graph;
}

StatusOr<vm::ModuleDefinition> CompileFile(OpenedModel opened,
                                           const LoadOptions& options) {
  const ModelName name = opened.name;
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
                         ImportFile(std::move(opened), options));
  StatusOr<vm::ModuleDefinition> definition =
      compiler::Compile(std::move(graph), options.compile);
  if (!definition.ok()) return name.Begin(definition.status());
  return definition;
}

// Reads the text of a dispatch or module. The values of --shape and --input
// give the dims of a dispatch's inputs.
StatusOr<vm::ModuleDefinition> ReadText(OpenedModel& opened,
                                        const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
  const std::string_view text(
      reinterpret_cast<const char*>(mapped.bytes.data()), mapped.bytes.size());
  DimsOfInputs dims;
  for (const NamedTensor& value : ReadValues(options.inputs)) {
    if (value.name) dims[*value.name] = value.tensor.dims;
  }
  for (const NamedShape& shape : options.shapes) {
    std::vector<int64_t>& of_input = dims[shape.name];
    of_input.clear();
    for (const std::optional<int64_t>& dim : shape.dims)
      of_input.push_back(dim.value_or(-1));
  }
  return ModuleOfText(text, opened.name.shown, dims, options.entry);
}

// Displays that a model is being opened, which may take long because all of a
// large file is read. Its destructor clears the display.
class ShowLoading {
 public:
  ShowLoading(const LoadOptions& options, std::string_view name)
      : progress_(options.progress) {
    if (progress_ != nullptr) progress_->Report({"load", name, 0, 0});
  }
  ~ShowLoading() {
    if (progress_ != nullptr) progress_->Clear();
  }
  ShowLoading(const ShowLoading&) = delete;
  ShowLoading& operator=(const ShowLoading&) = delete;

 private:
  const std::shared_ptr<ShownProgress> progress_;
};

}  // namespace

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const LoadOptions& options) {
  const ShowLoading shown(options, path);
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenUncompiled(ModelSource::OfUserPath(path)));
  return ImportFile(std::move(opened), options);
}

StatusOr<std::vector<std::string>> ModelInputNames(const std::string& path,
                                                   const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenUncompiled(ModelSource::OfUserPath(path)));
  frontends::ImportOptions import;
  import.entry = options.entry;
  const auto inputs = opened.kind.format->inputs(opened.file, import);
  if (!inputs.ok()) return opened.name.Begin(inputs.status());
  std::vector<std::string> names;
  for (const frontends::InputInfo& input : *inputs)
    if (!input.has_value && !input.is_optional) names.push_back(input.name);
  return names;
}

StatusOr<LoadedModel> LoadModel(const std::string& path,
                                const LoadOptions& options) {
  return LoadModel(ModelSource::OfUserPath(path), options);
}

StatusOr<LoadedModel> LoadModel(const ModelSource& source,
                                const LoadOptions& options) {
  const ShowLoading shown(options, source.name);
  LoadedModel model;
  const Clock::time_point start = Clock::now();
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(source));
  const ModelName name = opened.name;
  StatusOr<std::shared_ptr<const vm::Module>> module = InternalError("");
  if (opened.kind.is_text) {
    EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                           ReadText(opened, options));
    module = vm::Module::FromDefinition(std::move(definition));
    model.compiled_here = true;
  } else if (opened.kind.is_module) {
    EMBER_RETURN_IF_ERROR(CheckOptionsOfModule(source.name, options));
    EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
    module = vm::Module::Load(mapped.bytes, mapped.owner,
                              {.progress = options.compile.progress});
    if (!module.ok()) return module.status().WithContext(source.name);
  } else {
    EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                           CompileFile(std::move(opened), options));
    module = vm::Module::FromDefinition(std::move(definition));
    model.compiled_here = true;
  }
  if (!module.ok()) return name.Begin(module.status());
  model.module = *std::move(module);
  model.load_ms =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return model;
}

StatusOr<vm::ModuleDefinition> CompileModel(const std::string& path,
                                            const LoadOptions& options) {
  return CompileModel(ModelSource::OfUserPath(path), options);
}

StatusOr<vm::ModuleDefinition> CompileModel(const ModelSource& source,
                                            const LoadOptions& options) {
  const ShowLoading shown(options, source.name);
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened, OpenModel(source));
  if (opened.kind.is_text) return ReadText(opened, options);
  EMBER_ASSIGN_OR_RETURN(opened, OpenUncompiled(source));
  return CompileFile(std::move(opened), options);
}

StatusOr<vm::ModuleDefinition> LoadDefinition(const std::string& path,
                                              const LoadOptions& options) {
  const ShowLoading shown(options, path);
  EMBER_ASSIGN_OR_RETURN(OpenedModel opened,
                         OpenModel(ModelSource::OfUserPath(path)));
  if (opened.kind.is_text) return ReadText(opened, options);
  if (!opened.kind.is_module) return CompileFile(std::move(opened), options);
  EMBER_RETURN_IF_ERROR(CheckOptionsOfModule(path, options));
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
  StatusOr<vm::ModuleDefinition> definition = vm::ReadModule(
      mapped.bytes, mapped.owner, {.progress = options.compile.progress});
  if (!definition.ok()) return definition.status().WithContext(path);
  return definition;
}

}  // namespace ember::tools
