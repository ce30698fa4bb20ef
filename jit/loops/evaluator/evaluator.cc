#include "jit/loops/evaluator/evaluator.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/concat.h"
#include "jit/loops/evaluator/late_stores.h"
#include "jit/loops/evaluator/mark_checker.h"
#include "jit/loops/evaluator/race_finder.h"
#include "jit/loops/raw.h"
#include "jit/loops/walk.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::loops {
namespace {

using tensor::EvaluateScalar;
using tensor::LoadElement;
using tensor::Node;
using tensor::Opcode;
using tensor::StoreElement;

// Largest number of bytes of a buffer of the nest. A nest with a larger buffer
// is refused before memory is allocated.
constexpr int64_t kMaxBytes = int64_t{1} << 32;

// The values of an expression: one for each lane that runs a statement.
using Values = std::vector<uint64_t>;

// A lane is one iteration of the surrounding loops: the values of their
// variables, indexed by the variables' numbers. Code outside of vector loops
// runs one lane; code inside runs one per active lane.
using Lane = std::vector<int64_t>;
using Lanes = std::vector<Lane>;
// The value that represents a variable outside of its loop.
constexpr int64_t kOutside = INT64_MIN;

class Evaluator {
 public:
  Evaluator(const LoopNest& nest, std::span<const int64_t> parameters,
            const EvaluateOptions& options)
      : nest_(nest),
        parameters_(parameters),
        backwards_(options.backwards),
        is_device_(options.is_device || IsDeviceNest(nest)),
        marks_(nest, options),
        races_(nest, options.refuse_races),
        stores_(nest, memory_, races_),
        random_(options.seed) {}

  Status Run(std::span<void* const> buffers) {
    const Status status = RunPhases(buffers);
    return status.ok() ? status
                       : status.WithContext(Concat({"loops @", nest_.name}));
  }

 private:
  Status RunPhases(std::span<void* const> buffers) {
    if (parameters_.size() != nest_.parameters.size()) {
      return InvalidArgumentError(
          Concat({"expected ", nest_.parameters.size(), " parameters, found ",
                  parameters_.size()}));
    }
    EMBER_RETURN_IF_ERROR(BindBuffers(buffers));
    EMBER_RETURN_IF_ERROR(CheckExtents());
    for (const Phase& phase : nest_.prologue) {
      EMBER_RETURN_IF_ERROR(RunPhase(phase));
    }
    for (const Phase& phase : nest_.phases) {
      EMBER_RETURN_IF_ERROR(RunPhase(phase));
    }
    return OkStatus();
  }

  // --- buffers ---

  Status BindBuffers(std::span<void* const> given) {
    size_t next = 0;
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      const Buffer& buffer = nest_.buffers[i];
      EMBER_RETURN_IF_ERROR(FindExtents(buffer));
      if (buffer.scope == MemoryScope::kInput ||
          buffer.scope == MemoryScope::kOutput) {
        memory_.push_back(next < given.size() ? given[next] : nullptr);
        ++next;
        continue;
      }
      const int64_t bytes = ElementCount(i) * DTypeByteSize(buffer.type);
      if (bytes > kMaxBytes) {
        return ResourceExhaustedError(
            Concat({"buffer %", buffer.name, " of ", bytes, " bytes"}));
      }
      owned_[i].resize(static_cast<size_t>(bytes));
      memory_.push_back(owned_[i].data());
      FillRandomly(i);
    }
    own_memory_ = memory_;
    if (next == given.size()) return OkStatus();
    return InvalidArgumentError(
        Concat({"expected ", next, " buffers, found ", given.size()}));
  }

  Status FindExtents(const Buffer& buffer) {
    std::vector<int64_t> extents;
    int64_t count = DTypeByteSize(buffer.type);
    for (NodeId node : buffer.extents) {
      Values value;
      EMBER_RETURN_IF_ERROR(Evaluate(node, NoLoops(), value));
      const int64_t extent = static_cast<int64_t>(value[0]);
      if (extent < 0 || extent > tensor::kMaxExtent ||
          __builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count)) {
        return InvalidArgumentError(
            Concat({"buffer %", buffer.name, ": expected extents in 0..",
                    tensor::kMaxExtent, " and a size of 63 bits, found extent ",
                    extents.size(), " of ", extent}));
      }
      extents.push_back(extent);
    }
    extents_.push_back(std::move(extents));
    return OkStatus();
  }

  Status CheckExtents() {
    for (NodeId node : nest_.extents) {
      Values value;
      EMBER_RETURN_IF_ERROR(Evaluate(node, NoLoops(), value));
      const int64_t extent = static_cast<int64_t>(value[0]);
      if (extent >= 0 && extent <= tensor::kMaxExtent) continue;
      return InvalidArgumentError(
          Concat({"extents: expected values in 0..", tensor::kMaxExtent,
                  ", found ", extent}));
    }
    return OkStatus();
  }

  int64_t ElementCount(size_t buffer) const {
    int64_t count = 1;
    for (int64_t extent : extents_[buffer]) count *= extent;
    return count;
  }

  void FillRandomly(size_t buffer) {
    const DType type = nest_.buffers[buffer].type;
    const int64_t count = ElementCount(buffer);
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t bits = type == DType::kBool ? random_() & 1 : random_();
      StoreElement(memory_[buffer], i, type, bits);
    }
  }

  // Returns the position of an element in its buffer, or an error that names
  // the index that is out of bounds.
  StatusOr<int64_t> Position(uint32_t buffer,
                             std::span<const int64_t> indices) const {
    int64_t position = 0;
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      const int64_t extent = extents_[buffer][dim];
      if (indices[dim] < 0 || indices[dim] >= extent) {
        return InternalError(OutOfBounds(buffer, dim, indices[dim], extent));
      }
      position = position * extent + indices[dim];
    }
    return position;
  }

  std::string OutOfBounds(uint32_t buffer, size_t dim, int64_t index,
                          int64_t extent) const {
    return Concat({"buffer %", nest_.buffers[buffer].name, ": expected index ",
                   dim, " in 0..", extent - 1, ", found ", index});
  }

  // --- expressions ---

  // One node of a program (a list of nodes). Entries `first` to `first` +
  // `count` - 1 of Program::operands are the step numbers of its operands.
  struct Step {
    const Node* node = nullptr;
    size_t first = 0, count = 0;
    bool is_raw = false;
    bool is_short =
        false;  // true if the evaluator checks that the value fits i32
  };
  // An expression as a list of steps: the root node and all nodes that it is
  // computed from, operands before users.
  struct Program {
    std::vector<Step> steps;
    std::vector<size_t> operands;
  };

  const Program& ProgramOf(NodeId root) {
    Program& program = programs_[root];
    if (!program.steps.empty()) return program;
    std::unordered_map<NodeId, size_t> places;
    for (NodeId id : NodesUnder(nest_.pool, {&root, 1})) {
      const Node& node = nest_.pool[id];
      Step& step = program.steps.emplace_back();
      step.node = &node;
      step.first = program.operands.size();
      for (NodeId operand : OperandsOf(nest_.pool, id))
        program.operands.push_back(places[operand]);
      step.count = program.operands.size() - step.first;
      step.is_raw = IsRaw(node);
      step.is_short = marks_.IsShort(id);
      places.emplace(id, places.size());
    }
    return program;
  }

  Lanes NoLoops() const { return {Lane(nest_.variables.size(), kOutside)}; }
  int64_t& ValueOf(NodeId variable, Lane& lane) const {
    return lane[nest_.pool[variable].immediate];
  }

  // Computes the node's value in each lane; `values` receives the results.
  Status Evaluate(NodeId root, const Lanes& lanes, Values& values) {
    const Program& program = ProgramOf(root);
    values.clear();
    known_.resize(program.steps.size());
    for (const Lane& lane : lanes) {
      for (size_t i = 0; i < program.steps.size(); ++i) {
        const Step& step = program.steps[i];
        operands_.clear();
        for (size_t place = step.first; place < step.first + step.count;
             ++place) {
          operands_.push_back(known_[program.operands[place]]);
        }
        EMBER_RETURN_IF_ERROR(EvaluateStep(step, lane, operands_, known_[i]));
        if (step.is_short)
          EMBER_RETURN_IF_ERROR(marks_.CheckShort(*step.node, known_[i]));
      }
      values.push_back(known_[program.steps.size() - 1]);
    }
    return OkStatus();
  }

  Status EvaluateStep(const Step& step, const Lane& lane,
                      const Values& operands, uint64_t& value) {
    const Node& node = *step.node;
    switch (node.opcode) {
      case Opcode::kConstant:
        value = node.immediate;
        return OkStatus();
      case Opcode::kParameter:
        value = static_cast<uint64_t>(parameters_[node.immediate]);
        return OkStatus();
      case Opcode::kAxis: {
        const int64_t variable = lane[node.immediate];
        EMBER_CHECK(variable != kOutside)
            << "variable " << nest_.variables[node.immediate]
            << " outside of its loop";
        value = static_cast<uint64_t>(variable);
        return OkStatus();
      }
      case Opcode::kLoad:
      case Opcode::kPad:
        return Load(node, operands, lane, value);
      default: {
        const auto operand = [&](size_t i) {
          return i < operands.size() ? operands[i] : 0;
        };
        const DType type = nest_.pool[node.operands[0]].type;
        const tensor::ScalarOperands bits = {operand(0), operand(1),
                                             operand(2)};
        if (step.is_raw) {
          EMBER_ASSIGN_OR_RETURN(
              value, EvaluateRaw(node.opcode, type, node.type, bits));
        } else {
          value = EvaluateScalar(node.opcode, type, node.type, bits);
        }
        return OkStatus();
      }
    }
  }

  Status Load(const Node& node, const Values& operands, const Lane& lane,
              uint64_t& value) {
    const size_t rank = extents_[node.buffer].size();
    indices_.clear();
    for (size_t i = 0; i < rank; ++i)
      indices_.push_back(static_cast<int64_t>(operands[i]));
    const StatusOr<int64_t> position = Position(node.buffer, indices_);
    if (position.ok()) {
      EMBER_RETURN_IF_ERROR(races_.Note(node.buffer, *position, false));
      EMBER_RETURN_IF_ERROR(
          marks_.CheckLoad(node, *position, ElementCount(node.buffer), lane));
      value = LoadElement(memory_[node.buffer], *position, node.type);
      return OkStatus();
    }
    if (node.opcode == Opcode::kLoad || !FailsTest(node))
      return position.status();
    value = operands[rank];
    return OkStatus();
  }

  // True if a bounds test of the pad finds that one of its indices is out of
  // bounds.
  bool FailsTest(const Node& pad) const {
    for (size_t dim = 0; dim < indices_.size(); ++dim) {
      const BoundsTest test = TestOf(pad, dim);
      if (test == BoundsTest::kNone) continue;
      const bool is_negative = indices_[dim] < 0;
      if (is_negative && test == BoundsTest::kUpper) continue;
      if (is_negative || indices_[dim] >= extents_[pad.buffer][dim])
        return true;
    }
    return false;
  }

  // --- statements ---

  Status RunPhase(const Phase& phase) {
    Values tasks;
    EMBER_RETURN_IF_ERROR(
        Evaluate(ExtentOf(nest_.pool, phase.task), NoLoops(), tasks));
    const int64_t count = static_cast<int64_t>(tasks[0]);
    const bool has_barriers =
        is_device_ && (HasInvocationLoop(phase.body) || HasBarrier(phase.body));
    memory_ = own_memory_;
    EMBER_RETURN_IF_ERROR(
        races_.BeginPhase(phase, has_barriers, extents_, memory_));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t task = backwards_ ? count - 1 - i : i;
      races_.BeginTask(task);
      stores_.BeginTask();
      for (size_t buffer = 0; buffer < nest_.buffers.size(); ++buffer) {
        const MemoryScope scope = nest_.buffers[buffer].scope;
        if (scope == MemoryScope::kTask || scope == MemoryScope::kRegister) {
          FillRandomly(buffer);
        }
      }
      Lanes lanes = NoLoops();
      ValueOf(phase.task, lanes[0]) = task;
      EMBER_RETURN_IF_ERROR(RunBlock(phase.body, lanes));
    }
    return OkStatus();
  }

  Status RunBlock(const Block& block, const Lanes& lanes) {
    for (const Statement& statement : block) {
      EMBER_RETURN_IF_ERROR(RunStatement(statement, lanes));
    }
    return OkStatus();
  }

  Status RunStatement(const Statement& statement, const Lanes& lanes) {
    if (lanes.empty()) return OkStatus();
    switch (statement.kind) {
      case Statement::Kind::kFor:
        return RunLoop(statement, lanes);
      case Statement::Kind::kIf:
        return RunIf(statement, lanes);
      case Statement::Kind::kStore:
        return RunStore(statement.stores, lanes);
      case Statement::Kind::kCheck:
        return RunCheck(statement, lanes);
      case Statement::Kind::kPrefetch:
        break;
      case Statement::Kind::kAwait:
        return stores_.EndGroups(statement.groups);
      case Statement::Kind::kBarrier:
        races_.Barrier();
        break;
      case Statement::Kind::kSlot:
        return RunSlot(statement, lanes);
      case Statement::Kind::kFirst:
        return RunFirst(statement, lanes);
    }
    return OkStatus();
  }

  Status RunLoop(const Statement& loop, const Lanes& lanes) {
    // The extent does not depend on the lane, so it is evaluated in one lane
    // only.
    Values extents;
    EMBER_RETURN_IF_ERROR(
        Evaluate(ExtentOf(nest_.pool, loop.variable), {lanes[0]}, extents));
    const int64_t extent = static_cast<int64_t>(extents[0]);
    if (loop.loop == LoopKind::kVector) {
      Lanes vector;
      for (int64_t i = 0; i < extent; ++i) {
        vector.push_back(lanes[0]);
        ValueOf(loop.variable, vector.back()) = backwards_ ? extent - 1 - i : i;
      }
      marks_.Enter(loop.variable);
      const Status status = RunBlock(loop.body, vector);
      marks_.Leave();
      return status;
    }
    const bool is_written_out =
        loop.loop == LoopKind::kUnrolled || loop.loop == LoopKind::kDot;
    if (is_written_out) marks_.Enter(loop.variable);
    const bool is_invocations = IsInvocationLoop(loop);
    if (is_invocations) races_.BeginInvocations(loop);
    Lanes iteration = lanes;
    for (int64_t i = 0; i < extent; ++i) {
      const int64_t value = is_invocations && backwards_ ? extent - 1 - i : i;
      if (is_invocations) {
        races_.SetInvocation(value);
        for (uint32_t buffer : OwnRegisters(loop)) FillRandomly(buffer);
      }
      for (Lane& lane : iteration) ValueOf(loop.variable, lane) = value;
      if (loop.subgroup_size != 0) {
        for (Lane& lane : iteration)
          ValueOf(loop.subgroup, lane) = value / loop.subgroup_size;
      }
      EMBER_RETURN_IF_ERROR(RunBlock(loop.body, iteration));
      races_.EndIteration(loop);
    }
    if (is_invocations) {
      EMBER_RETURN_IF_ERROR(stores_.StoreCombined());
      races_.EndInvocations();
    }
    if (is_written_out) marks_.Leave();
    races_.EndLoop(loop);
    return OkStatus();
  }

  // Runs a step of a slot (fill, await or release). The stores that fill a slot
  // are performed when the first subgroup awaits it, which is as late as
  // possible.
  Status RunSlot(const Statement& statement, const Lanes& lanes) {
    Values slots;
    EMBER_RETURN_IF_ERROR(Evaluate(statement.slot.slot, {lanes[0]}, slots));
    const uint32_t ring = statement.slot.ring;
    const int64_t slot = static_cast<int64_t>(slots[0]);
    EMBER_RETURN_IF_ERROR(races_.NoteStep(statement.step, ring, slot));
    if (statement.step != SlotStep::kAwait) return OkStatus();
    stores_.EndSlot(ring, slot);
    return OkStatus();
  }

  // Runs the body of a `first` statement as the first invocation does.
  // Afterwards, registers that the body has stored to hold random values,
  // because the other invocations have not executed the stores.
  Status RunFirst(const Statement& first, const Lanes& lanes) {
    races_.BeginFirst();
    EMBER_RETURN_IF_ERROR(RunBlock(first.body, lanes));
    races_.EndInvocations();
    for (uint32_t buffer : OwnRegisters(first)) FillRandomly(buffer);
    return OkStatus();
  }

  // Returns the register buffers that the body of an invocation loop or of a
  // `first` statement stores to without the loop's variable as the first index.
  // Each invocation has its own contents of such a buffer, which do not outlive
  // the body.
  const std::vector<uint32_t>& OwnRegisters(const Statement& loop) {
    const auto [known, is_new] =
        own_registers_.emplace(&loop, std::vector<uint32_t>());
    const bool is_loop = loop.kind == Statement::Kind::kFor;
    if (is_new) {
      CollectOwnRegisters(loop.body,
                          is_loop ? std::optional(loop.variable) : std::nullopt,
                          known->second);
    }
    return known->second;
  }

  void CollectOwnRegisters(const Block& block, std::optional<NodeId> variable,
                           std::vector<uint32_t>& own) const {
    for (const Statement& statement : block) {
      CollectOwnRegisters(statement.body, variable, own);
      for (const Store& store : statement.stores) {
        const bool is_kept =
            !store.indices.empty() && store.indices[0] == variable;
        if (nest_.buffers[store.buffer].scope == MemoryScope::kRegister &&
            !is_kept) {
          own.push_back(store.buffer);
        }
      }
    }
  }

  Status RunIf(const Statement& statement, const Lanes& lanes) {
    Values conditions;
    EMBER_RETURN_IF_ERROR(Evaluate(statement.condition, lanes, conditions));
    Lanes active;
    for (size_t i = 0; i < lanes.size(); ++i) {
      if (conditions[i] != 0) active.push_back(lanes[i]);
    }
    const bool was_masked =
        marks_.SetMasked(marks_.is_masked() || active.size() != lanes.size());
    const Status status = RunBlock(statement.body, active);
    marks_.SetMasked(was_masked);
    return status;
  }

  Status RunCheck(const Statement& check, const Lanes& lanes) {
    Values indices, extents;
    EMBER_RETURN_IF_ERROR(Evaluate(check.index, lanes, indices));
    EMBER_RETURN_IF_ERROR(Evaluate(check.extent, lanes, extents));
    for (size_t i = 0; i < lanes.size(); ++i) {
      const int64_t index = static_cast<int64_t>(indices[i]);
      const int64_t extent = static_cast<int64_t>(extents[i]);
      if (index >= 0 && index < extent) continue;
      if (marks_.Misses(check, index)) {
        return InternalError(
            OutOfBounds(check.buffer, check.dim, index, extent));
      }
      return InvalidArgumentError(
          OutOfBounds(check.buffer, check.dim, index, extent));
    }
    return OkStatus();
  }

  // Runs stores that are done together: computes all values in all lanes before
  // it performs the first store.
  Status RunStore(const std::vector<Store>& stores, const Lanes& lanes) {
    std::vector<Values>& values = values_;
    std::vector<std::vector<int64_t>>& positions = positions_;
    if (values.size() < stores.size()) values.resize(stores.size());
    if (positions.size() < stores.size()) positions.resize(stores.size());
    for (size_t i = 0; i < stores.size(); ++i) {
      EMBER_RETURN_IF_ERROR(Evaluate(stores[i].value, lanes, values[i]));
      EMBER_RETURN_IF_ERROR(FindPositions(stores[i], lanes, positions[i]));
      EMBER_RETURN_IF_ERROR(marks_.CheckStore(stores[i], positions[i]));
    }
    for (size_t i = 0; i < stores.size(); ++i) {
      if (stores[i].combining != Combining::kNone) {
        stores_.Combine(stores[i], positions[i][0], values[i][0]);
        continue;
      }
      for (size_t lane = 0; lane < lanes.size(); ++lane) {
        EMBER_RETURN_IF_ERROR(
            races_.Note(stores[i].buffer, positions[i][lane], true));
        if (stores[i].is_async) {
          stores_.Begin(stores[i], positions[i][lane], values[i][lane]);
        } else {
          stores_.StoreNow(stores[i], positions[i][lane], values[i][lane]);
        }
      }
    }
    return OkStatus();
  }

  Status FindPositions(const Store& store, const Lanes& lanes,
                       std::vector<int64_t>& positions) {
    const size_t rank = store.indices.size();
    if (of_dims_.size() < rank) of_dims_.resize(rank);
    for (size_t dim = 0; dim < rank; ++dim) {
      EMBER_RETURN_IF_ERROR(Evaluate(store.indices[dim], lanes, of_dims_[dim]));
    }
    positions.clear();
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      indices_.clear();
      for (size_t dim = 0; dim < rank; ++dim)
        indices_.push_back(static_cast<int64_t>(of_dims_[dim][lane]));
      EMBER_ASSIGN_OR_RETURN(const int64_t position,
                             Position(store.buffer, indices_));
      positions.push_back(position);
    }
    return OkStatus();
  }

  const LoopNest& nest_;
  const std::span<const int64_t> parameters_;
  const bool backwards_;
  // True if barriers are the only synchronisation of invocations, as in device
  // nests.
  const bool is_device_;
  MarkChecker marks_;
  RaceFinder races_;
  LateStores stores_;
  // The values of each buffer's extents in this run.
  std::vector<std::vector<int64_t>> extents_;
  // own_memory_: memory of each buffer outside of phases. memory_: memory in
  // the current phase, where buffers may overlap in the workgroup's memory.
  std::vector<void*> own_memory_, memory_;
  // memory that the evaluator allocates for buffers that are neither inputs nor
  // outputs; key: the buffer's number
  std::map<size_t, std::vector<uint8_t>> owned_;
  // the programs of expressions that were evaluated before; key: the
  // expression's root
  std::unordered_map<NodeId, Program> programs_;
  // Vectors that are members only to reuse their memory. known_, operands_:
  // values of a program's steps; indices_: of an access; the others: values and
  // positions of a statement's stores.
  Values known_, operands_;
  std::vector<int64_t> indices_;
  std::vector<Values> of_dims_, values_;
  std::vector<std::vector<int64_t>> positions_;
  // results of OwnRegisters that were computed before; key: an invocation loop
  // or a `first` statement
  std::unordered_map<const Statement*, std::vector<uint32_t>> own_registers_;
  std::mt19937_64 random_;
};

}  // namespace

Status Evaluate(const LoopNest& nest, std::span<const int64_t> parameters,
                std::span<void* const> buffers,
                const EvaluateOptions& options) {
  return Evaluator(nest, parameters, options).Run(buffers);
}

}  // namespace ember::loops
