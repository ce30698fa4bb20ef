#include "frontends/caffe2/value_info.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/one_line.h"
#include "frontends/caffe2/operator_context.h"

namespace ember::caffe2 {
namespace {

using Json = nlohmann::json;

std::optional<BlobInfo> InfoOf(const Json& value) {
  if (!value.is_array() || value.size() != 2 || !value[0].is_number_integer() ||
      !value[1].is_array() || value[1].size() > size_t{kMaxRank})
    return std::nullopt;
  const std::optional<DType> dtype = TypeOfNumber(value[0].get<int64_t>());
  if (!dtype) return std::nullopt;
  BlobInfo info{.dtype = *dtype, .dims = {}};
  for (const Json& dim : value[1]) {
    if (!dim.is_number_integer() || dim.get<int64_t>() < 0) return std::nullopt;
    info.dims.push_back(dim.get<int64_t>());
  }
  return info;
}

}  // namespace

StatusOr<ValueInfo> ReadValueInfo(std::string_view contents) {
  const Json whole = Json::parse(contents, nullptr, /*allow_exceptions=*/false);
  if (!whole.is_object()) {
    return DataLossError(
        "value_info.json: expected a JSON object of blobs, found none");
  }
  ValueInfo infos;
  for (const auto& [name, value] : whole.items()) {
    std::optional<BlobInfo> info = InfoOf(value);
    if (!info) {
      return DataLossError("value_info.json: '" + OnOneLine(name) +
                           "': expected [number of a type, [dims]]");
    }
    infos.emplace(name, *std::move(info));
  }
  return infos;
}

}  // namespace ember::caffe2
