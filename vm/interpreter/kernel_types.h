// The interface of tile kernels. A tile kernel executes a strip instruction: it
// is one tight loop over a tile of rows x columns for one type. Values are
// computed in one of seven compute types. Narrow integers are held as i32 and
// narrow floats as f32, and are wrapped or rounded to their own type after each
// instruction.
//
// The kernels are compiled once per instruction set (strip_kernels.cc and
// micro_kernels.cc) and found through TileKernelTable. This header has only
// plain data and no inline functions: files that are built with different -m
// flags include it, and the linker could choose a version of an inline function
// that the running CPU cannot execute.
#ifndef EMBER_VM_INTERPRETER_KERNEL_TYPES_H_
#define EMBER_VM_INTERPRETER_KERNEL_TYPES_H_

#include <cstdint>

namespace ember::vm {

enum ComputeType : uint8_t {
  kTileBool,
  kTileI32,
  kTileU32,
  kTileI64,
  kTileU64,
  kTileF32,
  kTileF64
};
inline constexpr int kComputeTypeCount = 7;

// An operand of a tile kernel: a tile in scratch memory, or memory of a buffer
// that is used as a tile.
struct TileOperand {
  char* data;
  int64_t row_stride;  // distance in bytes between neighbouring rows of the
                       // tile
  // Distance between neighbouring columns in elements. Arithmetic kernels
  // accept only 1 and 0 (all columns have the same value).
  int64_t column_stride;
};

// The index outside of its extent that a kernel found first, if it found one.
struct TileIndexFailure {
  int64_t index;
  bool found;
};

struct TileArguments {
  int64_t rows;
  int64_t columns;
  TileOperand destination;
  TileOperand a;
  TileOperand b;
  TileOperand c;
  int64_t immediate[3];
  TileIndexFailure* failure;
};

using TileKernel = void (*)(const TileArguments&);

// Offset that represents an element outside of the buffer: a gather then gives
// the default value, and a scatter skips the element.
inline constexpr int64_t kOutside = INT64_MIN;

// The types that are narrower than their compute type. A result of such a type
// is wrapped or rounded after each instruction.
enum NarrowType : uint8_t {
  kNarrowI8,
  kNarrowI16,
  kNarrowU8,
  kNarrowU16,
  kNarrowF16,
  kNarrowBF16,
  kNarrowF8E4M3FN,
  kNarrowF8E5M2
};
inline constexpr int kNarrowTypeCount = 8;

// Arguments of a register-blocked inner kernel of contractions, which computes
// C[m, n] = (or +=) sum(k < depth) A[m, k] * B[k, n]. A has rows of a_stride
// elements; B is packed in rows of b_stride elements. m must be at most
// MicroKernels::rows; only the first `columns` columns of C are written.
struct MicroArguments {
  const void* a;
  int64_t a_stride;
  const void* b;
  int64_t b_stride;
  // The next panel of B, of the same size as b. The kernel prefetches it while
  // it computes.
  const void* next;
  void* c;
  int64_t c_stride;
  int64_t depth;
  int64_t columns;
  bool accumulate;  // true: the products are added to C; false: C is
                    // overwritten
};
using MicroKernel = void (*)(const MicroArguments&);

inline constexpr int kMaxMicroRows = 14;
inline constexpr int kMicroVectors = 2;

struct MicroKernels {
  int rows;             // largest number of rows m of a kernel
  int vector_elements;  // number of elements of a vector register, each of
                        // which is one column of C
  // the kernels, by [number of vectors of columns - 1][number of rows - 1]
  MicroKernel run[kMicroVectors][kMaxMicroRows];
};

// Arguments of a kernel that executes several reduction steps (taps) at once:
// it combines destination[r, c] with the taps in order. A tap is an element
// a[r, c], or a product a[r, c] * b[r, c]. All taps have the strides of `a` and
// `b`, but addresses of their own.
inline constexpr int kMaxTaps = 9;
struct TapArguments {
  int64_t rows;
  int64_t columns;
  TileOperand destination;
  TileOperand a;
  TileOperand b;
  int taps;
  const char* a_data[kMaxTaps];
  const char* b_data[kMaxTaps];
};
using TapKernel = void (*)(const TapArguments&);

// The kernels in which the compiler may fuse a product and its sum. They are
// compiled separately from all other kernels.
struct ProductKernels {
  MicroKernels micro[3];  // inner kernels of contractions for f32, f64 and i32
  // kernels for f32 and f64 that add a[r, c] * b[r, c] to destination[r, c]
  TileKernel multiply_add[2];
  // kernels for f32 and f64 that add the sum over c of a[r, c] * b[r, c] to
  // destination[r]
  TileKernel multiply_add_rows[2];
  TapKernel multiply_add_taps[2];
};

// number of entries of the table for opcodes, at least tensor::kOpcodeCount
inline constexpr int kOpcodeCapacity = 80;
// number of entries of the table for dtypes, at least ember::kDTypeCount
inline constexpr int kDTypeCapacity = 16;

// Table of all kernels. It is filled in when it is first used: the function for
// the baseline instruction set sets all entries; the functions for better
// instruction sets then replace the entries that they improve. (A constant
// table would be larger in position-independent code, because each pointer in
// it needs a relocation.)
struct TileKernelTable {
  const char* name;
  // Kernels of unary, classifying, binary and comparing instructions, by opcode
  // and the operands' compute type.
  TileKernel arithmetic[kOpcodeCapacity][kComputeTypeCount];
  TileKernel select[kComputeTypeCount];
  // kernels of casts between compute types: [from][to]
  TileKernel cast[kComputeTypeCount][kComputeTypeCount];
  // Kernels that cast to f32 and round to odd: the last bit is set if any bit
  // was lost. A value that is then rounded to a narrow float is as exact as
  // after one rounding. The entry for f32 is null.
  TileKernel cast_odd[kComputeTypeCount];
  // Kernels that convert narrow floats, held as f32, to their bits as i32;
  // float_from_bits has the kernels that convert back.
  TileKernel float_bits[kNarrowTypeCount];
  TileKernel float_from_bits[kNarrowTypeCount];
  TileKernel narrow[kNarrowTypeCount];  // kernels that wrap or round a tile to
                                        // a narrow type in place
  TileKernel clamp;  // kernel that clamps i32 values to [immediate[0],
                     // immediate[1]]
  // kernels that copy memory with any column stride to a tile
  TileKernel load[kDTypeCapacity];
  // kernels that copy a tile to memory with any column stride
  TileKernel store[kDTypeCapacity];
  TileKernel
      // kernel for i64 that sets element [row, column] to immediate[0] + row *
      // immediate[1] + column * immediate[2]
      iota;
  // Kernels of gathers, by log2 of the element size: a = memory, b = offsets in
  // elements, c = value for kOutside. They add i * immediate[0] elements to the
  // offset of column i.
  TileKernel gather[4];
  // Kernels that add an index, multiplied by a stride, to the offsets of a
  // tile. If the index is out of range, [0] records a failure, and [1] sets the
  // offset to kOutside; see move_kernels.h.
  TileKernel accumulate_index[2];
  // Kernels of reductions along rows, by combiner - 1: destination[r] =
  // combine(destination[r], all columns of a[r]).
  TileKernel reduce_rows[4][kComputeTypeCount];
  // kernels that execute several reduction steps at once for f32, by combiner -
  // 1; null for products
  TapKernel combine_taps[4];
  // Kernels of long sums (tensor/sum_error.h), for f32 and f64. carry_sum adds
  // the destination to a compensated total, of which operand a is the sum and
  // operand b the rest, and sets the destination to 0. finish_sum sets the
  // destination to the whole sum.
  TileKernel carry_sum[2];
  TileKernel finish_sum[2];
  ProductKernels products;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_KERNEL_TYPES_H_
