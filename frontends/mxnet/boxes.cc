// Boxes of single-shot detectors (SSD, YOLO): priors, their decoding, and
// non-maximum suppression. Results have as many rows as there are boxes; rows
// without a box are -1.
#include "frontends/ops/boxes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/one_line.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/mxnet/operator_table.h"

namespace ember::mxnet {
namespace {

// Largest number of elements of a constant of prior boxes. It is far above any
// detector's.
constexpr int64_t kMaxPriors = int64_t{1} << 22;

// Returns true if the attribute `name` (without it, `usual`) says that boxes
// are given as centers and sizes, not as corners. Fails and returns false for
// all but "center" and "corner".
bool IsCenter(NodeContext& c, std::string_view name, std::string_view usual) {
  const std::string format = c.Text(name, usual);
  if (format == "center") return true;
  if (format != "corner")
    c.FailInvalid(std::string(name) + ": expected corner or center, found '" +
                  OnOneLine(format) + "'");
  return false;
}

// Returns true if the last dim of input `index` is 4 and its rank is in
// [minimum, maximum]; else fails.
bool CheckBoxes(NodeContext& c, int index, int minimum, int maximum) {
  if (!c.CheckRank(index, minimum, maximum)) return false;
  if (c.Input(index).dim(-1) == Dim(4)) return true;
  c.FailInvalid("input " + std::to_string(index) +
                ": expected boxes of 4 numbers, found " +
                graph::ShapeToString(c.Input(index).shape()));
  return false;
}

// Returns the rows of `rows` [b, n, ..] with the given indices [b, m] in each
// image, as [b, m, ..].
Tensor RowsAt(const Tensor& rows, const Tensor& places) {
  graph::GraphBuilder& builder = rows.builder();
  const Tensor image =
      AlongAxis(IotaVector(builder, rows.dim(0), DType::kI64), 0, 2);
  const Tensor tuples =
      Concat({Unsqueeze(Broadcast(image, places.shape()), {2}),
              Unsqueeze(places, {2})},
             2);
  return Apply("gather_nd", {rows, tuples}, {{"batch_dims", int64_t{0}}});
}

// Returns the indices of the k largest of the numbers [b, n] in each row, the
// largest first: [b, k].
Tensor Largest(const Tensor& numbers, const Dim& k) {
  const std::vector<Tensor> sorted = ApplyAll(
      "top_k", {numbers},
      {{"axis", int64_t{1}}, {"k", Shape{k}}, {"largest", int64_t{1}}});
  return sorted.empty() ? numbers : sorted[1];
}

// Moves the rows of [b, n, w] for which `marks` is true to the front, and fills
// the other rows with -1. Returns `count` rows for each image.
Tensor MarkedFirst(const Tensor& rows, const Tensor& marks, const Dim& count) {
  graph::GraphBuilder& builder = rows.builder();
  // Each marked row gets a number, larger for earlier rows; unmarked rows get
  // 0. Sorting by these numbers moves the marked rows to the front.
  const Tensor place = IotaVector(builder, rows.dim(1), DType::kI64);
  const Tensor rank =
      ops::DimScalar(builder, rows.dim(1)) - Unsqueeze(place, {0});
  const Tensor key =
      Select(marks, Broadcast(rank, marks.shape()), rank.Like(0));
  const Tensor order = Largest(key, rows.dim(1));
  if (!builder.status().ok()) return rows;
  const Tensor is_row = Less(0, RowsAt(Unsqueeze(key, {2}), order));
  const Tensor y = Select(is_row, RowsAt(rows, order), rows.Like(-1));
  const Dim missing = count - rows.dim(1);
  return Pad(y, {Dim(0), Dim(0), Dim(0)}, {Dim(0), missing, Dim(0)}, "constant",
             rows.Like(-1));
}

}  // namespace

void ImportMultiBoxPrior(NodeContext& c) {
  if (!c.CheckRank(0, 4, 4)) return;
  const auto numbers = [&](std::string_view name,
                           const std::vector<double>& usual) {
    std::vector<double> given = c.Numbers(name);
    return given.empty() ? usual : given;
  };
  const std::vector<double> sizes = numbers("sizes", {1});
  const std::vector<double> ratios = numbers("ratios", {1});
  std::vector<double> steps = numbers("steps", {-1, -1});
  const std::vector<double> offsets = numbers("offsets", {0.5, 0.5});
  const bool clip = c.Flag("clip", false);
  const auto extents = c.Extents(c.Input(0), 2, 4);
  if (!extents || !c.ok()) return;
  if (steps.size() != 2 || offsets.size() != 2)
    return c.FailInvalid("steps, offsets: expected two numbers each");
  const int64_t rows = (*extents)[0], columns = (*extents)[1];
  const auto each = static_cast<int64_t>(sizes.size() + ratios.size() - 1);
  if (each > kMaxPriors || rows < 1 || columns < 1 || rows > kMaxPriors ||
      columns > kMaxPriors || rows * columns > kMaxPriors / each) {
    return c.FailInvalid("expected 1 to " + std::to_string(kMaxPriors) +
                         " boxes, found " +
                         graph::ShapeToString(c.Input(0).shape()) + " with " +
                         std::to_string(each) + " per cell");
  }
  for (size_t i = 0; i < 2; ++i)
    if (steps[i] <= 0) steps[i] = 1 / static_cast<double>((*extents)[i]);
  // Half of the width and half of the height of each prior box of a cell, as
  // fractions of the image.
  std::vector<std::pair<double, double>> halves;
  const double shape = static_cast<double>(rows) / static_cast<double>(columns);
  for (const double size : sizes)
    halves.emplace_back(size * shape / 2, size / 2);
  for (size_t i = 1; i < ratios.size(); ++i) {
    const double ratio = std::sqrt(ratios[i]);
    halves.emplace_back(sizes[0] * shape * ratio / 2, sizes[0] / ratio / 2);
  }
  std::vector<float> corners;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t column = 0; column < columns; ++column) {
      const double y = (static_cast<double>(row) + offsets[0]) * steps[0];
      const double x = (static_cast<double>(column) + offsets[1]) * steps[1];
      for (const auto& [w, h] : halves) {
        for (const double corner : {x - w, y - h, x + w, y + h}) {
          corners.push_back(static_cast<float>(
              clip ? std::min(std::max(corner, 0.0), 1.0) : corner));
        }
      }
    }
  }
  c.SetOutput(Reshape(c.Vector(DType::kF32, corners),
                      {Dim(1), Dim(rows * columns * each), Dim(4)}));
}

// Imports MultiBoxDetection. Operands: scores [b, classes, n], box deltas [b, n
// * 4], priors [1, n, 4]. Result: [b, n, 6] of (class, score, corners), best
// first. A box that a better one of its class (with force_suppress, of any
// class) suppresses gets class -1 and keeps its other numbers. Boxes below
// `threshold` become rows of -1.
void ImportMultiBoxDetection(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 2, 2) || !CheckBoxes(c, 2, 3, 3))
    return;
  const Tensor scores = Cast(c.Input(0), DType::kF32);
  const auto extents = c.Extents(scores, 1, 3);
  if (!extents) return;
  const int64_t classes = (*extents)[0], count = (*extents)[1];
  std::vector<double> variances = c.Numbers("variances");
  if (variances.empty()) variances = {0.1, 0.1, 0.2, 0.2};
  const double threshold = c.Number("threshold", 0.01);
  const double overlap = c.Number("nms_threshold", 0.5);
  const bool force = c.Flag("force_suppress", false);
  int64_t most = c.Integer("nms_topk", -1);
  if (most <= 0 || most > count) most = count;
  if (!c.ok()) return;
  if (c.Integer("background_id", 0) != 0)
    return c.FailUnsupported("background_id: expected 0");
  if (!(overlap > 0 && overlap <= 1)) {
    return c.FailUnsupported(
        "nms_threshold: expected one above 0 and at most 1, found " +
        std::to_string(overlap));
  }
  if (variances.size() != 4 || classes < 2 || count < 1 ||
      c.Input(1).dim(1) != Dim(count * 4) || c.Input(2).dim(0) != Dim(1) ||
      c.Input(2).dim(1) != Dim(count)) {
    return c.FailInvalid(
        "expected four variances, a background and classes, "
        "and changes and priors for " +
        std::to_string(count) + " boxes, found " +
        graph::ShapeToString(scores.shape()) + ", " +
        graph::ShapeToString(c.Input(1).shape()) + " and " +
        graph::ShapeToString(c.Input(2).shape()));
  }
  const Dim images = scores.dim(0);
  const Tensor changes =
      Reshape(Cast(c.Input(1), DType::kF32), {images, Dim(count), Dim(4)}) *
      c.Vector(DType::kF32,
               std::vector<float>(variances.begin(), variances.end()));
  Tensor boxes = ops::MovedBoxes(Cast(c.Input(2), DType::kF32), changes, {});
  if (c.Flag("clip", true)) boxes = Minimum(Maximum(boxes, 0), 1);
  // Finds the best class of each box, without the background.
  const Tensor of_classes = SliceAxis(scores, 1, Dim(1), Dim(classes - 1));
  const Tensor best = Reduce(of_classes, "maximum", {1}, /*keep=*/false);
  const Tensor label = Apply("arg_reduce", {of_classes},
                             {{"mode", std::string("maximum")},
                              {"axis", int64_t{1}},
                              {"last", int64_t{0}}});
  const Tensor found = LessEqual(threshold, best);
  const double none = std::numeric_limits<float>::lowest();
  const Tensor order = Largest(Select(found, best, best.Like(none)), Dim(most));
  if (!c.ok()) return;
  const auto sorted = [&](const Tensor& x) {
    return Squeeze(RowsAt(Unsqueeze(x, {2}), order), {2});
  };
  const Tensor is_found = sorted(Cast(found, DType::kF32));
  const Tensor valid = Less(0, is_found);
  const Tensor ids = sorted(label), corners = RowsAt(boxes, order);
  // MXNet also suppresses a box whose overlap equals the threshold, so the
  // threshold is lowered to the next smaller number.
  const Tensor stays =
      ops::Unsuppressed(corners, force ? Tensor() : ids, valid,
                        std::nextafter(static_cast<float>(overlap), 0.0f));
  if (!c.ok()) return;
  const Tensor number = Cast(ids, DType::kF32);
  const Tensor rows =
      Concat({Unsqueeze(Select(stays, number, number.Like(-1)), {2}),
              Unsqueeze(sorted(best), {2}), corners},
             2);
  const Tensor y = Select(Unsqueeze(valid, {2}), rows, rows.Like(-1));
  c.SetOutput(
      Cast(Pad(y, {Dim(0), Dim(0), Dim(0)}, {Dim(0), Dim(count - most), Dim(0)},
               "constant", y.Like(-1)),
           c.Input(0).dtype()));
}

// Imports box_nms. Operand: boxes [.., n, w]. The result has the boxes that
// score above valid_thresh and are not suppressed, best first, followed by rows
// of -1.
void ImportBoxNms(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor given = c.Input(0);
  const auto extents = c.Extents(given, given.rank() - 2, given.rank());
  if (!extents) return;
  const int64_t count = (*extents)[0], width = (*extents)[1];
  const int64_t start = c.Integer("coord_start", 2);
  const int64_t score_index = c.Integer("score_index", 1);
  const int64_t id_index = c.Integer("id_index", -1);
  const int64_t background = c.Integer("background_id", -1);
  const bool force = c.Flag("force_suppress", false);
  int64_t most = c.Integer("topk", -1);
  if (most < 0 || most > count) most = count;
  const bool in_center = IsCenter(c, "in_format", "corner");
  const bool out_center = IsCenter(c, "out_format", "corner");
  const double least = c.Number("valid_thresh", 0);
  const double overlap = c.Number("overlap_thresh", 0.5);
  if (!c.ok() || !c.CheckRange("coord_start", start, 0, width - 4) ||
      !c.CheckRange("score_index", score_index, 0, width - 1) ||
      !c.CheckRange("id_index", id_index, -1, width - 1))
    return;
  if (most == 0) return c.SetOutput(given);
  Dim images(1);
  for (int i = 0; i + 2 < given.rank(); ++i) images = images * given.dim(i);
  const Tensor data =
      Reshape(Cast(given, DType::kF32), {images, Dim(count), Dim(width)});
  const auto column = [&](const Tensor& rows, int64_t index) {
    return Squeeze(SliceAxis(rows, 2, Dim(index), Dim(1)), {2});
  };
  const Tensor scores = column(data, score_index);
  Tensor found = Less(least, scores);
  if (id_index >= 0 && background >= 0)
    found = And(found, NotEqual(column(data, id_index),
                                static_cast<double>(background)));
  const double none = std::numeric_limits<float>::lowest();
  const Tensor ranked = Select(found, scores, scores.Like(none));
  const Tensor order = Largest(ranked, Dim(most));
  if (!c.ok()) return;
  const Tensor rows = RowsAt(data, order);
  const Tensor valid = Less(
      0, Squeeze(RowsAt(Unsqueeze(Cast(found, DType::kF32), {2}), order), {2}));
  Tensor boxes = SliceAxis(rows, 2, Dim(start), Dim(4));
  if (in_center) boxes = ops::CornersOfCenters(boxes);
  const Tensor ids =
      id_index >= 0 && !force ? column(rows, id_index) : Tensor();
  const Tensor stays = ops::Unsuppressed(boxes, ids, valid, overlap);
  if (!c.ok()) return;
  Tensor result = rows;
  if (in_center != out_center) {
    const Tensor own = SliceAxis(rows, 2, Dim(start), Dim(4));
    // Rows whose first box coordinate is negative are not converted between
    // corners and centers.
    const Tensor other = Select(
        LessEqual(0, ops::Part(own, 0)),
        in_center ? ops::CornersOfCenters(own) : ops::CentersOfCorners(own),
        own);
    result =
        Concat({SliceAxis(rows, 2, Dim(0), Dim(start)), other,
                SliceAxis(rows, 2, Dim(start + 4), Dim(width - start - 4))},
               2);
  }
  c.SetOutput(
      Cast(Reshape(MarkedFirst(result, stays, Dim(count)), given.shape()),
           given.dtype()));
}

void ImportBoxIou(NodeContext& c) {
  if (!CheckBoxes(c, 0, 2, 8) || !CheckBoxes(c, 1, 2, 8)) return;
  const bool center = IsCenter(c, "format", "corner");
  const auto boxes = [&](int index) {
    const Tensor x = Cast(c.Input(index), DType::kF32);
    const Tensor corners = center ? ops::CornersOfCenters(x) : x;
    Dim count(1);
    for (int i = 0; i + 1 < x.rank(); ++i) count = count * x.dim(i);
    return Reshape(corners, {count, Dim(4)});
  };
  Shape shape(c.Input(0).shape().begin(), c.Input(0).shape().end() - 1);
  shape.insert(shape.end(), c.Input(1).shape().begin(),
               c.Input(1).shape().end() - 1);
  const Tensor y = ops::OverlapOf(ops::Unsqueeze(boxes(0), {1}),
                                  ops::Unsqueeze(boxes(1), {0}));
  c.SetOutput(Cast(Reshape(y, shape), c.Input(0).dtype()));
}

// Imports box_decode. Operands: box deltas [b, n, 4], anchors [1, n, 4].
// Result: the corners of the decoded boxes, [b, n, 4].
void ImportBoxDecode(NodeContext& c) {
  if (!CheckBoxes(c, 0, 3, 3) || !CheckBoxes(c, 1, 3, 3)) return;
  std::vector<float> stds;
  for (const char* name : {"std0", "std1", "std2", "std3"})
    stds.push_back(static_cast<float>(c.Number(name, 1)));
  const double clip = c.Number("clip", -1);
  Tensor anchors = Cast(c.Input(1), DType::kF32);
  if (IsCenter(c, "format", "center")) anchors = ops::CornersOfCenters(anchors);
  ops::BoxMoves moves;
  if (clip > 0) moves.most = clip;
  c.SetOutput(Cast(
      ops::MovedBoxes(
          anchors, Cast(c.Input(0), DType::kF32) * c.Vector(DType::kF32, stds),
          moves),
      c.Input(0).dtype()));
}

// Imports box_encode, which computes the training targets of a detector.
// Operands: samples [b, n] (1 is positive), matches [b, n], anchors [b, n, 4],
// references [b, m, 4], means [4], deviations [4]. Results: box deltas and
// masks, [b, n, 4]; both are 0 if a sample is not positive.
void ImportBoxEncode(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2) ||
      !CheckBoxes(c, 2, 3, 3) || !CheckBoxes(c, 3, 3, 3) ||
      !c.CheckRank(4, 1, 1) || !c.CheckRank(5, 1, 1))
    return;
  const Tensor references =
      RowsAt(Cast(c.Input(3), DType::kF32), Cast(c.Input(1), DType::kI64));
  const Tensor anchors = ops::CentersOfCorners(Cast(c.Input(2), DType::kF32));
  const Tensor targets = ops::CentersOfCorners(references);
  const auto half = [](const Tensor& x, int64_t first) {
    return SliceAxis(x, 2, Dim(first), Dim(2));
  };
  const Tensor size = half(anchors, 2);
  const Tensor change = Concat({(half(targets, 0) - half(anchors, 0)) / size,
                                Log(half(targets, 2) / size)},
                               2);
  const Tensor y =
      (change - Cast(c.Input(4), DType::kF32)) / Cast(c.Input(5), DType::kF32);
  const Tensor mask = Broadcast(
      Unsqueeze(Less(0.5, Cast(c.Input(0), DType::kF32)), {2}), y.shape());
  const DType dtype = c.Input(2).dtype();
  c.SetOutput(0, Cast(Select(mask, y, y.Like(0)), dtype));
  c.SetOutput(1, Cast(mask, dtype));
}

// Matches rows and columns of scores [.., n, m], the best scores (the lowest if
// is_ascend) first, each row and column at most once. Only scores above
// `threshold` (below it if is_ascend) count. Results: the column of each row,
// and the row of each column; -1 without a match.
void ImportBipartiteMatching(NodeContext& c) {
  if (!c.CheckRank(0, 2)) return;
  const Tensor given = c.Input(0);
  const auto extents = c.Extents(given, given.rank() - 2, given.rank());
  if (!extents) return;
  if (!c.Has("threshold"))
    return c.FailInvalid("expected an attribute 'threshold', found none");
  const bool ascends = c.Flag("is_ascend", false);
  const double sign = ascends ? -1 : 1;
  const double threshold = c.Number("threshold", 0) * sign;
  const int64_t rows = (*extents)[0], columns = (*extents)[1];
  if (!c.ok() || !c.CheckPositive("rows", rows) ||
      !c.CheckPositive("columns", columns))
    return;
  // MXNet stops after the first match beyond its limit "topk".
  const int64_t limit = c.Integer("topk", -1);
  int64_t iterations = std::min(rows, columns);
  if (limit > 0) iterations = std::min(iterations, limit + 1);
  Dim images(1);
  for (int i = 0; i + 2 < given.rank(); ++i) images = images * given.dim(i);
  const Tensor scores =
      Reshape(Cast(given, DType::kF32) * sign, {images, Dim(rows * columns)});
  const auto unmatched = [&](int64_t count) {
    return Broadcast(c.Scalar(-1), {images, Dim(count)});
  };
  if (!c.ok()) return;
  graph::LoopRequest request{
      .carried = {unmatched(rows).value(), unmatched(columns).value()},
      .scanned = {},
      .trip = Dim(iterations)};
  const std::vector<graph::Value*> results = graph::BuildLoop(
      c.builder(), request,
      [&](graph::Region& region,
          const graph::LoopInputs& in) -> graph::LoopOutputs {
        graph::GraphBuilder& inside = region.builder();
        const Tensor of_rows(&inside, in.carried[0]);
        const Tensor of_columns(&inside, in.carried[1]);
        const Tensor all(&inside, region.Capture(scores.value()));
        const Tensor free = Reshape(And(Unsqueeze(Less(of_rows, 0), {2}),
                                        Unsqueeze(Less(of_columns, 0), {1})),
                                    {images, Dim(rows * columns)});
        const Tensor left = Select(
            free, all, all.Like(-std::numeric_limits<double>::infinity()));
        const Tensor best = Apply("arg_reduce", {left},
                                  {{"mode", std::string("maximum")},
                                   {"axis", int64_t{1}},
                                   {"last", int64_t{0}}});
        const Tensor place =
            IotaVector(inside, Dim(rows * columns), DType::kI64);
        const Tensor hit =
            Reshape(And(Equal(Unsqueeze(place, {0}), Unsqueeze(best, {1})),
                        And(free, Less(threshold, all))),
                    {images, Dim(rows), Dim(columns)});
        // Returns the match of each row or each column: the match that this
        // iteration found, else the match from before.
        const auto matched = [&](const Tensor& before, int axis) {
          const Tensor number = AlongAxis(
              IotaVector(inside, hit.dim(axis), DType::kF32), axis, 3);
          const Tensor match = Reduce(
              Select(hit, Broadcast(number, hit.shape()), number.Like(-1)),
              "maximum", {axis}, /*keep=*/false);
          return Maximum(before, match).value();
        };
        return {.proceed = nullptr,
                .carried = {matched(of_rows, 2), matched(of_columns, 1)},
                .stacked = {}};
      });
  if (!c.ok()) return;
  for (int i = 0; i < 2; ++i) {
    Shape shape(given.shape().begin(), given.shape().end() - 2);
    shape.push_back(Dim(i == 0 ? rows : columns));
    c.SetOutput(i, Cast(Reshape(c.Wrap(results[static_cast<size_t>(i)]), shape),
                        given.dtype()));
  }
}

}  // namespace ember::mxnet
