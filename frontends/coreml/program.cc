// ML programs: MIL, a list of operations with names.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_cursor.h"
#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/mil_operation.h"
#include "frontends/model_bytes.h"

namespace ember::coreml {
namespace {

using Bytes = std::span<const uint8_t>;

// Entries of a map are messages of a key and a value.
ProtobufView Entry(const ProtobufView& message, uint64_t field,
                   std::string_view key) {
  for (const ProtobufView& entry : message.Messages(field))
    if (entry.Text(1) == key) return entry.Message(2);
  return {};
}

// The block of operations of the function "main", or of the only one.
ProtobufView MainFunction(const ProtobufView& program) {
  const ProtobufView main = Entry(program, 2, "main");
  if (!main.empty()) return main;
  const std::vector<ProtobufView> functions = program.Messages(2);
  return functions.size() == 1 ? functions[0].Message(2) : ProtobufView();
}

ProtobufView BlockOf(const ProtobufView& function) {
  const ProtobufView block = Entry(function, 3, function.Text(2));
  if (!block.empty()) return block;
  const std::vector<ProtobufView> blocks = function.Messages(3);
  return blocks.size() == 1 ? blocks[0].Message(2) : ProtobufView();
}

constexpr int64_t kStringType = 2;

std::optional<DType> TypeOf(int64_t number) {
  switch (number) {
    case 1:
      return DType::kBool;
    case 10:
      return DType::kF16;
    case 11:
      return DType::kF32;
    case 12:
      return DType::kF64;
    case 13:
      return DType::kBF16;
    case 21:
      return DType::kI8;
    case 22:
      return DType::kI16;
    case 23:
      return DType::kI32;
    case 24:
      return DType::kI64;
    case 31:
      return DType::kU8;
    case 32:
      return DType::kU16;
    case 33:
      return DType::kU32;
    case 34:
      return DType::kU64;
    default:
      return std::nullopt;
  }
}

struct ValueType {
  int64_t data_type = 0;
  std::optional<DType> dtype;
  std::vector<int64_t> dims;
};

// Dims that are not known are -1.
ValueType ReadType(const ProtobufView& type) {
  const ProtobufView tensor = type.Message(1);
  ValueType result;
  result.data_type = tensor.Integer(1);
  result.dtype = TypeOf(result.data_type);
  for (const ProtobufView& dim : tensor.Messages(3))
    result.dims.push_back(dim.Has(1) ? dim.Message(1).Integer(1) : -1);
  return result;
}

// Numbers of any field of TensorValue, as bytes of the type.
std::string Encoded(const ProtobufView& tensor, DType dtype) {
  std::string bytes;
  const auto add = [&](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  };
  for (const double value : tensor.Message(1).Floats(1))
    add(static_cast<float>(value));
  for (const uint64_t field : {2, 5}) {
    for (const int64_t value : tensor.Message(field).Integers(1)) {
      // As many of the low bytes as the type has.
      bytes.append(reinterpret_cast<const char*>(&value),
                   static_cast<size_t>(DTypeByteSize(dtype)));
    }
  }
  for (const int64_t value : tensor.Message(3).Integers(1))
    add(static_cast<uint8_t>(value != 0));
  for (const double value : tensor.Message(6).Doubles(1)) add(value);
  const Bytes raw = tensor.Message(7).Bytes(1);
  bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
  return bytes;
}

// A blob's numbers: 64 bytes of sentinel, type, size and offset lie where the
// program says.
StatusOr<Bytes> FindBlob(Bytes file, uint64_t offset) {
  constexpr uint64_t kHeader = 64;
  constexpr uint32_t kSentinel = 0xdeadbeef;
  const auto missing = [&] {
    return DataLossError("weights: expected a blob at byte " +
                         std::to_string(offset) + " of " +
                         std::to_string(file.size()) + ", found none");
  };
  if (offset > file.size() || file.size() - offset < kHeader) return missing();
  uint32_t sentinel;
  uint64_t size, place;
  std::memcpy(&sentinel, &file[offset], sizeof(sentinel));
  std::memcpy(&size, &file[offset + 8], sizeof(size));
  std::memcpy(&place, &file[offset + 16], sizeof(place));
  if (sentinel != kSentinel || place > file.size() ||
      size > file.size() - place)
    return missing();
  return file.subspan(place, size);
}

// Of a list, or of a tensor with a few: labels of classes.
struct Items {
  std::vector<std::string> texts;
  std::vector<int64_t> integers;
};
Items ItemsOf(const ProtobufView& value) {
  const bool is_list = value.Message(2).Has(2);
  Items items;
  for (const ProtobufView& item : is_list
                                      ? value.Message(3).Message(3).Messages(1)
                                      : std::vector<ProtobufView>{value}) {
    const ProtobufView tensor = item.Message(3).Message(1);
    for (std::string& text : tensor.Message(4).Texts(1))
      items.texts.push_back(std::move(text));
    for (const uint64_t field : {2, 5}) {
      for (const int64_t number : tensor.Message(field).Integers(1))
        items.integers.push_back(number);
    }
  }
  return items;
}

StatusOr<MilValue> ReadValue(ModelContext& context, const ProtobufView& value) {
  const ValueType type = ReadType(value.Message(2));
  const ProtobufView tensor = value.Message(3).Message(1);
  if (type.data_type == kStringType) {
    std::vector<std::string> texts = tensor.Message(4).Texts(1);
    const std::string text = texts.size() == 1 ? texts[0] : "";
    return MilValue{.text = text, .texts = std::move(texts)};
  }
  // Others than lists are of operations that are refused by name.
  if (!value.Message(2).Has(1)) {
    Items items = ItemsOf(value);
    MilValue list;
    if (!items.integers.empty())
      list.tensor =
          Tensor(&context.builder, context.builder.Integers(items.integers));
    list.texts = std::move(items.texts);
    return list;
  }
  if (!type.dtype) {
    return UnimplementedError("a constant of type " +
                              std::to_string(type.data_type) +
                              " is not supported");
  }
  std::optional<int64_t> count = 1;
  for (const int64_t dim : type.dims) {
    if (dim < 0) return DataLossError("a constant of unknown dims");
    if (count) count = CheckedMultiply(*count, dim);
  }
  if (count) count = CheckedMultiply(*count, DTypeByteSize(*type.dtype));
  graph::ConstantData data;
  if (value.Has(5)) {
    EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<const MappedFile> file,
                           context.model.WeightsFile(value.Message(5).Text(1)));
    EMBER_ASSIGN_OR_RETURN(
        const Bytes bytes,
        FindBlob(file->bytes(),
                 static_cast<uint64_t>(value.Message(5).Integer(2))));
    data = frontends::AlignedData(
        bytes, static_cast<size_t>(DTypeByteSize(*type.dtype)), file);
  } else {
    const std::string bytes = Encoded(tensor, *type.dtype);
    data = graph::ConstantData::Copy(AsBytes(bytes));
  }
  if (count != static_cast<int64_t>(data.bytes.size())) {
    return DataLossError(
        "a constant: expected " +
        (count ? std::to_string(*count) : std::string("absurdly many")) +
        " bytes, found " + std::to_string(data.bytes.size()));
  }
  return MilValue{
      .tensor = Tensor(&context.builder,
                       context.builder.Constant(*type.dtype, type.dims, data))};
}

class ProgramImporter {
 public:
  explicit ProgramImporter(ModelContext& context) : context_(context) {}

  void Set(const std::string& name, Tensor value) {
    values_[name] = {.tensor = value};
  }
  StatusOr<FeatureValue> Get(const std::string& name) const {
    const auto found = values_.find(name);
    if (found != values_.end() && found->second.tensor)
      return FeatureValue{found->second.tensor, found->second.logical_type};
    return DataLossError("output '" + OnOneLine(name) +
                         "': expected a value of the program, found none");
  }

  Status Import(const ProtobufView& operation) {
    const std::string type = operation.Text(1);
    EMBER_RETURN_IF_ERROR(context_.steps.Begin(type));
    std::vector<std::string> outputs;
    for (const ProtobufView& output : operation.Messages(3))
      outputs.push_back(output.Text(1));
    const std::string origin = (outputs.empty() ? "?" : OnOneLine(outputs[0])) +
                               " (" + OnOneLine(type) + ")";
    context_.builder.SetOrigin(origin);
    const Status status = type == "const" ? Constant(operation, outputs)
                                          : Call(operation, type, outputs);
    if (!status.ok() && context_.builder.status().ok())
      return status.WithContext("node '" + origin + "'");
    return status;
  }

 private:
  Status Constant(const ProtobufView& operation,
                  const std::vector<std::string>& outputs) {
    ProtobufView value = Entry(operation, 5, "val");
    // Of inputs in old files.
    if (value.empty()) {
      const std::vector<ProtobufView> bindings =
          Entry(operation, 2, "val").Messages(1);
      if (!bindings.empty()) value = bindings[0].Message(2);
    }
    if (outputs.size() != 1) return DataLossError("expected one output");
    EMBER_ASSIGN_OR_RETURN(values_[outputs[0]], ReadValue(context_, value));
    return context_.builder.status();
  }

  Status Call(const ProtobufView& operation, const std::string& type,
              const std::vector<std::string>& outputs) {
    const MilRow* row = FindMil(type);
    if (row == nullptr)
      return UnimplementedError("unsupported operator " + OnOneLine(type));
    MilInputs inputs;
    for (const ProtobufView& entry : operation.Messages(2)) {
      std::vector<MilValue>& list = inputs[entry.Text(1)];
      for (const ProtobufView& binding : entry.Message(2).Messages(1)) {
        if (binding.Has(2)) {
          EMBER_ASSIGN_OR_RETURN(MilValue value,
                                 ReadValue(context_, binding.Message(2)));
          list.push_back(std::move(value));
          continue;
        }
        const std::string name = binding.Text(1);
        const auto found = values_.find(name);
        if (found == values_.end()) {
          return DataLossError("expected a value '" + OnOneLine(name) +
                               "' of an operation before it, found none");
        }
        list.push_back(found->second);
      }
    }
    // Compressed constants have their parts as attributes.
    if (type.starts_with("constexpr_")) {
      for (const ProtobufView& entry : operation.Messages(5)) {
        if (entry.Text(1) == "name") continue;
        EMBER_ASSIGN_OR_RETURN(MilValue value,
                               ReadValue(context_, entry.Message(2)));
        inputs[entry.Text(1)] = {std::move(value)};
      }
    }
    MilOperation o(context_.builder, std::move(inputs), outputs.size());
    row->import(o);
    EMBER_RETURN_IF_ERROR(context_.builder.status());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!o.outputs()[i].tensor)
        return UnimplementedError("output " + std::to_string(i) +
                                  " is not supported");
      values_[outputs[i]] = o.outputs()[i];
    }
    return OkStatus();
  }

  ModelContext& context_;
  std::map<std::string, MilValue> values_;
};

}  // namespace

void FindMissingOperations(const ProtobufView& program,
                           frontends::UnsupportedParts& missing) {
  for (const ProtobufView& operation :
       BlockOf(MainFunction(program)).Messages(3)) {
    const std::string type = operation.Text(1);
    if (type == "const" || FindMil(type) != nullptr) continue;
    const std::vector<ProtobufView> outputs = operation.Messages(3);
    missing.Add(type, outputs.empty() ? "" : outputs[0].Text(1), "");
  }
}

Status ImportProgram(ModelContext& context, const ProtobufView& model,
                     Features& features) {
  const ProtobufView function = MainFunction(model.Message(kProgram));
  const ProtobufView block = BlockOf(function);
  if (block.empty())
    return DataLossError(
        "expected a program with a function 'main', found none");
  ProgramImporter importer(context);
  const ProtobufView description = model.Message(kDescription);
  for (const Feature& feature : FeaturesOf(description, 1)) {
    EMBER_ASSIGN_OR_RETURN(Tensor value, FindFeature(features, feature.name));
    if (feature.kind == Feature::kImage)
      value = Transpose(Cast(value, DType::kF32), {0, 3, 1, 2});
    // Programs may compute in f16 of what they are given in f32.
    for (const ProtobufView& input : function.Messages(1)) {
      const ValueType type = ReadType(input.Message(2));
      if (input.Text(1) == feature.name && type.dtype)
        value = Cast(value, *type.dtype);
    }
    importer.Set(feature.name, value);
  }
  EMBER_RETURN_IF_ERROR(context.builder.status());
  const std::vector<ProtobufView> operations = block.Messages(3);
  context.steps.Expect(operations.size());
  for (const ProtobufView& operation : operations)
    EMBER_RETURN_IF_ERROR(importer.Import(operation));
  for (const Feature& feature : FeaturesOf(description, 10)) {
    EMBER_ASSIGN_OR_RETURN(const FeatureValue found,
                           importer.Get(feature.name));
    Tensor value = found.value;
    if (feature.kind == Feature::kArray && value.is_float())
      value = Cast(value, feature.dtype);
    if (feature.kind == Feature::kDictionary && value.is_float())
      value = Cast(value, DType::kF32);
    if (feature.kind == Feature::kImage && value.rank() == 4) {
      value = Transpose(value, {0, 2, 3, 1});
      value = Cast(Round(Minimum(Maximum(Cast(value, DType::kF32), 0), 255)),
                   DType::kU8);
    }
    features[feature.name] = {value, found.logical_type};
  }
  return context.builder.status();
}

std::vector<std::string> ClassLabelsOf(const ProtobufView& program) {
  std::map<std::string, ProtobufView> constants;
  for (const ProtobufView& operation :
       BlockOf(MainFunction(program)).Messages(3)) {
    const std::string type = operation.Text(1);
    if (type == "const") {
      constants[operation.Message(3).Text(1)] = Entry(operation, 5, "val");
    } else if (type == "classify") {
      const ProtobufView binding = Entry(operation, 2, "classes").Message(1);
      Items items = ItemsOf(binding.Has(2) ? binding.Message(2)
                                           : constants[binding.Text(1)]);
      for (const int64_t number : items.integers)
        items.texts.push_back(std::to_string(number));
      return std::move(items.texts);
    }
  }
  return {};
}

}  // namespace ember::coreml
