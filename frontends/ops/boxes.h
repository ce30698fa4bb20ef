// Boxes of detectors as rows of corners, (x1, y1, x2, y2): what moves them, and
// which of them stay.
//
//   Tensor boxes = MovedBoxes(AnchorsOfCells(anchors, h, w, 16), deltas, {});
//   Tensor kept = KeptBoxes(boxes, scores, overlap, least, Dim(300), 0);
//
// Where boxes reach from the first to the last pixel, they are one wider than
// their corners say: that is `extra`. All in f32. What does not fit is an error
// of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_BOXES_H_
#define EMBER_FRONTENDS_OPS_BOXES_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Corners as four parts, [.., 1].
struct Corners {
  Tensor x1, y1, x2, y2;
};
// Column i of the last dim, which stays as 1.
Tensor Part(Tensor x, int i);
Corners CornersOf(Tensor boxes);
Tensor Joined(const Corners& corners);
// (x, y, width, height) as corners, and back.
Tensor CornersOfCenters(Tensor boxes);
Tensor CentersOfCorners(Tensor boxes);

struct BoxMoves {
  double extra = 0;
  // Half of what is left out of a width that is centered: centers lie half of
  // width - inner behind the first corner.
  double inner = 0;
  // What the last corner lies before the center plus half of the width.
  double end = 0;
  // Of the logarithm of a growth.
  double most = std::numeric_limits<double>::infinity();
};
// boxes moved by deltas (of x and y in widths and heights, and the logarithms
// of what these grow by); both [.., 4], which broadcast (Girshick et al. 2014,
// "Rich feature hierarchies", appendix C).
Tensor MovedBoxes(Tensor boxes, Tensor deltas, const BoxMoves& moves);
// Within an image: corners in [0, extent - extra].
Tensor ClippedBoxes(Tensor boxes, Tensor height, Tensor width, double extra);

// Faster R-CNN's anchors around the first cell (Ren et al. 2015): four numbers
// per ratio and scale.
std::vector<float> RegionAnchors(int64_t base, const std::vector<float>& ratios,
                                 const std::vector<float>& scales);
// anchors [A, 4] around each cell of rows x columns, `stride` apart, [rows *
// columns * A, 4].
Tensor AnchorsOfCells(Tensor anchors, const Dim& rows, const Dim& columns,
                      double stride);

// Of boxes [n, 4] with scores [n]: the indices kept, i64 [k], best first, at
// most `most`; as NonMaxSuppression has it (regions.h). Operands may be of any
// float type.
Tensor KeptBoxes(Tensor boxes, Tensor scores, Tensor overlap, Tensor least,
                 const Dim& most, double extra);

// Intersection over union of boxes that broadcast, [..] of [.., 4]; 0 where
// they share nothing.
Tensor OverlapOf(Tensor a, Tensor b);

// Boxes [b, n, 4], best first, with numbers [b, n] that say which may suppress
// each other (absent: all): which of those that `valid` [b, n] says stay, bool.
// One turn of a loop for each box; boxes that share more than
// `overlap` with a better one do not stay.
Tensor Unsuppressed(Tensor boxes, Tensor ids, Tensor valid, double overlap);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_BOXES_H_
