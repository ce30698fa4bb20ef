#include "compiler/graph/builder/unify_dims.h"

#include <map>
#include <string>

#include "compiler/graph/operators/contract_spec.h"

namespace ember::graph {
namespace {

const Dim& One() {
  static const auto* const one = new Dim(1);
  return *one;
}

// Identifies one of the dims that must be equal: the number of the operand, and
// the number of the dim in its shape.
struct Position {
  size_t operand;
  size_t dim;
};

// Sets the open dims at all positions to the same one: a constant among the
// dims if there is one, otherwise the first dim.
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

// Chooses common dims for operands that broadcast. Shapes are aligned at the
// right; dims of extent 1 are left as they are, because they broadcast against
// any dim.
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

// Makes the channels of a convolution's operands agree. The input x[…, C] has C
// channels; the weights w[…, C / groups, O] have C / groups of them, or all C
// if the convolution is transposed.
void UnifyConvolution(int64_t groups, std::vector<Shape>& shapes) {
  if (shapes[0].size() < 2 || shapes[1].size() < 2 || groups < 1) return;
  Dim& x = shapes[0].back();
  Dim& w = shapes[1][shapes[1].size() - 2];
  if (!x.is_constant()) {
    x = w * Dim(groups);
  } else if (!w.is_constant() && x.constant() % groups == 0) {
    w = Dim(x.constant() / groups);
  }
}

// Assumes that the open dims of an operand that is broadcast to the shape
// `result` (shapes[0]) equal the dims of `result` at their positions, aligned
// at the right.
void UnifyWithShape(const Shape& result, std::vector<Shape>& shapes) {
  Shape& own = shapes[0];
  if (own.size() > result.size()) return;
  for (size_t i = 0; i < own.size(); ++i) {
    const Dim& target = result[result.size() - own.size() + i];
    if (!own[i].is_constant()) own[i] = target;
  }
}

// Makes the dims of operands number `a` and `b` equal, pair by pair.
void UnifySame(size_t a, size_t b, std::vector<Shape>& shapes) {
  if (shapes.size() <= b || shapes[a].size() != shapes[b].size()) return;
  for (size_t dim = 0; dim < shapes[a].size(); ++dim)
    Agree({{a, dim}, {b, dim}}, shapes);
}

// Makes the shapes of scatter_nd agree. Updates have the shape of the indices
// without its last dim, followed by the data's remaining dims. The last dim of
// the indices is the number of dims of the data that one index selects.
void UnifyScatterNd(std::vector<Shape>& shapes) {
  if (shapes.size() != 3 || shapes[1].empty()) return;
  const auto depth = shapes[1].back().AsConstant();
  if (!depth || *depth < 0 || static_cast<size_t>(*depth) > shapes[0].size())
    return;
  const size_t batch = shapes[1].size() - 1;
  const auto names = static_cast<size_t>(*depth);
  if (shapes[2].size() != batch + shapes[0].size() - names) return;
  for (size_t i = 0; i < shapes[2].size(); ++i) {
    Agree({i < batch ? Position{1, i} : Position{0, i - batch + names}, {2, i}},
          shapes);
  }
}

int64_t IntegerOr(const Attributes& attributes, std::string_view name,
                  int64_t otherwise) {
  const Attribute* attribute = attributes.Find(name);
  return attribute != nullptr && std::holds_alternative<int64_t>(*attribute)
             ? std::get<int64_t>(*attribute)
             : otherwise;
}

}  // namespace

std::vector<Shape> UnifyDims(const OperatorRecord& record,
                             const std::vector<Value*>& operands,
                             const Attributes& attributes) {
  std::vector<Shape> shapes;
  for (const Value* operand : operands) shapes.push_back(operand->shape());
  if (record.name == "broadcast" && operands.size() == 1) {
    const Attribute* shape = attributes.Find("shape");
    if (shape != nullptr && std::holds_alternative<Shape>(*shape))
      UnifyWithShape(std::get<Shape>(*shape), shapes);
  }
  if (operands.size() < 2) return shapes;
  if (record.trait == OperatorTrait::kElementwise) UnifyBroadcast(shapes);
  if (record.name == "concat")
    UnifyConcat(IntegerOr(attributes, "axis", -1), shapes);
  if (record.name == "conv")
    UnifyConvolution(IntegerOr(attributes, "groups", 0), shapes);
  if (record.name == "conv_transpose") UnifyConvolution(1, shapes);
  if (record.name == "scatter_elements") UnifySame(1, 2, shapes);
  if (record.name == "scatter_nd") UnifyScatterNd(shapes);
  if (record.name == "contract") {
    const auto* spec = attributes.Find("spec");
    if (spec != nullptr && std::holds_alternative<std::string>(*spec)) {
      UnifyContract(std::get<std::string>(*spec), shapes);
    }
  }
  return shapes;
}

}  // namespace ember::graph
