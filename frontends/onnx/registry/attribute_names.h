// The names of the attributes that ONNX's operators have, by opset.
//
//   CheckAttributeNames(node, "", 16, {});
//   // attribute 'aplha': LeakyRelu has no such attribute at opset 16; it has
//   // alpha
#ifndef EMBER_FRONTENDS_ONNX_REGISTRY_ATTRIBUTE_NAMES_H_
#define EMBER_FRONTENDS_ONNX_REGISTRY_ATTRIBUTE_NAMES_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/status.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

// Fails if the node has an attribute that its operator does not have at this
// opset, unless the importer has `read` it. Without this check, a misspelt
// attribute would be ignored silently, and its default used. Also fails if an
// attribute is missing that the operator must have. Names that begin with "__"
// are internal ones of tools, which the specification allows. Operators that
// the specification does not define, and opsets after the last known one, are
// not checked.
Status CheckAttributeNames(const NodeProto& node, std::string_view domain,
                           int opset,
                           const std::set<std::string, std::less<>>& read);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_REGISTRY_ATTRIBUTE_NAMES_H_
