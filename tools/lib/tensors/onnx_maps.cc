#include "tools/lib/tensors/onnx_maps.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "third_party/onnx/onnx_data.pb.h"

namespace ember::tools {
namespace {

using onnx::TensorBytes;

// Owns the elements of a tensor of any type, and returns them in a new order.
class Elements {
 public:
  explicit Elements(const TensorBytes& like) : like_(like) {}

  Status Add(const TensorBytes& tensor) {
    if (tensor.dtype != like_.dtype ||
        tensor.carried_type != like_.carried_type)
      return InvalidArgumentError("expected values of one type in a map");
    strings_.insert(strings_.end(), tensor.strings.begin(),
                    tensor.strings.end());
    bytes_.insert(bytes_.end(), tensor.bytes.begin(), tensor.bytes.end());
    return OkStatus();
  }

  size_t size() const {
    return like_.is_strings() ? strings_.size() : bytes_.size() / width();
  }

  // Returns the elements in the order of `order`, a list of indices.
  TensorBytes At(const std::vector<size_t>& order) const {
    TensorBytes result;
    result.dtype = like_.dtype;
    result.carried_type = like_.carried_type;
    result.dims = {std::ssize(order)};
    auto bytes = std::make_shared<std::vector<uint8_t>>();
    for (size_t i : order) {
      if (like_.is_strings()) {
        result.strings.push_back(strings_[i]);
        continue;
      }
      const auto begin = bytes_.begin() + static_cast<ptrdiff_t>(i * width());
      bytes->insert(bytes->end(), begin,
                    begin + static_cast<ptrdiff_t>(width()));
    }
    result.bytes = *bytes;
    result.owner = std::move(bytes);
    return result;
  }

 private:
  size_t width() const {
    return static_cast<size_t>(DTypeByteSize(like_.dtype));
  }

  const TensorBytes& like_;
  std::vector<std::string> strings_;
  std::vector<uint8_t> bytes_;
};

TensorBytes StringKeys(std::vector<std::string> keys) {
  TensorBytes result;
  result.dtype = DType::kI64;
  result.carried_type = onnx::TensorProto::STRING;
  result.dims = {std::ssize(keys)};
  result.strings = std::move(keys);
  return result;
}

TensorBytes IntegerKeys(const std::vector<int64_t>& keys) {
  TensorBytes result;
  result.dtype = DType::kI64;
  result.dims = {std::ssize(keys)};
  auto bytes =
      std::make_shared<std::vector<uint8_t>>(keys.size() * sizeof(int64_t));
  if (!keys.empty()) std::memcpy(bytes->data(), keys.data(), bytes->size());
  result.bytes = *bytes;
  result.owner = std::move(bytes);
  return result;
}

// Sorts the keys in ascending order. Returns for each sorted key the index that
// it had before.
template <typename Key>
StatusOr<std::vector<size_t>> SortKeys(std::vector<Key>& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return keys[i]; });
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) != keys.end())
    return InvalidArgumentError("expected keys that differ in a map");
  return order;
}

// Decodes a map. Some programs write the values as one tensor, others as one
// tensor for each value.
StatusOr<MapTensors> Decode(const onnx::MapProto& map) {
  const bool strings = map.string_keys_size() > 0;
  std::vector<std::string> texts(map.string_keys().begin(),
                                 map.string_keys().end());
  std::vector<int64_t> numbers(map.keys().begin(), map.keys().end());
  if (strings && !numbers.empty())
    return InvalidArgumentError("expected keys of one type in a map");
  EMBER_ASSIGN_OR_RETURN(const std::vector<size_t> order,
                         strings ? SortKeys(texts) : SortKeys(numbers));
  std::vector<TensorBytes> parts;
  for (const onnx::TensorProto& tensor : map.values().tensor_values()) {
    EMBER_ASSIGN_OR_RETURN(parts.emplace_back(),
                           onnx::DecodeTensor(tensor, nullptr, nullptr));
  }
  if (parts.empty()) return InvalidArgumentError("expected values in a map");
  Elements elements(parts.front());
  for (const TensorBytes& part : parts)
    EMBER_RETURN_IF_ERROR(elements.Add(part));
  if (elements.size() != order.size()) {
    return InvalidArgumentError("expected one number or string for each of " +
                                std::to_string(order.size()) +
                                " keys of a map, found " +
                                std::to_string(elements.size()));
  }
  return MapTensors{elements.At(order), strings ? StringKeys(std::move(texts))
                                                : IntegerKeys(numbers)};
}

bool SameKeys(const TensorBytes& a, const TensorBytes& b) {
  return a.carried_type == b.carried_type && a.strings == b.strings &&
         std::ranges::equal(a.bytes, b.bytes);
}

}  // namespace

StatusOr<MapTensors> ParseMap(const std::string& bytes) {
  onnx::MapProto map;
  if (!map.ParseFromString(bytes) || !map.has_values())
    return DataLossError("expected a map");
  return Decode(map);
}

StatusOr<MapTensors> ParseMapSequence(const std::string& bytes) {
  onnx::SequenceProto sequence;
  if (!sequence.ParseFromString(bytes) || sequence.map_values_size() == 0)
    return DataLossError("expected a sequence of maps");
  std::vector<MapTensors> maps;
  for (const onnx::MapProto& map : sequence.map_values()) {
    EMBER_ASSIGN_OR_RETURN(maps.emplace_back(), Decode(map));
    if (!SameKeys(maps.back().keys, maps.front().keys))
      return UnimplementedError("expected maps of the same keys");
  }
  MapTensors result = maps.front();
  Elements elements(result.values);
  for (const MapTensors& map : maps)
    EMBER_RETURN_IF_ERROR(elements.Add(map.values));
  std::vector<size_t> all(elements.size());
  std::iota(all.begin(), all.end(), size_t{0});
  TensorBytes values = elements.At(all);
  values.dims = {std::ssize(maps), result.keys.dims[0]};
  result.values = std::move(values);
  return result;
}

}  // namespace ember::tools
