#include "frontends/tf_common/inputs.h"

#include <cstdint>
#include <vector>

#include "base/one_line.h"

namespace ember::tf_common {

ops::Dim OpenDim(std::string_view input, size_t axis) {
  std::string name;
  for (const char c : input) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '_';
    name += plain ? c : '_';
  }
  if (name.empty() || name[0] == '_' || (name[0] >= '0' && name[0] <= '9'))
    name = "d" + name;
  return ops::Dim::Symbol(name + "_" + std::to_string(axis));
}

StatusOr<ops::Tensor> KnownInput(graph::GraphBuilder& builder,
                                 const std::string& name, DType dtype,
                                 bool strings,
                                 const frontends::KnownTensor& value) {
  if (value.strings.has_value() != strings ||
      (!strings && value.dtype != dtype)) {
    return InvalidArgumentError(
        "input '" + OnOneLine(name) + "': expected type " +
        (strings ? "string" : std::string(DTypeName(dtype))) + ", found " +
        (value.strings ? "string" : std::string(DTypeName(value.dtype))));
  }
  if (!strings) {
    return ops::Tensor(&builder, builder.Constant(dtype, value.dims,
                                                  {.owner = value.owner,
                                                   .bytes = value.bytes}));
  }
  std::vector<int64_t> handles;
  for (const std::string& text : *value.strings)
    handles.push_back(builder.StringHandle(text));
  const auto* begin = reinterpret_cast<const uint8_t*>(handles.data());
  return ops::Tensor(
      &builder,
      builder.Constant(dtype, value.dims,
                       graph::ConstantData::Copy(
                           {begin, handles.size() * sizeof(int64_t)})));
}

}  // namespace ember::tf_common
