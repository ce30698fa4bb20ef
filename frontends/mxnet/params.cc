#include "frontends/mxnet/params.h"

#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"

namespace ember::mxnet {
namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV1 = 0xf993fac8, kV2 = 0xf993fac9, kV3 = 0xf993faca;
constexpr uint32_t kMaxRank = 32;
constexpr uint64_t kMaxBytes = uint64_t{1} << 40;

std::optional<DType> DTypeOf(uint64_t flag) {
  static constexpr std::pair<uint64_t, DType> kTypes[] = {
      {0, DType::kF32}, {1, DType::kF64},  {2, DType::kF16}, {3, DType::kU8},
      {4, DType::kI32}, {5, DType::kI8},   {6, DType::kI64}, {7, DType::kBool},
      {8, DType::kI16}, {12, DType::kBF16}};
  for (const auto& [number, type] : kTypes)
    if (number == flag) return type;
  return std::nullopt;
}

std::string What(uint64_t index) {
  return "params: array " + std::to_string(index);
}

StatusOr<Array> ReadArray(ByteCursor& in, uint64_t index,
                          const std::shared_ptr<const void>& owner) {
  Array array;
  const auto first = static_cast<uint32_t>(in.Unsigned(4));
  uint64_t rank = first;
  int width = 4;
  bool may_be_none = true;
  if (first == kV1 || first == kV2 || first == kV3) {
    if (first != kV1) {
      // Number of the array's storage type: 0 means dense, others are sparse.
      const auto storage = static_cast<int32_t>(in.Unsigned(4));
      if (storage != 0 && in.ok()) {
        return UnimplementedError(What(index) +
                                  ": expected a dense array, found storage "
                                  "type " +
                                  std::to_string(storage) + " (sparse)");
      }
    }
    width = 8;
    rank = in.Unsigned(4);
    // Since version V3, an array without dims is a scalar, and a rank of -1
    // means that there is no array. In older versions an array without dims
    // means that there is none.
    may_be_none = first != kV3;
    if (!may_be_none && rank == 0xffffffff) {
      rank = 0;
      may_be_none = true;
    }
  }
  if (rank > kMaxRank) {
    return DataLossError(What(index) + ": expected at most " +
                         std::to_string(kMaxRank) + " dims, found " +
                         std::to_string(rank));
  }
  uint64_t count = 1;
  for (uint64_t i = 0; i < rank; ++i) {
    const uint64_t dim = in.Unsigned(width);
    if (dim > kMaxBytes || (dim > 0 && count > kMaxBytes / dim)) {
      return DataLossError(What(index) + ": expected dims of a tensor, found " +
                           std::to_string(dim));
    }
    array.dims.push_back(static_cast<int64_t>(dim));
    count *= dim;
  }
  if (rank == 0 && may_be_none) {
    array.dims = {0};
    return array;
  }
  in.Unsigned(4);  // The device's type.
  in.Unsigned(4);  // The device's number.
  const uint64_t flag = in.Unsigned(4);
  if (!in.ok()) return DataLossError(What(index) + ": the file is cut off");
  const std::optional<DType> dtype = DTypeOf(flag);
  if (!dtype) {
    return UnimplementedError(What(index) + ": element type " +
                              std::to_string(flag));
  }
  array.dtype = *dtype;
  array.bytes = in.Take(count * static_cast<uint64_t>(DTypeByteSize(*dtype)));
  array.owner = owner;
  if (!in.ok()) {
    return DataLossError(What(index) + ": expected " + std::to_string(count) +
                         " elements of type " + std::string(DTypeName(*dtype)) +
                         ", found the end of the file");
  }
  return array;
}

}  // namespace

bool IsParams(std::string_view contents) {
  return contents.starts_with(std::string_view("\x12\x01\0\0\0\0\0\0", 8));
}

StatusOr<Params> ReadParams(std::span<const uint8_t> bytes,
                            const std::shared_ptr<const void>& owner) {
  ByteCursor in(bytes);
  if (in.Unsigned(8) != kListMagic)
    return DataLossError("params: expected a list of arrays, found none");
  in.Unsigned(8);
  const uint64_t count = in.Unsigned(8);
  // Each array takes at least four bytes of the file, which bounds the count.
  if (!in.ok() || count > in.remaining() / 4)
    return DataLossError("params: expected fewer arrays, found " +
                         std::to_string(count));
  std::vector<Array> arrays;
  for (uint64_t i = 0; i < count; ++i) {
    EMBER_ASSIGN_OR_RETURN(arrays.emplace_back(), ReadArray(in, i, owner));
  }
  const uint64_t names = in.Unsigned(8);
  if (!in.ok() || names != count) {
    return DataLossError("params: expected a name for each of " +
                         std::to_string(count) + " arrays, found " +
                         std::to_string(names));
  }
  Params params;
  for (uint64_t i = 0; i < count; ++i) {
    std::string_view name = AsText(in.Take(in.Unsigned(8)));
    if (!in.ok())
      return DataLossError("params: the names of arrays are cut off");
    for (const std::string_view prefix : {"arg:", "aux:"})
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    if (!params.emplace(std::string(name), std::move(arrays[i])).second) {
      return DataLossError("params: expected '" + OnOneLine(name) +
                           "' once, found it twice");
    }
  }
  return params;
}

}  // namespace ember::mxnet
