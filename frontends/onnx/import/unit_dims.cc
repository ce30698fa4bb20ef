// Imports nodes, such as Squeeze without axes, whose result has another rank if
// an open dim is 1. Three ways are tried in this order. 1. The rank that the
// model states for the result decides. 2. Everything that follows the node is
// imported for both cases (continuations.cc). 3. The dim is taken not to be 1,
// or to be 1 if the rest of the model can be imported only so; the program
// checks this.
#include "compiler/graph/builder/unit_dims.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/graph/builder/broadcasting.h"
#include "frontends/onnx/import/graph_importer.h"
#include "frontends/ops/compositions.h"

namespace ember::onnx {
namespace {

// Returns the rank that the model states for a value; nullopt if it states
// none.
std::optional<int> StatedRank(const std::vector<const ValueInfoList*>& lists,
                              const std::string& name) {
  for (const ValueInfoList* list : lists) {
    for (const ValueInfoProto& stated : *list) {
      if (stated.name() == name && stated.type().has_tensor_type() &&
          stated.type().tensor_type().has_shape())
        return stated.type().tensor_type().shape().dim_size();
    }
  }
  return std::nullopt;
}

bool DropsUnits(const NodeProto& node, const std::vector<Tensor>& inputs) {
  if (node.op_type() != "Squeeze" || !CanonicalDomain(node.domain()).empty() ||
      inputs.empty() || !inputs[0] || inputs[0].sequence() != nullptr)
    return false;
  if (inputs.size() > 1 && inputs[1]) return false;
  return std::none_of(
      node.attribute().begin(), node.attribute().end(),
      [](const AttributeProto& a) { return a.name() == "axes"; });
}

}  // namespace

bool GraphImporter::AddUnitAxes(const NodeProto& node,
                                std::vector<Tensor>& inputs,
                                const Scope& scope) {
  if (!DropsUnits(node, inputs)) return true;
  const auto axes = UnitAxes(node, inputs[0], scope);
  if (!axes) return false;
  inputs.resize(2);
  inputs[1] = Tensor(scope.builder, scope.builder->Integers(*axes));
  return true;
}

std::optional<std::vector<int64_t>> GraphImporter::UnitAxes(
    const NodeProto& node, Tensor x, const Scope& scope) {
  std::vector<int64_t> units, open;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& dim = x.dim(i);
    const auto taken = taken_branches_.find("dim " + dim.ToString());
    const bool is_taken = taken != taken_branches_.end();
    if (dim == Dim(1) || (is_taken && taken->second)) {
      units.push_back(i);
    } else if (!dim.is_constant() && !is_taken && graph::MayBeUnit(dim)) {
      open.push_back(i);
    }
  }
  if (open.empty()) return units;
  const auto stated = StatedRank(scope.stated, node.output(0));
  const int most = x.rank() - static_cast<int>(units.size());
  if (stated && *stated == most - static_cast<int>(open.size())) {
    // The model states a rank that is right only if all open dims are 1. At run
    // time, the reshape fails on any other extent, because the number of
    // elements differs.
    for (int i = 0; i < x.rank(); ++i) {
      if (std::find(open.begin(), open.end(), i) != open.end())
        units.push_back(i);
    }
    return units;
  }
  graph::GraphBuilder& builder = *scope.builder;
  for (const int64_t axis : open) {
    const Dim& dim = x.dim(static_cast<int>(axis));
    const std::string origin = "dim " + dim.ToString();
    const std::optional<bool> chosen = choices_.Find(origin);
    if (!chosen && stated != most) {
      if (MaySplit(origin)) {
        split_ = {origin, Equal(ops::DimScalar(builder, dim), 1)};
        return std::nullopt;
      }
      choices_.Choose(origin, false);
    }
    if (chosen.value_or(false)) {
      units.push_back(axis);
    } else {
      graph::TakeNotUnit(builder, dim);
    }
  }
  return units;
}

}  // namespace ember::onnx
