// A tensor map in the format of the emulated library. NVIDIA does not document
// the 128 bytes of CUDA's maps; these hold a record that the emulated grid, and
// kernels of tests, can read.
//
//   CUtensorMap bytes;
//   CUresult result = EncodeTensorMap(&bytes, kTensorMapUint16, ...);
//   TensorMap map;
//   if (!ReadTensorMap(&bytes, map)) ...   // EncodeTensorMap did not write the bytes
//   map.extents[0];                        // along the innermost dim
//
// Plain values. Thread-safe.
//
// Source: cuTensorMapEncodeTiled in the CUDA Driver API reference.
#ifndef EMBER_HAL_CUDA_EMULATED_TENSOR_MAP_H_
#define EMBER_HAL_CUDA_EMULATED_TENSOR_MAP_H_

#include <array>
#include <cstdint>

#include "hal/cuda/api/functions.h"

namespace ember::hal::cuda {

// Describes a tensor and a box of it. Dims are ordered innermost first. Dims
// from number `rank` on are unused: their extent and box are 1 and their stride
// is 0.
struct TensorMap {
  static constexpr uint32_t kMaxDims = 5;

  uint64_t address = 0;  // device address of the tensor's first element
  // number of elements of the tensor along each dim
  std::array<uint64_t, kMaxDims> extents = {};
  // Distance in bytes between neighbouring elements along each dim.
  std::array<uint64_t, kMaxDims> strides = {};
  // Number of elements along each dim that one copy transfers.
  std::array<uint32_t, kMaxDims> box = {};
  uint32_t element_bytes = 0;
  uint32_t rank = 0;
  // 1 if rows of the box are swizzled as by CU_TENSOR_MAP_SWIZZLE_128B; 0 if
  // they are not swizzled.
  uint32_t is_swizzled = 0;
};

// The record that is stored in the 128 bytes of a map.
struct TensorMapRecord {
  // The characters "TNSORMAP".
  static constexpr uint64_t kMagic = 0x50414d524f534e54;

  uint64_t magic = 0;
  TensorMap map;
};
static_assert(sizeof(TensorMapRecord) == sizeof(CUtensorMap));

// Implements cuTensorMapEncodeTiled. Returns kInvalidValue for arguments that
// CUDA's driver refuses, and for others that Ember never uses: some data types,
// interleavings and swizzles, element strides other than 1, and elements that
// overlap.
CUresult EncodeTensorMap(CUtensorMap* bytes, CUtensorMapDataType type,
                         uint32_t rank, void* address, const uint64_t* extents,
                         const uint64_t* strides, const uint32_t* box,
                         const uint32_t* element_strides,
                         CUtensorMapInterleave interleave,
                         CUtensorMapSwizzle swizzle,
                         CUtensorMapL2promotion promotion,
                         CUtensorMapFloatOOBfill fill);

// Reads a map from 128 bytes at any address. Returns false if EncodeTensorMap
// has not written them.
bool ReadTensorMap(const void* bytes, TensorMap& map);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_TENSOR_MAP_H_
