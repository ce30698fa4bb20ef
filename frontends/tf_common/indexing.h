// Operators that choose or place elements by indices, as TensorFlow and
// TensorFlow Lite have them alike. Operands are in the order of TensorFlow's
// operators; what is an attribute there is an argument here.
#ifndef EMBER_FRONTENDS_TF_COMMON_INDEXING_H_
#define EMBER_FRONTENDS_TF_COMMON_INDEXING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// 0, 1, … along one dim of rank `rank`.
inline Tensor PlaceAlong(OperatorBase& c, const Dim& extent, int axis,
                         int rank) {
  return AlongAxis(IotaVector(c.builder(), extent, DType::kI64), axis, rank);
}

// The lowest or highest value of a type; of floats, the finite ones of f32.
double ExtremeOf(DType dtype, bool highest);

// mode: maximum or minimum. (x, axis)
void ImportArgExtreme(OperatorBase& c, const std::string& mode);
// (data, indices); indices count from the end where they are negative.
void ImportGather(OperatorBase& c, int64_t axis, int64_t batch_dims);
void ImportGatherNd(OperatorBase& c);
// (indices, updates, shape): zeros, and the updates added.
void ImportScatterNd(OperatorBase& c);
void ImportSparseToDense(OperatorBase& c);
void ImportOneHot(OperatorBase& c, int64_t axis);
void ImportTopK(OperatorBase& c);
// [n, rank]: where the condition holds, row-major.
void ImportWhere(OperatorBase& c);
void ImportUnique(OperatorBase& c);
void ImportReverseSequence(OperatorBase& c, int64_t seq_dim, int64_t batch_dim);
// Running sums or products; `identity` changes nothing. (x, axis)
void ImportCumulative(OperatorBase& c, Opcode opcode, double identity,
                      bool exclusive, bool reverse);
// (data, ids): rows of one id are joined by `update` (add, multiply, minimum,
// maximum), beginning with `initial`. Ids ascend.
void ImportSegment(OperatorBase& c, const std::string& update, double initial);
// The same with any ids below the third operand; negative ones join no row.
void ImportUnsortedSegment(OperatorBase& c, const std::string& update,
                           double initial);
void ImportUnsortedSegmentSum(OperatorBase& c);
void ImportUnsortedSegmentProd(OperatorBase& c);
void ImportUnsortedSegmentMax(OperatorBase& c);
void ImportUnsortedSegmentMin(OperatorBase& c);
void ImportMatrixDiag(OperatorBase& c);
void ImportMatrixSetDiag(OperatorBase& c);
// (x, update, starts)
void ImportDynamicUpdateSlice(OperatorBase& c);
// How many boundaries are not above each element.
void ImportBucketize(OperatorBase& c, const std::vector<float>& boundaries);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_INDEXING_H_
