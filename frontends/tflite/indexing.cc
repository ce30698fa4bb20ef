// Operators that choose or place elements by indices.
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

Tensor Indices(Tensor x) { return Cast(x, DType::kI64); }

// 0, 1, … along one dim of rank `rank`.
Tensor PlaceAlong(OperatorContext& c, const Dim& extent, int axis, int rank) {
  return AlongAxis(IotaVector(c.builder(), extent, DType::kI64), axis, rank);
}

void ImportArgExtreme(OperatorContext& c, const std::string& mode) {
  if (!c.CheckRank(0, 1)) return;
  const auto axis = c.ConstantIntegers(1, "axis");
  if (!axis || axis->size() != 1) return;
  const Tensor index =
      Apply("arg_reduce", {c.Input(0)},
            {{"mode", mode},
             {"axis", int64_t{c.Axis(axis->front(), c.Input(0).rank())}},
             {"last", int64_t{0}}});
  c.SetOutput(0, Cast(index, c.OutputType(0)));
}

// Row i of the data joins row ids[i] of the result; negative ids join none.
void SetSegments(OperatorContext& c, const Dim& count,
                 const std::string& update, double initial) {
  const Tensor data = c.Input(0);
  const Tensor ids = Indices(c.Input(1));
  Shape shape(data.shape().begin() + ids.rank(), data.shape().end());
  const Dim rows = ElementCount(ids.shape());
  Shape updates{rows};
  updates.insert(updates.end(), shape.begin(), shape.end());
  shape.insert(shape.begin(), count + Dim(1));  // one more, for no row
  const Tensor none = DimScalar(c.builder(), count);
  const Tensor place = Select(Less(ids, 0), none, ids);
  const Tensor y =
      Apply("scatter_nd",
            {Broadcast(data.Like(initial), shape),
             Reshape(place, {rows, Dim(1)}), Reshape(data, updates)},
            {{"update", update}});
  c.SetOutput(0, SliceAxis(y, 0, Dim(0), count));
}

void ImportUnsorted(OperatorContext& c, const std::string& update,
                    double initial) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  if (c.Input(1).rank() > c.Input(0).rank())
    return c.FailInvalid("segment_ids: expected no more dims than the data");
  const auto count = c.Sizes(2, "num_segments");
  if (!count) return;
  if (count->size() != 1) return c.FailInvalid("num_segments: expected one");
  SetSegments(c, count->front(), update, initial);
}

double Extreme(DType dtype, bool highest) {
  if (IsFloat(dtype)) {
    const double value = std::numeric_limits<float>::max();
    return highest ? value : -value;
  }
  return static_cast<double>(highest ? HighestOf(dtype) : LowestOf(dtype));
}

}  // namespace

void ImportGather(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const auto& o = c.Options<schema::GatherOptions>();
  const Tensor x = c.Input(0);
  const int axis = c.Axis(o.axis(), x.rank());
  const int batch =
      o.batch_dims() < 0 ? o.batch_dims() + c.Input(1).rank() : o.batch_dims();
  if (!c.ok()) return;
  const Tensor indices = NormalizeIndices(c.Input(1), x.dim(axis));
  if (batch == 0) return c.SetOutput(0, Gather(x, indices, axis));
  if (batch != axis || batch >= indices.rank() + 1 || batch < 0) {
    return c.FailUnsupported("batch_dims: expected 0 or the axis, found " +
                             std::to_string(o.batch_dims()) + " for axis " +
                             std::to_string(axis));
  }
  c.SetOutput(0, Apply("gather_nd", {x, Unsqueeze(indices, {indices.rank()})},
                       {{"batch_dims", int64_t{batch}}}));
}

void ImportGatherNd(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  c.SetOutput(0, Apply("gather_nd", {c.Input(0), Indices(c.Input(1))},
                       {{"batch_dims", int64_t{0}}}));
}

void ImportEmbeddingLookup(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1) || !c.CheckRank(1, 2)) return;
  const Tensor values = c.Input(1);
  const Tensor ids = Indices(c.Input(0));
  const Tensor rows = Gather(values, ids, 0);
  const Quantization* q = c.InputQuantization(1);
  if (q == nullptr || IsStoredType(c.OutputType(0)))
    return c.SetOutput(0, rows);
  if (q->per_tensor()) return c.SetOutput(0, DequantizeStored(rows, *q));
  if (q->axis != 0) return c.FailUnsupported("value: expected scales per row");
  const Tensor scales = Gather(c.Vector(DType::kF32, q->scales), ids, 0);
  c.SetOutput(0, Cast(rows, DType::kF32) * AlongAxis(scales, 0, rows.rank()));
}

void ImportScatterNd(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 0)) return;
  const auto shape = c.Sizes(2, "shape");
  if (!shape) return;
  const Tensor updates = c.Input(1);
  c.SetOutput(0, Apply("scatter_nd",
                       {Broadcast(updates.Like(0), *shape), Indices(c.Input(0)),
                        updates},
                       {{"update", std::string("add")}}));
}

void ImportSparseToDense(OperatorContext& c) {
  if (!c.CheckRank(0, 0, 2) || !c.CheckRank(2, 0, 1) || !c.CheckRank(3, 0, 1))
    return;
  const auto shape = c.Sizes(1, "output_shape");
  if (!shape) return;
  Tensor indices = Indices(c.Input(0));
  if (indices.rank() == 0) indices = Reshape(indices, {Dim(1), Dim(1)});
  if (indices.rank() == 1) indices = Unsqueeze(indices, {1});
  const Tensor values = c.Input(2);
  const Tensor updates = values.rank() == 1 && indices.dim(0) == values.dim(0)
                             ? values
                             : Broadcast(Reshape(values, {}), {indices.dim(0)});
  c.SetOutput(
      0, Apply("scatter_nd",
               {Broadcast(Reshape(c.Input(3), {}), *shape), indices, updates},
               {{"update", std::string("assign")}}));
}

void ImportOneHot(OperatorContext& c) {
  if (!c.CheckRank(0, 0, kMaximumRank - 1)) return;
  const auto depth = c.Sizes(1, "depth");
  if (!depth) return;
  if (depth->size() != 1) return c.FailInvalid("depth: expected one value");
  const int rank = c.Input(0).rank() + 1;
  const int axis = c.Axis(c.Options<schema::OneHotOptions>().axis(), rank);
  if (!c.ok()) return;
  const Tensor places = PlaceAlong(c, depth->front(), axis, rank);
  const Tensor hot = Equal(Unsqueeze(Indices(c.Input(0)), {axis}), places);
  c.SetOutput(0, Select(hot, Reshape(c.Input(2), {}), Reshape(c.Input(3), {})));
}

void ImportTopK(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto k = c.Sizes(1, "k");
  if (!k) return;
  if (k->size() != 1) return c.FailInvalid("k: expected one value");
  const std::vector<Tensor> results =
      ApplyAll("top_k", {c.Input(0)},
               {{"axis", int64_t{c.Input(0).rank() - 1}},
                {"k", *k},
                {"largest", int64_t{1}}});
  if (results.size() != 2) return;
  c.SetOutput(0, results[0]);
  if (c.output_count() > 1) c.SetOutput(1, Cast(results[1], c.OutputType(1)));
}

void ImportArgMax(OperatorContext& c) { ImportArgExtreme(c, "maximum"); }
void ImportArgMin(OperatorContext& c) { ImportArgExtreme(c, "minimum"); }

// [n, rank]: where the condition holds, row-major.
void ImportWhere(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  const Tensor flat = Apply("non_zero", {Cast(x, DType::kBool)},
                            {{"defines", Shape{c.builder().FreshSymbol()}}});
  std::vector<Tensor> columns;
  for (int i = 0; i < x.rank() && c.ok(); ++i) {
    const Dim inner =
        ElementCount(Shape(x.shape().begin() + i + 1, x.shape().end()));
    const Tensor above =
        Binary(Opcode::kFloorDivide, flat, DimScalar(c.builder(), inner));
    columns.push_back(
        Unsqueeze(Modulo(above, DimScalar(c.builder(), x.dim(i))), {1}));
  }
  if (c.ok()) c.SetOutput(0, Cast(Concat(columns, 1), c.OutputType(0)));
}

void ImportUnique(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const std::vector<Tensor> results = ApplyAll(
      "unique", {Unsqueeze(c.Input(0), {1})},
      {{"defines", Shape{c.builder().FreshSymbol()}}, {"sorted", int64_t{0}}});
  if (results.size() != 4) return;
  c.SetOutput(0, Squeeze(results[0], {1}));
  if (c.output_count() > 1) c.SetOutput(1, Cast(results[2], c.OutputType(1)));
}

void ImportReverseSequence(OperatorContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 1, 1)) return;
  const auto& o = c.Options<schema::ReverseSequenceOptions>();
  const Tensor x = c.Input(0);
  const int along = c.Axis(o.seq_dim(), x.rank());
  const int batch = c.Axis(o.batch_dim(), x.rank());
  if (!c.ok()) return;
  const Tensor place = PlaceAlong(c, x.dim(along), along, x.rank());
  const Tensor length = AlongAxis(Indices(c.Input(1)), batch, x.rank());
  const Tensor from = Select(Less(place, length), length - place - 1.0, place);
  c.SetOutput(0, Apply("gather_elements", {x, Broadcast(from, x.shape())},
                       {{"axis", int64_t{along}}}));
}

void ImportCumsum(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const auto& o = c.Options<schema::CumsumOptions>();
  const auto given = c.ConstantIntegers(1, "axis");
  if (!given || given->size() != 1) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(given->front(), x.rank());
  if (!c.ok()) return;
  if (o.reverse()) x = Reverse(x, axis);
  Tensor sums = InclusiveScan(x, axis, Opcode::kAdd, 0);
  if (o.exclusive()) {
    Shape low(x.rank(), Dim(0)), high(x.rank(), Dim(0));
    low[axis] = Dim(1);
    high[axis] = Dim(-1);
    sums = Pad(sums, low, high, "constant", x.Like(0));
  }
  c.SetOutput(0, o.reverse() ? Reverse(sums, axis) : sums);
}

void ImportSegmentSum(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1, 1)) return;
  // Ids ascend: there are as many rows as the last says.
  const Tensor ids = Indices(c.Input(1));
  const Tensor count =
      Maximum(Reduce(ids, "maximum", {0}, /*keep=*/true) + 1.0, 0);
  const Shape extents = c.builder().Extents(count.value());
  if (c.ok()) SetSegments(c, extents.front(), "add", 0);
}

void ImportUnsortedSegmentSum(OperatorContext& c) {
  ImportUnsorted(c, "add", 0);
}
void ImportUnsortedSegmentProd(OperatorContext& c) {
  ImportUnsorted(c, "multiply", 1);
}
void ImportUnsortedSegmentMax(OperatorContext& c) {
  ImportUnsorted(c, "maximum", Extreme(c.Input(0).dtype(), false));
}
void ImportUnsortedSegmentMin(OperatorContext& c) {
  ImportUnsorted(c, "minimum", Extreme(c.Input(0).dtype(), true));
}

void ImportMatrixDiag(OperatorContext& c) {
  if (!c.CheckRank(0, 1, kMaximumRank - 1)) return;
  const Tensor x = c.Input(0);
  const int rank = x.rank() + 1;
  const Dim extent = x.dim(-1);
  const Tensor eye = Equal(PlaceAlong(c, extent, rank - 2, rank),
                           PlaceAlong(c, extent, rank - 1, rank));
  c.SetOutput(0, Select(eye, Unsqueeze(x, {rank - 1}), x.Like(0)));
}

void ImportMatrixSetDiag(OperatorContext& c) {
  if (!c.CheckRank(0, 2) || !c.CheckRank(1, 1)) return;
  const Tensor x = c.Input(0);
  Tensor diagonal = c.Input(1);
  const int rank = x.rank();
  const Dim missing = x.dim(-2) - diagonal.dim(-1);
  if (missing != Dim(0)) {
    Shape low(diagonal.rank(), Dim(0)), high(diagonal.rank(), Dim(0));
    high.back() = missing;
    diagonal = Pad(diagonal, low, high, "constant", diagonal.Like(0));
  }
  const Tensor eye = Equal(PlaceAlong(c, x.dim(-2), rank - 2, rank),
                           PlaceAlong(c, x.dim(-1), rank - 1, rank));
  c.SetOutput(0, Select(eye, Unsqueeze(diagonal, {diagonal.rank()}), x));
}

// Each element of the result is of the update where it lies within that.
void ImportDynamicUpdateSlice(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1) || !c.CheckRank(2, 1, 1)) return;
  const Tensor x = c.Input(0);
  Tensor update = c.Input(1);
  if (update.rank() != x.rank())
    return c.FailInvalid("update: expected as many dims as the operand");
  const Tensor starts = Indices(c.Input(2));
  Tensor inside;
  for (int i = 0; i < x.rank() && c.ok(); ++i) {
    const Dim extent = c.Input(1).dim(i);
    const Tensor most = DimScalar(c.builder(), x.dim(i) - extent);
    const Tensor start = Minimum(
        Maximum(Reshape(SliceAxis(starts, 0, Dim(i), Dim(1)), {}), 0), most);
    const Tensor place = IotaVector(c.builder(), x.dim(i), DType::kI64) - start;
    const Tensor last = DimScalar(c.builder(), extent - Dim(1));
    const Tensor within = And(LessEqual(0, place), LessEqual(place, last));
    update = Gather(update, Minimum(Maximum(place, 0), last), i);
    const Tensor along = AlongAxis(within, i, x.rank());
    inside = inside ? And(inside, along) : along;
  }
  if (c.ok()) c.SetOutput(0, Select(inside, update, x));
}

// How many boundaries are not above each element.
void ImportBucketize(OperatorContext& c) {
  if (!c.CheckRank(0, 0, kMaximumRank - 1)) return;
  const auto given = SpanOf(c.Options<schema::BucketizeOptions>().boundaries());
  const Tensor x = Cast(c.Input(0), DType::kF32);
  if (given.empty()) {
    return c.SetOutput(0, Broadcast(c.Scalar(0, DType::kI32), x.shape()));
  }
  const std::vector<float> boundaries(given.begin(), given.end());
  const Tensor reached =
      LessEqual(c.Vector(DType::kF32, boundaries), Unsqueeze(x, {x.rank()}));
  c.SetOutput(0, Reduce(Cast(reached, DType::kI32), "sum", {x.rank()},
                        /*keep=*/false));
}

}  // namespace ember::tflite
