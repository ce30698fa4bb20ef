// What a strip instruction looks like to the engine: a tile kernel, which is
// one tight typed loop over a tile of rows x columns. Values are computed in
// one of seven compute types; narrow integers are held as i32 and narrow floats
// as f32, wrapped or rounded to their own type after each instruction.
//
// The kernels are compiled once per instruction set (kernels_*.cc) and found
// through TileKernelTable. Only plain data crosses this header: it is included
// by files built with different -m flags, and an inline function here could be
// linked in a version that the running CPU does not have.
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
  int64_t row_stride;     // bytes
  int64_t column_stride;  // elements; arithmetic takes 0 (same value for all
                          // columns) and 1
};

// The first index outside its extent, found by an index kernel.
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

// Offsets that say "outside": gather takes its default, scatter skips the
// element.
inline constexpr int64_t kOutside = INT64_MIN;

// What follows an instruction to bring its result back into a narrow type.
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
  const void* next;  // brought near meanwhile, as much as of b: the panel that
                     // comes next
  void* c;
  int64_t c_stride;
  int64_t depth;
  int64_t columns;
  bool accumulate;  // add to C instead of overwriting it
};
using MicroKernel = void (*)(const MicroArguments&);

inline constexpr int kMaxMicroRows = 14;
inline constexpr int kMicroVectors = 2;

struct MicroKernels {
  int rows;                                       // largest m
  int vector_elements;                            // columns per vector
  MicroKernel run[kMicroVectors][kMaxMicroRows];  // [vectors - 1][m - 1]
};

// Several reduction steps at once: destination[r, c] = combine(destination[r,
// c], the taps), where a tap is a[r, c] or a product a[r, c] * b[r, c]. Strides
// are those of the last tap.
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

// Kernels in which a product and its sum may fuse; compiled apart from the
// rest.
struct ProductKernels {
  MicroKernels micro[3];            // f32, f64, i32
  TileKernel multiply_add[2];       // f32, f64: destination[r, c] += a * b
  TileKernel multiply_add_rows[2];  // f32, f64: destination[r] += sum over
                                    // columns of a * b
  TapKernel multiply_add_taps[2];
};

inline constexpr int kOpcodeSlots = 80;  // at least tensor::kOpcodeCount
inline constexpr int kDTypeSlots = 16;   // at least ember::kDTypeCount

// Filled in when a program first asks: the function of the baseline sets all
// entries, those of better instruction sets then replace what they do better.
// (A constant table would be larger where code is position-independent: each
// pointer in it takes a relocation.)
struct TileKernelTable {
  const char* name;
  // Unary, classify, binary and compare instructions, by opcode and operand
  // compute type.
  TileKernel arithmetic[kOpcodeSlots][kComputeTypeCount];
  TileKernel select[kComputeTypeCount];
  TileKernel cast[kComputeTypeCount][kComputeTypeCount];  // [from][to]
  // To f32 with its last bit set if anything was lost: what is rounded to a
  // narrow float next. From f32: null.
  TileKernel cast_odd[kComputeTypeCount];
  // Narrow floats, held as f32 -> their bits as i32, and back.
  TileKernel float_bits[kNarrowTypeCount];
  TileKernel float_from_bits[kNarrowTypeCount];
  TileKernel
      narrow[kNarrowTypeCount];   // wraps or rounds a tile in place of itself
  TileKernel clamp;               // i32 to [immediate[0], immediate[1]]
  TileKernel load[kDTypeSlots];   // memory at any column stride -> tile
  TileKernel store[kDTypeSlots];  // tile -> memory at any column stride
  TileKernel
      iota;  // immediate[0] + row * immediate[1] + column * immediate[2], i64
  // By log2 of the element size: a = memory, b = offsets, c = what kOutside
  // gives; columns lie immediate[0] elements apart beyond their offset.
  TileKernel gather[4];
  TileKernel accumulate_index[2];  // [0] failing, [1] marking kOutside; see
                                   // kernels_move.inc
  // destination[r] = combine(destination[r], a[r, all columns]), by combiner -
  // 1
  TileKernel reduce_rows[4][kComputeTypeCount];
  TapKernel combine_taps[4];  // f32, by combiner - 1; null for products
  // Of long sums (tensor/sum_error.h), f32 and f64: what the destination has is
  // carried to the compensated total a, whose error is b, and the destination
  // is 0 again; then the destination becomes all of it.
  TileKernel carry_sum[2];
  TileKernel finish_sum[2];
  ProductKernels products;
};

}  // namespace ember::vm

#endif  // EMBER_VM_INTERPRETER_KERNEL_TYPES_H_
