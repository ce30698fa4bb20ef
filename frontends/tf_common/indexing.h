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

// Returns 0, 1, … along one dim of rank `rank`.
inline Tensor PlaceAlong(OperatorBase& c, const Dim& extent, int axis,
                         int rank) {
  return AlongAxis(IotaVector(c.builder(), extent, DType::kI64), axis, rank);
}

// Returns the lowest or highest value of a type; for floats, the finite ones of
// f32.
double ExtremeOf(DType dtype, bool highest);

// `mode`: maximum or minimum. Operands: (x, axis).
void ImportArgExtreme(OperatorBase& c, const std::string& mode);
// Operands: (data, indices). Negative indices count from the end.
void ImportGather(OperatorBase& c, int64_t axis, int64_t batch_dims);
void ImportGatherNd(OperatorBase& c);
// Adds the updates to zeros. Operands: (indices, updates, shape).
void ImportScatterNd(OperatorBase& c);
void ImportSparseToDense(OperatorBase& c);
void ImportOneHot(OperatorBase& c, int64_t axis);
void ImportTopK(OperatorBase& c);
// Returns the positions at which the condition is true, [n, rank], row-major.
void ImportWhere(OperatorBase& c);
void ImportUnique(OperatorBase& c);
void ImportReverseSequence(OperatorBase& c, int64_t seq_dim, int64_t batch_dim);
// Imports running sums or products. `identity` is the neutral element of the
// opcode. Operands: (x, axis).
void ImportCumulative(OperatorBase& c, Opcode opcode, double identity,
                      bool exclusive, bool reverse);
// Combines rows of equal id by `update` (add, multiply, minimum, maximum),
// beginning with `initial`. Operands: (data, ids). Ids ascend.
void ImportSegment(OperatorBase& c, const std::string& update, double initial);
// Like ImportSegment, for ids in any order below the third operand. Rows with
// negative ids are ignored.
void ImportUnsortedSegment(OperatorBase& c, const std::string& update,
                           double initial);
void ImportUnsortedSegmentSum(OperatorBase& c);
void ImportUnsortedSegmentProd(OperatorBase& c);
void ImportUnsortedSegmentMax(OperatorBase& c);
void ImportUnsortedSegmentMin(OperatorBase& c);
void ImportMatrixDiag(OperatorBase& c);
void ImportMatrixSetDiag(OperatorBase& c);
// Operands: (x, update, starts).
void ImportDynamicUpdateSlice(OperatorBase& c);
// Number of boundaries that are not above each element.
void ImportBucketize(OperatorBase& c, const std::vector<float>& boundaries);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_INDEXING_H_
