// Makes the stages of a statement of index notation. Internal to the parser of
// the notation.
//
//   y[i] = exp(x[i]) / sum(k) exp(x[k])
//
// becomes a stage that stores the sum to a temporary, and one that stores y. A
// reduction that is the whole right side is the statement's own stage.
#ifndef EMBER_TENSOR_NOTATION_STAGES_H_
#define EMBER_TENSOR_NOTATION_STAGES_H_

#include <vector>

#include "base/lexer.h"
#include "base/status.h"
#include "tensor/builder/draft.h"
#include "tensor/notation/statement_parser.h"
#include "tensor/text/expression_parser.h"

namespace ember::tensor {

// Returns an error if the draft already has the largest number of tensors. The
// number is limited because tensors are searched one by one. name: the token
// that the error refers to.
Status CheckTensorCount(const Token& name, const Draft& draft);

// Adds the stages of the statement, and the tensors that it defines, to the
// draft. extents: the extent of each axis. header: the names of dims. Returns
// an error if an expression is not valid, for example because its types do not
// fit, or if there would be too many tensors.
Status AddStages(const NotationStatement& statement,
                 std::vector<NodeId> extents, const NameScope& header,
                 Draft& draft);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_STAGES_H_
