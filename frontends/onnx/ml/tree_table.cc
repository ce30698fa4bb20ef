#include "frontends/onnx/ml/tree_table.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace ember::onnx {
namespace {

// The comparisons of branches, in the order of the numbers that the operator
// TreeEnsemble gives them; kLeaf marks a leaf.
enum Mode { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };

constexpr std::string_view kModeNames[] = {
    "BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
    "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF",
};

// kHolds[mode][outcome]: true if the comparison `mode` (such as <=) of a
// feature with a threshold is true for this outcome (below, equal, above, NaN).
// NaN compares as in IEEE 754.
constexpr bool kHolds[][TreeTable::kOutcomes] = {
    {true, true, false, false},  {true, false, false, false},
    {false, true, true, false},  {false, false, true, false},
    {false, true, false, false}, {true, false, true, true},
};

struct Children {
  int64_t if_true;
  int64_t if_false;
  bool missing_is_true;
};

void SetChildren(Mode mode, const Children& children,
                 TreeTable::Branch& branch) {
  for (int outcome = 0; outcome < TreeTable::kOutcomes; ++outcome) {
    const bool missing = outcome == TreeTable::kNan && children.missing_is_true;
    const bool holds = kHolds[mode][outcome] || missing;
    branch.children[outcome] = holds ? children.if_true : children.if_false;
  }
}

// Replaces a branch that tests membership in a set by a balanced search tree
// over the sorted members. The root of the search tree takes the number `node`;
// its other branches are appended to the table.
void AddSearchTree(std::span<const double> members, const Children& children,
                   int64_t node, TreeTable& table) {
  const size_t middle = members.size() / 2;
  TreeTable::Branch branch = table.branches[node];
  branch.threshold = members[middle];
  SetChildren(kEq, children, branch);
  const std::span<const double> halves[] = {members.first(middle),
                                            members.subspan(middle + 1)};
  for (int side = 0; side < 2; ++side) {
    if (halves[side].empty()) continue;
    const auto added = table.branch_count();
    table.branches.push_back(branch);
    AddSearchTree(halves[side], children, added, table);
    branch.children[side == 0 ? TreeTable::kBelow : TreeTable::kAbove] = added;
  }
  table.branches[node] = branch;
}

// Splits TreeEnsemble's 'membership_values' into the sets of the membership
// tests. A NaN ends each set. The sets are sorted, without duplicates.
std::vector<std::vector<double>> SplitMembers(
    const std::vector<double>& values) {
  std::vector<std::vector<double>> sets(1);
  for (double value : values) {
    if (std::isnan(value)) {
      sets.emplace_back();
    } else {
      sets.back().push_back(value);
    }
  }
  if (sets.back().empty()) sets.pop_back();
  for (std::vector<double>& set : sets) {
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }
  return sets;
}

bool InRange(int64_t index, size_t size) {
  return index >= 0 && index < static_cast<int64_t>(size);
}

void FailRange(NodeContext& c, std::string_view what, int64_t found,
               size_t size) {
  c.FailInvalid("attribute '" + std::string(what) +
                "': expected values in [0, " + std::to_string(size) +
                "), found " + std::to_string(found));
}

bool CheckRange(NodeContext& c, std::string_view what,
                const std::vector<int64_t>& values, int64_t size) {
  for (int64_t value : values) {
    if (value >= 0 && value < size) continue;
    FailRange(c, what, value, static_cast<size_t>(size));
    return false;
  }
  return c.ok();
}

// --- TreeEnsemble ---

struct EnsembleAttributes {
  Numbers splits, modes, weights, members;
  std::vector<int64_t> features, true_ids, false_ids, true_leafs, false_leafs,
      missing, targets, roots;
};

EnsembleAttributes ReadEnsembleAttributes(NodeContext& c) {
  EnsembleAttributes a;
  a.splits = ReadTensorNumbers(c, "nodes_splits");
  a.modes = ReadTensorNumbers(c, "nodes_modes");
  a.weights = ReadTensorNumbers(c, "leaf_weights");
  a.members = ReadTensorNumbers(c, "membership_values");
  const std::pair<const char*, std::vector<int64_t>*> lists[] = {
      {"nodes_featureids", &a.features},
      {"nodes_truenodeids", &a.true_ids},
      {"nodes_falsenodeids", &a.false_ids},
      {"nodes_trueleafs", &a.true_leafs},
      {"nodes_falseleafs", &a.false_leafs},
      {"nodes_missing_value_tracks_true", &a.missing},
      {"leaf_targetids", &a.targets},
      {"tree_roots", &a.roots},
  };
  for (const auto& [name, list] : lists) *list = c.Integers(name, {});
  return a;
}

bool CheckEnsemble(NodeContext& c, const EnsembleAttributes& a,
                   int64_t targets) {
  const size_t nodes = a.features.size();
  return CheckCount(c, "nodes_splits", a.splits.size(), nodes) &&
         CheckCount(c, "nodes_modes", a.modes.size(), nodes) &&
         CheckCount(c, "nodes_truenodeids", a.true_ids.size(), nodes) &&
         CheckCount(c, "nodes_falsenodeids", a.false_ids.size(), nodes) &&
         CheckCount(c, "nodes_trueleafs", a.true_leafs.size(), nodes) &&
         CheckCount(c, "nodes_falseleafs", a.false_leafs.size(), nodes) &&
         (a.missing.empty() || CheckCount(c, "nodes_missing_value_tracks_true",
                                          a.missing.size(), nodes)) &&
         CheckCount(c, "leaf_weights", a.weights.size(), a.targets.size()) &&
         CheckRange(c, "leaf_targetids", a.targets, targets) &&
         CheckRange(c, "tree_roots", a.roots, static_cast<int64_t>(nodes));
}

// Checks the index by which a branch refers to a child: a branch or, if `leaf`,
// a leaf. Returns the index; -1 after an error.
int64_t ChildNode(NodeContext& c, int64_t index, bool leaf, size_t branches,
                  size_t leaves) {
  const size_t size = leaf ? leaves : branches;
  if (InRange(index, size)) return index;
  FailRange(c, "nodes_truenodeids' or 'nodes_falsenodeids", index, size);
  return -1;
}

// Returns the temporary number of a leaf, from -1 down. Final numbers of leaves
// follow those of the branches, whose count is only known when membership tests
// have added theirs; RenumberLeaves then assigns them.
int64_t AsLeaf(int64_t leaf) { return -1 - leaf; }

void RenumberLeaves(TreeTable& table) {
  const auto renumber = [&](int64_t& node) {
    if (node < 0) node = table.branch_count() - 1 - node;
  };
  for (TreeTable::Branch& branch : table.branches) {
    for (int64_t& child : branch.children) renumber(child);
  }
  for (int64_t& root : table.roots) renumber(root);
}

void AddEnsembleBranches(NodeContext& c, const EnsembleAttributes& a,
                         TreeTable& table) {
  const std::vector<std::vector<double>> sets = SplitMembers(a.members.values);
  size_t next_set = 0;
  const size_t nodes = a.features.size();
  table.branches.resize(nodes);
  for (size_t i = 0; i < nodes && c.ok(); ++i) {
    const double given = a.modes.values[i];
    if (!(given >= 0 && given < int{kLeaf})) {
      c.FailInvalid(
          "attribute 'nodes_modes': expected values of 0 to 6, found " +
          std::to_string(given));
      return;
    }
    const auto mode = static_cast<Mode>(given);
    const int64_t children[] = {
        ChildNode(c, a.true_ids[i], a.true_leafs[i] != 0, nodes,
                  a.targets.size()),
        ChildNode(c, a.false_ids[i], a.false_leafs[i] != 0, nodes,
                  a.targets.size())};
    if (!c.ok()) return;
    const Children ends = {
        a.true_leafs[i] != 0 ? AsLeaf(children[0]) : children[0],
        a.false_leafs[i] != 0 ? AsLeaf(children[1]) : children[1],
        !a.missing.empty() && a.missing[i] != 0};
    TreeTable::Branch& branch = table.branches[i];
    branch.feature = a.features[i];
    branch.threshold = a.splits.values[i];
    if (mode != kMember) {
      SetChildren(mode, ends, branch);
    } else if (next_set < sets.size() && !sets[next_set].empty()) {
      AddSearchTree(sets[next_set++], ends, static_cast<int64_t>(i), table);
    } else {
      c.FailInvalid(
          "attribute 'membership_values': expected a set for each node of mode "
          "BRANCH_MEMBER, found " +
          std::to_string(sets.size()));
    }
  }
}

}  // namespace

int64_t ReadTargets(NodeContext& c) {
  constexpr int64_t kMaxTargets = 1 << 20;
  const int64_t targets = c.Integer("n_targets", 1);
  if (targets >= 1 && targets <= kMaxTargets) return targets;
  c.FailInvalid("attribute 'n_targets': expected 1 to " +
                std::to_string(kMaxTargets) + ", found " +
                std::to_string(targets));
  return 1;
}

TreeTable ReadTreeEnsemble(NodeContext& c) {
  const EnsembleAttributes a = ReadEnsembleAttributes(c);
  TreeTable table;
  table.targets = ReadTargets(c);
  table.wide = a.splits.wide || a.weights.wide;
  if (!c.ok() || !CheckEnsemble(c, a, table.targets)) return table;
  AddEnsembleBranches(c, a, table);
  if (!c.ok()) return table;
  for (size_t i = 0; i < a.targets.size(); ++i) {
    table.leaves.push_back({{a.targets[i], a.weights.values[i]}});
  }
  for (int64_t root : a.roots) {
    // A tree that is a single leaf is encoded as a branch whose two children
    // are the same leaf.
    const bool leaf = a.true_leafs[root] != 0 && a.false_leafs[root] != 0 &&
                      a.true_ids[root] == a.false_ids[root];
    table.roots.push_back(leaf ? AsLeaf(a.true_ids[root]) : root);
  }
  RenumberLeaves(table);
  return table;
}

// The rest of the file reads the operators TreeEnsembleClassifier and
// TreeEnsembleRegressor.

namespace {

using NodeId = std::pair<int64_t, int64_t>;  // tree, node

struct NodeAttributes {
  std::vector<int64_t> trees, nodes, features, true_ids, false_ids, missing;
  std::vector<Mode> modes;
  Numbers values;
};

std::vector<Mode> ReadModes(NodeContext& c) {
  std::vector<Mode> modes;
  const auto names = c.Strings("nodes_modes");
  if (!names) return modes;
  for (const std::string& name : *names) {
    const auto* found =
        std::find(std::begin(kModeNames), std::end(kModeNames), name);
    const auto mode = static_cast<Mode>(found - std::begin(kModeNames));
    if (found == std::end(kModeNames) || mode == kMember) {
      c.FailInvalid(
          "attribute 'nodes_modes': expected BRANCH_LEQ, BRANCH_LT, "
          "BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF, found '" +
          name + "'");
      return modes;
    }
    modes.push_back(mode);
  }
  return modes;
}

std::optional<NodeAttributes> ReadNodeAttributes(NodeContext& c) {
  NodeAttributes a;
  a.trees = c.Integers("nodes_treeids", {});
  a.nodes = c.Integers("nodes_nodeids", {});
  a.features = c.Integers("nodes_featureids", {});
  a.true_ids = c.Integers("nodes_truenodeids", {});
  a.false_ids = c.Integers("nodes_falsenodeids", {});
  a.missing = c.Integers("nodes_missing_value_tracks_true", {});
  a.modes = ReadModes(c);
  a.values = ReadNumbers(c, "nodes_values");
  const size_t count = a.trees.size();
  if (!CheckCount(c, "nodes_nodeids", a.nodes.size(), count) ||
      !CheckCount(c, "nodes_featureids", a.features.size(), count) ||
      !CheckCount(c, "nodes_truenodeids", a.true_ids.size(), count) ||
      !CheckCount(c, "nodes_falsenodeids", a.false_ids.size(), count) ||
      !CheckCount(c, "nodes_modes", a.modes.size(), count) ||
      !CheckCount(c, "nodes_values", a.values.size(), count)) {
    return std::nullopt;
  }
  // The list missing_value_tracks_true may be shorter than the list of nodes.
  // The other nodes have the default, 0.
  a.missing.resize(count, 0);
  return a;
}

// Maps the node IDs of the attributes to numbers of nodes in the table. Leaves
// have negative numbers at first.
std::map<NodeId, int64_t> NumberNodes(NodeContext& c, const NodeAttributes& a,
                                      TreeTable& table) {
  std::map<NodeId, int64_t> numbers;
  int64_t branches = 0;
  for (size_t i = 0; i < a.trees.size(); ++i) {
    int64_t number;
    if (a.modes[i] == kLeaf) {
      number = AsLeaf(static_cast<int64_t>(table.leaves.size()));
      table.leaves.emplace_back();
    } else {
      number = branches++;
    }
    if (!numbers.emplace(NodeId(a.trees[i], a.nodes[i]), number).second) {
      c.FailInvalid("attribute 'nodes_nodeids': node " +
                    std::to_string(a.nodes[i]) + " of tree " +
                    std::to_string(a.trees[i]) + " occurs twice");
      return {};
    }
  }
  return numbers;
}

int64_t FindNode(NodeContext& c, const std::map<NodeId, int64_t>& numbers,
                 std::string_view what, NodeId id) {
  const auto found = numbers.find(id);
  if (found != numbers.end()) return found->second;
  c.FailInvalid("attribute '" + std::string(what) + "': tree " +
                std::to_string(id.first) + " has no node " +
                std::to_string(id.second));
  return 0;
}

void AddBranches(NodeContext& c, const NodeAttributes& a,
                 const std::map<NodeId, int64_t>& numbers, TreeTable& table) {
  for (size_t i = 0; i < a.trees.size() && c.ok(); ++i) {
    if (a.modes[i] == kLeaf) continue;
    TreeTable::Branch branch;
    branch.feature = a.features[i];
    branch.threshold = a.values.values[i];
    const Children ends = {
        FindNode(c, numbers, "nodes_truenodeids", {a.trees[i], a.true_ids[i]}),
        FindNode(c, numbers, "nodes_falsenodeids",
                 {a.trees[i], a.false_ids[i]}),
        a.missing[i] != 0};
    SetChildren(a.modes[i], ends, branch);
    table.branches.push_back(branch);
  }
}

// Finds the root of each tree: its first node that is no child of another.
void FindRoots(NodeContext& c, const NodeAttributes& a,
               const std::map<NodeId, int64_t>& numbers, TreeTable& table) {
  std::map<NodeId, bool> is_child;
  for (size_t i = 0; i < a.trees.size(); ++i) {
    if (a.modes[i] == kLeaf) continue;
    is_child[{a.trees[i], a.true_ids[i]}] = true;
    is_child[{a.trees[i], a.false_ids[i]}] = true;
  }
  std::map<int64_t, bool> has_root;
  for (size_t i = 0; i < a.trees.size(); ++i) {
    const NodeId id(a.trees[i], a.nodes[i]);
    bool& found = has_root[a.trees[i]];
    if (found || is_child.count(id) > 0) continue;
    found = true;
    table.roots.push_back(numbers.at(id));
  }
  for (const auto& [tree, found] : has_root) {
    if (!found) c.FailInvalid("tree " + std::to_string(tree) + " has no root");
  }
}

void AddVotes(NodeContext& c, const std::string& vote,
              const std::map<NodeId, int64_t>& numbers, TreeTable& table) {
  const std::string names[] = {vote + "_treeids", vote + "_nodeids",
                               vote + "_ids", vote + "_weights"};
  const std::vector<int64_t> trees = c.Integers(names[0], {});
  const std::vector<int64_t> nodes = c.Integers(names[1], {});
  const std::vector<int64_t> targets = c.Integers(names[2], {});
  const Numbers weights = ReadNumbers(c, names[3]);
  table.wide = table.wide || weights.wide;
  if (!CheckCount(c, names[1], nodes.size(), trees.size()) ||
      !CheckCount(c, names[2], targets.size(), trees.size()) ||
      !CheckCount(c, names[3], weights.size(), trees.size()) ||
      !CheckRange(c, names[2], targets, table.targets)) {
    return;
  }
  for (size_t i = 0; i < trees.size() && c.ok(); ++i) {
    const int64_t node = FindNode(c, numbers, names[1], {trees[i], nodes[i]});
    // Votes of nodes that are not leaves are ignored, because only leaves vote.
    if (node < 0) {
      table.leaves[-1 - node].push_back({targets[i], weights.values[i]});
    }
  }
}

}  // namespace

TreeTable ReadTreeNodes(NodeContext& c, const std::string& vote,
                        int64_t targets) {
  TreeTable table;
  table.targets = targets;
  const std::optional<NodeAttributes> attributes = ReadNodeAttributes(c);
  if (!attributes) return table;
  table.wide = attributes->values.wide;
  const std::map<NodeId, int64_t> numbers = NumberNodes(c, *attributes, table);
  if (!c.ok()) return table;
  AddBranches(c, *attributes, numbers, table);
  AddVotes(c, vote, numbers, table);
  if (!c.ok()) return table;
  FindRoots(c, *attributes, numbers, table);
  RenumberLeaves(table);
  return table;
}

}  // namespace ember::onnx
