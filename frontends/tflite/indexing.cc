// Operators that select or place elements by indices. This file reads the
// options of TensorFlow Lite for the operators in tf_common, and imports the
// operators that only TensorFlow Lite has.
#include "frontends/tf_common/indexing.h"

#include <string>
#include <vector>

#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {

void ImportEmbeddingLookup(OperatorContext& c) {
  if (!c.CheckRank(0, 1, 1) || !c.CheckRank(1, 2)) return;
  const Tensor values = c.Input(1);
  const Tensor ids = Cast(c.Input(0), DType::kI64);
  const Tensor rows = Gather(values, ids, 0);
  const Quantization* q = c.InputQuantization(1);
  if (q == nullptr || IsStoredType(c.OutputType(0)))
    return c.SetOutput(0, rows);
  if (q->per_tensor()) return c.SetOutput(0, DequantizeStored(rows, *q));
  if (q->axis != 0) return c.FailUnsupported("value: expected scales per row");
  const Tensor scales = Gather(c.Vector(DType::kF32, q->scales), ids, 0);
  c.SetOutput(0, Cast(rows, DType::kF32) * AlongAxis(scales, 0, rows.rank()));
}

void ImportGather(OperatorContext& c) {
  const auto& o = c.Options<schema::GatherOptions>();
  tf_common::ImportGather(c, o.axis(), o.batch_dims());
}

void ImportOneHot(OperatorContext& c) {
  tf_common::ImportOneHot(c, c.Options<schema::OneHotOptions>().axis());
}

void ImportReverseSequence(OperatorContext& c) {
  const auto& o = c.Options<schema::ReverseSequenceOptions>();
  tf_common::ImportReverseSequence(c, o.seq_dim(), o.batch_dim());
}

void ImportCumsum(OperatorContext& c) {
  const auto& o = c.Options<schema::CumsumOptions>();
  tf_common::ImportCumulative(c, Opcode::kAdd, 0, o.exclusive(), o.reverse());
}

void ImportBucketize(OperatorContext& c) {
  const auto given = SpanOf(c.Options<schema::BucketizeOptions>().boundaries());
  tf_common::ImportBucketize(c, {given.begin(), given.end()});
}

void ImportArgMax(OperatorContext& c) {
  tf_common::ImportArgExtreme(c, "maximum");
}
void ImportArgMin(OperatorContext& c) {
  tf_common::ImportArgExtreme(c, "minimum");
}

void ImportSegmentSum(OperatorContext& c) {
  tf_common::ImportSegment(c, "add", c.Input(0).Like(0));
}
void ImportUnsortedSegmentSum(OperatorContext& c) {
  tf_common::ImportUnsortedSegmentSum(c);
}
void ImportUnsortedSegmentProd(OperatorContext& c) {
  tf_common::ImportUnsortedSegmentProd(c);
}
void ImportUnsortedSegmentMax(OperatorContext& c) {
  tf_common::ImportUnsortedSegmentMax(c);
}
void ImportUnsortedSegmentMin(OperatorContext& c) {
  tf_common::ImportUnsortedSegmentMin(c);
}

void ImportGatherNd(OperatorContext& c) { tf_common::ImportGatherNd(c); }
void ImportScatterNd(OperatorContext& c) { tf_common::ImportScatterNd(c); }
void ImportSparseToDense(OperatorContext& c) {
  tf_common::ImportSparseToDense(c);
}
void ImportTopK(OperatorContext& c) { tf_common::ImportTopK(c); }
void ImportWhere(OperatorContext& c) { tf_common::ImportWhere(c); }
void ImportUnique(OperatorContext& c) { tf_common::ImportUnique(c); }
void ImportMatrixDiag(OperatorContext& c) { tf_common::ImportMatrixDiag(c); }
void ImportMatrixSetDiag(OperatorContext& c) {
  tf_common::ImportMatrixSetDiag(c);
}
void ImportDynamicUpdateSlice(OperatorContext& c) {
  tf_common::ImportDynamicUpdateSlice(c);
}

}  // namespace ember::tflite
