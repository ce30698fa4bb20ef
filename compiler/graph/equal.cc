#include "compiler/graph/equal.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

namespace ember::graph {
namespace {

// For each value of graph a that was compared so far: the value of graph b at
// the same position.
using Correspondence = std::unordered_map<const Value*, const Value*>;

bool SameValues(std::span<Value* const> a, std::span<Value* const> b,
                const Correspondence& correspondence) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](const Value* x, const Value* y) {
                      const auto found = correspondence.find(x);
                      return found != correspondence.end() &&
                             found->second == y;
                    });
}

bool SameOperation(const Operation& a, const Operation& b,
                   Correspondence& correspondence) {
  if (a.name() != b.name() || a.origin() != b.origin() ||
      !Equal(a.attributes(), b.attributes()) ||
      a.results().size() != b.results().size() ||
      !std::equal(a.regions().begin(), a.regions().end(), b.regions().begin(),
                  b.regions().end(),
                  [](const auto& x, const auto& y) { return Equal(*x, *y); }) ||
      !SameValues(a.operands(), b.operands(), correspondence)) {
    return false;
  }
  for (size_t i = 0; i < a.results().size(); ++i) {
    if (a.results()[i]->type() != b.results()[i]->type()) return false;
    correspondence[a.results()[i].get()] = b.results()[i].get();
  }
  return true;
}

}  // namespace

bool Equal(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const auto* left = std::get_if<ConstantData>(&a)) {
    const auto& right = std::get<ConstantData>(b);
    return std::equal(left->bytes.begin(), left->bytes.end(),
                      right.bytes.begin(), right.bytes.end());
  }
  if (const auto* left =
          // Floats are compared by their bits, so that a NaN equals itself.
      std::get_if<double>(&a)) {
    return std::bit_cast<uint64_t>(*left) ==
           std::bit_cast<uint64_t>(std::get<double>(b));
  }
  if (const auto* left = std::get_if<int64_t>(&a))
    return *left == std::get<int64_t>(b);
  if (const auto* left = std::get_if<std::string>(&a))
    return *left == std::get<std::string>(b);
  if (const auto* left = std::get_if<DType>(&a))
    return *left == std::get<DType>(b);
  if (const auto* left = std::get_if<Shape>(&a))
    return *left == std::get<Shape>(b);
  return std::get<std::vector<int64_t>>(a) == std::get<std::vector<int64_t>>(b);
}

bool Equal(const Attributes& a, const Attributes& b) {
  return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(),
                    b.entries().end(), [](const auto& x, const auto& y) {
                      return x.first == y.first && Equal(x.second, y.second);
                    });
}

bool Equal(const Graph& a, const Graph& b) {
  if (a.name() != b.name() || a.inputs().size() != b.inputs().size() ||
      !std::ranges::equal(a.input_logical_types(), b.input_logical_types()) ||
      !std::ranges::equal(a.output_logical_types(), b.output_logical_types()) ||
      a.strings() != b.strings() || a.metadata() != b.metadata() ||
      a.operations().size() != b.operations().size()) {
    return false;
  }
  Correspondence correspondence;
  for (size_t i = 0; i < a.inputs().size(); ++i) {
    const Value& x = *a.inputs()[i];
    const Value& y = *b.inputs()[i];
    if (x.name() != y.name() || x.type() != y.type()) return false;
    correspondence[&x] = &y;
  }
  for (auto x = a.operations().begin(), y = b.operations().begin();
       x != a.operations().end(); ++x, ++y) {
    if (!SameOperation(**x, **y, correspondence)) return false;
  }
  return SameValues(a.outputs(), b.outputs(), correspondence) &&
         std::equal(a.output_names().begin(), a.output_names().end(),
                    b.output_names().begin(), b.output_names().end());
}

}  // namespace ember::graph
