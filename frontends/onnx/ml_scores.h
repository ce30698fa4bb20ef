// The transforms of score vectors that classifiers and regressors end with.
//
//   Tensor z = PostTransform(scores, Transform::kSoftmax);   // [N, E]
//
// The specification names them without formulas; these are the ones that ONNX
// Runtime and the reference implementation use: a single score is changed by
// PROBIT only, and PROBIT is Winitzki's approximation.
#ifndef EMBER_FRONTENDS_ONNX_ML_SCORES_H_
#define EMBER_FRONTENDS_ONNX_ML_SCORES_H_

#include <cstdint>

#include "frontends/onnx/node_context.h"

namespace ember::onnx {

// In the order of TreeEnsemble's enumeration.
enum class Transform : uint8_t {
  kNone,
  kSoftmax,
  kLogistic,
  kSoftmaxZero,
  kProbit
};

// Attribute 'post_transform' by name.
Transform ReadTransform(NodeContext& c);

// scores [N, E].
Tensor PostTransform(Tensor scores, Transform transform);

// How one score of a two-class problem becomes two.
enum class SecondClass : uint8_t {
  kComplement,  // 1 - s, s
  kNegation,    // -s, s
};

// score [N, 1] to [N, 2]. LOGISTIC gives the probabilities 1 - p, p whatever
// the rule; other transforms are not defined for one score and leave it as it
// is, except PROBIT, whose value both columns get.
Tensor AddSecondClass(Tensor score, SecondClass rule, Transform transform);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_SCORES_H_
