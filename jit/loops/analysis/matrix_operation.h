// Recognises what a matrix loop does (LoopKind::kMatrix). The verifier,
// lowering and back ends all rely on this one definition.
//
//   matrix m < 16 { matrix n < 16 { %acc[s, 1, m, n] = 0.0 } }         // fill
//
//   matrix m < 16 { matrix n < 16 { matrix k < 16 {                 // product
//     %acc[s, 1, m, n] += f32(%a[t * 16 + m, k0 * 16 + k]) *
//                         f32(%b[k0 * 16 + k, n])
//   } } }
//
//   matrix m < 16 { matrix n < 16 { %y[t * 16 + m, n] = %acc[s, 1, m, n] } }
//
// Two or three loops, each the only statement of the one around it, m, n and k
// in this order. The innermost contains one store to one element. `s` is the
// variable of the subgroup loop around.
//   accumulator  a register buffer; its first index is s, its last two are m and
//                n, whose extents are the buffer's: a whole matrix. The indices
//                in between are the same for all of m, n and k. Nothing else
//                accesses the buffer: the device decides which invocation of a
//                subgroup holds which element
//   fill         the value is a constant
//   product      an update by + of the product of two factors, casts of loads:
//                f16 in f32 or, without casts, in f16; bf16 in f32; i8 and u8
//                in any pairing in i32; f8e4m3fn and f8e5m2 in any pairing in
//                f32; f32 in f32, without casts. One moves with m and k, the
//                other with k and n
//   store        an assignment of the accumulator, without a cast
//
// Rounding: a device may round factors of f32 to tf32 before it multiplies. It
// ignores the low 13 bits of each, which leaves 10 bits of mantissa and moves a
// factor towards zero by less than 2^-10 of itself. Only devices whose targets
// allow that have such products (jit/target/matrix_instructions.h); the
// evaluator and code for CPUs round no factor. How a sum is rounded on its way
// is not specified either: NVIDIA's sm_90 adds up products of floats of 8 bits
// with about 14 bits of mantissa instead of f32's 24 ("DeepSeek-V3 Technical
// Report", 3.3.2, measured it; PTX does not specify it).
//
// Memory: a matrix that is a factor or the target of a store is contiguous
// along one dim, which may be either, and has a constant stride along the
// other. A "row" below is a contiguous run. The rows of a stored matrix do not
// overlap. Rows begin at multiples of 16 bytes, or of their own size if that is
// less. The nest cannot prove where a buffer itself begins: the code that binds
// buffers to a kernel guarantees it. The elements of a task's buffer that
// matrix loops access have the same layout as those of an input.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_MATRIX_OPERATION_H_
#define EMBER_JIT_LOOPS_ANALYSIS_MATRIX_OPERATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

// The alignment in bytes that matrix loops require of a matrix's rows. Rows
// with fewer bytes are aligned to their own size.
inline constexpr int64_t kMatrixAlignment = 16;

// Largest extent of a matrix loop.
inline constexpr int64_t kMaxMatrixExtent = 256;

// The position of a matrix in memory: a buffer, the indices of an access to it,
// and strides. The matrix's first element is the one that is accessed where the
// variables of the matrix loops are 0.
struct MatrixInMemory {
  uint32_t buffer = 0;
  std::span<const NodeId> indices;
  // Number of elements to the next row and to the next column; one of them is
  // 1.
  int64_t row_stride = 0;
  int64_t column_stride = 0;

  bool IsRowMajor() const { return column_stride == 1; }
  int64_t stride() const { return IsRowMajor() ? row_stride : column_stride; }
};

struct MatrixOperation {
  enum class Kind : uint8_t { kFill, kProduct, kStore };

  Kind kind = Kind::kFill;
  // Extents and variables of the matrix loops: m < rows, n < columns, k <
  // depth. Only products have a depth and k.
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  NodeId m = 0;
  NodeId n = 0;
  NodeId k = 0;
  const Store* store = nullptr;  // the store in the innermost matrix loop
  // The register buffer that holds the matrix (the accumulator), and its
  // indices: the subgroup's variable s, then indices that are the same for the
  // whole matrix, then m and n.
  uint32_t accumulator = 0;
  std::span<const NodeId> accumulator_indices;
  // kFill: the constant that is stored to each element; it has the
  // accumulator's type.
  NodeId value = 0;
  MatrixInMemory a;  // kProduct: the left factor, a matrix of rows x depth
  MatrixInMemory b;  // kProduct: the right factor, a matrix of depth x columns
  MatrixInMemory destination;  // only for kStore
};

// Returns the operation of a matrix loop. loop: the outermost of the loops.
// subgroup: the variable of the surrounding subgroup loop. Errors:
// kInvalidArgument with a message that says what is wrong if the loop is no
// matrix operation. The result refers to both `nest` and `loop`.
StatusOr<MatrixOperation> MatrixOperationOf(const LoopNest& nest,
                                            const Statement& loop,
                                            NodeId subgroup);

// The sizes and types of a matrix product. Each device has instructions for
// only some of them.
struct MatrixType {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  DType a = DType::kF16;
  DType b = DType::kF16;
  DType sum = DType::kF32;

  bool operator==(const MatrixType&) const = default;
};

// ParseMatrixType and ToText convert between a product and the text by which a
// target's features name it. 16x8x32:i8:u8:i32 is rows x columns x depth, the
// types of the factors, and the type of the sum. ParseMatrixType returns
// nullopt if the text has another form or no such products exist.
std::optional<MatrixType> ParseMatrixType(std::string_view text);
std::string ToText(const MatrixType& type);

// Returns the sizes and element types of a matrix product. `product` is of kind
// kProduct.
MatrixType TypeOf(const LoopNest& nest, const MatrixOperation& product);

// True if matrix loops may multiply factors of types a and b and add the
// products to a sum of this type.
bool IsMatrixProductType(DType a, DType b, DType sum);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_MATRIX_OPERATION_H_
