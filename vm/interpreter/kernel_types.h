// The interface of tile kernels. The engine sees a strip instruction as a tile
// kernel: one tight typed loop over a tile of rows x columns. Values are
// computed in one of seven compute types. Narrow integers are held as i32 and
// narrow floats as f32, and are wrapped or rounded to their own type after each
// instruction.
//
// The kernels are compiled once per instruction set (strip_kernels.cc and
// micro_kernels.cc) and found through TileKernelTable. Only plain data crosses
// this header: files that are built with different -m flags include it, and the
// linker could choose a version of an inline function that the running CPU
// cannot execute.
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

// A tile in scratch memory, or memory of a buffer seen as one.
struct TileOperand {
  char* data;
  int64_t row_stride;  // distance between rows in bytes
  // distance between columns in elements; arithmetic takes 0 (same value for
  // all columns) and 1
  int64_t column_stride;
};

// The first index that an index kernel found outside its extent.
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

// Offset that marks an element outside of the buffer: gather takes its default,
// scatter skips the element.
inline constexpr int64_t kOutside = INT64_MIN;

// The types to which a result must be wrapped or rounded after an instruction.
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

// Register-blocked inner kernel of contractions: C[m, n] (+)= sum(k < depth)
// A[m, k] * B[k, n] with A in rows of a_stride elements, B packed in rows of
// b_stride; m <= rows of the kernel; only the first `columns` columns of C are
// written.
struct MicroArguments {
  const void* a;
  int64_t a_stride;
  const void* b;
  int64_t b_stride;
  // the panel after b, of the same size, which the kernel prefetches while it
  // computes
  const void* next;
  void* c;
  int64_t c_stride;
  int64_t depth;
  int64_t columns;
  bool accumulate;  // true: adds to C; false: overwrites C
};
using MicroKernel = void (*)(const MicroArguments&);

inline constexpr int kMaxMicroRows = 14;
inline constexpr int kMicroVectors = 2;

struct MicroKernels {
  int rows;             // largest value of m
  int vector_elements;  // number of columns per vector
  // kernels by [vectors - 1][m - 1]
  MicroKernel run[kMicroVectors][kMaxMicroRows];
};

// Several reduction steps at once: destination[r, c] = combine(destination[r,
// c], the taps). A tap is a[r, c] or a product a[r, c] * b[r, c]. Strides are
// those of the last tap.
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

// Kernels in which the compiler may fuse a product and its sum. They are
// compiled separately from the rest.
struct ProductKernels {
  MicroKernels micro[3];  // kernels for f32, f64 and i32
  // for f32 and f64: adds a[r, c] * b[r, c] to destination[r, c]
  TileKernel multiply_add[2];
  // for f32 and f64: adds the sum over c of a[r, c] * b[r, c] to destination[r]
  TileKernel multiply_add_rows[2];
  TapKernel multiply_add_taps[2];
};

// room for at least tensor::kOpcodeCount opcodes
inline constexpr int kOpcodeSlots = 80;
// room for at least ember::kDTypeCount dtypes
inline constexpr int kDTypeSlots = 16;

// The table is filled in when it is first used. The function of the baseline
// sets all entries; those of better instruction sets then replace the entries
// that they improve. (A constant table would be larger in position-independent
// code, because each pointer in it needs a relocation.)
struct TileKernelTable {
  const char* name;
  // Unary, classify, binary and compare instructions, by opcode and operand
  // compute type.
  TileKernel arithmetic[kOpcodeSlots][kComputeTypeCount];
  TileKernel select[kComputeTypeCount];
  // casts by compute type: [from][to]
  TileKernel cast[kComputeTypeCount][kComputeTypeCount];
  // Casts to f32 and sets the last bit if any bit was lost, for values that are
  // then rounded to a narrow float (round to odd). Null for f32.
  TileKernel cast_odd[kComputeTypeCount];
  // Conversions of narrow floats, held as f32, to their bits as i32, and back.
  TileKernel float_bits[kNarrowTypeCount];
  TileKernel float_from_bits[kNarrowTypeCount];
  TileKernel narrow[kNarrowTypeCount];  // wraps or rounds a tile in place
  TileKernel clamp;  // clamps i32 to [immediate[0], immediate[1]]
  // copies memory with any column stride to a tile
  TileKernel load[kDTypeSlots];
  // copies a tile to memory with any column stride
  TileKernel store[kDTypeSlots];
  TileKernel
      // i64: sets element [row, column] to immediate[0] + row * immediate[1] +
      // column * immediate[2]
      iota;
  // Gathers, by log2 of the element size: a = memory, b = offsets, c = value
  // for kOutside. The offset of column i is increased by i * immediate[0]
  // elements.
  TileKernel gather[4];
  // [0] records a failure for an index outside, [1] marks the offset as
  // kOutside; see move_kernels.h
  TileKernel accumulate_index[2];
  // Kernels by combiner - 1: destination[r] = combine(destination[r], a[r, all
  // columns]).
  TileKernel reduce_rows[4][kComputeTypeCount];
  // kernels for f32, by combiner - 1; null for products
  TapKernel combine_taps[4];
  // Kernels of long sums (tensor/sum_error.h), for f32 and f64. carry_sum adds
  // the destination to the compensated total a, whose error is b, and sets the
  // destination to 0. finish_sum sets the destination to the whole sum.
  TileKernel carry_sum[2];
  TileKernel finish_sum[2];
  ProductKernels products;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_KERNEL_TYPES_H_
