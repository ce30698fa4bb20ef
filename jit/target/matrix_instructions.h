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
// Schedules, plans of phases and the emitter of jit/ptx use this table alone.
// So a new shape is a row here and its intrinsic in
// jit/ptx/matrix_intrinsics.cc; a new shape of wgmma is only a row. Devices of
// Vulkan list their products themselves (target features such as
// matrix16x16x16:f16:f16:f32) and do not publish their layouts.
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

// A place in a matrix, or a step from one to another.
struct MatrixStep {
  int64_t row = 0;
  int64_t column = 0;
};

// The elements of a matrix that a lane of a warp holds, in registers of 32 bits
// (sums of f32 and i32: one element each). With lane = 4 * group + thread:
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
  // several, their numbers follow each other from a multiple of `warps`, and
  // they share one b, which is in panels of shared memory
  // (jit/target/shared_panels.h). Later architectures do not have such
  // instructions.
  int64_t warps = 1;
  // The feature with which the target must allow the instruction; empty: none.
  std::string_view permission;

  bool IsWide() const { return warps > 1; }
  MatrixFragment A() const;  // fragment of the factor a, rows x depth
  MatrixFragment B()
      // fragment of the factor b, depth x columns; not for wide rows, where no
      // lane holds elements of b
      const;
  MatrixFragment Sum() const;  // fragment of the sums, rows x columns
};

// Returns all rows. Rows of a type with more depth come first, since one
// instruction does more.
std::span<const MatrixInstruction> MatrixInstructions();

// Returns the row of the type that the target has; null if a target, such as
// "sm_90a+subgroup32", has none.
const MatrixInstruction* FindMatrixInstruction(const loops::MatrixType& type,
                                               std::string_view target);

// Returns the number of warps that execute the type's row together, on
// whichever device; 1 if there is no row.
int64_t WarpsOfMatrix(const loops::MatrixType& type);

// True if the hardware transposes matrices of such elements as it reads them
// from shared memory: only elements of 16 bits. For others with the wrong
// layout, lanes of a warp load each element of a matrix separately.
bool TransposesMatricesOf(DType element);

// True if the row of the type can multiply by a matrix b whose rows are
// contiguous in memory; also if there is no row. Wide rows whose elements the
// hardware does not transpose cannot: they read b from panels in which each row
// must be a column of b.
bool ReadsRowMajorB(const loops::MatrixType& type);

// Returns any row with sums of this size and type, because all of them have the
// same layout of the sums; null if there is none.
const MatrixInstruction* FindMatrixSums(int64_t rows, int64_t columns,
                                        DType sum);

// Returns the types that the target multiplies, in the order of the table;
// empty if it is not a device of CUDA.
std::vector<loops::MatrixType> MatrixTypesOf(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_MATRIX_INSTRUCTIONS_H_
