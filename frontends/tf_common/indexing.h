// Operators that select or place elements by indices and are the same in
// TensorFlow and TensorFlow Lite. Operands are in the order of TensorFlow's
// operators; TensorFlow's attributes are arguments here.
#ifndef EMBER_FRONTENDS_TF_COMMON_INDEXING_H_
#define EMBER_FRONTENDS_TF_COMMON_INDEXING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// Returns the integers 0, 1, … extent - 1 along dim `axis` of a tensor of rank
// `rank`, whose other dims are 1.
inline Tensor IndexAlong(OperatorBase& c, const Dim& extent, int axis,
                         int rank) {
  return AlongAxis(IotaVector(c.builder(), extent, DType::kI64), axis, rank);
}

// Returns the lowest or highest value of a type; for floats, a finite one.
// The highest integer of 64 bits is not exact.
double ExtremeOf(DType dtype, bool highest);
// Returns the value of ExtremeOf as a scalar of x's type. It is exact for
// 64-bit integers, too.
Tensor ExtremeLike(Tensor x, bool highest);

// Imports ArgMax or ArgMin. `mode`: maximum or minimum. Operands: (x, axis).
void ImportArgExtreme(OperatorBase& c, const std::string& mode);
// Imports Gather. Operands: (data, indices). Negative indices count from the
// end.
void ImportGather(OperatorBase& c, int64_t axis, int64_t batch_dims);
void ImportGatherNd(OperatorBase& c);
// Imports ScatterNd, which adds the updates to a tensor of zeros. Operands:
// (indices, updates, shape).
void ImportScatterNd(OperatorBase& c);
void ImportSparseToDense(OperatorBase& c);
void ImportOneHot(OperatorBase& c, int64_t axis);
void ImportTopK(OperatorBase& c);
// Imports Where: the positions at which the condition is true, [n, rank],
// row-major.
void ImportWhere(OperatorBase& c);
void ImportUnique(OperatorBase& c);
void ImportReverseSequence(OperatorBase& c, int64_t seq_dim, int64_t batch_dim);
// Imports running sums or products. `identity` is the neutral element of the
// opcode. Operands: (x, axis).
void ImportCumulative(OperatorBase& c, Opcode opcode, double identity,
                      bool exclusive, bool reverse);
// Imports a segment operator, which combines rows of equal id by `update` (add,
// multiply, minimum, maximum), beginning with `initial`. Operands: (data, ids).
// Ids ascend.
void ImportSegment(OperatorBase& c, const std::string& update, Tensor initial);
// Imports a segment operator like ImportSegment, for ids in any order. The
// third operand is the number of segments. Rows with negative ids are ignored.
void ImportUnsortedSegment(OperatorBase& c, const std::string& update,
                           Tensor initial);
void ImportUnsortedSegmentSum(OperatorBase& c);
void ImportUnsortedSegmentProd(OperatorBase& c);
void ImportUnsortedSegmentMax(OperatorBase& c);
void ImportUnsortedSegmentMin(OperatorBase& c);
void ImportMatrixDiag(OperatorBase& c);
void ImportMatrixSetDiag(OperatorBase& c);
// Imports DynamicUpdateSlice. Operands: (x, update, starts).
void ImportDynamicUpdateSlice(OperatorBase& c);
// Imports Bucketize: for each element, the number of boundaries that are not
// above it; NaN is above all of them.
void ImportBucketize(OperatorBase& c, const std::vector<float>& boundaries);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_INDEXING_H_
