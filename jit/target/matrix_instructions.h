// The table of instructions by which the threads of a warp multiply small
// matrices. A row computes a matrix loop of its type
// (jit/loops/analysis/matrix_operation.h); its layout says which lane holds
// which element.
//
//   for (const MatrixInstruction& row : MatrixInstructions()) …
//   const MatrixInstruction* row = FindMatrixInstruction(type, "sm_80");
//   row->name;                   // "mma.m16n8k16.f32.f16.f16"
//   const MatrixFragment a = row->A();
//   a.ElementOf(lane, r, i);     // row and column of element i of register r
//
// Schedules, the passes of device nests and the emitter of jit/ptx take all
// facts about the instructions from this table. So a new shape is a row here
// and its intrinsic in jit/ptx/matrix_intrinsics.cc; a new shape of wgmma is
// only a row. Devices of Vulkan list their products themselves (target features
// such as matrix16x16x16:f16:f16:f32) and do not publish their layouts.
//
// Some instructions are executed by four warps, a warpgroup (wgmma). Each warp
// multiplies rows of its own by a matrix b that the four share and that is read
// from shared memory. In the nest each of the warps multiplies by itself, so a
// row describes one warp's part.
//
// Source: PTX ISA 8.5, "Matrix multiply-accumulate operation using mma
// instruction" and "Asynchronous warpgroup level matrix instructions", whose
// figures show fragments by lane. Values; thread-safe.
#ifndef EMBER_JIT_TARGET_MATRIX_INSTRUCTIONS_H_
#define EMBER_JIT_TARGET_MATRIX_INSTRUCTIONS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/loops/analysis/matrix_operation.h"

namespace ember::jit {

inline constexpr int64_t kWarpLanes = 32;

// A position in a matrix, or the distance from one position to another.
struct MatrixStep {
  int64_t row = 0;
  int64_t column = 0;
};

// The elements of a matrix that one lane of a warp holds in its 32-bit
// registers (a sum of type f32 or i32 fills a register). With lane = 4 * group
// + thread:
//   element i of register r is at
//     group * by_group + thread * by_thread + i * by_element + registers[r]
struct MatrixFragment {
  MatrixStep by_group;
  MatrixStep by_thread;
  MatrixStep by_element;
  std::vector<MatrixStep> registers;
  int64_t elements = 1;  // number of elements per register

  MatrixStep ElementOf(int64_t lane, int64_t r, int64_t i) const;
};

// The feature of a target ("sm_80+subgroup32+tf32") that allows multiplying
// factors of f32 as tf32 (jit/loops/analysis/matrix_operation.h). No device
// reports the feature: the user adds it (WithTf32).
inline constexpr std::string_view kTf32 = "tf32";

// Returns the target with the feature kTf32; unchanged if it is not a device of
// CUDA or already has the feature.
std::string WithTf32(std::string_view target);

struct MatrixInstruction {
  std::string_view name;
  loops::MatrixType type;
  // The first architecture that has the instruction: 80 is compute capability
  // 8.0.
  int architecture = 0;
  // Number of warps that execute the instruction together. If there are
  // several, they have consecutive numbers, the first a multiple of `warps`,
  // and share one matrix b, which is in panels of shared memory
  // (jit/target/shared_panels.h). Architectures after `architecture` lack such
  // instructions.
  int64_t warps = 1;
  // The feature that the target must name to allow the instruction; empty if
  // the instruction is always allowed.
  std::string_view permission;

  bool IsWide() const { return warps > 1; }
  MatrixFragment A() const;  // fragment of the factor a, rows x depth
  MatrixFragment B()
      // Fragment of the factor b, depth x columns. Not for instructions with
      // IsWide(): they read b from shared memory, so no lane holds its
      // elements.
      const;
  MatrixFragment Sum() const;  // fragment of the sums, rows x columns
};

// Returns all rows of the table. Among rows of equal element types and numbers
// of warps, those with a larger depth come first, since one instruction then
// does more.
std::span<const MatrixInstruction> MatrixInstructions();

// Returns the row for a product of this type; null if the target
// ("sm_90a+subgroup32") has no such instruction.
const MatrixInstruction* FindMatrixInstruction(const loops::MatrixType& type,
                                               std::string_view target);

// Returns the number of warps that together execute the table's instruction for
// this type, on any device; 1 if there is none.
int64_t WarpsOfMatrix(const loops::MatrixType& type);

// True if the hardware can transpose matrices of such elements as it reads them
// from shared memory; it can if they have 16 bits. If another matrix is stored
// in the other order, each lane must load its elements one by one.
bool TransposesMatricesOf(DType element);

// True if the instruction of the type can multiply by a matrix b that is stored
// row-major; also if there is no instruction. Wide instructions whose elements
// the hardware does not transpose cannot: each row of their panels in shared
// memory must be a column of b.
bool ReadsRowMajorB(const loops::MatrixType& type);

// Returns any row whose matrix of sums has this size and type, because all such
// rows have the same layout of the sums; null if there is none.
const MatrixInstruction* FindMatrixSums(int64_t rows, int64_t columns,
                                        DType sum);

// Returns the types of matrix products for which the target has instructions,
// in the order of the table; empty if it is not a device of CUDA.
std::vector<loops::MatrixType> MatrixTypesOf(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_MATRIX_INSTRUCTIONS_H_
