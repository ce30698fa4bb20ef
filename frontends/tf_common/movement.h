// Operators that move elements and are the same in TensorFlow and TensorFlow
// Lite (tensorflow/core/ops/array_ops.cc): shapes, joins, repetition, padding,
// blocks. Operands are in the order of TensorFlow's operators; TensorFlow's
// attributes are arguments here.
//
//   void ImportTile(OperatorContext& c) { tf_common::ImportTile(c); }
//
// Images are [N, H, W, C]. Errors are those of OperatorBase.
#ifndef EMBER_FRONTENDS_TF_COMMON_MOVEMENT_H_
#define EMBER_FRONTENDS_TF_COMMON_MOVEMENT_H_

#include <cstdint>
#include <vector>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// Imports Reshape to the shape in the second operand, or to a given shape; one
// extent may be -1.
void ImportReshape(OperatorBase& c);
void ImportReshape(OperatorBase& c, Shape shape);
// Imports Squeeze. No axes means all dims that are known to be 1.
void ImportSqueeze(OperatorBase& c, const std::vector<int64_t>& axes);
void ImportExpandDims(OperatorBase& c);
void ImportTranspose(OperatorBase& c);
void ImportPack(OperatorBase& c, int64_t axis);
void ImportUnpack(OperatorBase& c, int64_t axis);
void ImportSplit(OperatorBase& c);
void ImportSplitV(OperatorBase& c);
// Imports Pad. The value of the padding is the third operand; without a third
// operand it is `zero`.
void ImportPad(OperatorBase& c, double zero);
// Imports MirrorPad. `symmetric`: true if the edge element itself is repeated
// in the mirror image.
void ImportMirrorPad(OperatorBase& c, bool symmetric);
void ImportTile(OperatorBase& c);
void ImportBroadcastTo(OperatorBase& c);
void ImportBroadcastArgs(OperatorBase& c);
void ImportReverse(OperatorBase& c);
void ImportSpaceToDepth(OperatorBase& c, int64_t block_size);
void ImportDepthToSpace(OperatorBase& c, int64_t block_size);
void ImportSpaceToBatchNd(OperatorBase& c, double zero);
void ImportBatchToSpaceNd(OperatorBase& c);
void ImportShape(OperatorBase& c);
void ImportRank(OperatorBase& c);
void ImportFill(OperatorBase& c);
void ImportRange(OperatorBase& c);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_MOVEMENT_H_
