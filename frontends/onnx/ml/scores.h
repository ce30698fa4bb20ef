// The transforms that classifiers and regressors apply to their score vectors
// at the end.
//
//   Tensor z = PostTransform(scores, Transform::kSoftmax);   // [N, E]
//
// The specification names the transforms without formulas. These are the
// formulas of ONNX Runtime and the reference implementation: of a row with a
// single score only PROBIT changes it, and PROBIT is Winitzki's approximation.
#ifndef EMBER_FRONTENDS_ONNX_ML_SCORES_H_
#define EMBER_FRONTENDS_ONNX_ML_SCORES_H_

#include <cstdint>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// The transforms, in the order of the numbers that the operator TreeEnsemble
// gives them.
enum class Transform : uint8_t {
  kNone,
  kSoftmax,
  kLogistic,
  kSoftmaxZero,
  kProbit
};

// Reads the attribute 'post_transform', which is a name.
Transform ReadTransform(NodeContext& c);

// Applies the transform to each row of scores [N, E].
Tensor PostTransform(Tensor scores, Transform transform);

// The rule by which a classifier with two classes and a single score s makes a
// score for each class.
enum class SecondClass : uint8_t {
  // the scores 1 - s and s; s need not be a probability
  kComplement,
  kNegation,  // -s, s
};

// Makes the scores of two classes, [N, 2], from a single score [N, 1], and
// transforms them. LOGISTIC gives the probabilities 1 - p and p, whatever the
// rule; PROBIT gives both columns the probit of the score. Other transforms are
// not defined for one score and are not applied.
Tensor AddSecondClass(Tensor score, SecondClass rule, Transform transform);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_SCORES_H_
