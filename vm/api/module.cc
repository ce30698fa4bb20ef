// Implements the functions for modules: loading them, and queries of their
// inputs, results and metadata.
#include <algorithm>
#include <span>
#include <utility>

#include "base/concat.h"
#include "vm/api/handles.h"
#include "vm/isa/model_metadata.h"
#include "vm/runtime/program/result_shapes.h"

namespace ember::api {
namespace {

using vm::Module;
using vm::Tensor;
using vm::TensorSignature;

std::vector<TensorInfo> MakeInfos(std::span<const TensorSignature> signatures) {
  std::vector<TensorInfo> infos;
  for (const TensorSignature& signature : signatures) {
    TensorInfo info{signature.name,
                    static_cast<EmberType>(signature.type),
                    signature.dims,
                    {},
                    signature.logical_type == vm::kStringType};
    for (int64_t& dim : info.dims) {
      info.dim_texts.push_back(dim >= 0 ? std::to_string(dim) : "");
      dim = std::max<int64_t>(dim, -1);
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

Status Publish(StatusOr<std::shared_ptr<const Module>> module,
               EmberModule** out) {
  if (!module.ok()) return module.status();
  auto result = std::make_unique<EmberModule>();
  result->module = *std::move(module);
  const vm::Program& entry = result->module->entry();
  result->inputs = MakeInfos(entry.inputs);
  result->results = MakeInfos(entry.results);
  const vm::ResultExtents extents = vm::DescribeResults(*result->module);
  for (size_t i = 0; i < extents.size(); ++i) {
    for (size_t d = 0; d < extents[i].size(); ++d) {
      // The text "?" of an unknown extent is not stored: a dim without a text
      // has the text of its symbol, which is "?", too.
      if (extents[i][d].text != "?")
        result->results[i].dim_texts[d] = extents[i][d].text;
    }
  }
  *out = result.release();
  return OkStatus();
}

// Largest number of bytes that the application's reader is asked for in one
// call. Loading can be stopped between two calls.
constexpr size_t kPart = size_t{1} << 22;

StatusOr<std::shared_ptr<const Module>> Read(const EmberReader& reader,
                                             const vm::ReaderOptions& options) {
  if (reader.struct_size < sizeof(EmberReader) || reader.read == nullptr) {
    return InvalidArgumentError(
        "module_load_reader: expected a reader with its size and a function, "
        "found none");
  }
  if (reader.size > INT64_MAX) {
    return InvalidArgumentError(
        Concat({"module_load_reader: expected fewer than 2^63 bytes, found ",
                std::to_string(reader.size)}));
  }
  EMBER_ASSIGN_OR_RETURN(
      const Tensor memory,
      Tensor::Allocate(DType::kU8, {static_cast<int64_t>(reader.size)}));
  uint8_t* const data = static_cast<uint8_t*>(memory.data);
  const auto size = static_cast<size_t>(reader.size);
  for (size_t offset = 0; offset < size;) {
    EMBER_RETURN_IF_ERROR(
        ReportStep(options.progress,
                   {"read", "the rest of the module",
                    static_cast<int64_t>(offset), static_cast<int64_t>(size)}));
    size_t part = size - offset;
    if (options.progress != nullptr) part = std::min(part, kPart);
    const int64_t read =
        reader.read(reader.context, offset, data + offset, part);
    if (read <= 0 || static_cast<uint64_t>(read) > part) {
      return DataLossError(
          Concat({"module_load_reader: expected up to ", std::to_string(part),
                  " bytes at ", std::to_string(offset),
                  ", found that the reader gave ", read}));
    }
    offset += static_cast<size_t>(read);
  }
  return Module::Load({data, size}, memory.memory, options);
}

StatusOr<std::shared_ptr<const Module>> Load(const EmberModuleOptions& given,
                                             Progress* progress) {
  const vm::ReaderOptions options = {
      .verify_constants = given.verify_constants != 0, .progress = progress};
  if (given.path != nullptr) return Module::Load(given.path, options);
  if (given.reader != nullptr) return Read(*given.reader, options);
  return Module::Load(
      {static_cast<const uint8_t*>(given.data), given.data_size}, nullptr,
      options);
}

Status LoadAs(const EmberModuleOptions* given, EmberModule** out) {
  EmberModuleOptions options = {};
  // If the caller's struct is of an older version, the fields that it does not
  // have keep their defaults.
  std::copy_n(reinterpret_cast<const char*>(given),
              std::min(given->struct_size, sizeof(options)),
              reinterpret_cast<char*>(&options));
  const int sources = (options.path != nullptr) + (options.data != nullptr) +
                      (options.reader != nullptr);
  if (sources != 1) {
    return InvalidArgumentError(
        Concat({"module_load: expected one of path, data and reader, found ",
                sources}));
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<Progress> progress,
                         ProgressOf(options.progress));
  return Publish(Load(options, progress.get()), out);
}

Status FindInfo(const char* what, const std::vector<TensorInfo>& infos,
                int32_t index, EmberTensorInfo* out) {
  EMBER_RETURN_IF_ERROR(CheckIndex(what, index, infos.size()));
  const TensorInfo& info = infos[static_cast<size_t>(index)];
  *out = {info.name.c_str(), info.type, static_cast<int32_t>(info.dims.size()),
          info.dims.data()};
  return OkStatus();
}

const char* LogicalType(std::span<const TensorSignature> signatures,
                        int32_t index) {
  if (index < 0 || static_cast<size_t>(index) >= signatures.size())
    return nullptr;
  return signatures[static_cast<size_t>(index)].logical_type.c_str();
}

// Returns the metadata entry with the number `index`; null for an index out of
// range.
const vm::MetadataEntry* FindEntry(const EmberModule* module, int32_t index) {
  if (module == nullptr || index < 0) return nullptr;
  const auto& entries = module->module->definition().metadata;
  const auto at = static_cast<size_t>(index);
  return at < entries.size() ? &entries[at] : nullptr;
}

// Returns the text of a dim; null if `index` or `dim` is out of range.
// `signatures` are those of the program's inputs or results, and `infos` are
// the descriptions of the same tensors.
const char* DimText(const std::vector<TensorInfo>& infos,
                    const vm::Program& program,
                    std::span<const TensorSignature> signatures, int32_t index,
                    int32_t dim) {
  if (index < 0 || static_cast<size_t>(index) >= infos.size()) return nullptr;
  const auto at = static_cast<size_t>(index);
  const std::vector<std::string>& texts = infos[at].dim_texts;
  if (dim < 0 || static_cast<size_t>(dim) >= texts.size()) return nullptr;
  const std::string& text = texts[static_cast<size_t>(dim)];
  if (!text.empty()) return text.c_str();
  const int64_t symbol = -1 - signatures[at].dims[static_cast<size_t>(dim)];
  return program.symbols[static_cast<size_t>(symbol)].c_str();
}

Status FindShape(const EmberModule& module, std::span<const EmberShape> inputs,
                 int32_t index, int64_t* dims) {
  EMBER_RETURN_IF_ERROR(CheckIndex("result", index, module.results.size()));
  std::vector<std::vector<int64_t>> shapes;
  for (const EmberShape& input : inputs) {
    if (input.rank < 0 || (input.rank > 0 && input.dims == nullptr)) {
      return InvalidArgumentError(Concat(
          {"input ", shapes.size(), ": expected a rank and dims, found none"}));
    }
    shapes.emplace_back(input.dims, input.dims + input.rank);
  }
  EMBER_ASSIGN_OR_RETURN(const vm::ResultExtents extents,
                         vm::ResultShapes(*module.module, shapes));
  for (const vm::ExtentValue& extent : extents[static_cast<size_t>(index)])
    *dims++ = extent.number;
  return OkStatus();
}

}  // namespace

EmberStatus ModuleLoad(const EmberModuleOptions* options,
                       EmberModule** module) {
  if (options == nullptr || module == nullptr)
    return Report(NullError("module_load"));
  *module = nullptr;
  return Report(LoadAs(options, module));
}

EmberStatus ModuleLoadFile(const char* path, EmberModule** module) {
  if (path == nullptr || module == nullptr)
    return Report(NullError("module_load_file"));
  *module = nullptr;
  return Report(Publish(Module::Load(path), module));
}

EmberStatus ModuleLoadMemory(const void* data, size_t size,
                             EmberModule** module) {
  if (data == nullptr || module == nullptr)
    return Report(NullError("module_load_memory"));
  *module = nullptr;
  return Report(
      Publish(Module::Load({static_cast<const uint8_t*>(data), size}, nullptr),
              module));
}

EmberStatus ModuleLoadReader(const EmberReader* reader, EmberModule** module) {
  if (reader == nullptr || module == nullptr)
    return Report(NullError("module_load_reader"));
  *module = nullptr;
  return Report(Publish(Read(*reader, {}), module));
}

void ModuleRelease(EmberModule* module) { delete module; }

int32_t ModuleInputCount(const EmberModule* module) {
  return static_cast<int32_t>(module->inputs.size());
}
int32_t ModuleResultCount(const EmberModule* module) {
  return static_cast<int32_t>(module->results.size());
}

EmberStatus ModuleInputInfo(const EmberModule* module, int32_t index,
                            EmberTensorInfo* info) {
  return Report(FindInfo("input", module->inputs, index, info));
}
EmberStatus ModuleResultInfo(const EmberModule* module, int32_t index,
                             EmberTensorInfo* info) {
  return Report(FindInfo("result", module->results, index, info));
}

const char* InputLogicalType(const EmberModule* module, int32_t index) {
  return LogicalType(module->module->inputs(), index);
}
const char* ResultLogicalType(const EmberModule* module, int32_t index) {
  return LogicalType(module->module->results(), index);
}

const char* InputDim(const EmberModule* module, int32_t index, int32_t dim) {
  if (module == nullptr) return nullptr;
  const vm::Program& entry = module->module->entry();
  return DimText(module->inputs, entry, entry.inputs, index, dim);
}
const char* ResultDim(const EmberModule* module, int32_t index, int32_t dim) {
  if (module == nullptr) return nullptr;
  const vm::Program& entry = module->module->entry();
  return DimText(module->results, entry, entry.results, index, dim);
}

EmberStatus ModuleResultShape(const EmberModule* module,
                              const EmberShape* inputs, int32_t input_count,
                              int32_t index, int64_t* dims) {
  if (module == nullptr || dims == nullptr || input_count < 0 ||
      (inputs == nullptr && input_count > 0)) {
    return Report(NullError("module_result_shape"));
  }
  return Report(FindShape(*module, {inputs, static_cast<size_t>(input_count)},
                          index, dims));
}

int32_t ModuleMetadataCount(const EmberModule* module) {
  if (module == nullptr) return 0;
  return static_cast<int32_t>(module->module->definition().metadata.size());
}

const char* ModuleMetadataKey(const EmberModule* module, int32_t index) {
  const vm::MetadataEntry* entry = FindEntry(module, index);
  return entry == nullptr ? nullptr : entry->key.data();
}

const char* ModuleMetadataValue(const EmberModule* module, int32_t index) {
  const vm::MetadataEntry* entry = FindEntry(module, index);
  return entry == nullptr ? nullptr : entry->value.data();
}

const char* ModuleMetadata(const EmberModule* module, const char* key) {
  if (module == nullptr || key == nullptr) return nullptr;
  const vm::MetadataEntry* entry =
      vm::FindMetadata(module->module->definition().metadata, key);
  return entry == nullptr ? nullptr : entry->value.data();
}

}  // namespace ember::api
