// Tests the table of matrix instructions: layouts assign each element to one
// lane, and architectures have the right rows.
#include "jit/target/matrix_instructions.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "jit/target/gpu_model.h"

namespace ember::jit {
namespace {

// Expects that each element of a rows x columns matrix is in exactly one
// register of one lane.
void ExpectWhole(const MatrixFragment& fragment, int64_t rows,
                 int64_t columns) {
  std::set<std::pair<int64_t, int64_t>> places;
  for (int64_t lane = 0; lane < kWarpLanes; ++lane) {
    for (size_t r = 0; r < fragment.registers.size(); ++r) {
      for (int64_t i = 0; i < fragment.elements; ++i) {
        const MatrixStep at =
            fragment.ElementOf(lane, static_cast<int64_t>(r), i);
        EXPECT_TRUE(0 <= at.row && at.row < rows && 0 <= at.column &&
                    at.column < columns);
        EXPECT_TRUE(places.insert({at.row, at.column}).second)
            << at.row << ", " << at.column << " twice";
      }
    }
  }
  EXPECT_EQ(static_cast<int64_t>(places.size()), rows * columns);
}

TEST(MatrixInstructions, FragmentsAreWhole) {
  for (const MatrixInstruction& row : MatrixInstructions()) {
    SCOPED_TRACE(row.name);
    ExpectWhole(row.A(), row.type.rows, row.type.depth);
    if (!row.IsWide()) ExpectWhole(row.B(), row.type.depth, row.type.columns);
    ExpectWhole(row.Sum(), row.type.rows, row.type.columns);
  }
}

// The expected positions of elements are read from the figures of the PTX ISA.
TEST(MatrixInstructions, Layouts) {
  const MatrixInstruction* const row = FindMatrixInstruction(
      {16, 8, 16, DType::kF16, DType::kF16, DType::kF32}, "sm_80");
  ASSERT_NE(row, nullptr);
  // In the figure, element a3 of lane 5 is in row groupID + 8, column 2 *
  // threadID_in_group + 1.
  const MatrixStep a = row->A().ElementOf(5, 1, 1);
  EXPECT_EQ(a.row, 9);
  EXPECT_EQ(a.column, 3);
  // In the figure, element b2 of lane 6 is in row 2 * threadID_in_group + 8,
  // column groupID.
  const MatrixStep b = row->B().ElementOf(6, 1, 0);
  EXPECT_EQ(b.row, 12);
  EXPECT_EQ(b.column, 1);
  // The last element of the sums, c3 of lane 31, is in the last row and column.
  const MatrixStep c = row->Sum().ElementOf(31, 3, 0);
  EXPECT_EQ(c.row, 15);
  EXPECT_EQ(c.column, 7);
}

TEST(MatrixInstructions, NamesAndTypesAreOnce) {
  std::set<std::string_view> names;
  std::set<std::string> types;
  for (const MatrixInstruction& row : MatrixInstructions()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(types.insert(loops::ToText(row.type)).second) << row.name;
    EXPECT_TRUE(
        loops::IsMatrixProductType(row.type.a, row.type.b, row.type.sum))
        << row.name;
  }
}

TEST(MatrixInstructions, Architectures) {
  const loops::MatrixType deep = {16,          8,           16,
                                  DType::kF16, DType::kF16, DType::kF32};
  EXPECT_EQ(FindMatrixInstruction(deep, "sm_75"), nullptr);
  EXPECT_NE(FindMatrixInstruction(deep, "sm_90"), nullptr);
  EXPECT_TRUE(GpuModel::Of("sm_70+subgroup32").matrices.empty());
  EXPECT_EQ(GpuModel::Of("sm_75+subgroup32").matrices.size(), 2u);
  EXPECT_EQ(GpuModel::Of("sm_90a+subgroup32+tf32").matrices.size(),
            MatrixInstructions().size());
  // Only sm_90a has the instructions that a warpgroup executes together.
  const loops::MatrixType wide = {16,          128,         16,
                                  DType::kF16, DType::kF16, DType::kF32};
  EXPECT_EQ(WarpsOfMatrix(wide), 4);
  EXPECT_NE(FindMatrixInstruction(wide, "sm_90a+subgroup32"), nullptr);
  EXPECT_EQ(FindMatrixInstruction(wide, "sm_90"), nullptr);
  EXPECT_EQ(FindMatrixInstruction(wide, "sm_100a"), nullptr);
}

// Multiplying factors of f32 rounds them to tf32, so the target must allow it.
TEST(MatrixInstructions, Tf32HasToBeAllowed) {
  const loops::MatrixType narrow = {16,          8,           8,
                                    DType::kF32, DType::kF32, DType::kF32};
  const loops::MatrixType wide = {16,          64,          8,
                                  DType::kF32, DType::kF32, DType::kF32};
  for (const loops::MatrixType& type : {narrow, wide}) {
    EXPECT_EQ(FindMatrixInstruction(type, "sm_90a+subgroup32"), nullptr);
    EXPECT_NE(FindMatrixInstruction(type, "sm_90a+subgroup32+tf32"), nullptr);
    EXPECT_EQ(FindMatrixInstruction(type, "sm_75+subgroup32+tf32"), nullptr);
  }
  EXPECT_NE(FindMatrixInstruction(narrow, "sm_80+tf32"), nullptr);
  for (const loops::MatrixType& type :
       GpuModel::Of("sm_90a+subgroup32").matrices) {
    EXPECT_NE(type.a, DType::kF32);
  }
  EXPECT_EQ(WithTf32("sm_80+subgroup32"), "sm_80+subgroup32+tf32");
  EXPECT_EQ(WithTf32("sm_80+tf32"), "sm_80+tf32");
  EXPECT_EQ(WithTf32("vulkan1.3+subgroup32"), "vulkan1.3+subgroup32");
  EXPECT_EQ(WithTf32("x86_64+avx2"), "x86_64+avx2");
}

// The instruction wgmma can transpose b only if its elements have 16 bits.
TEST(MatrixInstructions, WideOnesTransposeElementsOf16Bits) {
  for (const MatrixInstruction& row : MatrixInstructions()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(ReadsRowMajorB(row.type),
              !row.IsWide() || DTypeByteSize(row.type.b) == 2);
  }
  EXPECT_FALSE(
      ReadsRowMajorB({16, 64, 32, DType::kI8, DType::kU8, DType::kI32}));
  EXPECT_TRUE(ReadsRowMajorB({16, 8, 32, DType::kI8, DType::kU8, DType::kI32}));
}

}  // namespace
}  // namespace ember::jit
