#include "frontends/caffe/weights.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/protobuf_fields.h"

namespace ember::caffe {
namespace {

using frontends::ProtobufField;
using frontends::ProtobufFields;
using frontends::WireType;
using Bytes = std::span<const uint8_t>;

// Numbers of the fields of messages in caffe.proto.
constexpr uint64_t kNetName = 1, kNetLayersV1 = 2, kNetLayer = 100;
constexpr uint64_t kLayerBlobs = 7, kLayerV1Blobs = 6, kLayerV1V0 = 1,
                   kLayerV0Blobs = 50;
constexpr uint64_t kLayerName = 1, kLayerV1Name = 4, kLayerV0Name = 1;

// Fields of a blob that NVIDIA's fork adds: the number of an element type, and
// the elements as bytes.
constexpr uint64_t kBlobRawType = 10, kBlobRaw = 12;

constexpr size_t kMaxBlobs = 4096;  // Largest number of blobs of one layer.

std::string AsText(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

void Append(Bytes bytes, std::string& text) {
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void AppendVarint(uint64_t value, std::string& text) {
  for (; value >= 0x80; value >>= 7)
    text += static_cast<char>(0x80 | (value & 0x7f));
  text += static_cast<char>(value);
}

void AppendMessage(uint64_t number, const std::string& message,
                   std::string& text) {
  AppendVarint(number << 3 | 2, text);
  AppendVarint(message.size(), text);
  text += message;
}

// A layer without its blobs, and the encoded blobs that were left out.
struct LayerParts {
  std::string name;
  std::string rest;
  std::vector<Bytes> blobs;
};

Status Damaged(const std::string& what) {
  return DataLossError("expected a caffemodel, found " + what +
                       " that does not parse as one");
}

// `version`: format of the layer's message: 2 for LayerParameter, 1 and 0 for
// the older ones.
Status TakeApart(Bytes message, int version, LayerParts& parts) {
  const uint64_t blobs = version == 2   ? kLayerBlobs
                         : version == 1 ? kLayerV1Blobs
                                        : kLayerV0Blobs;
  const uint64_t name = version == 2   ? kLayerName
                        : version == 1 ? kLayerV1Name
                                       : kLayerV0Name;
  ProtobufFields fields(message);
  ProtobufField field;
  while (fields.Next(field)) {
    const bool is_bytes = field.type == WireType::kBytes;
    if (is_bytes && field.number == blobs) {
      parts.blobs.push_back(field.bytes);
      if (parts.blobs.size() > kMaxBlobs)
        return DataLossError("expected at most " + std::to_string(kMaxBlobs) +
                             " blobs of a layer, found more");
    } else if (is_bytes && version == 1 && field.number == kLayerV1V0) {
      LayerParts inner;
      EMBER_RETURN_IF_ERROR(TakeApart(field.bytes, 0, inner));
      AppendMessage(kLayerV1V0, inner.rest, parts.rest);
      parts.name = inner.name;
      parts.blobs.insert(parts.blobs.end(), inner.blobs.begin(),
                         inner.blobs.end());
    } else {
      if (is_bytes && field.number == name) parts.name = AsText(field.bytes);
      Append(field.encoding, parts.rest);
    }
  }
  if (fields.damaged()) return Damaged("a layer");
  return OkStatus();
}

Status ReadDims(Bytes message, std::vector<int64_t>& dims) {
  ProtobufFields fields(message);
  ProtobufField field;
  while (fields.Next(field)) {
    if (field.number != 1) continue;
    if (field.type == WireType::kVarint)
      dims.push_back(static_cast<int64_t>(field.value));
    while (field.type == WireType::kBytes && !field.bytes.empty()) {
      uint64_t value;
      if (!frontends::ReadVarint(field.bytes, value) || dims.size() > 64)
        return Damaged("a shape");
      dims.push_back(static_cast<int64_t>(value));
    }
    if (dims.size() > 64) return Damaged("a shape");
  }
  return fields.damaged() ? Damaged("a shape") : OkStatus();
}

struct AlignedMemory {
  uint8_t* data;
  std::shared_ptr<const void> owner;
};

AlignedMemory Allocate(size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  auto* data = static_cast<uint8_t*>(
      ::operator new(std::max<size_t>(bytes, 1), kAlignment));
  return {data, std::shared_ptr<uint8_t>(data, [](uint8_t* memory) {
            ::operator delete(memory, kAlignment);
          })};
}

float AsFloat(double value) { return static_cast<float>(value); }
float AsFloat(Float16 value) { return ToFloat(value); }

// Writes the numbers of type T as f32; returns the output position after them.
template <typename T>
uint8_t* AppendAsFloats(Bytes numbers, uint8_t* to) {
  for (size_t i = 0; i < numbers.size(); i += sizeof(T)) {
    T stored;
    std::memcpy(&stored, numbers.data() + i, sizeof(stored));
    const float number = AsFloat(stored);
    std::memcpy(to, &number, sizeof(number));
    to += sizeof(number);
  }
  return to;
}

// Returns the element type of a blob that NVIDIA's Caffe stores as bytes. A
// blob without the field is f64, the default.
StatusOr<DType> RawTypeOf(std::optional<uint64_t> type) {
  constexpr DType kTypes[] = {DType::kF64, DType::kF32, DType::kF16};
  const uint64_t number = type.value_or(0);
  if (number < std::size(kTypes)) return kTypes[number];
  return UnimplementedError(
      "blob: expected raw numbers of type 0 (double), 1 (float) or 2 (half), "
      "found " +
      std::to_string(number) +
      ": convert the weights to float before you save the net");
}

// True for a layer of an old net (V1 or V0): its type is a number, or is in a
// message of its own. A Caffe2 net, which has operators in the same field, is
// not accepted.
bool IsOldLayer(Bytes message) {
  ProtobufFields fields(message);
  ProtobufField field;
  bool found = false;
  while (fields.Next(field)) {
    found = found || (field.number == 5 && field.type == WireType::kVarint);
    if (field.number != kLayerV1V0 || field.type != WireType::kBytes) continue;
    ProtobufFields inner(field.bytes);
    bool has_type = false;
    while (inner.Next(field)) {
      has_type =
          has_type || (field.number == 2 && field.type == WireType::kBytes);
    }
    found = found || (has_type && !inner.damaged());
  }
  return found;
}

}  // namespace

Status Blob::CheckCount() {
  int64_t product = 1;
  for (const int64_t dim : dims_) {
    const std::optional<int64_t> next = CheckedMultiply(product, dim);
    if (dim < 0 || !next) {
      return DataLossError("blob: expected dims of at least 0, found " +
                           std::to_string(dim));
    }
    product = *next;
  }
  if (product != count_) {
    return DataLossError("blob: expected " + std::to_string(product) +
                         " numbers, as its shape says, found " +
                         std::to_string(count_));
  }
  return OkStatus();
}

StatusOr<Blob> Blob::Read(Bytes message, std::shared_ptr<const void> owner) {
  Blob blob;
  blob.owner_ = std::move(owner);
  std::vector<int64_t> old_dims(4, 0);
  std::vector<Bytes> doubles, raw;
  std::optional<uint64_t> raw_type;
  bool has_shape = false;
  ProtobufFields fields(message);
  ProtobufField field;
  while (fields.Next(field)) {
    const bool is_bytes = field.type == WireType::kBytes;
    if (field.number >= 1 && field.number <= 4 &&
        field.type == WireType::kVarint) {
      old_dims[field.number - 1] = static_cast<int64_t>(field.value);
    } else if (field.number == 5) {
      if (is_bytes) {
        blob.parts_.push_back(field.bytes);
      } else if (field.type == WireType::kI32) {
        // A float that is encoded alone, outside a packed list, is the last
        // four bytes of the field's encoding.
        blob.parts_.push_back(field.encoding.last(4));
      }
    } else if (field.number == 7 && is_bytes) {
      has_shape = true;
      EMBER_RETURN_IF_ERROR(ReadDims(field.bytes, blob.dims_));
    } else if (field.number == 8 && is_bytes) {
      doubles.push_back(field.bytes);
    } else if (field.number == kBlobRawType && !is_bytes) {
      raw_type = field.value;
    } else if (field.number == kBlobRaw && is_bytes) {
      raw = {field.bytes};
    }
  }
  if (fields.damaged()) return Damaged("a blob");
  if (blob.parts_.empty() && !doubles.empty()) {
    blob.dtype_ = DType::kF64;
    blob.parts_ = std::move(doubles);
  } else if (blob.parts_.empty() && !raw.empty()) {
    EMBER_ASSIGN_OR_RETURN(blob.dtype_, RawTypeOf(raw_type));
    blob.parts_ = std::move(raw);
  }
  const auto width = static_cast<size_t>(DTypeByteSize(blob.dtype_));
  size_t size = 0;
  for (const Bytes part : blob.parts_) {
    if (part.size() % width != 0) return Damaged("a blob's numbers");
    size += part.size();
  }
  blob.count_ = static_cast<int64_t>(size / width);
  if (!has_shape) blob.dims_ = old_dims;
  EMBER_RETURN_IF_ERROR(blob.CheckCount());
  return blob;
}

StatusOr<Blob> Blob::FromProto(const BlobProto& proto) {
  Blob blob;
  if (proto.has_shape()) {
    if (proto.shape().dim_size() > 64) return Damaged("a shape");
    blob.dims_.assign(proto.shape().dim().begin(), proto.shape().dim().end());
  } else {
    blob.dims_ = {proto.num(), proto.channels(), proto.height(), proto.width()};
  }
  blob.count_ = proto.data_size();
  EMBER_RETURN_IF_ERROR(blob.CheckCount());
  const size_t size = static_cast<size_t>(blob.count_) * sizeof(float);
  const AlignedMemory memory = Allocate(size);
  if (size > 0) std::memcpy(memory.data, proto.data().data(), size);
  blob.parts_ = {{memory.data, size}};
  blob.owner_ = memory.owner;
  return blob;
}

graph::ConstantData Blob::Data() const {
  const size_t size = static_cast<size_t>(count_) * sizeof(float);
  if (parts_.size() == 1 && dtype_ == DType::kF32 &&
      reinterpret_cast<uintptr_t>(parts_[0].data()) % alignof(float) == 0) {
    return {.owner = owner_, .bytes = parts_[0]};
  }
  const AlignedMemory memory = Allocate(size);
  uint8_t* to = memory.data;
  for (const Bytes part : parts_) {
    if (dtype_ == DType::kF64) {
      to = AppendAsFloats<double>(part, to);
    } else if (dtype_ == DType::kF16) {
      to = AppendAsFloats<Float16>(part, to);
    } else {
      if (!part.empty()) std::memcpy(to, part.data(), part.size());
      to += part.size();
    }
  }
  return {.owner = memory.owner, .bytes = {memory.data, size}};
}

const std::vector<Blob>* Weights::Find(std::string_view layer) const {
  const auto found = layers_.find(layer);
  return found == layers_.end() ? nullptr : &found->second;
}

void Weights::Add(const std::string& layer, std::vector<Blob> blobs) {
  layers_.emplace(layer, std::move(blobs));
}

StatusOr<Caffemodel> ReadCaffemodel(Bytes bytes,
                                    const std::shared_ptr<const void>& owner) {
  Caffemodel model;
  std::string rest;
  ProtobufFields fields(bytes);
  ProtobufField field;
  while (fields.Next(field)) {
    const bool is_layer =
        field.type == WireType::kBytes &&
        (field.number == kNetLayer || field.number == kNetLayersV1);
    if (!is_layer) {
      Append(field.encoding, rest);
      continue;
    }
    LayerParts parts;
    EMBER_RETURN_IF_ERROR(
        TakeApart(field.bytes, field.number == kNetLayer ? 2 : 1, parts));
    AppendMessage(field.number, parts.rest, rest);
    if (parts.blobs.empty()) continue;
    std::vector<Blob> blobs;
    for (const Bytes message : parts.blobs) {
      StatusOr<Blob> blob = Blob::Read(message, owner);
      if (!blob.ok()) {
        return blob.status().WithContext("layer '" + OnOneLine(parts.name) +
                                         "'");
      }
      blobs.push_back(*std::move(blob));
    }
    model.weights.Add(parts.name, std::move(blobs));
  }
  if (fields.damaged())
    return Damaged("a file of " + std::to_string(bytes.size()) + " bytes");
  if (rest.size() > INT32_MAX || !model.net.ParseFromString(rest))
    return Damaged("a net");
  return model;
}

bool IsCaffemodel(std::string_view contents) {
  ProtobufFields fields(
      {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()});
  ProtobufField field;
  bool has_layers = false;
  int names = 0;
  while (fields.Next(field)) {
    const bool is_bytes = field.type == WireType::kBytes;
    if (field.number > 8 && field.number != kNetLayer) return false;
    if (field.number == kNetName && (!is_bytes || ++names > 1)) return false;
    if (!is_bytes ||
        (field.number != kNetLayer && field.number != kNetLayersV1))
      continue;
    const bool is_old = field.number == kNetLayersV1;
    LayerParts parts;
    if (!TakeApart(field.bytes, is_old ? 1 : 2, parts).ok()) return false;
    if (is_old && !IsOldLayer(field.bytes)) return false;
    has_layers = has_layers || !parts.name.empty();
  }
  return has_layers && !fields.damaged();
}

}  // namespace ember::caffe
