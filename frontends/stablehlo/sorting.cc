// Imports sort with any comparator, and top_k.
#include <algorithm>
#include <optional>

#include "frontends/ops/compositions.h"
#include "frontends/stablehlo/bits.h"
#include "frontends/stablehlo/operator_table.h"

namespace ember::stablehlo {
namespace {

// Largest number of pairs. A comparator that is not a single comparison of keys
// is evaluated for all pairs.
constexpr int64_t kMaxPairs = 4096;

// The order of a comparator that is a single comparison of a key of the first
// element with the same key of the second.
struct KeyOrder {
  // number of the region's value that is the key of the first element
  int first = 0;
  bool descending = false;
  bool total = false;  // True if floats are compared by TOTALORDER.
  // Index of the operand from which the key is computed.
  int operand = 0;
};

const Operation* DefinitionOf(const Region& region, int value) {
  for (const Operation& operation : region.operations)
    for (const int result : operation.results)
      if (result == value) return &operation;
  return nullptr;
}

bool SameElements(const Attribute& a, const Attribute& b) {
  if (a.elements == b.elements) return true;
  return a.elements != nullptr && b.elements != nullptr && a.type == b.type &&
         a.elements->splat == b.elements->splat &&
         std::ranges::equal(a.elements->bytes, b.elements->bytes);
}

bool SameAttributes(const AttributeList& a, const AttributeList& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const Attribute& x = a[i].value;
    const Attribute& y = b[i].value;
    if (a[i].name != b[i].name || x.kind != y.kind || x.text != y.text ||
        x.integer != y.integer || !SameElements(x, y) ||
        x.integers != y.integers || !x.array.empty() || !y.array.empty() ||
        !x.entries.empty() || !y.entries.empty() || x.number != y.number)
      return false;
  }
  return true;
}

// True if `a` is the same function of argument 2 k as `b` is of argument 2 k +
// 1. Sets `operand` to k.
bool IsMirrored(const Region& region, int a, int b, std::optional<int>& operand,
                int& budget) {
  if (--budget < 0) return false;
  for (size_t i = 0; i + 1 < region.arguments.size(); i += 2) {
    const bool here = region.arguments[i] == a || region.arguments[i + 1] == a;
    if (!here) continue;
    const int k = static_cast<int>(i / 2);
    if (region.arguments[i] != a || region.arguments[i + 1] != b ||
        (operand && *operand != k))
      return false;
    operand = k;
    return true;
  }
  const Operation* x = DefinitionOf(region, a);
  const Operation* y = DefinitionOf(region, b);
  // The two sides may contain the same value if it is the same for all
  // elements: a value from outside of the region, or a constant.
  if (x == y && a == b) {
    if (x == nullptr) return true;
    if (x->operands.empty()) return true;
  }
  if (x == nullptr || y == nullptr || x->name != y->name ||
      x->operands.size() != y->operands.size() || x->results.size() != 1 ||
      y->results.size() != 1 || !x->regions.empty() || !y->regions.empty() ||
      x->name == "func.call" || !SameAttributes(x->attributes, y->attributes))
    return false;
  for (size_t i = 0; i < x->operands.size(); ++i)
    if (!IsMirrored(region, x->operands[i], y->operands[i], operand, budget))
      return false;
  return true;
}

std::optional<KeyOrder> FindKeyOrder(const Region& region) {
  if (region.operations.empty()) return std::nullopt;
  const Operation& end = region.operations.back();
  if (end.operands.size() != 1) return std::nullopt;
  const Operation* compare = DefinitionOf(region, end.operands[0]);
  if (compare == nullptr || compare->name != "stablehlo.compare" ||
      compare->operands.size() != 2)
    return std::nullopt;
  const Attribute* direction =
      FindAttribute(compare->attributes, "comparison_direction");
  const Attribute* kind = FindAttribute(compare->attributes, "compare_type");
  if (direction == nullptr) return std::nullopt;
  KeyOrder order;
  order.total = kind != nullptr && kind->text == "TOTALORDER";
  if (direction->text == "GT") {
    order.descending = true;
  } else if (direction->text != "LT") {
    return std::nullopt;
  }
  std::optional<int> operand;
  int budget = 200;
  if (IsMirrored(region, compare->operands[0], compare->operands[1], operand,
                 budget) &&
      operand) {
    order.first = compare->operands[0];
  } else {
    // The comparison may have the second element's key on its left: the sides
    // are exchanged, and so is the direction.
    operand.reset();
    if (!IsMirrored(region, compare->operands[1], compare->operands[0], operand,
                    budget) ||
        !operand)
      return std::nullopt;
    order.first = compare->operands[1];
    order.descending = !order.descending;
  }
  order.operand = *operand;
  return order;
}

// Returns the comparator's key of the first side for all elements of the
// operands: runs the region with the key as its result.
Tensor KeyOf(OperationContext& c, const Region& region, const KeyOrder& order,
             const std::vector<Tensor>& operands) {
  Region key = region;
  Operation& end = key.operations.back();
  end.operands = {order.first};
  std::vector<Tensor> arguments;
  for (const Tensor& operand : operands) {
    arguments.push_back(operand);
    arguments.push_back(operand);
  }
  const std::vector<Tensor> results = c.RunLifted(key, arguments);
  if (results.size() != 1 || !c.ok()) return operands[0];
  return Broadcast(results[0], operands[0].shape());
}

// Returns, for each position of the sorted result, the index of the element
// that belongs there. The keys are sorted without calls of a comparator, floats
// by TOTALORDER if the order asks for it.
Tensor OrderByKey(OperationContext& c, Tensor key, int axis,
                  const KeyOrder& order) {
  if (key.is_float()) {
    // Without TOTALORDER, -0 and 0 are equal and keep their order, and NaN is
    // above all numbers. These are the rules of the operator top_k, so the key
    // is used as it is.
    if (order.total) key = TotalOrder(c, key);
  } else if (key.dtype() == DType::kBool) {
    key = Cast(key, DType::kI32);
  }
  const std::vector<Tensor> results =
      ApplyAll("top_k", {key},
               {{"axis", int64_t{axis}},
                {"k", Shape{key.dim(axis)}},
                {"largest", int64_t{order.descending}}});
  return results.size() == 2 ? results[1] : key;
}

// Returns the same indices as OrderByKey, for any comparator: the position of
// an element in the result is the number of elements that belong before it.
Tensor OrderByPairs(OperationContext& c, const Region& region,
                    const std::vector<Tensor>& operands, int axis) {
  const int rank = operands[0].rank();
  const Dim extent = operands[0].dim(axis);
  // The comparator runs on all pairs [.., i, j, ..], where element i is the
  // first side and element j the second.
  std::vector<Tensor> forward, backward;
  for (const Tensor& operand : operands) {
    const Tensor of_i = Unsqueeze(operand, {axis + 1});
    const Tensor of_j = Unsqueeze(operand, {axis});
    forward.push_back(of_i);
    forward.push_back(of_j);
    backward.push_back(of_j);
    backward.push_back(of_i);
  }
  const std::vector<Tensor> less = c.RunLifted(region, forward);
  const std::vector<Tensor> more = c.RunLifted(region, backward);
  if (less.size() != 1 || more.size() != 1 || less[0].dtype() != DType::kBool) {
    if (c.ok()) c.FailInvalid("expected a comparator that returns tensor<i1>");
    return operands[0];
  }
  const Tensor i = IotaAlong(c.builder(), extent, axis, rank + 1);
  const Tensor j = IotaAlong(c.builder(), extent, axis + 1, rank + 1);
  // Element i comes before j if i is less, or if neither is less and i < j.
  const Tensor before =
      Or(less[0], And(Not(more[0]), And(Not(less[0]), Less(i, j))));
  Shape shape = operands[0].shape();
  shape.insert(shape.begin() + axis, extent);
  const Tensor place =
      Reduce(Cast(Broadcast(before, shape), DType::kI64), "sum", {axis}, false);
  // `place` has the sorted position of each element. Inverts it: returns for
  // each position the element that belongs there.
  const Tensor source =
      Broadcast(IotaAlong(c.builder(), extent, axis, rank), place.shape());
  return Apply("scatter_elements", {source, place, source},
               {{"axis", int64_t{axis}}, {"update", std::string("assign")}});
}

}  // namespace

void ImportSort(OperationContext& c) {
  const Region* region = c.FindRegion(0);
  if (region == nullptr) return;
  const std::vector<Tensor> operands = c.Operands(0, c.operand_count());
  if (!c.ok()) return;
  const int rank = operands[0].rank();
  int64_t axis = c.Integer("dimension", -1);
  if (axis < 0) axis += rank;
  if (!c.ok() || !c.CheckAxes({axis}, "dimension", rank)) return;
  if (c.result_count() != c.operand_count() ||
      region->arguments.size() != 2 * operands.size())
    return c.FailInvalid(
        "expected a result and two arguments of the region "
        "for each operand");
  for (const Tensor& operand : operands)
    if (operand.shape() != operands[0].shape())
      return c.FailInvalid("expected operands of one shape");
  const int along = static_cast<int>(axis);
  Tensor source;
  if (const auto order = FindKeyOrder(*region)) {
    source = OrderByKey(c, KeyOf(c, *region, *order, operands), along, *order);
  } else {
    const auto extent = operands[0].dim(along).AsConstant();
    if (!extent || *extent > kMaxPairs)
      return c.FailUnsupported(
          "a comparator that is not one comparison of a key: expected at "
          "most " +
          std::to_string(kMaxPairs) + " elements, found " +
          operands[0].dim(along).ToString());
    source = OrderByPairs(c, *region, operands, along);
  }
  for (size_t i = 0; i < operands.size() && c.ok(); ++i)
    c.SetResult(
        static_cast<int>(i),
        Apply("gather_elements", {operands[i], source}, {{"axis", axis}}));
}

// Imports top_k: the k largest elements along the last dim (or the smallest, if
// the attribute `largest` of mhlo's form is false), and their indices.
void ImportTopK(OperationContext& c) {
  const Tensor x = c.Operand(0);
  int64_t k = 0;
  bool largest = true;
  if (const Attribute* attributes = c.Find("mhlo.attributes")) {
    k = c.Integer(attributes, "k", 0);
    largest = c.Integer(attributes, "largest", 1) != 0;
  } else {
    k = c.Integer("k", {});
  }
  if (!c.ok() || !x.HasDim(-1)) return;
  if (c.result_count() != 2) return c.FailInvalid("expected two results");
  const int axis = x.rank() - 1;
  const auto extent = x.dim(axis).AsConstant();
  if (k < 0 || (extent && k > *extent))
    return c.FailInvalid("k: expected at most " + x.dim(axis).ToString() +
                         ", found " + std::to_string(k));
  const Tensor key = x.is_float() ? TotalOrder(c, x) : x;
  const std::vector<Tensor> results = ApplyAll("top_k", {key},
                                               {{"axis", int64_t{axis}},
                                                {"k", Shape{Dim(k)}},
                                                {"largest", int64_t{largest}}});
  if (results.size() != 2) return;
  c.SetResult(
      0, Apply("gather_elements", {x, results[1]}, {{"axis", int64_t{axis}}}));
  c.SetResult(1, Cast(results[1], c.ResultDType(1)));
}

}  // namespace ember::stablehlo
