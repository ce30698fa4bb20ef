#include "frontends/torch_export/exported_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/one_line.h"
#include "frontends/json_text.h"
#include "frontends/model_errors.h"
#include "frontends/ops/tensor.h"
#include "frontends/torchscript/call.h"

namespace ember::torch_export {
namespace {

using torchscript::PickleValue;
using torchscript::StoredTensor;

constexpr std::string_view kOldProgram = "serialized_exported_program.json";

StatusOr<nlohmann::json> ReadJson(const archive::ZipArchive& archive,
                                  const std::string& name) {
  EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                         archive.Read(name, frontends::kMaxJsonText));
  return frontends::ParseJsonText(
      {reinterpret_cast<const char*>(contents.bytes.data()),
       contents.bytes.size()},
      OnOneLine(name),
      {.infinity = "\"Infinity\"",
       .negative_infinity = "\"-Infinity\"",
       .nan = "\"NaN\""});
}

// Finds an entry whose name ends with `end`, at the top of the archive or in a
// folder there. Returns what precedes `end` ("" or "net/"); nullopt if there is
// none.
std::optional<std::string> PrefixOf(const archive::ZipArchive& archive,
                                    std::string_view end) {
  for (const std::string& name : archive.names()) {
    if (!name.ends_with(end)) continue;
    const std::string prefix = name.substr(0, name.size() - end.size());
    if (prefix.empty() || prefix.find('/') == prefix.size() - 1) return prefix;
  }
  return std::nullopt;
}

StatusOr<int64_t> KnownExtent(const Extent& extent) {
  if (extent.expression.empty() && extent.number >= 0) return extent.number;
  return DataLossError(
      "expected extents, strides and an offset from 0 on, "
      "found " +
      (extent.expression.empty() ? std::to_string(extent.number)
                                 : "'" + OnOneLine(extent.expression) + "'"));
}

}  // namespace

StatusOr<std::unique_ptr<ExportedFile>> ExportedFile::Open(
    std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
    std::string_view entry) {
  EMBER_ASSIGN_OR_RETURN(archive::ZipArchive archive,
                         archive::ZipArchive::Open(bytes, std::move(owner)));
  auto file =
      std::unique_ptr<ExportedFile>(new ExportedFile(std::move(archive)));
  const std::optional<std::string> old = PrefixOf(file->archive_, kOldProgram);
  if (old) {
    file->prefix_ = *old;
    EMBER_RETURN_IF_ERROR(file->ReadOldLayout(*old + std::string(kOldProgram)));
    if (!entry.empty()) {
      return InvalidArgumentError(
          "--entry: expected none, as the archive has one program, found '" +
          OnOneLine(entry) + "'");
    }
  } else {
    EMBER_RETURN_IF_ERROR(file->ReadNewLayout(entry));
  }
  return file;
}

Status ExportedFile::ReadProgramEntry(const std::string& name) {
  EMBER_RETURN_IF_ERROR(torchscript::CheckByteOrder(archive_, prefix_));
  EMBER_ASSIGN_OR_RETURN(const nlohmann::json json, ReadJson(archive_, name));
  StatusOr<Program> program = ReadProgram(json);
  if (!program.ok()) return program.status().WithContext(OnOneLine(name));
  program_ = *std::move(program);
  return OkStatus();
}

Status ExportedFile::ReadOldLayout(const std::string& program) {
  EMBER_RETURN_IF_ERROR(ReadProgramEntry(program));
  EMBER_RETURN_IF_ERROR(AddSaved(prefix_ + "serialized_state_dict.pt"));
  return AddSaved(prefix_ + "serialized_constants.pt");
}

Status ExportedFile::ReadNewLayout(std::string_view entry) {
  // `models` collects the names of all programs in the archive, which are in
  // models/NAME.json.
  std::vector<std::string> models;
  for (const std::string& name : archive_.names()) {
    const size_t at = name.find("models/");
    if (at == std::string::npos || !name.ends_with(".json")) continue;
    if (at > 0 && name.find('/') != at - 1) continue;
    prefix_ = name.substr(0, at);
    models.push_back(name.substr(at + 7, name.size() - at - 12));
  }
  std::sort(models.begin(), models.end());
  if (models.empty()) {
    return InvalidArgumentError(
        "expected a program as torch.export.save writes it (models/NAME.json), "
        "found none (code that AOTInductor compiled is for its machine only)");
  }
  std::string model(entry);
  if (model.empty()) model = models.size() == 1 ? models[0] : "model";
  if (std::find(models.begin(), models.end(), model) == models.end()) {
    return frontends::NoSuchEntry("programs", models, entry);
  }
  EMBER_RETURN_IF_ERROR(
      ReadProgramEntry(prefix_ + "models/" + model + ".json"));
  EMBER_RETURN_IF_ERROR(
      AddFolder("data/weights/", model,
                {"_weights_config.json", "_model_param_config.json"}));
  return AddFolder("data/constants/", model,
                   {"_constants_config.json", "_model_constants_config.json"});
}

Status ExportedFile::AddFolder(const std::string& name,
                               const std::string& model,
                               const std::vector<std::string>& configs) {
  const std::string folder = prefix_ + name;
  EMBER_RETURN_IF_ERROR(AddSaved(folder + model + ".pt"));
  for (const std::string& end : configs) {
    const std::string config = folder + model + end;
    if (!archive_.Has(config)) continue;
    EMBER_ASSIGN_OR_RETURN(const nlohmann::json json,
                           ReadJson(archive_, config));
    StatusOr<Payloads> payloads = ReadPayloads(json);
    if (!payloads.ok()) return payloads.status().WithContext(OnOneLine(config));
    folders_.push_back({folder, *std::move(payloads)});
  }
  return OkStatus();
}

StatusOr<ExportedFile::Saved> ExportedFile::OpenSaved(
    const archive::ZipArchive& archive, const std::string& name) {
  EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                         archive.Read(name, uint64_t{1} << 40));
  EMBER_ASSIGN_OR_RETURN(
      archive::ZipArchive inner,
      archive::ZipArchive::Open(contents.bytes, contents.owner));
  const std::optional<std::string> prefix = PrefixOf(inner, "data.pkl");
  if (!prefix)
    return DataLossError("expected a file of torch.save with data.pkl in it");
  EMBER_RETURN_IF_ERROR(torchscript::CheckByteOrder(inner, *prefix));
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<torchscript::Pickle> pickle,
                         torchscript::ReadPickle(inner, *prefix + "data.pkl"));
  return Saved{std::move(inner), *prefix, std::move(pickle)};
}

Status ExportedFile::AddSaved(const std::string& name) {
  if (!archive_.Has(name)) return OkStatus();
  StatusOr<Saved> saved = OpenSaved(archive_, name);
  if (!saved.ok()) return saved.status().WithContext(OnOneLine(name));
  saved_.push_back(*std::move(saved));
  return OkStatus();
}

StatusOr<StoredTensor> ExportedFile::FindPayload(const Folder& folder,
                                                 const Payload& payload) const {
  const std::string entry = folder.name + payload.entry;
  if (payload.is_pickle) {
    EMBER_ASSIGN_OR_RETURN(const Saved saved, OpenSaved(archive_, entry));
    const PickleValue& value = torchscript::Unwrapped(saved.pickle->root());
    if (!torchscript::IsTensorCall(value)) {
      return UnimplementedError(
          "expected a plain tensor, found an object of a class of its own");
    }
    return torchscript::FindStoredTensor(saved.archive, saved.prefix + "data/",
                                         value);
  }
  if (!payload.meta) {
    return DataLossError("expected a tensor_meta with its type and shape");
  }
  const std::optional<DType> dtype =
      torchscript::DTypeOfScalarType(payload.meta->scalar_type);
  if (!dtype) {
    return UnimplementedError(
        "expected integers, floats or booleans, found ScalarType " +
        std::to_string(payload.meta->scalar_type));
  }
  const size_t rank = payload.meta->sizes.size();
  if (rank != payload.meta->strides.size() ||
      rank > static_cast<size_t>(ops::kMaxRank)) {
    return DataLossError("expected at most " + std::to_string(ops::kMaxRank) +
                         " dims with a stride each, found " +
                         std::to_string(rank) + " and " +
                         std::to_string(payload.meta->strides.size()));
  }
  std::vector<int64_t> dims;
  std::vector<int64_t> strides;
  for (size_t i = 0; i < rank; ++i) {
    EMBER_ASSIGN_OR_RETURN(dims.emplace_back(),
                           KnownExtent(payload.meta->sizes[i]));
    EMBER_ASSIGN_OR_RETURN(strides.emplace_back(),
                           KnownExtent(payload.meta->strides[i]));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t offset,
                         KnownExtent(payload.meta->offset));
  return torchscript::TensorInEntry(archive_, entry, *dtype, std::move(dims),
                                    std::move(strides), offset);
}

StatusOr<StoredTensor> ExportedFile::FindTensor(std::string_view name) const {
  const auto named = [&](StatusOr<StoredTensor> tensor) {
    if (tensor.ok()) return tensor;
    return StatusOr<StoredTensor>(
        tensor.status().WithContext("tensor '" + OnOneLine(name) + "'"));
  };
  for (const Folder& folder : folders_) {
    const auto found = folder.payloads.find(name);
    if (found != folder.payloads.end())
      return named(FindPayload(folder, found->second));
  }
  for (const Saved& saved : saved_) {
    const PickleValue* found =
        torchscript::Unwrapped(saved.pickle->root()).Find(name);
    if (found == nullptr) continue;
    const PickleValue& value = torchscript::Unwrapped(*found);
    if (!torchscript::IsTensorCall(value)) {
      return named(UnimplementedError(
          "expected a plain tensor, found an object of a class of its own"));
    }
    return named(torchscript::FindStoredTensor(saved.archive,
                                               saved.prefix + "data/", value));
  }
  return DataLossError("tensor '" + OnOneLine(name) +
                       "': expected it among the archive's weights and "
                       "constants, found none");
}

}  // namespace ember::torch_export
