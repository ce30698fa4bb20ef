#include "jit/schedule/core/attachments.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "jit/schedule/core/dependences.h"

namespace ember::schedule {
namespace {

using tensor::Opcode;

// For each axis of a stage: the number of the axis of the stage around it that
// is equal to it; -1 if there is none.
using AxisMap = std::vector<int>;

class Attachment {
 public:
  Attachment(const Schedule& schedule, int producer, int consumer, int loop)
      : schedule_(schedule),
        computation_(schedule.computation()),
        producer_(producer),
        consumer_(consumer),
        loop_(loop) {}

  Status Check() {
    if (producer_ >= consumer_) {
      return FailedPreconditionError("the producer does not come before %" +
                                     NameOf(consumer_));
    }
    if (IsMadeOnce(producer_) && !IsMadeOnce(consumer_)) {
      return FailedPreconditionError(
          "the producer is computed once for many calls");
    }
    if (!StoresAreIdentity(computation_, producer_)) {
      return FailedPreconditionError(
          "the producer does not store whole buffers by assignment");
    }
    EMBER_RETURN_IF_ERROR(CheckConsumers());
    for (int i = producer_ + 1;
         i < static_cast<int>(computation_.stages.size()); ++i) {
      if (StoresTo(i)) {
        return FailedPreconditionError("%" + NameOf(i) +
                                       " stores to the same buffer");
      }
    }
    return OkStatus();
  }

  // Checks the conditions on which the attachment depends and which later
  // primitives may break: they may change the loops, or stages between producer
  // and consumer.
  Status CheckLater() const {
    // A later reorder may have moved loops since the stage was attached.
    EMBER_RETURN_IF_ERROR(CheckConsumers());
    for (int i = producer_ + 1; i <= consumer_; ++i) {
      for (const ComputationStore& store : computation_.stages[i].stores) {
        if (!Reads(computation_, producer_, store.buffer)) continue;
        return FailedPreconditionError("%" + NameOf(producer_) + " reads %" +
                                       computation_.buffers[store.buffer].name +
                                       ", which %" + NameOf(i) +
                                       " changes before it would be computed");
      }
    }
    EMBER_RETURN_IF_ERROR(CheckSharedMemory());
    if (MissesResult()) {
      return FailedPreconditionError(
          "%" + NameOf(producer_) +
          " is a result, and a loop around it may never run");
    }
    // `once` is necessary but not sufficient. CheckPartsAreOwn later checks
    // that the parts that iterations compute do not overlap.
    const bool once = IsComputedOnce();
    if (StoresResult(computation_, producer_) && !once) {
      return FailedPreconditionError(
          "parts of %" + NameOf(producer_) +
          " would be computed more than once, and it is a result");
    }
    if (ReadsOverwritten(computation_, producer_) && !(once && KeepsPlaces())) {
      return FailedPreconditionError(
          "%" + NameOf(producer_) +
          " reads an input that a result may overwrite in an earlier "
          "iteration");
    }
    return OkStatus();
  }

  // True if each iteration of the consumer's loops, from the outermost to
  // `loop_`, needs different elements of the producer.
  bool IsComputedOnce() const {
    const AxisMap map = MapOf(producer_);
    for (int axis : FixedAxes()) {
      if (std::find(map.begin(), map.end(), axis) == map.end()) return false;
    }
    return true;
  }

  AxisMap AxesOfConsumer() const { return MapOf(producer_); }

  // True if the producer stores a result of the dispatch, and one of the
  // consumer's loops down to `loop_` may have no iteration although the
  // producer has elements to store.
  bool MissesResult() const {
    if (!StoresResult(computation_, producer_)) return false;
    const AxisMap map = MapOf(producer_);
    const ComputationStage& consumer = computation_.stages[consumer_];
    return std::ranges::any_of(AxesAround(), [&](int axis) {
      if (consumer.end && axis == consumer.spatial_count) return true;
      const NodeId extent = consumer.axes[axis].extent;
      return computation_.pool[extent].range.low < 1 &&
             std::find(map.begin(), map.end(), axis) == map.end();
    });
  }

 private:
  // Refuses to move the producer behind a stage that may overwrite one of its
  // inputs: a result may share memory with an input. Stages that are attached
  // to the same loop are checked by KeepsPlaces instead.
  Status CheckSharedMemory() const {
    for (int i = producer_ + 1; i < consumer_; ++i) {
      if (IsInside(i)) continue;
      for (const ComputationStore& store : computation_.stages[i].stores) {
        if (!MayOverwrite(store.buffer)) continue;
        return FailedPreconditionError(
            "%" + NameOf(producer_) + " reads an input whose memory %" +
            computation_.buffers[store.buffer].name + " may share, and %" +
            NameOf(i) + " would store to that before it is computed");
      }
    }
    return OkStatus();
  }

  // True if the buffer is a result that may share memory with an input that the
  // producer reads. Extents that may be equal count as equal.
  bool MayOverwrite(uint32_t result) const {
    const ComputationBuffer& stored = computation_.buffers[result];
    if (stored.role != BufferRole::kOutput) return false;
    for (uint32_t b = 0; b < computation_.buffers.size(); ++b) {
      const ComputationBuffer& input = computation_.buffers[b];
      if (input.role == BufferRole::kInput && input.may_be_overwritten &&
          input.type == stored.type &&
          input.extents.size() == stored.extents.size() &&
          Reads(computation_, producer_, b)) {
        return true;
      }
    }
    return false;
  }

  Status CheckConsumers() const {
    const std::vector<int> consumers = ConsumersOf(computation_, producer_);
    for (int consumer : consumers) {
      if (consumer == consumer_ || IsInside(consumer)) continue;
      return FailedPreconditionError("%" + NameOf(consumer) + " reads %" +
                                     NameOf(producer_) + " too, elsewhere");
    }
    if (consumers.empty()) {
      return FailedPreconditionError("%" + NameOf(consumer_) +
                                     " does not read it");
    }
    return OkStatus();
  }

  std::string NameOf(int stage) const {
    return computation_.stages[stage].name;
  }

  bool IsInside(int stage) const {
    return PositionInside(schedule_, stage, consumer_) >=
           schedule_.plan(consumer_).PositionOf(loop_);
  }

  bool IsMadeOnce(int stage) const {
    const uint32_t buffer = computation_.stages[stage].stores[0].buffer;
    return computation_.buffers[buffer].role == BufferRole::kPacked;
  }

  bool StoresTo(int stage) const {
    for (const ComputationStore& store : computation_.stages[stage].stores) {
      for (const ComputationStore& own :
           computation_.stages[producer_].stores) {
        if (own.buffer == store.buffer) return true;
      }
    }
    return false;
  }

  // True if the producer, and the stages in the loop that store results, index
  // the axes of the surrounding loops at the same positions as the consumer.
  // Then each iteration overwrites only the part of an input that it reads
  // itself.
  bool KeepsPlaces() const {
    const std::vector<int> fixed = FixedAxes();
    for (int i = producer_; i < consumer_; ++i) {
      const bool matters =
          i == producer_ || (PositionInside(schedule_, i, consumer_) >= 0 &&
                             StoresResult(computation_, i));
      if (!matters) continue;
      const AxisMap map = MapOf(i);
      const bool keeps = std::all_of(fixed.begin(), fixed.end(), [&](int axis) {
        return axis < static_cast<int>(map.size()) && map[axis] == axis;
      });
      if (!keeps) return false;
    }
    return true;
  }

  // Returns the axes of the consumer over which its loops from the outermost to
  // `loop_` iterate.
  std::vector<int> AxesAround() const {
    const StagePlan& plan = schedule_.plan(consumer_);
    std::vector<int> axes;
    for (int loop : plan.order) {
      CollectAxes(plan, loop, axes);
      if (loop == loop_) break;
    }
    return axes;
  }

  // Returns those of AxesAround() that may have more than one value: an
  // iteration of the loops has one value of each.
  std::vector<int> FixedAxes() const {
    std::vector<int> axes = AxesAround();
    std::erase_if(axes, [&](int axis) {
      const NodeId extent = computation_.stages[consumer_].axes[axis].extent;
      return computation_.pool[extent].range.high <= 1;
    });
    return axes;
  }

  static void CollectAxes(const StagePlan& plan, int loop,
                          std::vector<int>& axes) {
    const Loop& at = plan.loops[loop];
    if (at.origin == Loop::Origin::kAxis) return axes.push_back(at.axis);
    CollectAxes(plan, at.parent, axes);
    if (at.second >= 0) CollectAxes(plan, at.second, axes);
  }

  AxisMap MapOf(int stage) const {
    const ComputationStage& computed = computation_.stages[stage];
    AxisMap map(computed.axes.size(), -1);
    if (stage == consumer_) {
      for (size_t i = 0; i < map.size(); ++i) map[i] = static_cast<int>(i);
      return map;
    }
    // -2 marks an axis of the stage that is not matched yet, because no reader
    // was visited
    for (int d = 0; d < computed.spatial_count; ++d) map[d] = -2;
    for (int reader : ConsumersOf(computation_, stage)) {
      const AxisMap readers = MapOf(reader);
      for (const ComputationStore& store : computed.stores)
        Combine(store.buffer, reader, readers, map);
    }
    for (int& axis : map) axis = std::max(axis, -1);
    return map;
  }

  void Combine(uint32_t buffer, int reader, const AxisMap& readers,
               AxisMap& map) const {
    const ComputationStage& stage = computation_.stages[reader];
    ForEachLoad(computation_.pool, RootsOf(stage), [&](NodeId load) {
      const tensor::Node& node = computation_.pool[load];
      if (node.buffer != buffer) return;
      for (size_t d = 0; d < computation_.buffers[buffer].extents.size(); ++d) {
        int axis = -1;
        for (size_t a = 0; a < stage.axes.size(); ++a) {
          if (stage.axes[a].variable == node.operands[d] &&
              stage.axes[a].extent == computation_.buffers[buffer].extents[d]) {
            axis = readers[a];
          }
        }
        map[d] = map[d] == -2 || map[d] == axis ? axis : -1;
      }
    });
  }

  const Schedule& schedule_;
  const Computation& computation_;
  int producer_;
  int consumer_;
  int loop_;
};

}  // namespace

std::vector<int> AxesOfReader(const Schedule& schedule, int producer,
                              int reader) {
  return Attachment(schedule, producer, reader, /*loop=*/-1).AxesOfConsumer();
}

bool IsComputedOnce(const Schedule& schedule, int producer, int consumer,
                    int loop) {
  const Attachment attachment(schedule, producer, consumer, loop);
  return attachment.IsComputedOnce() && !attachment.MissesResult();
}

Status CheckAttachment(const Schedule& schedule, int producer, int consumer,
                       int loop) {
  return Attachment(schedule, producer, consumer, loop).Check();
}

Status CheckAttachments(const Schedule& schedule) {
  const int count = static_cast<int>(schedule.computation().stages.size());
  for (int i = 0; i < count; ++i) {
    // Visits each stage around this one, from the nearest to the outermost, by
    // following the attachments.
    int inner = i;
    while (schedule.plan(inner).attach_stage >= 0) {
      const StagePlan& plan = schedule.plan(inner);
      EMBER_RETURN_IF_ERROR(
          Attachment(schedule, i, plan.attach_stage, plan.attach_loop)
              .CheckLater());
      inner = plan.attach_stage;
    }
  }
  return OkStatus();
}

}  // namespace ember::schedule
