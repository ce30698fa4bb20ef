#include "compiler/graph/unify_dims.h"

#include <map>
#include <string>

#include "compiler/graph/contract_spec.h"

namespace ember::graph {
namespace {

const Dim& One() {
  static const auto* const one = new Dim(1);
  return *one;
}

// Positions (operand, dim) that must agree.
struct Position {
  size_t operand;
  size_t dim;
};

// Constants say most; otherwise the first expression stands for all.
void Agree(const std::vector<Position>& positions, std::vector<Shape>& shapes) {
  const Dim* chosen = nullptr;
  for (const Position& position : positions) {
    const Dim& dim = shapes[position.operand][position.dim];
    if (chosen == nullptr || (!chosen->is_constant() && dim.is_constant()))
      chosen = &dim;
  }
  if (chosen == nullptr) return;
  const Dim agreed = *chosen;
  for (const Position& position : positions) {
    Dim& dim = shapes[position.operand][position.dim];
    if (!dim.is_constant()) dim = agreed;
  }
}

// Dims aligned at the right; those of extent 1 repeat and agree with anything.
void UnifyBroadcast(std::vector<Shape>& shapes) {
  size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  for (size_t back = 1; back <= rank; ++back) {
    std::vector<Position> positions;
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].size() < back) continue;
      const size_t dim = shapes[i].size() - back;
      if (shapes[i][dim] != One()) positions.push_back({i, dim});
    }
    Agree(positions, shapes);
  }
}

void UnifyConcat(int64_t axis, std::vector<Shape>& shapes) {
  for (size_t dim = 0; dim < shapes[0].size(); ++dim) {
    if (static_cast<int64_t>(dim) == axis) continue;
    std::vector<Position> positions;
    for (size_t i = 0; i < shapes.size(); ++i) {
      if (shapes[i].size() != shapes[0].size()) return;
      positions.push_back({i, dim});
    }
    Agree(positions, shapes);
  }
}

void UnifyContract(const std::string& text, std::vector<Shape>& shapes) {
  const StatusOr<ContractSpec> spec = ContractSpec::Parse(text);
  if (!spec.ok() || shapes.size() != 2 || spec->a.size() != shapes[0].size() ||
      spec->b.size() != shapes[1].size()) {
    return;
  }
  std::map<char, std::vector<Position>> labels;
  for (size_t d = 0; d < spec->a.size(); ++d)
    labels[spec->a[d]].push_back({0, d});
  for (size_t d = 0; d < spec->b.size(); ++d)
    labels[spec->b[d]].push_back({1, d});
  for (const auto& [label, positions] : labels) Agree(positions, shapes);
}

}  // namespace

std::vector<Shape> UnifyDims(const OperatorRecord& record,
                             const std::vector<Value*>& operands,
                             const Attributes& attributes) {
  std::vector<Shape> shapes;
  for (const Value* operand : operands) shapes.push_back(operand->shape());
  if (operands.size() < 2) return shapes;
  if (record.trait == OperatorTrait::kElementwise) UnifyBroadcast(shapes);
  if (record.name == "concat") {
    const auto* axis = attributes.Find("axis");
    if (axis != nullptr && std::holds_alternative<int64_t>(*axis)) {
      UnifyConcat(std::get<int64_t>(*axis), shapes);
    }
  }
  if (record.name == "contract") {
    const auto* spec = attributes.Find("spec");
    if (spec != nullptr && std::holds_alternative<std::string>(*spec)) {
      UnifyContract(std::get<std::string>(*spec), shapes);
    }
  }
  return shapes;
}

}  // namespace ember::graph
