// Instructions by which the threads of a warp multiply small matrices: the one
// table of them. What a row computes is a matrix loop of its type
// (jit/loops/matrix_operation.h); which lane holds which element is its layout.
//
//   for (const MatrixInstruction& row : MatrixInstructions()) …
//   const MatrixInstruction* row = FindMatrixInstruction(type, "sm_80");
//   row->name;                   // "mma.m16n8k16.f32.f16.f16"
//   const MatrixFragment a = row->A();
//   a.ElementOf(lane, r, i);     // row and column of element i of register r
//
// Schedules, plans of phases and the emitter of jit/ptx ask this table alone,
// so a new shape is a row here and its intrinsic in
// jit/ptx/matrix_intrinsics.cc; one of wgmma is a row alone.
// Devices of Vulkan list their products themselves (target features such as
// matrix16x16x16:f16:f16:f32) and keep their layouts to themselves.
//
// Some instructions are of four warps, a warpgroup (wgmma): each warp
// multiplies rows of its own by a matrix b that the four have in common and
// that is read from shared memory. To the nest each of the warps multiplies by
// itself, so a row says what one of them does.
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

#include "jit/loops/matrix_operation.h"

namespace ember::jit {

inline constexpr int64_t kWarpLanes = 32;

// A place in a matrix, or a step from one to another.
struct MatrixStep {
  int64_t row = 0;
  int64_t column = 0;
};

// Which elements of a matrix a lane of a warp holds, in registers of 32 bits
// (sums of f32 and i32: one element each). With lane = 4 * group + thread:
//   element i of register r is at
//     group * by_group + thread * by_thread + i * by_element + registers[r]
struct MatrixFragment {
  MatrixStep by_group;
  MatrixStep by_thread;
  MatrixStep by_element;
  std::vector<MatrixStep> registers;
  int64_t elements = 1;  // of a register

  MatrixStep ElementOf(int64_t lane, int64_t r, int64_t i) const;
};

// The feature of a target ("sm_80+subgroup32+tf32") that allows to multiply
// factors of f32 as tf32 (jit/loops/matrix_operation.h). No device tells it:
// who runs a program adds it (WithTf32).
inline constexpr std::string_view kTf32 = "tf32";

// The target with that permission; as it is where it is no device of CUDA, or
// has it.
std::string WithTf32(std::string_view target);

struct MatrixInstruction {
  std::string_view name;
  loops::MatrixType type;
  // The first architecture that has it: 80 is compute capability 8.0.
  int architecture = 0;
  // How many warps execute it together. If it is more than one, these are warps
  // whose numbers follow each other from a multiple of `warps`, they have one
  // b, which lies in panels of shared memory (jit/gpu/shared_panels.h), and
  // later architectures do not have the instruction.
  int64_t warps = 1;
  // What the target has to allow, as a feature; empty: nothing.
  std::string_view permission;

  bool IsWide() const { return warps > 1; }
  MatrixFragment A() const;  // rows x depth
  MatrixFragment B()
      const;  // depth x columns; not of wide ones, whose b no lane holds
  MatrixFragment Sum() const;  // rows x columns
};

// All rows; those of a type with more depth come first, as they do more.
std::span<const MatrixInstruction> MatrixInstructions();

// Null where the target, such as "sm_90a+subgroup32", has none.
const MatrixInstruction* FindMatrixInstruction(const loops::MatrixType& type,
                                               std::string_view target);

// Of the row of the type, whichever devices have it; 1 where there is no row.
int64_t WarpsOfMatrix(const loops::MatrixType& type);

// Whether the hardware transposes matrices of such elements as it reads them
// from shared memory: those of 16 bits alone. Of others, lanes of a warp load
// each element of a matrix that lies the other way by itself.
bool TransposesMatricesOf(DType element);

// Whether the row of the type multiplies by a matrix b whose rows lie together
// in memory. Wide ones of elements that are not transposed do not: they read b
// from panels, of which each row has to be a column of b. Of a type without a
// row it is true.
bool ReadsRowMajorB(const loops::MatrixType& type);

// A row with sums of the size and type, all of which have one layout of sums;
// null where there is none.
const MatrixInstruction* FindMatrixSums(int64_t rows, int64_t columns,
                                        DType sum);

// What the target multiplies, in the order of the table; nothing where it is
// no device of CUDA.
std::vector<loops::MatrixType> MatrixTypesOf(std::string_view target);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_MATRIX_INSTRUCTIONS_H_
