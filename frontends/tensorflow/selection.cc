// Imports operators that select elements by indices, values or order, and
// operators that write elements to given positions.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "frontends/tensorflow/operators.h"

namespace ember::tensorflow {
namespace {

void SetScattered(OperatorContext& c, const std::string& update, bool negate) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const Tensor updates = negate ? -c.Input(2) : c.Input(2);
  c.SetOutput(0, Apply("scatter_nd",
                       {c.Input(0), Cast(c.Input(1), DType::kI64), updates},
                       {{"update", update}}));
}

}  // namespace

void ImportGatherV1(OperatorContext& c) { tf_common::ImportGather(c, 0, 0); }
void ImportGatherV2(OperatorContext& c) {
  const auto axis = c.ConstantIntegers(2, "axis");
  if (!axis || axis->size() != 1) return;
  tf_common::ImportGather(c, axis->front(), c.Integer("batch_dims", 0));
}
void ImportOneHot(OperatorContext& c) {
  tf_common::ImportOneHot(c, c.Integer("axis", -1));
}
void ImportTopKV2(OperatorContext& c) {
  c.SetOutputType(1, c.Type("index_type", DType::kI32));
  tf_common::ImportTopK(c);
}
void ImportTopK(OperatorContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const std::vector<Tensor> results =
      ApplyAll("top_k", {c.Input(0)},
               {{"axis", int64_t{c.Input(0).rank() - 1}},
                {"k", Shape{Dim(c.Integer("k", 1))}},
                {"largest", int64_t{1}}});
  if (results.size() != 2) return;
  c.SetOutput(0, results[0]);
  c.SetOutput(1, Cast(results[1], DType::kI32));
}
// Imports InTopK: true if the target of each row is among the row's k highest
// predictions. Operands: (predictions, targets, k).
void ImportInTopK(OperatorContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 1, 1)) return;
  int64_t k = c.Integer("k", 1);
  if (c.input_count() > 2) {
    const auto given = c.ConstantIntegers(2, "k");
    if (!given || given->size() != 1) return;
    k = given->front();
  }
  const Tensor x = c.Input(0);
  const Tensor targets = Unsqueeze(Cast(c.Input(1), DType::kI64), {1});
  const Tensor own =
      Apply("gather_elements", {x, targets}, {{"axis", int64_t{1}}});
  const Tensor above =
      Reduce(Cast(Less(own, x), DType::kI64), "sum", {1}, false);
  const Tensor finite = IsFinite(own);
  c.SetOutput(0,
              And(Less(above, static_cast<double>(k)), Squeeze(finite, {1})));
}
void ImportWhere(OperatorContext& c) {
  c.SetOutputType(0, DType::kI64);
  tf_common::ImportWhere(c);
}
void ImportUnique(OperatorContext& c) {
  c.SetOutputType(1, c.Type("out_idx", DType::kI32));
  tf_common::ImportUnique(c);
}
void ImportUniqueWithCounts(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1)) return;
  const DType type = c.Type("out_idx", DType::kI32);
  const std::vector<Tensor> results = ApplyAll(
      "unique", {Unsqueeze(c.Input(0), {1})},
      {{"defines", Shape{c.builder().FreshSymbol()}}, {"sorted", int64_t{0}}});
  if (results.size() != 4) return;
  c.SetOutput(0, Squeeze(results[0], {1}));
  c.SetOutput(1, Cast(results[2], type));
  c.SetOutput(2, Cast(results[3], type));
}
void ImportReverseSequence(OperatorContext& c) {
  tf_common::ImportReverseSequence(c, c.Integer("seq_dim", 0),
                                   c.Integer("batch_dim", 0));
}
void ImportCumsum(OperatorContext& c) {
  tf_common::ImportCumulative(c, Opcode::kAdd, 0, c.Flag("exclusive", false),
                              c.Flag("reverse", false));
}
void ImportCumprod(OperatorContext& c) {
  tf_common::ImportCumulative(c, Opcode::kMultiply, 1,
                              c.Flag("exclusive", false),
                              c.Flag("reverse", false));
}
void ImportBucketize(OperatorContext& c) {
  tf_common::ImportBucketize(c, c.Numbers("boundaries"));
}
// Sets the result of LowerBound or UpperBound: for each value of a row, the
// number of elements of the sorted row that are below the value (lower) or not
// above it (upper). NaN is above all numbers. Operands: (sorted rows, values).
void SetBound(OperatorContext& c, bool is_upper) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2)) return;
  const Tensor sorted = Unsqueeze(c.Input(0), {1});
  const Tensor values = Unsqueeze(c.Input(1), {2});
  const Tensor counts =
      is_upper ? Or(LessEqual(sorted, values), NotEqual(values, values))
               : And(Not(LessEqual(values, sorted)), Equal(sorted, sorted));
  c.SetOutput(0, Cast(Reduce(Cast(counts, DType::kI64), "sum", {2}, false),
                      c.Type("out_type", DType::kI32)));
}
void ImportLowerBound(OperatorContext& c) { SetBound(c, false); }
void ImportUpperBound(OperatorContext& c) { SetBound(c, true); }

void ImportTensorScatterUpdate(OperatorContext& c) {
  SetScattered(c, "assign", false);
}
void ImportTensorScatterAdd(OperatorContext& c) {
  SetScattered(c, "add", false);
}
void ImportTensorScatterSub(OperatorContext& c) {
  SetScattered(c, "add", true);
}
void ImportTensorScatterMax(OperatorContext& c) {
  SetScattered(c, "maximum", false);
}
void ImportTensorScatterMin(OperatorContext& c) {
  SetScattered(c, "minimum", false);
}

// Writes rows to the positions given by the indices; if several rows have the
// same position, the last one is used. Operands: (indices…, data…).
void ImportDynamicStitch(OperatorContext& c) {
  const int n = c.input_count() / 2;
  if (n < 1 || c.input_count() != 2 * n)
    return c.FailInvalid("expected as many indices as data");
  std::vector<Tensor> indices, rows;
  for (int i = 0; i < n; ++i) {
    const Tensor index = c.Input(i), data = c.Input(n + i);
    if (!c.ok()) return;
    if (index.rank() > data.rank())
      return c.FailInvalid("expected data with the dims of its indices");
    const Dim count = ElementCount(index.shape());
    Shape shape(data.shape().begin() + index.rank(), data.shape().end());
    shape.insert(shape.begin(), count);
    indices.push_back(Reshape(Cast(index, DType::kI64), {count}));
    rows.push_back(Reshape(data, shape));
  }
  const Tensor places = Concat(indices, 0), values = Concat(rows, 0);
  if (!c.ok()) return;
  const Tensor count = Reduce(places, "maximum", {0}, /*keep=*/true) + 1.0;
  const Shape extents = c.builder().Extents(Maximum(count, 0).value());
  if (!c.ok()) return;
  Shape shape = values.shape();
  shape[0] = extents.front();
  c.SetOutput(0, Apply("scatter_nd",
                       {Broadcast(values.Like(0), shape),
                        Unsqueeze(places, {1}), values},
                       {{"update", std::string("assign")}}));
}

// Imports DynamicPartition, which distributes rows to its results by the
// partition number of each row. Operands: (data, partitions).
void ImportDynamicPartition(OperatorContext& c) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  const int64_t count = c.Integer("num_partitions", 1);
  c.SetOutputCount(count);
  const Tensor data = c.Input(0), parts = c.Input(1);
  if (!c.ok()) return;
  if (parts.rank() > data.rank())
    return c.FailInvalid("expected data with the dims of its partitions");
  const Dim rows = ElementCount(parts.shape());
  Shape shape(data.shape().begin() + parts.rank(), data.shape().end());
  shape.insert(shape.begin(), rows);
  const Tensor flat = Reshape(data, shape), ids = Reshape(parts, {rows});
  for (int64_t i = 0; i < count && c.ok(); ++i) {
    const Tensor chosen =
        Apply("non_zero", {Equal(ids, static_cast<double>(i))},
              {{"defines", Shape{c.builder().FreshSymbol()}}});
    if (c.ok()) c.SetOutput(static_cast<int>(i), Gather(flat, chosen, 0));
  }
}

}  // namespace ember::tensorflow
