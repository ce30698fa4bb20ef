#include "jit/loops/verifier/workgroup_rules.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "jit/loops/analysis/buffer_uses.h"
#include "jit/loops/walk.h"

namespace ember::loops {
namespace {

using Mode = Workgroup::Mode;

Status Error(std::string message) {
  return InvalidArgumentError(std::move(message));
}

class PhaseChecker {
 public:
  PhaseChecker(const LoopNest& nest, const Phase& phase,
               const std::vector<bool>& per_invocation)
      : nest_(nest),
        phase_(phase),
        workgroup_(phase.workgroup),
        per_invocation_(per_invocation),
        is_read_(nest.buffers.size()),
        is_written_(nest.buffers.size()) {}

  // Checks the phase. `is_placed`: true if the nest's phases have workgroups;
  // otherwise only marks of statements are checked.
  Status Run(bool is_placed) {
    Survey(phase_.body);
    EMBER_RETURN_IF_ERROR(CheckRings());
    EMBER_RETURN_IF_ERROR(CheckMarksIn(phase_.body));
    if (!is_placed) return OkStatus();
    EMBER_RETURN_IF_ERROR(CheckInvocations());
    if (workgroup_.storage.size() != nest_.buffers.size()) {
      return Error(
          Concat({"workgroup: expected storage of ", nest_.buffers.size(),
                  " buffers, found ", workgroup_.storage.size()}));
    }
    if (workgroup_.has_checks != has_checks_) {
      return Error(
          has_checks_ ? "workgroup: expected 'checks', since the phase has some"
                      : "workgroup: expected checks in the phase, found none");
    }
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      const Status status = CheckBuffer(i);
      if (!status.ok()) {
        return status.WithContext(Concat({"buffer %", nest_.buffers[i].name}));
      }
    }
    return OkStatus();
  }

 private:
  // Records which buffers the block reads and writes, if it has checks, if it
  // has loops over invocations or subgroups, and the largest constant extent of
  // the former loops. Prefetches are no accesses.
  void Survey(const Block& block) {
    for (const Statement& statement : block) {
      Survey(statement.body);
      if (IsInvocationLoop(statement)) NoteInvocations(statement);
      has_checks_ |= statement.kind == Statement::Kind::kCheck;
      if (statement.kind == Statement::Kind::kPrefetch) continue;
      for (NodeId id : NodesUnder(nest_.pool, RootsOf(nest_.pool, statement))) {
        if (IsAccess(nest_.pool[id])) is_read_[nest_.pool[id].buffer] = true;
      }
      for (const Store& store : statement.stores) {
        is_written_[store.buffer] = true;
        if (store.update != tensor::Update::kAssign)
          is_read_[store.buffer] = true;
      }
    }
  }

  void NoteInvocations(const Statement& loop) {
    has_invocation_loop_ = true;
    if (loop.loop != LoopKind::kInvocation) return;
    largest_ =
        std::max(largest_,
                 nest_.pool.IntegerConstant(ExtentOf(nest_.pool, loop.variable))
                     .value_or(1));
  }

  Status CheckInvocations() const {
    const int64_t found = workgroup_.invocations;
    if (found < 1 || found > kMaxInvocations) {
      return Error(Concat({"workgroup: expected 1..", kMaxInvocations,
                           " invocations, found ", found}));
    }
    if (has_invocation_loop_ && workgroup_.mode != Mode::kInvocations) {
      return Error(
          "workgroup: expected no loop over invocations where each invocation "
          "runs a task");
    }
    if (largest_ <= found) return OkStatus();
    return Error(
        Concat({"workgroup: expected at least ", largest_,
                " invocations, as in a loop over them, found ", found}));
  }

  Status CheckRings() const {
    for (const WorkgroupRing& ring : workgroup_.rings) {
      if (ring.slots < 1 || ring.slots > kMaxRingSlots || ring.subgroups < 1 ||
          ring.fill_bytes < 1) {
        return Error(Concat({"ring: expected 1..", kMaxRingSlots,
                             " slots, and positive numbers of bytes and "
                             "subgroups"}));
      }
    }
    if (workgroup_.rings.empty() || workgroup_.slot_barriers > 0)
      return OkStatus();
    return Error("ring: expected 'slots_at'");
  }

  // Checks the marks of warp specialisation in the block:
  // Statement::of_producer, boxes and steps of slots.
  Status CheckMarksIn(const Block& block, bool in_subgroups = false) const {
    for (const Statement& statement : block) {
      const bool is_slot = statement.kind == Statement::Kind::kSlot;
      if ((statement.of_producer || statement.box != nullptr || is_slot) &&
          workgroup_.rings.empty())
        return Error("marks of roles: expected rings of the workgroup");
      if (statement.box != nullptr) EMBER_RETURN_IF_ERROR(CheckBox(statement));
      if (is_slot) EMBER_RETURN_IF_ERROR(CheckSlot(statement, in_subgroups));
      EMBER_RETURN_IF_ERROR(CheckMarksIn(
          statement.body,
          in_subgroups || (statement.kind == Statement::Kind::kFor &&
                           statement.loop == LoopKind::kSubgroup)));
    }
    return OkStatus();
  }

  // Checks the step of a slot: subgroups, in a subgroup loop, await and release
  // it, and the producer fills it.
  Status CheckSlot(const Statement& statement, bool in_subgroups) const {
    const bool fills = statement.step == SlotStep::kFill;
    if (statement.slot.ring < workgroup_.rings.size() &&
        fills != in_subgroups && fills == statement.of_producer) {
      return OkStatus();
    }
    return Error(
        "slot: expected the number of a ring, and a subgroup loop around "
        "'await' and 'release', and 'producer' before 'fill'");
  }

  // Checks a loop that copies a box. The emitters rely on its form (one
  // asynchronous store) and on the sizes of the box.
  Status CheckBox(const Statement& loop) const {
    const Statement* inner = &loop;
    while (inner->stores.empty() && inner->body.size() == 1)
      inner = inner->body.data();
    const bool is_copy =
        loop.kind == Statement::Kind::kFor &&
        loop.loop == LoopKind::kInvocation && inner->stores.size() == 1 &&
        inner->stores[0].is_async && loop.box->ring < workgroup_.rings.size();
    if (!is_copy) {
      return Error(
          "box: expected an invocation loop with one asynchronous store, and "
          "the number of a ring");
    }
    const size_t rank = nest_.buffers[loop.box->from].extents.size();
    const size_t to_rank = nest_.buffers[loop.box->to].extents.size();
    bool fits = loop.box->dims.size() == rank &&
                loop.box->order.size() == rank && loop.box->box.size() == rank;
    for (const std::optional<size_t>& dim : loop.box->dims)
      fits = fits && dim.value_or(0) < to_rank;
    for (const uint32_t dim : loop.box->order) fits = fits && dim < rank;
    for (const CopiedBox::Piece& piece : loop.box->pieces) {
      fits = fits && piece.offsets.size() == rank && piece.position >= 0 &&
             piece.position < loop.box->ring_slot_bytes;
    }
    if (fits) return OkStatus();
    return Error(
        Concat({"box: expected dims, an order and pieces for the ", rank,
                " dims of %", nest_.buffers[loop.box->from].name}));
  }

  Status CheckBuffer(size_t i) const {
    const BufferStorage& storage = workgroup_.storage[i];
    if (storage.is_read != is_read_[i] ||
        storage.is_written != is_written_[i] ||
        (storage.kind != StorageKind::kUnused) !=
            (is_read_[i] || is_written_[i])) {
      return Error(Concat({"expected storage for what the phase does: ",
                           Uses(is_read_[i], is_written_[i]), ", found ",
                           Uses(storage.is_read, storage.is_written)}));
    }
    if (storage.kind == StorageKind::kUnused) return OkStatus();
    if (!Fits(nest_.buffers[i].scope, storage.kind)) {
      return Error("expected storage that its scope and the workgroup allow");
    }
    EMBER_RETURN_IF_ERROR(CheckMarks(i));
    const bool is_array = storage.kind == StorageKind::kShared ||
                          storage.kind == StorageKind::kPrivate;
    return is_array ? CheckBytes(i) : OkStatus();
  }

  static std::string_view Uses(bool reads, bool writes) {
    if (reads) return writes ? "reads writes" : "reads";
    return writes ? "writes" : "nothing";
  }

  bool Fits(MemoryScope scope, StorageKind kind) const {
    const bool is_each = workgroup_.mode == Mode::kTaskEach;
    switch (scope) {
      case MemoryScope::kInput:
      case MemoryScope::kOutput:
      case MemoryScope::kPacked:
      case MemoryScope::kCall:
        return kind == StorageKind::kMemory;
      case MemoryScope::kTask:
        return is_each ? kind == StorageKind::kPrivate
                       : kind == StorageKind::kShared ||
                             kind == StorageKind::kSlices;
      case MemoryScope::kRegister:
        return kind == StorageKind::kRegisters ||
               kind == StorageKind::kMatrices;
    }
    return false;
  }

  Status CheckMarks(size_t i) const {
    const BufferStorage& storage = workgroup_.storage[i];
    const bool is_memory = storage.kind == StorageKind::kMemory ||
                           storage.kind == StorageKind::kSlices;
    const bool is_shared = storage.kind == StorageKind::kShared;
    if ((storage.is_ordered || storage.is_coherent) && !is_memory)
      return Error(
          "expected 'coherent' and 'ordered' for memory and slices only");
    if (storage.is_unsigned && storage.kind != StorageKind::kMatrices)
      return Error("expected 'unsigned' for matrices only");
    const bool is_of_invocation = (storage.kind == StorageKind::kRegisters ||
                                   storage.kind == StorageKind::kMatrices) &&
                                  per_invocation_[i];
    if (storage.of_invocation != is_of_invocation) {
      return Error(
          is_of_invocation
              ? "expected 'of_invocations', since its first index is that of "
                "the loop over invocations"
              : "expected 'of_invocations' only for registers whose first "
                "index "
                "is that of the loop over invocations");
    }
    if (storage.offset && !is_shared)
      return Error("expected an offset for shared buffers only");
    if (storage.panels.Any() && !storage.offset)
      return Error("expected panels for shared buffers with an offset only");
    if (storage.panels.rows < 0 || storage.panels.row_bytes < 0)
      return Error("expected panels of positive rows and bytes");
    if (storage.form != ElementForm::kRegisters &&
        (!is_shared || storage.offset)) {
      return Error(
          "expected a form of elements for shared buffers without an offset "
          "only");
    }
    return OkStatus();
  }

  Status CheckBytes(size_t i) const {
    const Buffer& buffer = nest_.buffers[i];
    const int64_t size = DTypeByteSize(buffer.type);
    int64_t bytes = size;
    for (const NodeId extent : buffer.extents) {
      const int64_t known = nest_.pool.IntegerConstant(extent).value_or(0);
      if (known < 1 || __builtin_mul_overflow(bytes, known, &bytes))
        return Error("expected constant extents of a shared or private buffer");
    }
    const std::optional<int64_t> begin = workgroup_.storage[i].offset;
    if (!begin) return OkStatus();
    if (*begin < 0 || *begin % size != 0) {
      return Error(Concat({"expected an offset that is a multiple of ", size,
                           ", found ", *begin}));
    }
    if (bytes <= workgroup_.shared_bytes &&
        *begin <= workgroup_.shared_bytes - bytes) {
      return OkStatus();
    }
    return Error(Concat({"expected bytes below ", workgroup_.shared_bytes,
                         " of the workgroup's memory, found ", bytes,
                         " bytes at ", *begin}));
  }

  const LoopNest& nest_;
  const Phase& phase_;
  const Workgroup& workgroup_;
  const std::vector<bool>& per_invocation_;
  std::vector<bool> is_read_, is_written_;
  bool has_checks_ = false;
  bool has_invocation_loop_ = false;
  // Number of invocations of the phase's largest invocation loop.
  int64_t largest_ = 0;
};

}  // namespace

Status CheckWorkgroups(const LoopNest& nest) {
  const bool is_placed = IsPlaced(nest);
  const std::vector<bool> per_invocation = BuffersOfInvocations(nest);
  const auto check = [&](const std::vector<Phase>& phases,
                         std::string_view what) {
    for (size_t i = 0; i < phases.size(); ++i) {
      const Status status =
          PhaseChecker(nest, phases[i], per_invocation).Run(is_placed);
      if (!status.ok()) return status.WithContext(Concat({what, i}));
    }
    return OkStatus();
  };
  EMBER_RETURN_IF_ERROR(check(nest.prologue, "prologue phase "));
  return check(nest.phases, "phase ");
}

}  // namespace ember::loops
