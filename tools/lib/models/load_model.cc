#include "tools/lib/models/load_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/one_line.h"
#include "compiler/compile.h"
#include "compiler/graph/builder/unit_dims.h"
#include "frontends/registry/formats.h"
#include "frontends/registry/other_formats.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/tensors/random.h"
#include "vm/format/reader.h"

namespace ember::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct Signature {
  size_t offset;
  std::string_view bytes;
  std::string_view description;
};
constexpr std::string_view kModuleMagic = "EMBR";
constexpr Signature kSignatures[] = {
    {0, "PK\x03\x04", "a ZIP archive (a PyTorch or Keras model?)"},
    {1, "HDF", "an HDF5 file (a Keras model?)"},
    {1, "NUMPY", "a NumPy array"},
    {1, "ELF", "an ELF program"},
    {0, "\x1f\x8b", "a gzip archive"},
    {0, "ustar", "a tar archive"},
    {0, "\x80\x02", "a Python pickle"},
    {0, "{", "JSON"},
    {0, "version https://git-lfs",
     "a Git LFS pointer, not the file itself (run: git lfs pull)"},
};

std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool IsText(std::string_view contents) {
  return std::all_of(contents.begin(), contents.end(), [](char c) {
    return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
  });
}

Status NotAModel(const std::string& path, const std::string& found) {
  return InvalidArgumentError(path + ": expected a .vmfb module or a model (" +
                              frontends::ExtensionsText() + "), found " +
                              found);
}

std::string FoundInstead(std::string_view contents, std::string_view path) {
  if (const auto* other = frontends::FindOtherFormat(contents, path))
    return std::string(other->title) + ": " + std::string(other->advice);
  return DescribeContents(contents);
}

// If the folder has a model file of a format that Ember does not read, returns
// ", with weights.gguf, a …: …"; otherwise "".
std::string OtherModelIn(const std::string& folder) {
  constexpr size_t kMaxFiles = 100;
  std::set<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.is_regular_file(error)) continue;
    if (names.size() < kMaxFiles)
      names.insert(entry.path().filename().string());
  }
  for (const std::string& name : names) {
    const auto file = MappedFile::Open(folder + "/" + name);
    if (!file.ok()) continue;
    const auto* other = frontends::FindOtherFormat(AsText(file->bytes()), name);
    if (other == nullptr) continue;
    return ", with " + OnOneLine(name) + ", " + std::string(other->title) +
           ": " + std::string(other->advice);
  }
  return "";
}

// Returns the error for a folder that is not a model. It names the models in
// the folder.
Status NotAModelsFolder(const std::string& path, const std::string& folder) {
  constexpr size_t kMaxNames = 3;
  std::set<std::string> models;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (frontends::FindFormatByName(name) != nullptr ||
        name.ends_with(".vmfb") ||
        frontends::FileOfModel(entry.path().string()) != entry.path().string())
      models.insert(name);
  }
  std::string found = "a folder that is no model's";
  if (models.empty()) found += OtherModelIn(folder);
  size_t count = 0;
  for (const std::string& name : models) {
    if (++count > kMaxNames) {
      found += ", …";
      break;
    }
    found += (count == 1 ? "; give one of the files in it: " : ", ") +
             OnOneLine(name);
  }
  return NotAModel(path, found);
}

// Returns the model file that the user means. The user may name a folder.
std::string ModelPath(const std::string& path) {
  return frontends::FileOfModel(UserPath(path));
}

// The file that the user means. It is opened once, for its kind, its inputs and
// its import.
struct OpenedFile {
  std::string path;  // The user typed this path; errors begin with it.
  frontends::ModelFile file;
  ModelFileKind kind;
};

StatusOr<OpenedFile> OpenFile(const std::string& path) {
  OpenedFile opened{path, frontends::ModelFile(ModelPath(path)), {}};
  std::error_code error;
  if (std::filesystem::is_directory(opened.file.path(), error))
    return NotAModelsFolder(path, opened.file.path());
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
  const std::string_view contents = AsText(mapped.bytes);
  opened.kind = SniffModelFile(contents, path);
  if (!opened.kind.is_module && opened.kind.format == nullptr)
    return NotAModel(path, FoundInstead(contents, path));
  return opened;
}

// Opens a file that must not be a module.
StatusOr<OpenedFile> OpenModelFile(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(OpenedFile opened, OpenFile(path));
  if (!opened.kind.is_module) return opened;
  return InvalidArgumentError(path + ": expected a model (" +
                              frontends::ExtensionsText() +
                              "), found a compiled module");
}

// Makes an error begin with the path as the user gave it, unless it does so
// already.
Status Named(const std::string& path, const Status& status) {
  if (status.ok()) return status;
  std::string_view message = status.message();
  for (const std::string& named : {path, ModelPath(path)}) {
    const std::string own_name =
        "model '" + named.substr(named.rfind('/') + 1) + "': ";
    if (!message.starts_with(own_name)) continue;
    message.remove_prefix(own_name.size());
    return Status(status.code(), path + ": " + std::string(message));
  }
  if (message.find(path) != std::string_view::npos) return status;
  return Status(status.code(), path + ": " + std::string(message));
}

// Makes an input a constant. The extents of the value also pin the input's
// dims: if the model declares symbols for them, the symbols have these extents
// in other inputs, too.
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

// Returns the input to which the value of --input belongs: the input that the
// value names, or else the first input that no value has taken yet. Returns
// null if there is none.
const frontends::InputInfo* InputOf(
    const NamedTensor& value, const std::vector<frontends::InputInfo>& inputs,
    const std::set<std::string>& taken) {
  const auto at = std::ranges::find_if(inputs, [&](const auto& input) {
    return value.name ? input.name == *value.name
                      : !input.has_value && !taken.contains(input.name);
  });
  return at == inputs.end() ? nullptr : &*at;
}

// Returns the values that --input gives. A value that cannot be read is left
// out here; its error is reported later, when values are bound to inputs.
std::vector<NamedTensor> ReadValues(const std::vector<std::string>& specs) {
  RandomTensors random(0);
  std::vector<NamedTensor> values;
  for (const std::string& spec : specs) {
    StatusOr<NamedTensor> value = ReadTensorSpec(spec, random);
    if (value.ok()) values.push_back(*std::move(value));
  }
  return values;
}

// For each input whose name is in `open` and that has a value, pins the dims to
// the extents of the value.
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

// True if the import must know the value of --input for this input: the model
// does not give the input's rank or type, the model can run without the input,
// or the model has a default value that the user replaces.
bool NeedsValue(const frontends::InputInfo& input,
                const std::vector<std::string>& specs) {
  const auto names_it = [&](const std::string& spec) {
    return spec.starts_with(input.name + "=");
  };
  return !input.has_rank || !input.has_type || input.is_optional ||
         (input.has_value && std::ranges::any_of(specs, names_it));
}

// Completes `import` with the dims and types that only the values of --input
// give. Returns the model's inputs.
StatusOr<std::vector<frontends::InputInfo>> TakeFromValues(
    OpenedFile& opened, const std::vector<std::string>& specs,
    frontends::ImportOptions& import) {
  const frontends::Format& format = *opened.kind.format;
  EMBER_ASSIGN_OR_RETURN(std::vector<frontends::InputInfo> inputs,
                         format.inputs(opened.file, import));
  if (std::ranges::none_of(inputs, [&](const frontends::InputInfo& input) {
        return NeedsValue(input, specs);
      }))
    return inputs;
  const std::vector<NamedTensor> values = ReadValues(specs);
  // If an input is a list of tensors, the names of the given values decide how
  // many items it has.
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

// Checks that the element types that --shape gives equal the types of the
// graph's inputs.
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

// Returns the names of inputs with an open dim that the import assumed not to
// be 1, because the rank of a value depends on that.
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
                                                          : "";
  if (flag.empty()) return OkStatus();
  return InvalidArgumentError(
      path + ": " + std::string(flag) +
      ": expected a model to compile, found a compiled module");
}

// Imports the model and closes its file.
StatusOr<graph::Graph> ImportFile(OpenedFile opened,
                                  const LoadOptions& options) {
  const std::string& path = opened.path;
  const frontends::Format& format = *opened.kind.format;
  frontends::ImportOptions import;
  import.entry = options.entry;
  import.separate_dims = options.separate_dims;
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
    if (!infos.ok()) return Named(path, infos.status());
    inputs = *std::move(infos);
  }
  StatusOr<graph::Graph> graph = format.import(opened.file, import);
  if (graph.ok() && !inputs.empty()) {
    // Ranks depend on some dims. Imports the model again with the dims of this
    // run.
    const std::set<std::string> deciding = InputsOfRanks(*graph);
    if (!deciding.empty()) {
      PinToValues(inputs, deciding, ReadValues(options.inputs), import);
      notes.clear();
      graph = format.import(opened.file, import);
    }
  }
  if (!graph.ok()) return Named(path, graph.status());
  EMBER_RETURN_IF_ERROR(Named(path, CheckTypes(*graph, options.shapes)));
  for (const std::string& note : notes)
    std::fprintf(stderr, "%s: note: %s\n", path.c_str(), note.c_str());
  return graph;
}

StatusOr<vm::ModuleDefinition> CompileFile(OpenedFile opened,
                                           const LoadOptions& options) {
  const std::string path = opened.path;
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
                         ImportFile(std::move(opened), options));
  StatusOr<vm::ModuleDefinition> definition =
      compiler::Compile(std::move(graph), options.compile);
  if (!definition.ok()) return Named(path, definition.status());
  return definition;
}

}  // namespace

ModelFileKind SniffModelFile(std::string_view contents, std::string_view path) {
  if (contents.starts_with(kModuleMagic)) return {.is_module = true};
  if (const frontends::Format* format = frontends::FindFormat(contents))
    return {.format = format};
  if (frontends::FindOtherFormat(contents, path) != nullptr) return {};
  // If the contents are of no known kind, their first bytes may be damaged. The
  // reader of the format that the file's name suggests then reports the error.
  if (!DescribeContents(contents).starts_with("something else")) return {};
  return {.is_module = path.ends_with(".vmfb"),
          .format = frontends::FindFormatByName(path)};
}

std::string DescribeContents(std::string_view contents) {
  if (contents.empty()) return "an empty file";
  for (const Signature& signature : kSignatures) {
    if (contents.size() > signature.offset &&
        contents.substr(signature.offset).starts_with(signature.bytes)) {
      return std::string(signature.description);
    }
  }
  if (IsText(contents.substr(0, 512))) return "text";
  std::string text = "something else (it begins with";
  for (const char c : contents.substr(0, 4)) {
    char hex[8];
    std::snprintf(hex, sizeof(hex), " %02x", static_cast<unsigned char>(c));
    text += hex;
  }
  return text + ")";
}

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(OpenedFile opened, OpenModelFile(path));
  return ImportFile(std::move(opened), options);
}

StatusOr<std::vector<std::string>> ModelInputNames(const std::string& path,
                                                   const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(OpenedFile opened, OpenModelFile(path));
  frontends::ImportOptions import;
  import.entry = options.entry;
  const auto inputs = opened.kind.format->inputs(opened.file, import);
  if (!inputs.ok()) return Named(path, inputs.status());
  std::vector<std::string> names;
  for (const frontends::InputInfo& input : *inputs)
    if (!input.has_value && !input.is_optional) names.push_back(input.name);
  return names;
}

StatusOr<LoadedModel> LoadModel(const std::string& path,
                                const LoadOptions& options) {
  LoadedModel model;
  const Clock::time_point start = Clock::now();
  EMBER_ASSIGN_OR_RETURN(OpenedFile opened, OpenFile(path));
  StatusOr<std::shared_ptr<const vm::Module>> module = InternalError("");
  if (opened.kind.is_module) {
    EMBER_RETURN_IF_ERROR(CheckOptionsOfModule(path, options));
    EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
    module = vm::Module::Load(mapped.bytes, mapped.owner);
    if (!module.ok()) return module.status().WithContext(path);
  } else {
    EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                           CompileFile(std::move(opened), options));
    module = vm::Module::FromDefinition(std::move(definition));
    model.compiled_here = true;
  }
  if (!module.ok()) return Named(path, module.status());
  model.module = *std::move(module);
  model.load_ms =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return model;
}

StatusOr<vm::ModuleDefinition> CompileModel(const std::string& path,
                                            const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(OpenedFile opened, OpenModelFile(path));
  return CompileFile(std::move(opened), options);
}

StatusOr<vm::ModuleDefinition> LoadDefinition(const std::string& path,
                                              const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(OpenedFile opened, OpenFile(path));
  if (!opened.kind.is_module) return CompileFile(std::move(opened), options);
  EMBER_RETURN_IF_ERROR(CheckOptionsOfModule(path, options));
  EMBER_ASSIGN_OR_RETURN(const graph::ConstantData mapped, opened.file.Map());
  StatusOr<vm::ModuleDefinition> definition =
      vm::ReadModule(mapped.bytes, mapped.owner);
  if (!definition.ok()) return definition.status().WithContext(path);
  return definition;
}

}  // namespace ember::tools
