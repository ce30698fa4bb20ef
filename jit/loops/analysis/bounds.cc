#include "jit/loops/analysis/bounds.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>
#include <utility>

#include "jit/loops/walk.h"

namespace ember::loops {
namespace {

using tensor::ExpressionPool;
using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

constexpr int kMaxSteps = 2000;
constexpr int kMaxDepth = 6;

// Returns an exclusive upper bound of the node that holds in every iteration,
// or nullopt if none is found. The node must be a loop's variable, or a chain
// of its quotients by factors of the loop's extent: in a loop t < N * M, t
// floordiv M is less than N.
std::optional<Product> LimitOf(const ExpressionPool& pool, const Facts& facts,
                               NodeId id) {
  const Node& node = pool[id];
  if (node.opcode == Opcode::kAxis)
    return facts.ExactProduct(ExtentOf(pool, id));
  if (node.opcode != Opcode::kFloorDivide) return std::nullopt;
  std::optional<Product> limit = LimitOf(pool, facts, node.operands[0]);
  const std::optional<Product> divisor = FactorsOf(pool, node.operands[1]);
  if (!limit || !divisor || facts.RangeOf(node.operands[1]).low < 0)
    return std::nullopt;
  // The quotient is a product again only if the divisor divides the limit: the
  // limit must have all factors of the divisor, and the divisor's constant must
  // divide the limit's constant. The limit does not overflow, so neither does
  // the quotient, which consists of some of its factors.
  if (divisor->constant <= 0 || limit->constant <= 0 ||
      limit->constant % divisor->constant != 0 ||
      !std::ranges::includes(limit->factors, divisor->factors)) {
    return std::nullopt;
  }
  Product quotient{limit->constant / divisor->constant, {}};
  std::ranges::set_difference(limit->factors, divisor->factors,
                              std::back_inserter(quotient.factors));
  return quotient;
}

// Proves that a sum over the integers (LinearSum) is never negative.
class Prover {
 public:
  Prover(const ExpressionPool& pool, const Facts& facts)
      : pool_(pool), facts_(facts), known_(facts.Inequalities()) {}

  // True if it is proved that the sum is not negative. Raises the depth limit
  // step by step, so that the shortest proof is found first.
  bool IsNotNegative(const std::optional<LinearSum>& sum) {
    if (!sum) return false;
    steps_ = 0;
    for (int depth = 0; depth <= kMaxDepth; ++depth) {
      if (Prove(*sum, depth)) return true;
    }
    return false;
  }

 private:
  // Tries to prove that the sum `goal` is >= 0, in at most `depth` steps. Each
  // step replaces the goal by another sum that implies it.
  bool Prove(const LinearSum& goal, int depth) {
    const std::optional<int64_t> least = facts_.LowerBound(goal);
    if (least && *least >= 0) return true;
    if (depth == 0 || ++steps_ > kMaxSteps) return false;
    for (const LinearTerm& term : goal.terms) {
      if (ProveWithout(goal, term, depth)) return true;
    }
    return false;
  }

  // Tries to prove goal >= 0 by eliminating one term: with a known fact, with a
  // rule of the term's node, or by cases.
  bool ProveWithout(const LinearSum& goal, const LinearTerm& term, int depth) {
    for (const LinearSum* fact : known_) {
      if (ProveBy(goal, term, *fact, depth)) return true;
    }
    for (const LinearSum& rule : RulesOf(term.node)) {
      if (ProveBy(goal, term, rule, depth)) return true;
    }
    return ProveByCases(goal, term, depth);
  }

  static int64_t CoefficientOf(const LinearSum& sum, NodeId node) {
    for (const LinearTerm& term : sum.terms) {
      if (term.node == node) return term.coefficient;
    }
    return 0;
  }

  // Tries to prove the goal from one fact, which says that a sum is >= 0. goal
  // >= 0 follows from g * goal + (g - 1) - f * fact >= 0, where the positive
  // integers g and f are chosen so that the term cancels.
  bool ProveBy(const LinearSum& goal, const LinearTerm& term,
               const LinearSum& fact, int depth) {
    int64_t wanted = term.coefficient;
    int64_t found = CoefficientOf(fact, term.node);
    if (found == 0 || (found > 0) != (wanted > 0)) return false;
    if (found == INT64_MIN || wanted == INT64_MIN) return false;
    found = std::abs(found);
    wanted = std::abs(wanted);
    const int64_t common = std::gcd(found, wanted);
    found /= common;
    wanted /= common;
    std::optional<LinearSum> rest =
        AddScaled(LinearSum{{}, found - 1}, goal, found);
    if (rest) rest = AddScaled(*rest, fact, -wanted);
    return rest && Prove(*rest, depth - 1);
  }

  // Tries to prove the goal by cases if the term is a minimum, maximum or
  // select, which equals one of two operands: the goal holds if it can be
  // proved with each of the two in the term's position.
  bool ProveByCases(const LinearSum& goal, const LinearTerm& term, int depth) {
    const Node& node = pool_[term.node];
    size_t first = 0;
    if (node.opcode == Opcode::kSelect) {
      first = 1;
    } else if (node.opcode != Opcode::kMinimum &&
               node.opcode != Opcode::kMaximum) {
      return false;
    }
    const auto prove = [&](size_t operand) {
      const NodeId replacement = node.operands[operand];
      std::optional<LinearSum> replaced =
          AddScaled(goal, LinearSum{{{term.node, 1}}, 0}, -term.coefficient);
      if (replaced) {
        replaced = AddScaled(*replaced, facts_.ExactSum(replacement),
                             term.coefficient);
      }
      return replaced && Prove(*replaced, depth - 1);
    };
    return prove(first) && prove(first + 1);
  }

  // Returns rules of the node's instruction: sums that contain the node and are
  // never negative, such as x - min(x, y).
  std::vector<LinearSum> RulesOf(NodeId id) {
    std::vector<LinearSum> rules;
    // Adds the rule left - right - constant >= 0.
    const auto add = [&](const LinearSum& left, const LinearSum& right,
                         int64_t constant) {
      std::optional<LinearSum> rule = AddScaled(left, right, -1);
      if (rule) rule = AddScaled(*rule, LinearSum{{}, constant}, -1);
      if (rule) rules.push_back(std::move(*rule));
    };
    const Node& node = pool_[id];
    const LinearSum self = {{{id, 1}}, 0};
    const auto operand = [&](size_t i) {
      return facts_.ExactSum(node.operands[i]);
    };
    switch (node.opcode) {
      case Opcode::kMinimum:
        add(operand(0), self, 0);
        add(operand(1), self, 0);
        break;
      case Opcode::kMaximum:
        add(self, operand(0), 0);
        add(self, operand(1), 0);
        break;
      case Opcode::kFloorDivide:
        AddQuotientRules(node, self, add);
        AddLimitRule(id, self, add);
        break;
      case Opcode::kModulo: {
        const bool is_positive = facts_.RangeOf(node.operands[1]).low > 0;
        const bool is_index = facts_.RangeOf(node.operands[0]).low >= 0;
        if (is_positive) add(operand(1), self, 1);
        if (is_positive && is_index) add(operand(0), self, 0);
        break;
      }
      default:
        break;
    }
    return rules;
  }

  template <typename Add>
  void AddQuotientRules(const Node& node, const LinearSum& self, Add&& add) {
    const LinearSum x = facts_.ExactSum(node.operands[0]);
    const std::optional<int64_t> divisor =
        pool_.IntegerConstant(node.operands[1]);
    if (divisor && *divisor > 0) {
      const std::optional<LinearSum> whole = AddScaled({}, self, *divisor);
      if (!whole) return;
      add(x, *whole, 0);  // adds the rule c * q <= x, for q = x floordiv c
      add(*whole, x, -(*divisor - 1));  // adds the rule x <= c * q + c - 1
    } else if (facts_.RangeOf(node.operands[0]).low >= 0 &&
               facts_.RangeOf(node.operands[1]).low >= 0) {
      add(x, self, 0);
    }
  }

  // Adds the rule that the node is less than its limit (LimitOf). A limit with
  // two or more factors is no linear sum, so it gives no rule.
  template <typename Add>
  void AddLimitRule(NodeId id, const LinearSum& self, Add&& add) {
    const std::optional<Product> limit = LimitOf(pool_, facts_, id);
    if (!limit || limit->factors.size() > 1) return;
    if (limit->factors.empty()) {
      add(LinearSum{{}, limit->constant}, self, 1);
      return;
    }
    const std::optional<LinearSum> sum =
        AddScaled({}, facts_.ExactSum(limit->factors[0]), limit->constant);
    if (sum) add(*sum, self, 1);
  }

  const ExpressionPool& pool_;
  const Facts& facts_;
  const std::vector<const LinearSum*> known_;
  int steps_ = 0;
};

}  // namespace

bool ProvablyInBounds(const ExpressionPool& pool, const Facts& facts,
                      NodeId index, NodeId extent) {
  if (facts.IsUnreachable()) return true;
  const tensor::Interval range = facts.RangeOf(index);
  const LinearSum sum = facts.ExactSum(index);
  Prover prover(pool, facts);
  if (range.low < 0 && !prover.IsNotNegative(sum)) return false;
  if (range.high < facts.RangeOf(extent).low) return true;
  const std::optional<Product> limit = LimitOf(pool, facts, index);
  const std::optional<Product> rows = FactorsOf(pool, extent);
  if (limit && rows && limit->constant <= rows->constant &&
      limit->factors == rows->factors) {
    return true;
  }
  std::optional<LinearSum> left = AddScaled(facts.ExactSum(extent), sum, -1);
  if (left) left = AddScaled(*left, LinearSum{{}, 1}, -1);
  return prover.IsNotNegative(left);
}

}  // namespace ember::loops
