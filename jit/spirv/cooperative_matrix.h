// Defines the opcodes and operands of SPV_KHR_cooperative_matrix, because the
// extension is newer than the SPIR-V headers and the SPIRV-Tools of Debian 12.
// The numbers are those of SPIRV-Headers 1.3.250 and newer
// (spirv.core.grammar.json).
#ifndef EMBER_JIT_SPIRV_COOPERATIVE_MATRIX_H_
#define EMBER_JIT_SPIRV_COOPERATIVE_MATRIX_H_

#include <cstdint>
#include <spirv/unified1/spirv.hpp11>

namespace ember::jit::spirv {

inline constexpr char kMatrixExtension[] = "SPV_KHR_cooperative_matrix";
inline constexpr auto kMatrixCapability = static_cast<spv::Capability>(6022);

// Declares a matrix type. Operands: result, component type, scope, rows,
// columns, use. All but the result are ids of types or constants.
inline constexpr auto kOpTypeMatrix = static_cast<spv::Op>(4456);
// Loads a matrix. Operands: type, result, pointer, layout, stride, memory
// operands.
inline constexpr auto kOpMatrixLoad = static_cast<spv::Op>(4457);
// Stores a matrix. Operands: pointer, matrix, layout, stride, memory operands.
inline constexpr auto kOpMatrixStore = static_cast<spv::Op>(4458);
// Computes a * b + c of matrices. Operands: type, result, a, b, c, matrix
// operands.
inline constexpr auto kOpMatrixMulAdd = static_cast<spv::Op>(4459);

// The role of a matrix in a product. It is a part of the matrix's type.
enum class MatrixUse : uint32_t { kA = 0, kB = 1, kAccumulator = 2 };

enum class MatrixLayout : uint32_t { kRowMajor = 0, kColumnMajor = 1 };

// Bits of kOpMatrixMulAdd's matrix operands. Each says that one of the matrices
// has signed components.
inline constexpr uint32_t kSignedA = 1;
inline constexpr uint32_t kSignedB = 2;
inline constexpr uint32_t kSignedC = 4;
inline constexpr uint32_t kSignedResult = 8;

}  // namespace ember::jit::spirv

#endif  // EMBER_JIT_SPIRV_COOPERATIVE_MATRIX_H_
