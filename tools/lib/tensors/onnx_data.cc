#include "tools/lib/tensors/onnx_data.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/file.h"
#include "third_party/onnx/onnx_data.pb.h"
#include "tools/lib/tensors/onnx_maps.h"

namespace ember::tools {
namespace {

// The values of SequenceProto::elem_type and OptionalProto::elem_type that are
// used here.
constexpr int kNothing = 0, kTensor = 1;

// The decoded contents of a data file: a tensor, a sequence, or an optional of
// one of these.
struct Value {
  bool is_sequence = false;
  bool present = true;
  // The tensors of the value: one for a tensor, any number for a sequence, none
  // for an absent optional.
  std::vector<onnx::TensorBytes> elements;
};

StatusOr<onnx::TensorBytes> Decode(const onnx::TensorProto& proto) {
  return onnx::DecodeTensor(proto, nullptr, nullptr);
}

Status AddElements(const onnx::SequenceProto& sequence, Value& value) {
  value.is_sequence = true;
  for (const onnx::TensorProto& tensor : sequence.tensor_values()) {
    EMBER_ASSIGN_OR_RETURN(onnx::TensorBytes bytes, Decode(tensor));
    value.elements.push_back(std::move(bytes));
  }
  if (sequence.sequence_values_size() + sequence.map_values_size() +
          sequence.optional_values_size() >
      0) {
    return UnimplementedError(
        "expected a sequence of tensors, found one of other values");
  }
  return OkStatus();
}

// Decodes the bytes of a TensorProto, SequenceProto or OptionalProto. A message
// does not name its own type, so the fields decide: a TensorProto has a data
// type and data, and the second field of a sequence is the kind of its
// elements.
StatusOr<Value> ParseValue(const std::string& bytes, bool may_be_sequence) {
  Value value;
  onnx::TensorProto tensor;
  const bool parsed = tensor.ParseFromString(bytes);
  const bool is_tensor =
      parsed && tensor.has_data_type() &&
      (tensor.has_raw_data() || tensor.float_data_size() > 0 ||
       tensor.int32_data_size() > 0 || tensor.int64_data_size() > 0 ||
       tensor.double_data_size() > 0 || tensor.uint64_data_size() > 0 ||
       tensor.string_data_size() > 0 || !may_be_sequence);
  if (is_tensor) {
    StatusOr<onnx::TensorBytes> element = Decode(tensor);
    if (element.ok()) {
      value.elements.push_back(*std::move(element));
      return value;
    }
    if (!may_be_sequence) return element.status();
  }
  onnx::OptionalProto optional;
  if (optional.ParseFromString(bytes) && optional.has_sequence_value()) {
    EMBER_RETURN_IF_ERROR(AddElements(optional.sequence_value(), value));
    return value;
  }
  onnx::SequenceProto sequence;
  if (sequence.ParseFromString(bytes) && sequence.elem_type() == kTensor) {
    EMBER_RETURN_IF_ERROR(AddElements(sequence, value));
    return value;
  }
  if (optional.ParseFromString(bytes) && optional.has_elem_type()) {
    value.present =
        optional.elem_type() != kNothing && optional.has_tensor_value();
    if (value.present) {
      EMBER_ASSIGN_OR_RETURN(onnx::TensorBytes element,
                             Decode(optional.tensor_value()));
      value.elements.push_back(std::move(element));
    }
    return value;
  }
  return DataLossError("expected a tensor, sequence or optional");
}

StatusOr<vm::Tensor> MakeTensor(DType type, std::vector<int64_t> dims) {
  return vm::Tensor::Allocate(type, std::move(dims));
}

// Returns one tensor with the elements of all tensors, one tensor after the
// other; a tensor of size 0 if there are none.
StatusOr<vm::Tensor> JoinElements(const Value& value, DType type,
                                  bool strings) {
  if (strings) {
    std::vector<std::string> all;
    for (const onnx::TensorBytes& element : value.elements)
      all.insert(all.end(), element.strings.begin(), element.strings.end());
    const auto count = static_cast<int64_t>(all.size());
    return vm::Tensor::OfStrings({count}, std::move(all));
  }
  size_t total = 0;
  for (const onnx::TensorBytes& element : value.elements)
    total += element.bytes.size();
  EMBER_ASSIGN_OR_RETURN(
      vm::Tensor data,
      MakeTensor(type, {static_cast<int64_t>(total) / DTypeByteSize(type)}));
  auto* bytes = static_cast<uint8_t*>(data.data);
  for (const onnx::TensorBytes& element : value.elements)
    bytes = std::copy(element.bytes.begin(), element.bytes.end(), bytes);
  return data;
}

// Represents a sequence by two tensors: the data of all its elements, and a
// table with a row of dims for each element. Shorter rows are padded with -1.
StatusOr<std::vector<vm::Tensor>> PairOf(const Value& value,
                                         const vm::TensorSignature& signature,
                                         int64_t rank) {
  const bool strings = signature.logical_type == vm::kStringType;
  for (const onnx::TensorBytes& element : value.elements) {
    if (element.dtype == signature.type && element.is_strings() == strings &&
        std::ssize(element.dims) <= std::max<int64_t>(rank, 0)) {
      continue;
    }
    const auto type_name = [](bool is_string, DType type) {
      return std::string(is_string ? "string" : DTypeName(type));
    };
    return InvalidArgumentError(
        "expected elements of type " + type_name(strings, signature.type) +
        " and rank " + std::to_string(rank) + " at most, found " +
        type_name(element.is_strings(), element.dtype) + " of rank " +
        std::to_string(element.dims.size()));
  }
  EMBER_ASSIGN_OR_RETURN(vm::Tensor data,
                         JoinElements(value, signature.type, strings));
  const auto count = std::ssize(value.elements);
  EMBER_ASSIGN_OR_RETURN(vm::Tensor dims,
                         MakeTensor(DType::kI64, {count, rank}));
  auto* row = static_cast<int64_t*>(dims.data);
  for (const onnx::TensorBytes& element : value.elements) {
    std::fill(row, row + rank, -1);
    std::copy(element.dims.begin(), element.dims.end(), row);
    row += rank;
  }
  return std::vector<vm::Tensor>{std::move(data), std::move(dims)};
}

// True if the first two signatures are the values and the keys of a map or of a
// sequence of maps, by their names and types.
bool HasKeys(std::span<const vm::TensorSignature> parts) {
  if (parts.size() < 2 || parts[0].dims.empty()) return false;
  const vm::TensorSignature& keys = parts[1];
  return keys.name == parts[0].name + ".keys" &&
         (keys.logical_type == "map_keys" ||
          keys.logical_type == vm::kStringType) &&
         keys.dims == std::vector<int64_t>{parts[0].dims.back()};
}

StatusOr<std::vector<vm::Tensor>> ReadMaps(
    const std::string& bytes, std::span<const vm::TensorSignature> parts) {
  EMBER_ASSIGN_OR_RETURN(const MapTensors map, parts[0].dims.size() == 1
                                                   ? ParseMap(bytes)
                                                   : ParseMapSequence(bytes));
  const bool strings = parts[1].logical_type == vm::kStringType;
  if (map.keys.is_strings() != strings) {
    return InvalidArgumentError(
        std::string("expected keys that are ") +
        (strings ? "strings, found integers" : "integers, found strings"));
  }
  EMBER_ASSIGN_OR_RETURN(vm::Tensor values, TensorOf(map.values));
  EMBER_ASSIGN_OR_RETURN(vm::Tensor keys, TensorOf(map.keys));
  return std::vector<vm::Tensor>{std::move(values), std::move(keys)};
}

}  // namespace

StatusOr<vm::Tensor> TensorOf(const onnx::TensorBytes& bytes) {
  if (bytes.is_strings())
    return vm::Tensor::OfStrings(bytes.dims, bytes.strings);
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         MakeTensor(bytes.dtype, bytes.dims));
  std::copy(bytes.bytes.begin(), bytes.bytes.end(),
            static_cast<uint8_t*>(tensor.data));
  return tensor;
}

StatusOr<vm::Tensor> ReadTensorProto(const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const onnx::TensorBytes read,
                         onnx::ReadTensorFile(path));
  return TensorOf(read);
}

std::string SerializeTensorProto(std::string_view name,
                                 const vm::Tensor& tensor) {
  if (tensor.strings != nullptr)
    return onnx::SerializeStrings(name, tensor.dims, *tensor.strings);
  return onnx::SerializeTensor(name, tensor.type, tensor.dims,
                               {static_cast<const uint8_t*>(tensor.data),
                                static_cast<size_t>(tensor.byte_size)});
}

size_t PartCount(std::span<const vm::TensorSignature> signatures,
                 size_t first) {
  const auto follows = [&](size_t index, std::string_view suffix,
                           std::string_view type) {
    return index < signatures.size() &&
           signatures[index].logical_type == type &&
           signatures[index].name ==
               signatures[first].name + std::string(suffix);
  };
  const bool pair = follows(first + 1, ".dims", "sequence_dims") ||
                    follows(first + 1, ".dims", "optional_dims");
  if (!pair) return HasKeys(signatures.subspan(first)) ? 2 : 1;
  return follows(first + 2, ".present", "present") ? 3 : 2;
}

StatusOr<std::vector<vm::Tensor>> ReadDataFile(
    const std::string& path, std::span<const vm::TensorSignature> parts) {
  EMBER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (HasKeys(parts)) {
    StatusOr<std::vector<vm::Tensor>> maps = ReadMaps(bytes, parts);
    if (!maps.ok()) return maps.status().WithContext(path);
    return maps;
  }
  StatusOr<Value> value = ParseValue(bytes, parts.size() > 1);
  if (!value.ok()) return value.status().WithContext(path);
  if (parts.size() == 1) {
    if (value->is_sequence || value->elements.size() != 1)
      return InvalidArgumentError(path + ": expected a tensor");
    EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor, TensorOf(value->elements[0]));
    return std::vector<vm::Tensor>{std::move(tensor)};
  }
  StatusOr<std::vector<vm::Tensor>> tensors =
      PairOf(*value, parts[0], parts[1].dims[1]);
  if (!tensors.ok()) return tensors.status().WithContext(path);
  if (parts.size() == 3) {
    EMBER_ASSIGN_OR_RETURN(vm::Tensor flag, MakeTensor(DType::kBool, {}));
    *static_cast<uint8_t*>(flag.data) = value->present ? 1 : 0;
    tensors->push_back(std::move(flag));
  }
  return tensors;
}

StatusOr<std::vector<std::optional<int64_t>>> ReadPins(
    const std::string& path) {
  EMBER_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  if (ParseMap(bytes).ok()) return std::vector<std::optional<int64_t>>();
  StatusOr<Value> value = ParseValue(bytes, /*may_be_sequence=*/true);
  if (!value.ok()) value = ParseValue(bytes, /*may_be_sequence=*/false);
  if (!value.ok()) return value.status().WithContext(path);
  if (!value->is_sequence && value->elements.size() == 1) {
    const std::vector<int64_t>& dims = value->elements[0].dims;
    return std::vector<std::optional<int64_t>>(dims.begin(), dims.end());
  }
  size_t rank = 0;
  for (const onnx::TensorBytes& element : value->elements)
    rank = std::max(rank, element.dims.size());
  return std::vector<std::optional<int64_t>>(rank);
}

}  // namespace ember::tools
