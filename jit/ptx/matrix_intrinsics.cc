#include "jit/ptx/matrix_intrinsics.h"

#include <string_view>

#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {
namespace {

struct Intrinsic {
  std::string_view name;
  llvm::Intrinsic::ID id;
};

using namespace llvm::Intrinsic;  // NOLINT: the table below uses its names

constexpr Intrinsic kIntrinsics[] = {
    {"mma.m16n8k16.f32.f16.f16", nvvm_mma_m16n8k16_row_col_f32_f32},
    {"mma.m16n8k8.f32.f16.f16", nvvm_mma_m16n8k8_row_col_f32_f32},
    {"mma.m16n8k16.f16.f16.f16", nvvm_mma_m16n8k16_row_col_f16_f16},
    {"mma.m16n8k8.f16.f16.f16", nvvm_mma_m16n8k8_row_col_f16_f16},
    {"mma.m16n8k16.f32.bf16.bf16", nvvm_mma_m16n8k16_row_col_bf16},
    {"mma.m16n8k8.f32.bf16.bf16", nvvm_mma_m16n8k8_row_col_bf16},
    {"mma.m16n8k32.s32.s8.s8", nvvm_mma_m16n8k32_row_col_s8},
    {"mma.m16n8k16.s32.s8.s8", nvvm_mma_m16n8k16_row_col_s8},
    {"mma.m16n8k32.s32.u8.u8", nvvm_mma_m16n8k32_row_col_u8},
    {"mma.m16n8k16.s32.u8.u8", nvvm_mma_m16n8k16_row_col_u8},
    {"mma.m16n8k32.s32.s8.u8", nvvm_mma_m16n8k32_row_col_s8_u8},
    {"mma.m16n8k16.s32.s8.u8", nvvm_mma_m16n8k16_row_col_s8_u8},
    {"mma.m16n8k32.s32.u8.s8", nvvm_mma_m16n8k32_row_col_u8_s8},
    {"mma.m16n8k16.s32.u8.s8", nvvm_mma_m16n8k16_row_col_u8_s8},
    {"mma.m16n8k8.f32.tf32.tf32", nvvm_mma_m16n8k8_row_col_tf32},
    {"mma.m16n8k4.f32.tf32.tf32", nvvm_mma_m16n8k4_row_col_tf32},
};

}  // namespace

llvm::Intrinsic::ID IntrinsicOf(const MatrixInstruction& row) {
  for (const Intrinsic& intrinsic : kIntrinsics) {
    if (intrinsic.name == row.name) return intrinsic.id;
  }
  return not_intrinsic;
}

const loops::MatrixType* MatrixTypeOf(llvm::Intrinsic::ID id) {
  for (const MatrixInstruction& row : MatrixInstructions()) {
    if (id != not_intrinsic && IntrinsicOf(row) == id) return &row.type;
  }
  return nullptr;
}

}  // namespace ember::jit::ptx
