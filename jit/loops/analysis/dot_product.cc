#include "jit/loops/analysis/dot_product.h"

#include <string>

#include "base/concat.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;

// True if consecutive values of the loop's variable make the load read
// neighbouring elements, in the order of memory.
bool RunsWith(const tensor::ExpressionPool& pool, const Node& load,
              NodeId variable) {
  if (load.operands.empty()) return false;
  const size_t last = load.operands.size() - 1;
  for (size_t d = 0; d < last; ++d) {
    if (tensor::DependsOn(pool, load.operands[d], variable)) return false;
  }
  return tensor::CoefficientOf(pool, load.operands[last], variable) == 1;
}

Status Wrong(std::string_view expected) {
  return InvalidArgumentError(
      Concat({"a dot loop: expected ", expected, " as its body"}));
}

}  // namespace

bool IsDotProductType(int64_t count, DType a, DType b, DType sum) {
  const auto is_byte = [](DType type) {
    return type == DType::kI8 || type == DType::kU8;
  };
  const auto is_short = [&](DType type) {
    return is_byte(type) || type == DType::kI16;
  };
  if (sum == DType::kF32)
    return count == 2 && a == DType::kBF16 && b == DType::kBF16;
  if (sum != DType::kI32) return false;
  if (count == 4) return is_byte(a) && is_byte(b);
  return count == 2 && is_short(a) && is_short(b);
}

StatusOr<DotProduct> DotProductOf(const LoopNest& nest, const Statement& loop) {
  const tensor::ExpressionPool& pool = nest.pool;
  if (loop.body.size() != 1 || loop.body[0].kind != Statement::Kind::kStore ||
      loop.body[0].stores.size() != 1) {
    return Wrong("one store of one value");
  }
  DotProduct result;
  result.store = &loop.body[0].stores[0];
  const Node& product = pool[result.store->value];
  if (result.store->update != tensor::Update::kAdd ||
      product.opcode != Opcode::kMultiply) {
    return Wrong("a product, added to an element,");
  }
  for (NodeId index : result.store->indices) {
    if (tensor::DependsOn(pool, index, loop.variable))
      return Wrong("an update of the same element each time");
  }
  DotFactor* const factors[] = {&result.a, &result.b};
  for (size_t i = 0; i < 2; ++i) {
    const std::optional<DotFactor> factor =
        DotFactorOf(pool, product.operands[i], loop.variable);
    if (!factor || pool[factor->load].opcode != Opcode::kLoad)
      return Wrong("a product of casts of loads or unpacked loads");
    for (const NodeId load : LoadsOf(*factor)) {
      if (!RunsWith(pool, pool[load], loop.variable))
        return Wrong("factors that lie along their last dim");
    }
    *factors[i] = *factor;
  }
  result.count =
      pool.IntegerConstant(ExtentOf(pool, loop.variable)).value_or(0);
  const DType a = pool[result.a.value].type, b = pool[result.b.value].type;
  if (!IsDotProductType(result.count, a, b, product.type)) {
    return InvalidArgumentError(
        Concat({"a dot loop: there are none of ", result.count, " products of ",
                DTypeName(a), " and ", DTypeName(b), " in ",
                DTypeName(product.type)}));
  }
  return result;
}

}  // namespace ember::loops
