#include "tests/random_models/model.h"

#include <set>

namespace ember::tests {
namespace {

void CollectDomains(const onnx::GraphProto& graph,
                    std::set<std::string>& domains) {
  for (const onnx::NodeProto& node : graph.node()) {
    if (!node.domain().empty()) domains.insert(node.domain());
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) CollectDomains(attribute.g(), domains);
  }
}

}  // namespace

void AddDomains(onnx::ModelProto& model, int ml_opset) {
  std::set<std::string> domains;
  CollectDomains(model.graph(), domains);
  for (const std::string& domain : domains) {
    onnx::OperatorSetIdProto& import = *model.add_opset_import();
    import.set_domain(domain);
    import.set_version(domain == "ai.onnx.ml" ? ml_opset : 1);
  }
}

}  // namespace ember::tests
