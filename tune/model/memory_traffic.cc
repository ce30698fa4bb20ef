#include "tune/model/memory_traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "jit/loops/walk.h"
#include "tune/model/machine.h"

namespace ember::tune {
namespace {

using loops::MemoryScope;
using loops::NodeId;
using tensor::Interval;
using tensor::Node;
using tensor::Opcode;

double Sum(std::span<const double> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

void Raise(double& number, double least) { number = std::max(number, least); }

// Describes the values of one index of an access while some of the loops around
// the access iterate and the others keep their variables.
struct IndexValues {
  double count = 1;  // number of different values of the index
  double span = 1;   // distance from the smallest to the largest value, plus 1
};

}  // namespace

MemoryTraffic::MemoryTraffic(const LoopTree& tree) : tree_(tree) {
  const loops::LoopNest& nest = tree.nest();
  const size_t buffers = nest.buffers.size();
  of_iteration_.assign(tree.loops().size(), std::vector<double>(buffers));
  of_loop_ = of_iteration_;
  for (const Leaf& leaf : tree.leaves()) {
    const std::vector<NodeId> roots =
        loops::RootsOf(nest.pool, *leaf.statement);
    for (NodeId id : loops::NodesUnder(nest.pool, roots)) {
      const Node& node = nest.pool[id];
      if (node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad) continue;
      const size_t rank = nest.buffers[node.buffer].extents.size();
      Note(leaf.loop, leaf.share, node.buffer,
           std::span(node.operands).first(rank));
    }
    if (leaf.statement->kind != loops::Statement::Kind::kStore) continue;
    for (const loops::Store& store : leaf.statement->stores)
      Note(leaf.loop, leaf.share, store.buffer, store.indices);
  }
  for (const Group& group : groups_) {
    const std::vector<int> chain = tree.ChainOf(group.loop);
    for (size_t i = 0; i < chain.size(); ++i) {
      const auto loop = static_cast<size_t>(chain[i]);
      Raise(of_loop_[loop][group.buffer], group.lines[i]);
      Raise(of_iteration_[loop][group.buffer], group.lines[i + 1]);
    }
  }
}

void MemoryTraffic::Note(int loop, double share, uint32_t buffer,
                         std::span<const NodeId> indices) {
  if (tree_.nest().buffers[buffer].scope == MemoryScope::kRegister) return;
  std::vector<double> lines = LinesOf(tree_.ChainOf(loop), buffer, indices);
  for (Group& group : groups_) {
    if (group.loop != loop || group.buffer != buffer) continue;
    Raise(group.share, share);
    for (size_t i = 0; i < lines.size(); ++i) Raise(group.lines[i], lines[i]);
    return;
  }
  groups_.push_back({loop, buffer, share, std::move(lines)});
}

std::vector<double> MemoryTraffic::LinesOf(
    std::span<const int> chain, uint32_t buffer,
    std::span<const NodeId> indices) const {
  const loops::LoopNest& nest = tree_.nest();
  std::vector<std::vector<NodeId>> variables;
  for (NodeId index : indices) {
    std::vector<NodeId>& of_index = variables.emplace_back();
    for (NodeId id : loops::NodesUnder(nest.pool, {&index, 1})) {
      if (nest.pool[id].opcode == Opcode::kAxis) of_index.push_back(id);
    }
  }
  // The loops are visited from the innermost outwards. If the variable of a
  // loop occurs in no index, all its iterations touch the same lines.
  std::vector<double> result(chain.size() + 1);
  for (size_t first = chain.size() + 1; first-- > 0;) {
    const auto varies = [&](const std::vector<NodeId>& of_index) {
      const NodeId variable =
          tree_.loops()[static_cast<size_t>(chain[first])].variable;
      return std::ranges::find(of_index, variable) != of_index.end();
    };
    const bool is_new =
        first == chain.size() || std::ranges::any_of(variables, varies);
    result[first] =
        is_new ? LinesIn(chain.subspan(first), buffer, indices, variables)
               : result[first + 1];
  }
  return result;
}

double MemoryTraffic::LinesIn(
    std::span<const int> iterating, uint32_t buffer,
    std::span<const NodeId> indices,
    std::span<const std::vector<NodeId>> variables) const {
  const loops::LoopNest& nest = tree_.nest();
  const double bytes = DTypeByteSize(nest.buffers[buffer].type);
  const double most = std::ceil(tree_.BytesOf(buffer) / kLineBytes);
  const auto iterates = [&](NodeId variable) {
    return std::ranges::any_of(iterating, [&](int loop) {
      return tree_.loops()[static_cast<size_t>(loop)].variable == variable;
    });
  };
  double rows = 1;
  IndexValues last;
  double row_elements = 1;
  for (size_t d = 0; d < indices.size(); ++d) {
    rows *= last.count;
    last = {};
    const Interval extent = tree_.ranges().Of(nest.buffers[buffer].extents[d]);
    row_elements = std::max(static_cast<double>(extent.high), 1.0);
    double iterations = 1;
    for (int loop : iterating) {
      const TreeLoop& around = tree_.loops()[static_cast<size_t>(loop)];
      if (std::ranges::find(variables[d], around.variable) !=
          variables[d].end()) {
        iterations *= std::max(around.extent, 1.0);
      }
    }
    if (iterations == 1) continue;
    const Interval range = tree_.ranges().Of(indices[d], iterates);
    last.span = std::min(row_elements, static_cast<double>(range.high) -
                                           static_cast<double>(range.low) + 1);
    last.count = std::min(iterations, last.span);
  }
  // If whole rows are touched, a cache line may hold the end of one row and the
  // start of the next. So the lines of a row are rounded up only for partial
  // rows.
  const double row_lines = last.span * bytes / kLineBytes;
  const double per_row =
      last.span >= row_elements && rows > 1 ? row_lines : std::ceil(row_lines);
  const double lines = rows * std::min(per_row, last.count);
  return std::clamp(lines, 1.0, std::max(most, 1.0));
}

double MemoryTraffic::BytesBeyond(double cache_bytes) const {
  double bytes = 0;
  const size_t phases = tree_.nest().phases.size();
  for (size_t i = 0; i < phases; ++i)
    bytes += BytesBeyond(cache_bytes, static_cast<int>(i));
  return bytes;
}

double MemoryTraffic::BytesBeyond(double cache_bytes, int phase) const {
  if (BytesOfCall() <= cache_bytes) return 0;
  double bytes = 0;
  for (const Group& group : groups_) {
    const std::vector<int> chain = tree_.ChainOf(group.loop);
    if (tree_.loops()[static_cast<size_t>(group.loop)].phase != phase) continue;
    double lines = group.lines.back();
    for (size_t i = chain.size(); i-- > 0;) {
      const TreeLoop& loop = tree_.loops()[static_cast<size_t>(chain[i])];
      lines *= BytesOfIteration(chain[i]) <= cache_bytes
                   ? group.lines[i] / group.lines[i + 1]
                   : loop.extent;
    }
    bytes += group.share * lines * kLineBytes;
  }
  return bytes;
}

double MemoryTraffic::BytesOfIteration(int loop) const {
  return kLineBytes * Sum(of_iteration_[static_cast<size_t>(loop)]);
}

double MemoryTraffic::BytesOfLoop(int loop) const {
  return kLineBytes * Sum(of_loop_[static_cast<size_t>(loop)]);
}

double MemoryTraffic::BytesOfCall() const {
  std::vector<double> most(tree_.nest().buffers.size());
  for (size_t i = 0; i < tree_.loops().size(); ++i) {
    if (tree_.loops()[i].parent >= 0) continue;
    for (size_t b = 0; b < most.size(); ++b) Raise(most[b], of_loop_[i][b]);
  }
  return kLineBytes * Sum(most);
}

}  // namespace ember::tune
