#include "hal/cuda/tensor_maps.h"

#include <array>
#include <bit>
#include <string>

#include "base/concat.h"
#include "hal/cuda/buffer.h"

namespace ember::hal::cuda {
namespace {

// The constants below are requirements of cuTensorMapEncodeTiled. kAlignment is
// the alignment in bytes of addresses, strides and rows of a box.
constexpr int64_t kAlignment = 16;
constexpr int64_t kMaxExtent = int64_t{1} << 32;
constexpr int64_t kMaxStride = (int64_t{1} << 40) - 1;
constexpr int64_t kMaxBox = 256;
// Largest number of bytes of a row of a swizzled box.
constexpr int64_t kSwizzledBytes = 128;

Status Refuse(size_t map, std::string_view expected, int64_t found) {
  return InvalidArgumentError(
      Concat({"tensor map ", map, ": expected ", expected, ", found ", found}));
}

Status CheckMap(size_t number, const BoxMap& map, int binding_count) {
  if (map.binding < 0 || map.binding >= binding_count)
    return Refuse(number, Concat({"a binding below ", binding_count}),
                  map.binding);
  if (map.element_bytes < 1 || map.element_bytes > 8 ||
      !std::has_single_bit(static_cast<unsigned>(map.element_bytes)))
    return Refuse(number, "elements of 1, 2, 4 or 8 bytes", map.element_bytes);
  if (map.dims < 1 || map.dims > BoxMap::kMaxDims)
    return Refuse(number, "1 to 5 dims", map.dims);
  for (int i = 0; i < map.dims; ++i) {
    if (map.box[i] < 1 || map.box[i] > kMaxBox)
      return Refuse(number, "a box of 1 to 256 elements in each dim",
                    map.box[i]);
  }
  std::array<bool, BoxMap::kMaxDims> is_there = {};
  for (int i = 0; i < map.dims; ++i) {
    const uint32_t dim = map.order[i];
    if (dim >= static_cast<uint32_t>(map.dims) || is_there[dim])
      return Refuse(number, "an order with each dim once", dim);
    is_there[dim] = true;
  }
  const uint32_t innermost = map.order[map.dims - 1];
  if (innermost != static_cast<uint32_t>(map.dims) - 1)
    return Refuse(number, "the tensor's innermost dim last in its order",
                  innermost);
  const int64_t row = int64_t{map.box[map.dims - 1]} * map.element_bytes;
  if (row % kAlignment != 0)
    return Refuse(number, "rows of a multiple of 16 bytes", row);
  if (map.is_swizzled && row > kSwizzledBytes)
    return Refuse(number, "at most 128 bytes in a row that is swizzled", row);
  return OkStatus();
}

CUtensorMapDataType TypeOf(int element_bytes) {
  switch (element_bytes) {
    case 1:
      return kTensorMapUint8;
    case 2:
      return kTensorMapUint16;
    case 4:
      return kTensorMapUint32;
    default:
      return kTensorMapUint64;
  }
}

// The arguments of a call of cuTensorMapEncodeTiled, with the innermost dim
// first. CUDA's documentation shows strides that grow from dim to dim, but
// other orders are in use (FlashAttention 3 has maps of rows, heads and batches
// in that order, with heads inside of rows).
struct Geometry {
  std::array<uint64_t, BoxMap::kMaxDims> extents = {};
  // Strides in bytes of the dims except the innermost one, whose elements are
  // contiguous.
  std::array<uint64_t, BoxMap::kMaxDims> strides = {};
  std::array<uint32_t, BoxMap::kMaxDims> box = {};
};

StatusOr<Geometry> GeometryOf(size_t number, const BoxMap& map,
                              const BufferRange& binding,
                              std::span<const int64_t> extents) {
  // The stride in bytes of each dim, in the tensor's order (the outermost
  // first).
  std::array<uint64_t, BoxMap::kMaxDims> strides = {};
  // Stride of the current dim: the product of the extents of all later dims, in
  // bytes.
  int64_t bytes = map.element_bytes;
  for (int dim = map.dims - 1; dim >= 0; --dim) {
    const int64_t extent = extents[static_cast<size_t>(dim)];
    if (extent < 1 || extent > kMaxExtent)
      return Refuse(number, "extents from 1 to 2^32", extent);
    const bool is_innermost = dim == map.dims - 1;
    if (!is_innermost && (bytes % kAlignment != 0 || bytes > kMaxStride))
      return Refuse(number, "strides of a multiple of 16 bytes and below 2^40",
                    bytes);
    strides[dim] = static_cast<uint64_t>(bytes);
    // Besides refusing tensors that are too large, this check ensures that the
    // product of the extents, which the loop computes, does not overflow.
    if (extent > binding.length / bytes) {
      return InvalidArgumentError(Concat(
          {"tensor map ", number, ": expected a tensor within ", binding.length,
           " bytes of binding ", map.binding, ", found a larger one"}));
    }
    bytes *= extent;
  }
  Geometry geometry;
  for (int i = 0; i < map.dims; ++i) {
    const uint32_t dim = map.order[map.dims - 1 - i];
    geometry.extents[i] = static_cast<uint64_t>(extents[dim]);
    geometry.box[i] = map.box[dim];
    if (i > 0) geometry.strides[i - 1] = strides[dim];
  }
  return geometry;
}

}  // namespace

Status CheckMaps(std::span<const BoxMap> maps, int binding_count) {
  for (size_t i = 0; i < maps.size(); ++i)
    EMBER_RETURN_IF_ERROR(CheckMap(i, maps[i], binding_count));
  return OkStatus();
}

StatusOr<std::vector<CUtensorMap>> EncodeMaps(
    Context& context, std::span<const BoxMap> maps,
    std::span<const BufferRange> bindings, std::span<const int64_t> extents) {
  constexpr std::array<uint32_t, BoxMap::kMaxDims> kAllElements = {1, 1, 1, 1,
                                                                   1};
  std::vector<CUtensorMap> encoded(maps.size());
  const Context::Current current(context);
  EMBER_RETURN_IF_ERROR(current.status());
  for (size_t i = 0; i < maps.size(); ++i) {
    const BoxMap& map = maps[i];
    const BufferRange& binding = bindings[static_cast<size_t>(map.binding)];
    const auto dims = static_cast<size_t>(map.dims);
    EMBER_ASSIGN_OR_RETURN(const Geometry geometry,
                           GeometryOf(i, map, binding, extents.first(dims)));
    extents = extents.subspan(dims);
    EMBER_RETURN_IF_ERROR(context.Check(
        "cuTensorMapEncodeTiled",
        context.cu().TensorMapEncodeTiled(
            &encoded[i], TypeOf(map.element_bytes),
            static_cast<uint32_t>(map.dims),
            reinterpret_cast<void*>(static_cast<uintptr_t>(AddressOf(binding))),
            geometry.extents.data(), geometry.strides.data(),
            geometry.box.data(), kAllElements.data(), kTensorMapInterleaveNone,
            map.is_swizzled ? kTensorMapSwizzle128 : kTensorMapSwizzleNone,
            kTensorMapL2Promotion128, kTensorMapFillZeros)));
  }
  return encoded;
}

}  // namespace ember::hal::cuda
