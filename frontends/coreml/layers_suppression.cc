// Non-maximum suppression of a batch of boxes within a network.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "frontends/coreml/layer_table.h"
#include "frontends/ops/boxes.h"

namespace ember::coreml {
namespace {

// Returns the number in an input if it is present, else `otherwise`.
std::optional<double> NumberOf(LayerContext& c, int input, double otherwise) {
  if (!c.Input(input)) return otherwise;
  const auto given =
      c.ConstantNumbers(c.Input(input), "input " + std::to_string(input));
  if (!given) return std::nullopt;
  if (given->size() == 1) return given->front();
  c.FailInvalid("input " + std::to_string(input) +
                ": expected one number, found " +
                std::to_string(given->size()));
  return std::nullopt;
}

// Returns the rows of `rows` [b, n, ..] with the given indices [b, k], as [b,
// k, ..].
Tensor RowsAt(const Tensor& rows, const Tensor& indices) {
  if (rows.rank() == 2)
    return Apply("gather_elements", {rows, indices}, {{"axis", int64_t{1}}});
  return Apply("gather_elements",
               {rows, Broadcast(Unsqueeze(indices, {2}),
                                {rows.dim(0), indices.dim(1), rows.dim(2)})},
               {{"axis", int64_t{1}}});
}

// Returns the k largest elements of each row, and their indices in the row.
std::vector<Tensor> Largest(const Tensor& x, int64_t k) {
  return ApplyAll(
      "top_k", {x},
      {{"axis", int64_t{1}}, {"k", Shape{Dim(k)}}, {"largest", int64_t{1}}});
}

}  // namespace

void ImportNonMaximumSuppression(LayerContext& c) {
  const ProtobufView& p = c.parameters();
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(1, 3, 3)) return;
  const Tensor boxes = c.Input(0), scores = c.Input(1);
  const auto count = c.Extent(boxes, 1), width = c.Extent(boxes, 2),
             scored = c.Extent(scores, 1), classes = c.Extent(scores, 2);
  const auto overlap = NumberOf(c, 2, p.Float(1)),
             least = NumberOf(c, 3, p.Float(2)),
             most = NumberOf(c, 4, static_cast<double>(p.Integer(3)));
  if (!count || !width || !scored || !classes || !overlap || !least || !most)
    return;
  if (*width != 4 || *scored != *count || *count < 1 || *classes < 1) {
    return c.FailInvalid(
        "expected boxes [B, N, 4] and scores [B, N, C], found " +
        graph::ShapeToString(boxes.shape()) + " and " +
        graph::ShapeToString(scores.shape()));
  }
  const auto wanted = static_cast<int64_t>(
      std::clamp(*most, 0.0, static_cast<double>(ops::kMaxWindow) + 1));
  if (!c.CheckRange("maxBoxes", wanted)) return;
  const Tensor best = Reduce(scores, "maximum", {2}, /*keep=*/false);
  const std::vector<Tensor> sorted = Largest(best, *count);
  if (!c.ok()) return;
  const Tensor &values = sorted[0], &order = sorted[1];
  const Tensor place =
      Unsqueeze(IotaVector(c.builder(), Dim(*count), DType::kI64), {0});
  // The best box is never suppressed, even if its score is below the threshold.
  const Tensor valid =
      Or(LessEqual(*least, values), Broadcast(Equal(place, 0), values.shape()));
  Tensor ids;
  if (p.Flag(4)) {
    const Tensor label = Apply("arg_reduce", {scores},
                               {{"mode", std::string("maximum")},
                                {"axis", int64_t{2}},
                                {"last", int64_t{0}}});
    if (!c.ok()) return;
    ids = RowsAt(label, order);
  }
  const Tensor corners = ops::CornersOfCenters(boxes);
  if (!c.ok()) return;
  const Tensor stay =
      ops::Unsuppressed(RowsAt(corners, order), ids, valid, *overlap);
  if (!c.ok()) return;
  // Each box that is not suppressed gets a number, larger for better boxes;
  // suppressed boxes get 0. Sorting by these numbers then selects the remaining
  // boxes in order.
  const Tensor number =
      Cast(place.Like(static_cast<double>(*count)) - place, DType::kI64);
  const Tensor ranked =
      Select(stay, Broadcast(number, stay.shape()), place.Like(0));
  const int64_t given = std::min(wanted, *count);
  const std::vector<Tensor> chosen = Largest(ranked, given);
  if (!c.ok()) return;
  const Tensor is_there = Less(0, chosen[0]);
  const Tensor indices = RowsAt(order, chosen[1]);
  const auto padded = [&](Tensor x, double filler) {
    Shape low(static_cast<size_t>(x.rank()), Dim(0)), high = low;
    high[1] = Dim(wanted - given);
    const Tensor mask = x.rank() == 3 ? Unsqueeze(is_there, {2}) : is_there;
    return Pad(Select(mask, x, x.Like(filler)), low, high, "constant",
               x.Like(filler));
  };
  c.SetOutput(0, padded(RowsAt(boxes, indices), 0));
  c.SetOutput(1, padded(RowsAt(scores, indices), 0));
  c.SetOutput(2, padded(Cast(indices, DType::kF32), -1));
  c.SetOutput(3, Reduce(Cast(is_there, DType::kF32), "sum", {1}, false));
}

}  // namespace ember::coreml
