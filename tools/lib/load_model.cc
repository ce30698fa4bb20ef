#include "tools/lib/load_model.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>

#include "base/file.h"
#include "compiler/compile.h"
#include "frontends/formats.h"
#include "tools/lib/paths.h"
#include "tools/lib/random_tensors.h"
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

bool IsText(std::string_view contents) {
  return std::all_of(contents.begin(), contents.end(), [](char c) {
    return (c >= ' ' && c < 0x7f) || c == '\n' || c == '\t' || c == '\r';
  });
}

Status NotAModel(const std::string& path, std::string_view contents) {
  return InvalidArgumentError(path + ": expected a .vmfb module or a model (" +
                              frontends::ExtensionsText() + "), found " +
                              DescribeContents(contents));
}

// The file that the user means, who may name a folder.
std::string ModelPath(const std::string& path) {
  return frontends::FileOfModel(UserPath(path));
}

std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

StatusOr<ModelFileKind> KindOfFile(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const MappedFile file,
                         MappedFile::Open(ModelPath(path)));
  const ModelFileKind kind = SniffModelFile(AsText(file.bytes()), path);
  if (!kind.is_module && kind.format == nullptr)
    return NotAModel(path, AsText(file.bytes()));
  return kind;
}

StatusOr<const frontends::Format*> FormatOfFile(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const ModelFileKind kind, KindOfFile(path));
  if (!kind.is_module) return kind.format;
  return InvalidArgumentError(path + ": expected a model (" +
                              frontends::ExtensionsText() +
                              "), found a compiled module");
}

// Errors begin with the file as the user named it, once.
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

// The dims of the value are pins: the model may declare others, and its symbols
// stand for the same extents elsewhere.
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

// Gives inputs of which the model does not say the rank, the type or whether
// they are there those of their values. An error in a value is reported when it
// is bound.
Status TakeFromValues(const std::string& path, const frontends::Format& format,
                      const std::vector<std::string>& specs,
                      frontends::ImportOptions& import) {
  EMBER_ASSIGN_OR_RETURN(std::vector<frontends::InputInfo> inputs,
                         format.inputs(ModelPath(path), import));
  const bool all_is_said =
      std::ranges::all_of(inputs, [](const frontends::InputInfo& input) {
        return input.has_rank && input.has_type && !input.is_optional;
      });
  if (all_is_said) return OkStatus();
  std::vector<NamedTensor> values;
  RandomTensors random(0);
  for (const std::string& spec : specs) {
    StatusOr<NamedTensor> value = ReadTensorSpec(spec, random);
    if (value.ok()) values.push_back(*std::move(value));
  }
  // Names of values show how many items a list among the inputs has.
  frontends::ImportOptions named = import;
  for (const NamedTensor& value : values) {
    if (!value.name) continue;
    const std::vector<int64_t>& dims = value.tensor.dims;
    named.input_shapes.try_emplace(*value.name, dims.begin(), dims.end());
  }
  EMBER_ASSIGN_OR_RETURN(inputs, format.inputs(ModelPath(path), named));
  std::set<std::string> taken;
  for (const NamedTensor& value : values) {
    // A value without a name is of the next input in order.
    const auto at = std::ranges::find_if(inputs, [&](const auto& input) {
      return value.name ? input.name == *value.name
                        : !taken.contains(input.name);
    });
    if (at == inputs.end()) continue;
    taken.insert(at->name);
    const std::vector<int64_t>& dims = value.tensor.dims;
    if (!at->has_rank || at->is_optional)
      import.input_shapes.try_emplace(at->name, dims.begin(), dims.end());
    if (!at->has_type && value.tensor.strings == nullptr)
      import.input_types.try_emplace(at->name, value.tensor.type);
  }
  return OkStatus();
}

// A type that --shape gives has to be the one that the graph has.
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

}  // namespace

ModelFileKind SniffModelFile(std::string_view contents, std::string_view path) {
  if (contents.starts_with(kModuleMagic)) return {.is_module = true};
  if (const frontends::Format* format = frontends::FindFormat(contents))
    return {.format = format};
  // Damaged in the first bytes, perhaps: the reader of that kind says what is
  // wrong.
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
  EMBER_ASSIGN_OR_RETURN(const frontends::Format* format, FormatOfFile(path));
  frontends::ImportOptions import;
  import.entry = options.entry;
  import.progress = options.compile.progress;
  for (const NamedShape& shape : options.shapes) {
    import.input_shapes[shape.name] = shape.dims;
    if (shape.type) import.input_types[shape.name] = *shape.type;
  }
  for (const NamedTensor& value : options.values)
    EMBER_RETURN_IF_ERROR(AddValue(value, import));
  if (!options.inputs.empty()) {
    const Status taken = TakeFromValues(path, *format, options.inputs, import);
    if (!taken.ok()) return Named(path, taken);
  }
  StatusOr<graph::Graph> graph = format->import(ModelPath(path), import);
  if (!graph.ok()) return Named(path, graph.status());
  EMBER_RETURN_IF_ERROR(Named(path, CheckTypes(*graph, options.shapes)));
  return graph;
}

StatusOr<std::vector<std::string>> ModelInputNames(const std::string& path,
                                                   const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const frontends::Format* format, FormatOfFile(path));
  frontends::ImportOptions import;
  import.entry = options.entry;
  const auto inputs = format->inputs(ModelPath(path), import);
  if (!inputs.ok()) return Named(path, inputs.status());
  std::vector<std::string> names;
  for (const frontends::InputInfo& input : *inputs)
    if (!input.is_optional) names.push_back(input.name);
  return names;
}

StatusOr<LoadedModel> LoadModel(const std::string& path,
                                const LoadOptions& options) {
  LoadedModel model;
  const Clock::time_point start = Clock::now();
  EMBER_ASSIGN_OR_RETURN(const ModelFileKind kind, KindOfFile(path));
  StatusOr<std::shared_ptr<const vm::Module>> module = InternalError("");
  if (kind.is_module) {
    module = vm::Module::Load(UserPath(path));
  } else {
    EMBER_ASSIGN_OR_RETURN(vm::ModuleDefinition definition,
                           CompileModel(path, options));
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
  EMBER_ASSIGN_OR_RETURN(graph::Graph graph, ImportModel(path, options));
  StatusOr<vm::ModuleDefinition> definition =
      compiler::Compile(std::move(graph), options.compile);
  if (!definition.ok()) return Named(path, definition.status());
  return definition;
}

StatusOr<vm::ModuleDefinition> LoadDefinition(const std::string& path,
                                              const LoadOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const ModelFileKind kind, KindOfFile(path));
  if (!kind.is_module) return CompileModel(path, options);
  StatusOr<vm::ModuleDefinition> definition = vm::ReadModule(UserPath(path));
  if (!definition.ok()) return Named(path, definition.status());
  return definition;
}

}  // namespace ember::tools
