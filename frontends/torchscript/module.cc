#include "frontends/torchscript/module.h"

#include <charconv>
#include <utility>

#include "base/one_line.h"
#include "frontends/archive/zip_metadata.h"
#include "frontends/metadata.h"
#include "frontends/torchscript/packed.h"

namespace ember::torchscript {
namespace {

using Kind = PickleValue::Kind;

// Largest nesting depth of objects, lists and so on.
constexpr int kMaxDepth = 200;
}  // namespace

ModuleFile::ModuleFile(archive::ZipArchive archive, std::string prefix)
    : archive_(std::move(archive)), prefix_(std::move(prefix)) {
  code_ = std::make_unique<CodeLibrary>(archive_, prefix_);
}

StatusOr<std::unique_ptr<ModuleFile>> ModuleFile::Open(
    std::span<const uint8_t> bytes, std::shared_ptr<const void> owner) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  if (!archive::ZipArchive::IsArchive(text)) {
    return InvalidArgumentError(
        "expected a ZIP archive as torch.jit.save writes it, found another "
        "file (before PyTorch 1.6 torch.save wrote plain pickles, which have "
        "no code)");
  }
  EMBER_ASSIGN_OR_RETURN(archive::ZipArchive archive,
                         archive::ZipArchive::Open(bytes, std::move(owner)));
  std::string prefix;
  switch (KindOfArchive(archive, &prefix)) {
    case ArchiveKind::kTorchScript:
      break;
    case ArchiveKind::kTensors:
      return InvalidArgumentError(
          "expected an archive with code, as torch.jit.save writes it, found "
          "tensors or a module without code (torch.save)");
    case ArchiveKind::kExported:
      return UnimplementedError(
          "expected an archive that torch.jit.save wrote, found one of "
          "torch.export (format torch-export)");
    case ArchiveKind::kNone:
      return InvalidArgumentError(
          "expected an archive with data.pkl and code, found neither");
  }
  auto file = std::unique_ptr<ModuleFile>(
      new ModuleFile(std::move(archive), std::move(prefix)));
  const archive::ZipArchive& zip = file->archive_;
  for (const char* entry : {"version", ".data/version"}) {
    if (!zip.Has(file->prefix_ + entry)) continue;
    EMBER_ASSIGN_OR_RETURN(const archive::ZipContents contents,
                           zip.Read(file->prefix_ + entry, 64));
    const auto* begin = reinterpret_cast<const char*>(contents.bytes.data());
    std::from_chars(begin, begin + contents.bytes.size(), file->version_);
  }
  EMBER_RETURN_IF_ERROR(CheckByteOrder(zip, file->prefix_));
  EMBER_ASSIGN_OR_RETURN(file->data_,
                         ReadPickle(zip, file->prefix_ + "data.pkl"));
  if (zip.Has(file->prefix_ + "constants.pkl")) {
    EMBER_ASSIGN_OR_RETURN(file->constants_,
                           ReadPickle(zip, file->prefix_ + "constants.pkl"));
  }
  if (zip.Has(file->prefix_ + "traced_inputs.pkl")) {
    EMBER_ASSIGN_OR_RETURN(
        file->traced_, ReadPickle(zip, file->prefix_ + "traced_inputs.pkl"));
  }
  return file;
}

graph::Metadata ModuleFile::Metadata() const {
  frontends::MetadataCollector metadata("torchscript");
  metadata.AddInteger("version", version_);
  const std::string extra = prefix_ + "extra/";
  for (const std::string& name : archive_.names()) {
    if (!name.starts_with(extra)) continue;
    archive::AddZipEntry(archive_, name, "extra." + name.substr(extra.size()),
                         metadata);
  }
  return std::move(metadata).Take();
}

StatusOr<const Class*> ModuleFile::ModuleClass() {
  const PickleValue& root = Unwrapped(data_->root());
  if (root.kind != Kind::kCall || !root.callee->text.starts_with("__torch__")) {
    return InvalidArgumentError(
        "data.pkl: expected a module of the archive's code, found another "
        "value");
  }
  EMBER_ASSIGN_OR_RETURN(const Class* type,
                         code_->FindClass(root.callee->text));
  if (type == nullptr) {
    return DataLossError("expected the code of class '" +
                         OnOneLine(root.callee->text) +
                         "' in the archive, found none");
  }
  return type;
}

std::vector<std::optional<StoredTensor>> ModuleFile::TracedInputs(
    std::string_view method) const {
  std::vector<std::optional<StoredTensor>> inputs;
  if (traced_ == nullptr) return inputs;
  const PickleValue* list = Unwrapped(traced_->root()).Find(method);
  if (list == nullptr) return inputs;
  const PickleValue& all = Unwrapped(*list);
  if (all.kind != Kind::kList && all.kind != Kind::kTuple) return inputs;
  for (const PickleValue* item : all.items) {
    inputs.emplace_back();
    const PickleValue& value = Unwrapped(*item);
    if (!IsTensorCall(value)) continue;
    StatusOr<StoredTensor> tensor = FindTensor(value, "traced_inputs");
    if (tensor.ok()) inputs.back() = *std::move(tensor);
  }
  return inputs;
}

StatusOr<StoredTensor> ModuleFile::FindTensor(const PickleValue& call,
                                              std::string_view folder) const {
  return FindStoredTensor(archive_, prefix_ + std::string(folder) + "/", call);
}

// Converts the values of a pickle (data.pkl or constants.pkl) to values of the
// machine: tensors, containers and objects.
class ModuleLoader {
 public:
  ModuleLoader(ModuleFile& file, std::string folder, Machine& machine,
               Interpreter* interpreter)
      : file_(file),
        folder_(std::move(folder)),
        machine_(machine),
        interpreter_(interpreter) {}

  // Converts the root of a pickle.
  StatusOr<Value> ConvertAll(const PickleValue& root, const std::string& path) {
    storages_.of_several_types = StoragesOfSeveralTypes(root);
    return Convert(root, path);
  }

  // Converts a value of a pickle. `path`: path of the value in the module, for
  // example "encoder.0.weight".
  StatusOr<Value> Convert(const PickleValue& value, const std::string& path) {
    const auto known = known_.find(&value);
    if (known != known_.end()) return known->second;
    if (++depth_ > kMaxDepth) {
      return UnimplementedError("'" + OnOneLine(path) + "': expected at most " +
                                std::to_string(kMaxDepth) +
                                " levels of objects");
    }
    StatusOr<Value> made = Make(value, path);
    --depth_;
    if (made.ok()) known_.emplace(&value, *made);
    return made;
  }

 private:
  StatusOr<Value> Make(const PickleValue& value, const std::string& path) {
    switch (value.kind) {
      case Kind::kNone:
        return Value::None();
      case Kind::kBool:
        return Value::Bool(value.integer != 0);
      case Kind::kInteger:
        return Value::Int(Dim(value.integer));
      case Kind::kFloat:
        return Value::Float(value.number);
      case Kind::kString:
        return Value::Text(Value::Kind::kString, value.text);
      case Kind::kList:
      case Kind::kTuple: {
        Value made = value.kind == Kind::kList ? machine_.NewList({})
                                               : machine_.NewTuple({});
        known_.emplace(&value, made);
        for (size_t i = 0; i < value.items.size(); ++i) {
          EMBER_ASSIGN_OR_RETURN(
              Value item,
              Convert(*value.items[i], path + "." + std::to_string(i)));
          made.list->items.push_back(std::move(item));
        }
        return made;
      }
      case Kind::kDict: {
        Value made = machine_.NewDict();
        known_.emplace(&value, made);
        for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
          EMBER_ASSIGN_OR_RETURN(Value key, Convert(*value.items[i], path));
          EMBER_ASSIGN_OR_RETURN(
              Value item, Convert(*value.items[i + 1], path + "." + key.text));
          made.dict->items.emplace_back(std::move(key), std::move(item));
        }
        return made;
      }
      case Kind::kCall:
        return MakeCall(value, path);
      case Kind::kGlobal:
        return Value::Text(Value::Kind::kFunction, value.text);
      case Kind::kPersistent:
        break;
    }
    return DataLossError("'" + OnOneLine(path) +
                         "': expected a value, found a storage");
  }

  StatusOr<Value> MakeCall(const PickleValue& value, const std::string& path) {
    const std::string& name = value.callee->text;
    if (IsTensorCall(value)) {
      const StatusOr<StoredTensor> stored = file_.FindTensor(value, folder_);
      if (!stored.ok())
        return stored.status().WithContext("'" + OnOneLine(path) + "'");
      const bool is_quantized = IsQuantizedTensorCall(value);
      Value tensor = NewStored(*stored, path, machine_,
                               is_quantized ? nullptr : &storages_);
      if (is_quantized) {
        EMBER_RETURN_IF_ERROR(Quantize(
            value, path, static_cast<int>(stored->dims.size()), *tensor.cell));
      } else if (folder_ == "constants") {
        tensor.cell->is_traced_number = stored->dims.empty();
      }
      return tensor;
    }
    if (&Unwrapped(value) != &value) return Convert(Unwrapped(value), path);
    if (name == "collections.OrderedDict" && value.items.empty())
      return machine_.NewDict();
    if (name == "torch.device" && !value.items.empty())
      return Value::Text(Value::Kind::kDevice, value.items[0]->text);
    if (name.starts_with("__torch__")) return MakeObject(value, path);
    // Such a value (a call that is not supported) may be an attribute of the
    // module. It is an error only if the code uses it.
    return Value::Text(Value::Kind::kConflict,
                       "'" + OnOneLine(path) + "', which " + OnOneLine(name) +
                           " makes, which is not supported");
  }

  // Records the quantization of a tensor of `rank` dims, which the arguments of
  // `call` state as (torch.per_tensor_affine, scale, zero point) or
  // (torch.per_channel_affine, scales, zero points, axis).
  Status Quantize(const PickleValue& call, const std::string& path, int rank,
                  Cell& cell) {
    const auto invalid = [&] {
      return DataLossError("'" + OnOneLine(path) +
                           "': expected a quantization per tensor or per "
                           "channel with its scale and zero point");
    };
    if (call.items.size() < 5) return invalid();
    const PickleValue& given = *call.items[4];
    if (given.kind != Kind::kTuple || given.items.size() < 3 ||
        given.items[0]->kind != Kind::kGlobal)
      return invalid();
    EMBER_ASSIGN_OR_RETURN(const Value scale,
                           Convert(*given.items[1], path + ".scale"));
    EMBER_ASSIGN_OR_RETURN(const Value zero_point,
                           Convert(*given.items[2], path + ".zero_point"));
    const bool is_one = scale.is_known_number() && zero_point.is_known_number();
    if (!is_one && (!scale.is_tensor() || !zero_point.is_tensor()))
      return invalid();
    Quantization quantization;
    if (!is_one) {
      if (given.items.size() < 4 || given.items[3]->kind != Kind::kInteger ||
          given.items[3]->integer < 0 || given.items[3]->integer >= rank)
        return invalid();
      quantization.axis = static_cast<int>(given.items[3]->integer);
    }
    graph::GraphBuilder& builder = machine_.outermost();
    const auto parameter = [&](const Value& number, DType dtype) {
      if (!number.is_tensor())
        return Tensor(&builder, builder.Scalar(number.known_number(), dtype));
      return ops::Cast(machine_.Read(*number.cell), dtype);
    };
    quantization.scale = parameter(scale, DType::kF32);
    quantization.zero_point = parameter(zero_point, DType::kI32);
    if (!machine_.ok()) return machine_.status();
    cell.quantization =
        std::make_shared<const Quantization>(std::move(quantization));
    return OkStatus();
  }

  StatusOr<Value> MakeObject(const PickleValue& value,
                             const std::string& path) {
    EMBER_ASSIGN_OR_RETURN(const Class* type,
                           file_.code().FindClass(value.callee->text));
    if (type != nullptr && type->base == "NamedTuple") {
      std::vector<Value> items;
      for (const PickleValue* item : value.items) {
        EMBER_ASSIGN_OR_RETURN(Value made, Convert(*item, path));
        items.push_back(std::move(made));
      }
      Value tuple = machine_.NewTuple(std::move(items));
      tuple.list->fields = type;
      return tuple;
    }
    Value made;
    made.kind = Value::Kind::kObject;
    made.object = &machine_.NewObject(value.callee->text);
    made.object->type = type;
    made.object->path = path;
    known_.emplace(&value, made);
    if (value.state == nullptr) return made;
    if (type != nullptr && type->methods.contains("__setstate__") &&
        interpreter_ != nullptr) {
      EMBER_ASSIGN_OR_RETURN(Value state, Convert(*value.state, path));
      interpreter_->CallMethod(*made.object, "__setstate__", {state});
      if (!machine_.ok()) return machine_.status();
      return made;
    }
    // Objects of PyTorch's own classes, such as packed weights, have a state
    // but no code in the archive. Their state becomes an attribute.
    if (type == nullptr &&
        value.callee->text.starts_with("__torch__.torch.classes.")) {
      EMBER_ASSIGN_OR_RETURN(Value state, Convert(*value.state, path));
      made.object->attributes.emplace(kPackedState, std::move(state));
      return made;
    }
    if (value.state->kind != Kind::kDict) {
      return DataLossError("'" + OnOneLine(path) +
                           "': expected attributes as a dict");
    }
    for (size_t i = 0; i + 1 < value.state->items.size(); i += 2) {
      const std::string& name = value.state->items[i]->text;
      EMBER_ASSIGN_OR_RETURN(Value item,
                             Convert(*value.state->items[i + 1],
                                     path.empty() ? name : path + "." + name));
      const bool is_mode = name == "training" && item.is(Value::Kind::kBool);
      made.object->attributes[name] = is_mode ? Value::Bool(false) : item;
    }
    return made;
  }

  ModuleFile& file_;
  std::string folder_;
  Machine& machine_;
  Interpreter* interpreter_;
  int depth_ = 0;
  std::map<const PickleValue*, Value> known_;
  StorageCells storages_;
};

StatusOr<std::vector<Value>> ModuleFile::Constants(Machine& machine) {
  if (constants_ == nullptr) return std::vector<Value>();
  ModuleLoader loader(*this, "constants", machine, nullptr);
  EMBER_ASSIGN_OR_RETURN(const Value all,
                         loader.ConvertAll(constants_->root(), "CONSTANTS"));
  if (!all.is_sequence()) {
    return DataLossError("constants.pkl: expected a tuple, found " +
                         Describe(all));
  }
  return all.list->items;
}

StatusOr<Object*> ModuleFile::Load(Machine& machine, Interpreter& interpreter) {
  EMBER_RETURN_IF_ERROR(ModuleClass().status());
  ModuleLoader loader(*this, "data", machine, &interpreter);
  EMBER_ASSIGN_OR_RETURN(const Value module,
                         loader.ConvertAll(Unwrapped(data_->root()), ""));
  return module.object;
}

}  // namespace ember::torchscript
