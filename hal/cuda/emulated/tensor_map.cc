#include "hal/cuda/emulated/tensor_map.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "hal/cuda/api/result.h"

namespace ember::hal::cuda {
namespace {

constexpr uint64_t kMapAlignment = 64;
// Required alignment in bytes of a tensor's address, of its strides, and of the
// size of a box's rows.
constexpr uint64_t kAlignment = 16;
constexpr uint64_t kMaxExtent = uint64_t{1} << 32;
// Every stride in bytes must be less than this number.
constexpr uint64_t kMaxStride = uint64_t{1} << 40;
constexpr uint32_t kMaxBox = 256;
// Largest number of bytes of a row of a swizzled box.
constexpr uint64_t kSwizzledBytes = 128;

// Returns the number of bytes of an element; 0 for unknown types.
uint32_t ElementBytes(CUtensorMapDataType type) {
  switch (type) {
    case kTensorMapUint8:
      return 1;
    case kTensorMapUint16:
      return 2;
    case kTensorMapUint32:
      return 4;
    case kTensorMapUint64:
      return 8;
    default:
      return 0;
  }
}

uint64_t AddressOf(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

// True if each stride is at least the size of all dims with smaller strides
// together, so that elements do not overlap. CUDA's driver does not require
// this, but all of Ember's maps fulfil it.
bool HasRoom(const TensorMap& map) {
  std::array<uint32_t, TensorMap::kMaxDims> dims = {};
  uint32_t count = 0;
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (i == 0 || map.extents[i] > 1) dims[count++] = i;
  }
  std::sort(
      dims.begin() + 1, dims.begin() + count,
      [&](uint32_t a, uint32_t b) { return map.strides[a] < map.strides[b]; });
  for (uint32_t i = 1; i < count; ++i) {
    const uint32_t inner = dims[i - 1];
    if (map.strides[dims[i]] / map.strides[inner] < map.extents[inner])
      return false;
  }
  return true;
}

}  // namespace

CUresult EncodeTensorMap(CUtensorMap* bytes, CUtensorMapDataType type,
                         uint32_t rank, void* address, const uint64_t* extents,
                         const uint64_t* strides, const uint32_t* box,
                         const uint32_t* element_strides,
                         CUtensorMapInterleave interleave,
                         CUtensorMapSwizzle swizzle,
                         CUtensorMapL2promotion promotion,
                         CUtensorMapFloatOOBfill fill) {
  if (bytes == nullptr || AddressOf(bytes) % kMapAlignment != 0 || rank < 1 ||
      rank > TensorMap::kMaxDims || ElementBytes(type) == 0 ||
      address == nullptr || AddressOf(address) % kAlignment != 0 ||
      interleave != kTensorMapInterleaveNone ||
      (swizzle != kTensorMapSwizzleNone && swizzle != kTensorMapSwizzle128) ||
      promotion < 0 || promotion > kTensorMapL2Promotion256 ||
      fill != kTensorMapFillZeros)
    return kInvalidValue;
  TensorMapRecord record;
  record.magic = TensorMapRecord::kMagic;
  TensorMap& map = record.map;
  map.address = AddressOf(address);
  map.element_bytes = ElementBytes(type);
  map.rank = rank;
  map.is_swizzled = swizzle == kTensorMapSwizzle128;
  map.extents.fill(1);
  map.box.fill(1);
  for (uint32_t i = 0; i < rank; ++i) {
    map.extents[i] = extents[i];
    map.box[i] = box[i];
    map.strides[i] = i == 0 ? map.element_bytes : strides[i - 1];
    if (extents[i] < 1 || extents[i] > kMaxExtent || box[i] < 1 ||
        box[i] > kMaxBox)
      return kInvalidValue;
    // CUDA supports other element strides too, but the emulated grid always
    // copies all elements of a box.
    if (element_strides[i] != 1) return kInvalidValue;
    if (i > 0 &&
        (map.strides[i] % kAlignment != 0 || map.strides[i] >= kMaxStride))
      return kInvalidValue;
  }
  if (!HasRoom(map)) return kInvalidValue;
  const uint64_t row = uint64_t{box[0]} * map.element_bytes;
  if (row % kAlignment != 0 || (map.is_swizzled && row > kSwizzledBytes))
    return kInvalidValue;
  std::memcpy(bytes->opaque, &record, sizeof record);
  return kSuccess;
}

bool ReadTensorMap(const void* bytes, TensorMap& map) {
  TensorMapRecord record;
  std::memcpy(&record, bytes, sizeof record);
  if (record.magic != TensorMapRecord::kMagic) return false;
  map = record.map;
  return true;
}

}  // namespace ember::hal::cuda
