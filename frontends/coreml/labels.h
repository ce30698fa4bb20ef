// Finds the label that a classifier chooses, that of the best score.
//
//   EMBER_ASSIGN_OR_RETURN(const Tensor label, BestLabel(scores, {3, 4}));
//
// Errors of the graph stick in the builder of the scores. Thread-compatible.
#ifndef EMBER_FRONTENDS_COREML_LABELS_H_
#define EMBER_FRONTENDS_COREML_LABELS_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/ops/tensor.h"

namespace ember::coreml {

// Returns the label of the best score along the last axis, which the result
// lacks. `labels`: integers, or handles of texts (numbers of interned strings),
// in the order of that axis. Fails unless there is a label for each score.
StatusOr<ops::Tensor> BestLabel(graph::GraphBuilder& builder,
                                const ops::Tensor& scores,
                                const std::vector<int64_t>& labels);

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_LABELS_H_
