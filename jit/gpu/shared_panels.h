// Panels: how a matrix lies in memory of a workgroup from which instructions of
// warpgroups read it (jit/target/matrix_instructions.h, IsWide). Factor b they
// read there only; factor a there, or from registers.
//
// Such an instruction reads rows of 128 bytes, eight to a block of 1024 bytes,
// whose pieces of 16 bytes are exchanged so that neither rows nor columns of
// pieces are in one bank. A buffer of longer rows is cut into panels of 128
// bytes, one behind the other:
//
//   rows of 256 bytes         panel 0           panel 1
//   row 0  a0 a1 ... a15      a0 a1 ... a7      a8 a9 ... a15
//   row 1  b0 b1 ... b15      b1 b0 ... b6      b9 b8 ... b14
//
// To the nest the buffer is row-major as any other; only addresses know better.
// The source is PTX ISA 8.5, "Matrix and its layout in shared memory", 128-byte
// swizzling. Values; thread-safe.
#ifndef EMBER_JIT_GPU_SHARED_PANELS_H_
#define EMBER_JIT_GPU_SHARED_PANELS_H_

#include <cstdint>
#include <optional>

#include "jit/loops/loop_nest.h"
#include "jit/loops/matrix_operation.h"

namespace ember::jit::gpu {

// Where a buffer of panels begins is a multiple of this, as are its panels.
inline constexpr int64_t kPanelAlignment = 1024;
inline constexpr int64_t kPanelRowBytes = 128;
// What stays together.
inline constexpr int64_t kPanelPieceBytes = 16;
// Rows whose pieces are exchanged alike.
inline constexpr int64_t kPanelRows = 8;

struct SharedPanels {
  int64_t rows = 0;       // of each matrix of the buffer; 0: it has no panels
  int64_t row_bytes = 0;  // of the buffer's rows

  bool Any() const { return rows != 0; }
  // From one panel to the next.
  int64_t PanelBytes() const { return rows * kPanelRowBytes; }
  // Where byte `offset` of the row-major buffer is.
  int64_t PlaceOf(int64_t offset) const;
  // Whether what is `step` bytes on, of the same matrix or of another one, is
  // PlaceOf(step) bytes on: whole blocks of rows, and panels.
  bool IsStep(int64_t step) const;
};

// The panels of matrix b of the product, if an instruction of `warps` warps can
// read it from such: the subgroup loop around, whose variable is `subgroup`,
// has whole groups of so many, and b is in a buffer of the task whose last two
// dims, but for those of extent 1 between them, are rows and columns of the
// matrix, the same one for each of these warps, whole blocks long and beginning
// with a block; no run of it goes beyond a panel. Rows of the buffer are
// columns of b where the instruction does not transpose (ReadsRowMajorB).
std::optional<SharedPanels> PanelsOfColumns(
    const loops::LoopNest& nest, const loops::MatrixOperation& product,
    loops::NodeId subgroup, int64_t warps);
// Those of matrix a, of which each warp has rows of its own: they follow each
// other in the buffer as the warps do, and are together as b has to be. Where
// rows are one panel long, they may go on in the next dim outwards, as pixels
// do on the lines of an image.
std::optional<SharedPanels> PanelsOfRows(const loops::LoopNest& nest,
                                         const loops::MatrixOperation& product,
                                         loops::NodeId subgroup, int64_t warps);

// From where a warp's matrix a begins in its panels to where the next warp's
// does, in bytes.
int64_t BytesToNextWarp(const loops::LoopNest& nest,
                        const loops::MatrixOperation& product);

// Whether each product of the nest that has an instruction of several warps has
// panels for matrix b, and, if rows_too, for a.
bool HasPanelsForWideProducts(const loops::LoopNest& nest, bool rows_too);

// Whether the store may go to a buffer of panels: of one element, or of lanes
// that are part of one piece. lane: the variable of the vector loop around.
bool MayStoreToPanels(const loops::LoopNest& nest, const loops::Store& store,
                      std::optional<loops::NodeId> lane);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_SHARED_PANELS_H_
