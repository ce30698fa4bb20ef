// Computes the operations of whole warps on the emulated grid: products of
// small matrices (PTX's mma.sync of shapes m16n8kK), and the loads of their
// fragments (ldmatrix). The code follows the figures of the PTX ISA ("Matrix
// fragments for mma.m16n8k16 …"). It shares nothing with the compiler whose
// kernels it checks.
//
//   WarpProduct product = {.depth = 16, .a = DType::kF16, .b = DType::kF16,
//                          .sum = DType::kF32};
//   MultiplyLane(product, lanes, lane, result);
//
// Values; thread-safe.
#ifndef EMBER_HAL_CUDA_EMULATED_WARP_MATRICES_H_
#define EMBER_HAL_CUDA_EMULATED_WARP_MATRICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/dtype.h"

namespace ember::hal::cuda {

// Describes a product: a 16 x depth matrix times a depth x 8 matrix, added to a
// 16 x 8 matrix.
struct WarpProduct {
  uint32_t depth = 0;
  DType a = DType::kF16;
  DType b = DType::kF16;
  DType sum = DType::kF32;

  // Packs the description of the product into a number, which kernels pass to
  // GridFunctions::multiply; Unpack reads it.
  uint32_t Pack() const {
    return depth | static_cast<uint32_t>(a) << 8 |
           static_cast<uint32_t>(b) << 16 | static_cast<uint32_t>(sum) << 24;
  }
  static WarpProduct Unpack(uint32_t packed);
  // These functions return the number of a lane's 32-bit registers that hold a,
  // b and the sum.
  size_t RegistersOfA() const;
  size_t RegistersOfB() const;
  size_t RegistersOfSum() const;
};

// Factors of f32 are multiplied as tf32: their low 13 bits are ignored.

// The operands of a lane: its registers of a, then those of b, then those of
// the sum.
inline constexpr size_t kMaxOperands = 10;
using WarpOperands = std::array<uint32_t, kMaxOperands>;

// Computes a lane's registers of the result from the operands of all 32 lanes.
// Products of floats are exact and their sum is rounded once, which is within
// the instruction's tolerance.
void MultiplyLane(const WarpProduct& product,
                  std::span<const WarpOperands* const> operands, uint32_t lane,
                  uint32_t* result);

// A factor of a product of warpgroups (wgmma) in shared memory: the matrix b,
// or the matrix a, whose rows are then treated as columns. The fields are those
// of a matrix descriptor. The layout follows the PTX ISA, "Strides" and
// "Swizzling modes" of the asynchronous warpgroup instructions, with swizzling
// by 128 bytes.
struct SharedMatrix {
  // Offset of the matrix in the block's shared memory, in bytes. Shared memory
  // itself begins at a multiple of 1024.
  uint64_t begin = 0;
  uint64_t descriptor = 0;
  // True if elements with the same k are contiguous in memory; false if
  // elements of the same column are.
  bool is_transposed = false;
  uint32_t element_bytes = 2;

  bool IsSwizzled128() const { return descriptor >> 62 == 1; }
  // Returns the offset in shared memory of an element's first byte.
  uint64_t PositionOf(uint32_t k, uint32_t column) const;
};

// Adds the product of a 16 x depth and a depth x columns matrix to the lane's
// registers of the sums. The registers are those of each group of eight columns
// in order, and in a group they are as in MultiplyLane.
void MultiplyWideLane(const WarpProduct& product, uint32_t columns,
                      std::span<const WarpOperands* const> operands,
                      const SharedMatrix& b, const uint8_t* shared,
                      uint32_t lane, uint32_t* sums);

// Does what MultiplyWideLane does, but a is in shared memory, too. `first_row`
// is the number of the row of a that is this warp's first one.
void MultiplySharedLane(const WarpProduct& product, uint32_t columns,
                        const SharedMatrix& a, uint32_t first_row,
                        const SharedMatrix& b, const uint8_t* shared,
                        uint32_t lane, uint32_t* sums);

// Returns the register of a lane after loading the matrix with the number
// `number`, whose eight rows of 16 bytes are rows[8 * number + r].
uint32_t LoadedRegister(std::span<const uint8_t* const> rows, uint32_t number,
                        bool is_transposed, uint32_t lane);

}  // namespace ember::hal::cuda

#endif  // EMBER_HAL_CUDA_EMULATED_WARP_MATRICES_H_
