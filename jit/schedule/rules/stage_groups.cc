
#include "jit/schedule/rules/stage_groups.h"

#include <algorithm>

#include "jit/schedule/core/attachments.h"
#include "jit/schedule/core/dependences.h"
#include "jit/schedule/rules/stage_shape.h"

namespace ember::schedule {
namespace {

bool IsStoredAgain(const Computation& c, int stage) {
  std::set<uint32_t> own;
  for (const ComputationStore& store : c.stages[stage].stores)
    own.insert(store.buffer);
  for (int i = 0; i < static_cast<int>(c.stages.size()); ++i) {
    if (i == stage) continue;
    for (const ComputationStore& store : c.stages[i].stores) {
      if (own.contains(store.buffer)) return true;
    }
  }
  return false;
}

bool IsMadeOnce(const Computation& c, int stage) {
  const uint32_t buffer = c.stages[stage].stores[0].buffer;
  return c.buffers[buffer].role == BufferRole::kPacked;
}

// Returns the largest number of the root's first axes such that each iteration
// of their loops needs different elements of the producer.
int DepthOf(const Schedule& schedule, int producer, int root) {
  const int count = schedule.computation().stages[root].spatial_count;
  for (int depth = count; depth > 0; --depth) {
    const int loop = schedule.plan(root).order[depth - 1];
    if (IsComputedOnce(schedule, producer, root, loop)) return depth;
  }
  return 0;
}

}  // namespace

StageGroup GroupOf(const Schedule& schedule, const StageRef& root,
                   const std::set<StageRef>& done, const JoinRule& is_worth) {
  const Computation& c = schedule.computation();
  const int number = c.FindStage(root.name);
  StageGroup group;
  group.root = root;
  group.depth = c.stages[number].spatial_count;
  if (!StoresAreDistinct(c, number)) return group;
  std::set<int> inside = {number};
  for (int p = number - 1; p >= 0; --p) {
    if (done.contains({c.stages[p].name}) || !StoresAreIdentity(c, p) ||
        IsMadeOnce(c, p) != IsMadeOnce(c, number)) {
      continue;
    }
    const std::vector<int> consumers = ConsumersOf(c, p);
    const bool only_here =
        !consumers.empty() && std::ranges::all_of(consumers, [&](int consumer) {
          return inside.contains(consumer);
        });
    if (!only_here || IsStoredAgain(c, p)) continue;
    const int depth = std::min(group.depth, DepthOf(schedule, p, number));
    if (depth == 0 || !is_worth(p, depth, group)) continue;
    group.depth = depth;
    group.members.insert(group.members.begin(), {c.stages[p].name});
    inside.insert(p);
  }
  return group;
}

bool IsLookupForProducts(const Computation& computation, int stage) {
  const ComputationStage& copy = computation.stages[static_cast<size_t>(stage)];
  if (copy.has_reduction() || copy.stores.size() != 1) return false;
  const tensor::Node& value = computation.pool[copy.values[0]];
  if (value.opcode != tensor::Opcode::kLoad) return false;
  bool looks_up = false;
  ForEachLoad(computation.pool, value.operands,
              [&](NodeId) { looks_up = true; });
  const std::vector<int> readers = ConsumersOf(computation, stage);
  return looks_up && !readers.empty() &&
         std::ranges::all_of(readers, [&](int reader) {
           return StageShape(computation, reader).IsProduct();
         });
}

}  // namespace ember::schedule
