// Panels: the layout of a matrix in memory of a workgroup that instructions of
// warpgroups read (jit/target/matrix_instructions.h, IsWide). They read factor
// b only from there, and factor a from there or from registers.
//
// Such an instruction reads rows of 128 bytes, eight to a block of 1024 bytes.
// The pieces of 16 bytes of a row are exchanged (a swizzle), so that neither a
// row nor a column of pieces lies in one bank. A buffer of longer rows is cut
// into panels of 128 bytes, one after the other:
//
//   rows of 256 bytes         panel 0           panel 1
//   row 0  a0 a1 ... a15      a0 a1 ... a7      a8 a9 ... a15
//   row 1  b0 b1 ... b15      b1 b0 ... b6      b9 b8 ... b14
//
// In the nest the buffer is row-major like any other; only the computation of
// addresses knows the panels. The source is PTX ISA 8.5, "Matrix and its layout
// in shared memory", 128-byte swizzling. Values; thread-safe.
#ifndef EMBER_JIT_TARGET_SHARED_PANELS_H_
#define EMBER_JIT_TARGET_SHARED_PANELS_H_

#include <cstdint>
#include <optional>

#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"

namespace ember::jit {

// Alignment in bytes of a buffer of panels, and of each panel.
inline constexpr int64_t kPanelAlignment = 1024;
inline constexpr int64_t kPanelRowBytes = 128;
// Number of bytes that the swizzle keeps together.
inline constexpr int64_t kPanelPieceBytes = 16;
// Number of rows after which the exchange of pieces repeats.
inline constexpr int64_t kPanelRows = 8;

// The layout of a buffer, with the computation of positions in it.
struct SharedPanels : loops::Panels {
  // Returns the number of bytes from one panel to the next.
  int64_t PanelBytes() const { return rows * kPanelRowBytes; }
  // Returns the position, in bytes, of byte `offset` of the row-major buffer.
  int64_t PositionOf(int64_t offset) const;
  // True if, for each offset, adding `step` to the offset adds PositionOf(step)
  // to its position. This is the case for steps by whole blocks of rows and by
  // whole panels, within a matrix and from one matrix to another.
  bool IsStep(int64_t step) const;
};

// Returns the panels of matrix b of the product, if an instruction of `warps`
// warps can read b from panels. `subgroup` is the variable of the subgroup loop
// around, whose extent must be a multiple of `warps`. b must be in a buffer of
// the task whose last two dims, apart from dims of extent 1 between them, are
// rows and columns of the matrix. All these warps must read the same matrix,
// which is whole blocks long and begins with a block; no run of it crosses a
// panel's end. Rows of the buffer are columns of b where the instruction does
// not transpose (ReadsRowMajorB).
std::optional<SharedPanels> PanelsOfColumns(
    const loops::LoopNest& nest, const loops::MatrixOperation& product,
    loops::NodeId subgroup, int64_t warps);
// Returns the panels of matrix a, of which each warp has rows of its own. The
// rows of the warps must follow each other in the buffer in the order of the
// warps, and otherwise fulfil the conditions for b. Rows that are one panel
// long may continue in the next outer dim, as pixels do on the lines of an
// image.
std::optional<SharedPanels> PanelsOfRows(const loops::LoopNest& nest,
                                         const loops::MatrixOperation& product,
                                         loops::NodeId subgroup, int64_t warps);

// Returns the number of bytes from the begin of a warp's matrix a in its panels
// to that of the next warp.
int64_t BytesToNextWarp(const loops::LoopNest& nest,
                        const loops::MatrixOperation& product);

// True if each product of the nest with an instruction of several warps has
// panels for matrix b and, if rows_too, for a.
bool HasPanelsForWideProducts(const loops::LoopNest& nest, bool rows_too);

// True if the store may go to a buffer of panels: it stores one element, or
// lanes that are part of one piece. lane: the variable of the surrounding
// vector loop.
bool MayStoreToPanels(const loops::LoopNest& nest, const loops::Store& store,
                      std::optional<loops::NodeId> lane);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_SHARED_PANELS_H_
