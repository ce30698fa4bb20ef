#include "frontends/ops/forest.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>

#include "frontends/ops/errors.h"

namespace ember::ops {
namespace {

// Largest depth of a tree that is imported. Each level adds operations to the
// graph.
constexpr int64_t kMaxDepth = 1024;
// Largest number of elements of the table of votes with a row per leaf and a
// column per target. For more, the votes are stored as pairs.
constexpr int64_t kMaxDense = int64_t{1} << 22;

// A comparison of a feature with a threshold, as one instruction. It is enough
// for a branch if all outcomes in `holds` lead to one child, and all other
// outcomes to one other child.
struct Test {
  Opcode opcode;
  bool threshold_first;
  std::array<bool, TreeTable::kOutcomes> holds;
};
constexpr Test kTests[] = {
    {Opcode::kLessEqual, false, {true, true, false, false}},
    {Opcode::kLess, false, {true, false, false, false}},
    {Opcode::kLessEqual, true, {false, true, true, false}},
    {Opcode::kLess, true, {false, false, true, false}},
    {Opcode::kEqual, false, {false, true, false, false}},
};

// Finds the two children of a branch: `yes` for rows for which the comparison
// holds, `no` for all others. Returns false if the branch has more than these
// two.
bool ChildrenOf(const TreeTable::Branch& branch, const Test& test, int64_t* yes,
                int64_t* no) {
  *yes = *no = -1;
  for (int outcome = 0; outcome < TreeTable::kOutcomes; ++outcome) {
    int64_t* end = test.holds[outcome] ? yes : no;
    if (*end >= 0 && *end != branch.children[outcome]) return false;
    *end = branch.children[outcome];
  }
  return true;
}

int FindTest(const TreeTable& table) {
  for (int i = 0; i < static_cast<int>(std::size(kTests)); ++i) {
    const bool fits =
        std::all_of(table.branches.begin(), table.branches.end(),
                    [&](const TreeTable::Branch& branch) {
                      int64_t yes, no;
                      return ChildrenOf(branch, kTests[i], &yes, &no);
                    });
    if (fits) return i;
  }
  return -1;
}

// Returns the leaves that can be reached from a root, each once.
std::vector<int64_t> ReachableLeaves(const TreeTable& table, int64_t root) {
  std::vector<int64_t> leaves;
  std::map<int64_t, bool> seen;
  std::vector<int64_t> stack = {root};
  while (!stack.empty()) {
    const int64_t node = stack.back();
    stack.pop_back();
    if (!seen.emplace(node, true).second) continue;
    if (table.IsLeaf(node)) {
      leaves.push_back(node - table.branch_count());
      continue;
    }
    for (int64_t child : table.branches[node].children) stack.push_back(child);
  }
  return leaves;
}

// Returns the number of branches on the longest path from each root. Fails on
// cycles.
std::vector<int64_t> TreeDepths(graph::GraphBuilder& builder,
                                const TreeTable& table) {
  constexpr int64_t kUnknown = -1;
  constexpr int64_t kOpen = -2;
  std::vector<int64_t> depths(table.branches.size(), kUnknown);
  std::vector<int64_t> stack = table.roots;
  while (!stack.empty()) {
    const int64_t node = stack.back();
    if (table.IsLeaf(node) || depths[node] >= 0) {
      stack.pop_back();
      continue;
    }
    const bool expanded = depths[node] == kOpen;
    depths[node] = kOpen;
    int64_t deepest = 0;
    for (int64_t child : table.branches[node].children) {
      if (table.IsLeaf(child)) continue;
      if (expanded) {
        deepest = std::max(deepest, depths[child]);
      } else if (depths[child] == kOpen) {
        FailInvalid(builder, "the nodes of a tree form a cycle");
        return {};
      } else {
        stack.push_back(child);
      }
    }
    if (!expanded) continue;
    depths[node] = deepest + 1;
    stack.pop_back();
  }
  std::vector<int64_t> result;
  for (int64_t root : table.roots)
    result.push_back(table.IsLeaf(root) ? 0 : depths[root]);
  return result;
}

}  // namespace

Tensor Forest::Integers(const std::vector<int64_t>& values) const {
  return {&builder_, builder_.Integers(values)};
}

Tensor Forest::Numbers(const std::vector<double>& values) const {
  const auto constant = [&](DType dtype, const auto& numbers) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(numbers.data());
    return Tensor(
        &builder_,
        builder_.Constant(dtype, {static_cast<int64_t>(numbers.size())},
                          graph::ConstantData::Copy(
                              {bytes, numbers.size() * sizeof(numbers[0])})));
  };
  if (type_ == DType::kF32) {
    return constant(DType::kF32,
                    std::vector<float>(values.begin(), values.end()));
  }
  return Cast(constant(DType::kF64, values), type_);
}

Forest::Forest(graph::GraphBuilder& builder, const TreeTable& table, Tensor x,
               std::string_view features)
    : builder_(builder), table_(table), type_(x.dtype()) {
  for (const TreeTable::Branch& branch : table.branches) {
    const Dim& count = x.dim(1);
    if (branch.feature >= 0 &&
        !(count.is_constant() && branch.feature >= count.constant()))
      continue;
    FailInvalid(builder, std::string(features) + ": expected values in [0, " +
                             count.ToString() + "), found " +
                             std::to_string(branch.feature));
    return;
  }
  if (table.roots.empty()) {
    FailInvalid(builder, "expected a tree, found none");
    return;
  }
  Survey();
  ArrangeTrees();
  Walk(x);
}

void Forest::Survey() {
  always_.assign(table_.targets, false);
  never_.assign(table_.targets, true);
  for (int64_t root : table_.roots) {
    reachable_.push_back(ReachableLeaves(table_, root));
    std::map<int64_t, size_t> leaves_of_target;
    for (int64_t leaf : reachable_.back()) {
      std::map<int64_t, bool> seen;
      for (const TreeTable::Vote& vote : table_.leaves[leaf]) {
        if (seen.emplace(vote.target, true).second)
          ++leaves_of_target[vote.target];
      }
    }
    for (const auto& [target, leaves] : leaves_of_target) {
      never_[target] = false;
      if (leaves == reachable_.back().size()) always_[target] = true;
    }
  }
}

void Forest::ArrangeTrees() {
  // trees[t] has the roots of the trees that vote for target t. It is used only
  // if each tree votes for a single target.
  std::vector<std::vector<int64_t>> trees(table_.targets);
  bool one_target = true;
  for (size_t tree = 0; tree < table_.roots.size(); ++tree) {
    int64_t target = -1;
    for (int64_t leaf : reachable_[tree]) {
      for (const TreeTable::Vote& vote : table_.leaves[leaf]) {
        if (target >= 0 && vote.target != target) one_target = false;
        target = vote.target;
      }
    }
    trees[std::max<int64_t>(target, 0)].push_back(table_.roots[tree]);
  }
  size_t largest = 0;
  for (const auto& group : trees) largest = std::max(largest, group.size());
  by_target_ = one_target && largest * trees.size() <= 2 * table_.roots.size();
  if (!by_target_) {
    starts_ = table_.roots;
    return;
  }
  for (std::vector<int64_t>& group : trees) {
    group.resize(largest, -1);
    starts_.insert(starts_.end(), group.begin(), group.end());
  }
}

void Forest::Walk(Tensor x) {
  const std::vector<int64_t> depths = TreeDepths(builder_, table_);
  if (!builder_.status().ok()) return;
  const int64_t depth = *std::max_element(depths.begin(), depths.end());
  if (depth > kMaxDepth) {
    return FailUnsupported(
        builder_, "expected trees of at most " + std::to_string(kMaxDepth) +
                      " levels, found " + std::to_string(depth));
  }
  test_ = FindTest(table_);
  const int64_t width = test_ < 0 ? TreeTable::kOutcomes : 2;
  // Number of all nodes, plus an extra leaf without votes, which fills up
  // starts_ for targets with fewer trees.
  const int64_t nodes = table_.branch_count() + leaf_count() + 1;
  std::vector<int64_t> features(nodes, 0), children(nodes * width);
  std::vector<double> thresholds(nodes, 0);
  for (int64_t node = 0; node < nodes; ++node) {
    int64_t* ends = &children[node * width];
    if (table_.IsLeaf(node)) {
      std::fill_n(ends, width, node);
      continue;
    }
    const TreeTable::Branch& branch = table_.branches[node];
    features[node] = branch.feature;
    thresholds[node] = branch.threshold;
    if (test_ < 0) {
      std::copy_n(branch.children.begin(), width, ends);
    } else {
      ChildrenOf(branch, kTests[test_], &ends[1], &ends[0]);
    }
  }
  features_ = Integers(features);
  thresholds_ = Numbers(thresholds);
  children_ = Integers(children);
  std::vector<int64_t> roots = starts_;
  for (int64_t& root : roots) {
    if (root < 0) root = nodes - 1;
  }
  Tensor node = Integers(roots);
  for (int64_t level = 0; level < depth; ++level)
    node = NextNode(x, node, level == 0);
  if (depth == 0) {
    node = Broadcast(Unsqueeze(node, {0}), {x.dim(0), node.dim(0)});
  }
  leaf_ = node - static_cast<double>(table_.branch_count());
}

Tensor Forest::NextNode(Tensor x, Tensor node, bool first) const {
  Tensor feature = Gather(features_, node, 0);
  // At the first level every row is at the same nodes, the roots. So the gather
  // takes whole columns of features instead of an element per row.
  Tensor value =
      first ? Gather(x, feature, 1)
            : Apply("gather_elements", {x, feature}, {{"axis", int64_t{1}}});
  Tensor threshold = Gather(thresholds_, node, 0);
  if (test_ >= 0) {
    const Test& test = kTests[test_];
    Tensor holds = test.threshold_first ? Binary(test.opcode, threshold, value)
                                        : Binary(test.opcode, value, threshold);
    return Gather(children_, node * 2.0 + Cast(holds, DType::kI64), 0);
  }
  const auto outcome = [&](TreeTable::Outcome o) {
    return Tensor(&builder_, builder_.Scalar(o, DType::kI64));
  };
  Tensor unordered = Select(Less(threshold, value), outcome(TreeTable::kAbove),
                            outcome(TreeTable::kNan));
  Tensor not_below =
      Select(Equal(value, threshold), outcome(TreeTable::kEqual), unordered);
  Tensor result =
      Select(Less(value, threshold), outcome(TreeTable::kBelow), not_below);
  return Gather(children_,
                node * static_cast<double>(TreeTable::kOutcomes) + result, 0);
}

Forest::Votes Forest::Combine(Aggregation aggregation) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Votes votes;
  if (aggregation == kMinimum) {
    votes.none = kInfinity;
    votes.combiner = "minimum";
  } else if (aggregation == kMaximum) {
    votes.none = -kInfinity;
    votes.combiner = "maximum";
  }
  for (const std::vector<TreeTable::Vote>& leaf : table_.leaves) {
    std::map<int64_t, double> by_target;
    for (const TreeTable::Vote& vote : leaf) {
      const auto [entry, added] = by_target.emplace(vote.target, vote.weight);
      if (added) continue;
      double& weight = entry->second;
      if (aggregation == kMinimum) {
        weight = std::min(weight, vote.weight);
      } else if (aggregation == kMaximum) {
        weight = std::max(weight, vote.weight);
      } else {
        weight += vote.weight;
      }
    }
    votes.leaves.emplace_back();
    for (const auto& [target, weight] : by_target)
      votes.leaves.back().push_back({target, weight});
  }
  // The extra leaf, which fills up starts_ for targets with fewer trees, has no
  // votes.
  votes.leaves.emplace_back();
  return votes;
}

Tensor Forest::Aggregate(Aggregation aggregation) const {
  if (!builder_.status().ok())
    return Tensor(&builder_, static_cast<graph::Value*>(nullptr));
  const Votes votes = Combine(aggregation);
  Tensor scores = Collect(votes);
  if (aggregation == kAverage)
    return scores / static_cast<double>(table_.roots.size());
  if (aggregation == kSum) return scores;
  if (std::find(always_.begin(), always_.end(), false) == always_.end())
    return scores;
  return Select(Equal(scores, votes.none), scores.Like(0), scores);
}

Tensor Forest::IsVotedFor(int64_t target) const {
  Votes votes;
  votes.combiner = "maximum";
  for (const std::vector<TreeTable::Vote>& leaf : table_.leaves) {
    std::vector<TreeTable::Vote> one;
    for (const TreeTable::Vote& vote : leaf) {
      if (vote.target == target) one = {{target, 1}};
    }
    votes.leaves.push_back(one);
  }
  votes.leaves.emplace_back();
  return NotEqual(SliceAxis(Collect(votes), 1, Dim(target), Dim(1)), 0);
}

Tensor Forest::Collect(const Votes& votes) const {
  if (by_target_) return CollectByTree(votes);
  const bool dense = table_.targets <= kMaxDense / (leaf_count() + 1);
  return dense ? CollectDense(votes) : CollectSparse(votes);
}

// Collects the votes if each tree votes for a single target: one number per
// leaf suffices, because the order of starts_ gives the target.
Tensor Forest::CollectByTree(const Votes& votes) const {
  std::vector<double> weights;
  for (const auto& leaf : votes.leaves)
    weights.push_back(leaf.empty() ? votes.none : leaf.front().weight);
  Tensor values = Gather(Numbers(weights), leaf_, 0);
  const auto starts = static_cast<int64_t>(starts_.size());
  const Shape shape = {values.dim(0), Dim(table_.targets),
                       Dim(starts / table_.targets)};
  return Reduce(Reshape(values, shape), votes.combiner, {2}, false);
}

// Collects the votes from a table with a row of all targets per leaf.
Tensor Forest::CollectDense(const Votes& votes) const {
  const int64_t targets = table_.targets;
  std::vector<double> weights(votes.leaves.size() * targets, votes.none);
  for (size_t leaf = 0; leaf < votes.leaves.size(); ++leaf) {
    for (const TreeTable::Vote& vote : votes.leaves[leaf])
      weights[leaf * targets + vote.target] = vote.weight;
  }
  const Shape shape = {Dim(static_cast<int64_t>(votes.leaves.size())),
                       Dim(targets)};
  Tensor rows = Reshape(Numbers(weights), shape);
  return Reduce(Gather(rows, leaf_, 0), votes.combiner, {1}, false);
}

// Collects the votes as (target, weight) pairs. Each leaf is padded to the
// number of pairs of the leaf with the most. Each pair is compared with all
// targets.
Tensor Forest::CollectSparse(const Votes& votes) const {
  size_t most = 1;
  for (const auto& leaf : votes.leaves) most = std::max(most, leaf.size());
  std::vector<double> weights(votes.leaves.size() * most, votes.none);
  std::vector<int64_t> targets(weights.size(), -1);
  for (size_t leaf = 0; leaf < votes.leaves.size(); ++leaf) {
    for (size_t i = 0; i < votes.leaves[leaf].size(); ++i) {
      weights[leaf * most + i] = votes.leaves[leaf][i].weight;
      targets[leaf * most + i] = votes.leaves[leaf][i].target;
    }
  }
  const Shape table = {Dim(static_cast<int64_t>(votes.leaves.size())),
                       Dim(static_cast<int64_t>(most))};
  Tensor weight = Gather(Reshape(Numbers(weights), table), leaf_, 0);
  Tensor target = Gather(Reshape(Integers(targets), table), leaf_, 0);
  Tensor all = IotaVector(builder_, Dim(table_.targets), DType::kI64);
  Tensor chosen = Select(Equal(Unsqueeze(target, {3}), all),
                         Unsqueeze(weight, {3}), weight.Like(votes.none));
  return Reduce(chosen, votes.combiner, {1, 2}, false);
}

}  // namespace ember::ops
