// Errors of operators that formats share. They stay in the graph builder, as
// all of its errors do, and name the node that is being imported
// (GraphBuilder::SetOrigin):
//
//   FailInvalid(builder, "axis: expected a value in [-2, 1], found 4");
//   // node 'split1 (SPLIT)': axis: expected a value in [-2, 1], found 4
#ifndef EMBER_FRONTENDS_OPS_ERRORS_H_
#define EMBER_FRONTENDS_OPS_ERRORS_H_

#include <string>
#include <utility>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"

namespace ember::ops {

inline void Fail(graph::GraphBuilder& builder, const Status& status) {
  builder.Fail(status.WithContext("node '" + builder.origin() + "'"));
}
inline void FailInvalid(graph::GraphBuilder& builder, std::string message) {
  Fail(builder, InvalidArgumentError(std::move(message)));
}
inline void FailUnsupported(graph::GraphBuilder& builder, std::string message) {
  Fail(builder, UnimplementedError(std::move(message)));
}

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_ERRORS_H_
