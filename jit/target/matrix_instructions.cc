#include "jit/target/matrix_instructions.h"

#include <algorithm>

#include "base/concat.h"
#include "base/target_text.h"
#include "jit/target/cuda_architecture.h"

namespace ember::jit {
namespace {

using enum DType;

// Number of bytes of a register of the GPU.
constexpr int64_t kRegister = 4;
// Number of neighbouring lanes that together hold one row of a fragment (of
// factor b: one column).
constexpr int64_t kThreads = 4;
// Number of groups of kThreads lanes in a warp: each group holds another row of
// a fragment (of factor b: another column).
constexpr int64_t kGroups = kWarpLanes / kThreads;

constexpr MatrixInstruction kInstructions[] = {
    {"mma.m16n8k16.f32.f16.f16", {16, 8, 16, kF16, kF16, kF32}, 80},
    {"mma.m16n8k8.f32.f16.f16", {16, 8, 8, kF16, kF16, kF32}, 75},
    {"mma.m16n8k16.f16.f16.f16", {16, 8, 16, kF16, kF16, kF16}, 80},
    {"mma.m16n8k8.f16.f16.f16", {16, 8, 8, kF16, kF16, kF16}, 75},
    {"mma.m16n8k16.f32.bf16.bf16", {16, 8, 16, kBF16, kBF16, kF32}, 80},
    {"mma.m16n8k8.f32.bf16.bf16", {16, 8, 8, kBF16, kBF16, kF32}, 80},
    {"mma.m16n8k32.s32.s8.s8", {16, 8, 32, kI8, kI8, kI32}, 80},
    {"mma.m16n8k16.s32.s8.s8", {16, 8, 16, kI8, kI8, kI32}, 80},
    {"mma.m16n8k32.s32.u8.u8", {16, 8, 32, kU8, kU8, kI32}, 80},
    {"mma.m16n8k16.s32.u8.u8", {16, 8, 16, kU8, kU8, kI32}, 80},
    {"mma.m16n8k32.s32.s8.u8", {16, 8, 32, kI8, kU8, kI32}, 80},
    {"mma.m16n8k16.s32.s8.u8", {16, 8, 16, kI8, kU8, kI32}, 80},
    {"mma.m16n8k32.s32.u8.s8", {16, 8, 32, kU8, kI8, kI32}, 80},
    {"mma.m16n8k16.s32.u8.s8", {16, 8, 16, kU8, kI8, kI32}, 80},
    {"mma.m16n8k32.f32.e4m3.e4m3", {16, 8, 32, kF8E4M3FN, kF8E4M3FN, kF32}, 89},
    {"mma.m16n8k32.f32.e4m3.e5m2", {16, 8, 32, kF8E4M3FN, kF8E5M2, kF32}, 89},
    {"mma.m16n8k32.f32.e5m2.e4m3", {16, 8, 32, kF8E5M2, kF8E4M3FN, kF32}, 89},
    {"mma.m16n8k32.f32.e5m2.e5m2", {16, 8, 32, kF8E5M2, kF8E5M2, kF32}, 89},
    {"mma.m16n8k8.f32.tf32.tf32", {16, 8, 8, kF32, kF32, kF32}, 80, 1, kTf32},
    {"mma.m16n8k4.f32.tf32.tf32", {16, 8, 4, kF32, kF32, kF32}, 80, 1, kTf32},
    // A wgmma instruction multiplies 64 rows: each of its four warps has
    // sixteen of them. The instruction with the most columns is the fastest for
    // equal work, so it comes first.
    {"wgmma.m64n256k16.f32.f16.f16", {16, 256, 16, kF16, kF16, kF32}, 90, 4},
    {"wgmma.m64n128k16.f32.f16.f16", {16, 128, 16, kF16, kF16, kF32}, 90, 4},
    {"wgmma.m64n64k16.f32.f16.f16", {16, 64, 16, kF16, kF16, kF32}, 90, 4},
    {"wgmma.m64n256k16.f32.bf16.bf16",
     {16, 256, 16, kBF16, kBF16, kF32},
     90,
     4},
    {"wgmma.m64n128k16.f32.bf16.bf16",
     {16, 128, 16, kBF16, kBF16, kF32},
     90,
     4},
    {"wgmma.m64n64k16.f32.bf16.bf16", {16, 64, 16, kBF16, kBF16, kF32}, 90, 4},
    {"wgmma.m64n256k8.f32.tf32.tf32",
     {16, 256, 8, kF32, kF32, kF32},
     90,
     4,
     kTf32},
    {"wgmma.m64n128k8.f32.tf32.tf32",
     {16, 128, 8, kF32, kF32, kF32},
     90,
     4,
     kTf32},
    {"wgmma.m64n64k8.f32.tf32.tf32",
     {16, 64, 8, kF32, kF32, kF32},
     90,
     4,
     kTf32},
    {"wgmma.m64n256k32.s32.s8.s8", {16, 256, 32, kI8, kI8, kI32}, 90, 4},
    {"wgmma.m64n128k32.s32.s8.s8", {16, 128, 32, kI8, kI8, kI32}, 90, 4},
    {"wgmma.m64n64k32.s32.s8.s8", {16, 64, 32, kI8, kI8, kI32}, 90, 4},
    {"wgmma.m64n256k32.s32.u8.u8", {16, 256, 32, kU8, kU8, kI32}, 90, 4},
    {"wgmma.m64n128k32.s32.u8.u8", {16, 128, 32, kU8, kU8, kI32}, 90, 4},
    {"wgmma.m64n64k32.s32.u8.u8", {16, 64, 32, kU8, kU8, kI32}, 90, 4},
    {"wgmma.m64n256k32.s32.s8.u8", {16, 256, 32, kI8, kU8, kI32}, 90, 4},
    {"wgmma.m64n128k32.s32.s8.u8", {16, 128, 32, kI8, kU8, kI32}, 90, 4},
    {"wgmma.m64n64k32.s32.s8.u8", {16, 64, 32, kI8, kU8, kI32}, 90, 4},
    {"wgmma.m64n256k32.s32.u8.s8", {16, 256, 32, kU8, kI8, kI32}, 90, 4},
    {"wgmma.m64n128k32.s32.u8.s8", {16, 128, 32, kU8, kI8, kI32}, 90, 4},
    {"wgmma.m64n64k32.s32.u8.s8", {16, 64, 32, kU8, kI8, kI32}, 90, 4},
    {"wgmma.m64n256k32.f32.e4m3.e4m3",
     {16, 256, 32, kF8E4M3FN, kF8E4M3FN, kF32},
     90,
     4},
    {"wgmma.m64n128k32.f32.e4m3.e4m3",
     {16, 128, 32, kF8E4M3FN, kF8E4M3FN, kF32},
     90,
     4},
    {"wgmma.m64n64k32.f32.e4m3.e4m3",
     {16, 64, 32, kF8E4M3FN, kF8E4M3FN, kF32},
     90,
     4},
    {"wgmma.m64n256k32.f32.e4m3.e5m2",
     {16, 256, 32, kF8E4M3FN, kF8E5M2, kF32},
     90,
     4},
    {"wgmma.m64n128k32.f32.e4m3.e5m2",
     {16, 128, 32, kF8E4M3FN, kF8E5M2, kF32},
     90,
     4},
    {"wgmma.m64n64k32.f32.e4m3.e5m2",
     {16, 64, 32, kF8E4M3FN, kF8E5M2, kF32},
     90,
     4},
    {"wgmma.m64n256k32.f32.e5m2.e4m3",
     {16, 256, 32, kF8E5M2, kF8E4M3FN, kF32},
     90,
     4},
    {"wgmma.m64n128k32.f32.e5m2.e4m3",
     {16, 128, 32, kF8E5M2, kF8E4M3FN, kF32},
     90,
     4},
    {"wgmma.m64n64k32.f32.e5m2.e4m3",
     {16, 64, 32, kF8E5M2, kF8E4M3FN, kF32},
     90,
     4},
    {"wgmma.m64n256k32.f32.e5m2.e5m2",
     {16, 256, 32, kF8E5M2, kF8E5M2, kF32},
     90,
     4},
    {"wgmma.m64n128k32.f32.e5m2.e5m2",
     {16, 128, 32, kF8E5M2, kF8E5M2, kF32},
     90,
     4},
    {"wgmma.m64n64k32.f32.e5m2.e5m2",
     {16, 64, 32, kF8E5M2, kF8E5M2, kF32},
     90,
     4},
};

int64_t PerRegister(DType type) { return kRegister / DTypeByteSize(type); }

bool Has(std::string_view target, const MatrixInstruction& row) {
  const int architecture = CudaArchitecture(target);
  if (!row.permission.empty() && !TargetText(target).Has(row.permission))
    return false;
  if (!row.IsWide()) return row.architecture <= architecture;
  return row.architecture == architecture && HasOwnInstructions(target);
}

// Size in bytes of the elements whose matrices the hardware can transpose:
// between lanes (ldmatrix.trans), and between rows and columns of b (the
// operand imm-trans-b of wgmma).
constexpr int64_t kTransposedBytes = 2;

}  // namespace

bool TransposesMatricesOf(DType element) {
  return DTypeByteSize(element) == kTransposedBytes;
}

std::string WithTf32(std::string_view target) {
  const bool is_known =
      CudaArchitecture(target) == 0 || TargetText(target).Has(kTf32);
  return is_known ? std::string(target) : Concat({target, "+", kTf32});
}

MatrixStep MatrixFragment::ElementOf(int64_t lane, int64_t r, int64_t i) const {
  const int64_t group = lane / kThreads, thread = lane % kThreads;
  const MatrixStep& begin = registers[static_cast<size_t>(r)];
  return {group * by_group.row + thread * by_thread.row + i * by_element.row +
              begin.row,
          group * by_group.column + thread * by_thread.column +
              i * by_element.column + begin.column};
}

// Returns the fragment of factor a: its registers are numbered down the rows
// first, and then along the columns.
MatrixFragment MatrixInstruction::A() const {
  const int64_t elements = PerRegister(type.a), run = kThreads * elements;
  MatrixFragment fragment{.by_group = {1, 0},
                          .by_thread = {0, elements},
                          .by_element = {0, 1},
                          .registers = {},
                          .elements = elements};
  for (int64_t column = 0; column < type.depth; column += run) {
    for (int64_t row = 0; row < type.rows; row += kGroups)
      fragment.registers.push_back({row, column});
  }
  return fragment;
}

MatrixFragment MatrixInstruction::B() const {
  const int64_t elements = PerRegister(type.b), run = kThreads * elements;
  MatrixFragment fragment{.by_group = {0, 1},
                          .by_thread = {elements, 0},
                          .by_element = {1, 0},
                          .registers = {},
                          .elements = elements};
  for (int64_t row = 0; row < type.depth; row += run)
    fragment.registers.push_back({row, 0});
  return fragment;
}

// Returns the fragment of the sums. A lane holds two neighbouring elements of
// each of its rows: in one register if the sums are f16, otherwise in two. Each
// group of eight columns has further registers.
MatrixFragment MatrixInstruction::Sum() const {
  constexpr int64_t kNeighbours = 2, kColumns = kThreads * kNeighbours;
  const int64_t elements = PerRegister(type.sum);
  MatrixFragment fragment{.by_group = {1, 0},
                          .by_thread = {0, kNeighbours},
                          .by_element = {0, 1},
                          .registers = {},
                          .elements = elements};
  for (int64_t first = 0; first < type.columns; first += kColumns) {
    for (int64_t row = 0; row < type.rows; row += kGroups) {
      for (int64_t column = 0; column < kNeighbours; column += elements)
        fragment.registers.push_back({row, first + column});
    }
  }
  return fragment;
}

std::span<const MatrixInstruction> MatrixInstructions() {
  return kInstructions;
}

const MatrixInstruction* FindMatrixInstruction(const loops::MatrixType& type,
                                               std::string_view target) {
  const auto* const row =
      std::ranges::find(kInstructions, type, &MatrixInstruction::type);
  const bool has_it = row != std::end(kInstructions) && Has(target, *row);
  return has_it ? row : nullptr;
}

bool ReadsRowMajorB(const loops::MatrixType& type) {
  return WarpsOfMatrix(type) == 1 || TransposesMatricesOf(type.b);
}

int64_t WarpsOfMatrix(const loops::MatrixType& type) {
  const auto* const row =
      std::ranges::find(kInstructions, type, &MatrixInstruction::type);
  return row == std::end(kInstructions) ? 1 : row->warps;
}

const MatrixInstruction* FindMatrixSums(int64_t rows, int64_t columns,
                                        DType sum) {
  const auto* const row =
      std::ranges::find_if(kInstructions, [&](const MatrixInstruction& each) {
        return each.type.rows == rows && each.type.columns == columns &&
               each.type.sum == sum;
      });
  return row == std::end(kInstructions) ? nullptr : row;
}

std::vector<loops::MatrixType> MatrixTypesOf(std::string_view target) {
  std::vector<loops::MatrixType> types;
  for (const MatrixInstruction& row : kInstructions) {
    if (Has(target, row)) types.push_back(row.type);
  }
  return types;
}

}  // namespace ember::jit
