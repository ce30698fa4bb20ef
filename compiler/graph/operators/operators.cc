#include "compiler/graph/operators.h"

#include <string>
#include <unordered_map>

#include "compiler/graph/operators/support.h"

namespace ember::graph {
namespace {

std::vector<OperatorRecord> JoinFamilies() {
  std::vector<OperatorRecord> table;
  for (std::span<const OperatorRecord> family :
       {CreationOperators(), ElementwiseOperators(), MovementOperators(),
        IndexedOperators(), ContractionOperators(), ReductionOperators(),
        ProgramOperators(), StringOperators()}) {
    table.insert(table.end(), family.begin(), family.end());
  }
  return table;
}

StatusOr<Dim> BroadcastDim(const Dim& a, const Dim& b) {
  if (a == b || IsOne(b)) return a;
  if (IsOne(a)) return b;
  return Mismatch("expected equal dims or 1, found ", a.ToString(), " and ",
                  b.ToString());
}

}  // namespace

std::span<const OperatorRecord> OperatorTable() {
  static const auto* const table =
      new std::vector<OperatorRecord>(JoinFamilies());
  return *table;
}

const OperatorRecord* FindOperator(std::string_view name) {
  static const auto* const by_name = [] {
    auto* map =
        new std::unordered_map<std::string_view, const OperatorRecord*>();
    for (const OperatorRecord& record : OperatorTable()) {
      EMBER_CHECK(map->emplace(record.name, &record).second)
          << record.name << " is there twice";
    }
    return map;
  }();
  const auto found = by_name->find(name);
  return found == by_name->end() ? nullptr : found->second;
}

const OperatorRecord& OperatorNamed(std::string_view name) {
  const OperatorRecord* record = FindOperator(name);
  EMBER_CHECK(record != nullptr) << "no operator " << name;
  return *record;
}

const OperatorRecord& OperatorNamed(tensor::Opcode opcode) {
  for (const OperatorRecord& record : ElementwiseOperators()) {
    // The result is a record of OperatorTable(), not the one in this list, so
    // that the same operator always has the same address.
    if (record.is_instruction && record.opcode == opcode)
      return OperatorNamed(record.name);
  }
  EMBER_CHECK(false) << tensor::InfoOf(opcode).text
                     << " is no elementwise operator";
  __builtin_unreachable();
}

StatusOr<Shape> BroadcastShapes(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    StatusOr<Dim> dim = BroadcastDim(longer[offset + i], shorter[i]);
    if (!dim.ok()) {
      return dim.status().WithContext("shapes " + ShapeToString(a) + " and " +
                                      ShapeToString(b));
    }
    result[offset + i] = *std::move(dim);
  }
  return result;
}

}  // namespace ember::graph
