// Boxes of detectors as rows of corners, (x1, y1, x2, y2): functions that move
// boxes, and functions that select boxes.
//
//   Tensor boxes = MovedBoxes(AnchorsOfCells(anchors, h, w, 16), deltas, {});
//   Tensor kept = KeptBoxes(boxes, scores, overlap, least, Dim(300), 0);
//
// The parameter `extra` is 1 for models in which a box includes its last pixel,
// so that it is one wider than the difference of its corners; else it is 0. All
// values are f32. Operands that do not fit are an error of the graph builder.
#ifndef EMBER_FRONTENDS_OPS_BOXES_H_
#define EMBER_FRONTENDS_OPS_BOXES_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// The coordinates of boxes as four tensors, each with a last dim of 1.
struct Corners {
  Tensor x1, y1, x2, y2;
};
// Returns element i of the last dim, which becomes a dim of 1.
Tensor Part(Tensor x, int i);
Corners CornersOf(Tensor boxes);
Tensor Joined(const Corners& corners);
// CornersOfCenters converts boxes (center x, center y, width, height) to
// corners; CentersOfCorners converts back.
Tensor CornersOfCenters(Tensor boxes);
Tensor CentersOfCorners(Tensor boxes);

// Conventions of a model for MovedBoxes. They hold along each axis, for widths
// as for heights:
//
//   width = last - first + extra                      of a given box
//   center = first + (width - inner) / 2              of a given box
//   first = center - (width - inner) / 2              of a moved box
//   last = center + (width - inner) / 2 - end         of a moved box
struct BoxMoves {
  double extra = 0;
  // Number that is subtracted from a width before it is halved (see the
  // formulas).
  double inner = 0;
  // Number that is subtracted from the last corner of a moved box (see the
  // formulas).
  double end = 0;
  // Upper bound of the deltas of width and height, which are logarithms of the
  // factors by which a box grows.
  double most = std::numeric_limits<double>::infinity();
};
// Moves boxes by deltas: shifts of x and y, in widths and heights, and the
// logarithms of the factors by which width and height grow. Boxes and deltas
// are [.., 4] and broadcast (Girshick et al. 2014, "Rich feature hierarchies",
// appendix C).
Tensor MovedBoxes(Tensor boxes, Tensor deltas, const BoxMoves& moves);
// Clips boxes to an image: corners are in [0, extent - extra].
Tensor ClippedBoxes(Tensor boxes, Tensor height, Tensor width, double extra);

// Returns Faster R-CNN's anchors around the first cell (Ren et al. 2015): the
// four corner numbers of a box for each ratio and scale.
std::vector<float> RegionAnchors(int64_t base, const std::vector<float>& ratios,
                                 const std::vector<float>& scales);
// Returns the anchors [A, 4] around each cell of rows x columns, with cells
// `stride` apart: [rows * columns * A, 4].
Tensor AnchorsOfCells(Tensor anchors, const Dim& rows, const Dim& columns,
                      double stride);

// Returns the indices of the boxes that NonMaxSuppression (regions.h) keeps,
// i64 [k], best first, at most `most`. boxes: [n, 4]; scores: [n]. Operands may
// have any float type.
Tensor KeptBoxes(Tensor boxes, Tensor scores, Tensor overlap, Tensor least,
                 const Dim& most, double extra);

// Returns the intersection over union of boxes that broadcast: [..] for [..,
// 4]. It is 0 where two boxes do not intersect.
Tensor OverlapOf(Tensor a, Tensor b);

// Non-maximum suppression: returns true for the boxes that are kept, bool [b,
// n]. Boxes [b, n, 4] are sorted best first. Only boxes that are `valid` [b, n]
// are considered. A box that overlaps a better kept box by more than `overlap`
// is not kept. With `ids` [b, n], only boxes with equal ids suppress each
// other; if `ids` is absent, all do. The function is a loop with one iteration
// per box.
Tensor Unsuppressed(Tensor boxes, Tensor ids, Tensor valid, double overlap);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_BOXES_H_
