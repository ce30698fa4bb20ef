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
// Number of bytes of a piece: the swizzle moves pieces and keeps the bytes of
// each together.
inline constexpr int64_t kPanelPieceBytes = 16;
// Number of rows after which the swizzle's pattern repeats.
inline constexpr int64_t kPanelRows = 8;

// The panels of one buffer. The functions compute addresses in it.
struct SharedPanels : loops::Panels {
  // Returns the distance in bytes from one panel to the next.
  int64_t PanelBytes() const { return rows * kPanelRowBytes; }
  // Returns the address, relative to the buffer's begin, of the byte that has
  // this offset in the row-major buffer.
  int64_t PositionOf(int64_t offset) const;
  // True if PositionOf(offset + step) = PositionOf(offset) + PositionOf(step)
  // for each offset that is used with the step. This is the case for steps by
  // whole blocks of rows and by whole panels, within a matrix and from one
  // matrix to another.
  bool IsStep(int64_t step) const;
};

// Returns the panels of the product's matrix b, if an instruction of `warps`
// warps can read b from panels. `subgroup` is the variable of the surrounding
// loop over subgroups, whose extent must be a multiple of `warps`. b must be in
// a buffer of the task whose last two dims, apart from dims of extent 1 between
// them, are rows and columns of the matrix. All warps of the instruction must
// read the same matrix. It must begin with a block of rows and consist of whole
// blocks, and no elements that are read together may cross a panel's end. If
// the instruction does not transpose b (ReadsRowMajorB), each row of the buffer
// must be a column of b.
std::optional<SharedPanels> PanelsOfColumns(
    const loops::LoopNest& nest, const loops::MatrixOperation& product,
    loops::NodeId subgroup, int64_t warps);
// Returns the panels of the product's matrix a, of which each warp reads rows
// of its own. The rows of the warps must follow each other in the buffer in the
// order of the warps; the other conditions are those of PanelsOfColumns. If a
// row is one panel long, the rows may continue in the next outer dim, as pixels
// continue in the next line of an image.
std::optional<SharedPanels> PanelsOfRows(const loops::LoopNest& nest,
                                         const loops::MatrixOperation& product,
                                         loops::NodeId subgroup, int64_t warps);

// Returns the distance in bytes, in the panels, from the begin of one warp's
// rows of matrix a to the begin of the next warp's.
int64_t BytesToNextWarp(const loops::LoopNest& nest,
                        const loops::MatrixOperation& product);

// True if each product of the nest's phases whose instruction needs several
// warps can read matrix b from panels, and also matrix a if rows_too.
bool HasPanelsForWideProducts(const loops::LoopNest& nest, bool rows_too);

// True if a store to a buffer of panels is possible: it assigns one element, or
// vector lanes that lie in one piece of 16 bytes; updates are not possible.
// lane: the variable of the surrounding vector loop, if there is one.
bool MayStoreToPanels(const loops::LoopNest& nest, const loops::Store& store,
                      std::optional<loops::NodeId> lane);

}  // namespace ember::jit

#endif  // EMBER_JIT_TARGET_SHARED_PANELS_H_
