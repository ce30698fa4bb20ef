#include "jit/loops/verifier/matrix_rules.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/walk.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;

class Checker {
 public:
  explicit Checker(const LoopNest& nest)
      : nest_(nest),
        accumulates_(nest.buffers.size(), false),
        is_accessed_(nest.buffers.size(), false) {}

  Status Run() {
    EMBER_RETURN_IF_ERROR(CheckPhases(nest_.prologue, "prologue phase "));
    EMBER_RETURN_IF_ERROR(CheckPhases(nest_.phases, "phase "));
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      if (!accumulates_[i] || !is_accessed_[i]) continue;
      return InvalidArgumentError(
          Concat({"buffer %", nest_.buffers[i].name,
                  ": expected accesses of matrix loops only, as in one, found "
                  "others"}));
    }
    return OkStatus();
  }

 private:
  Status CheckPhases(const std::vector<Phase>& phases, std::string_view what) {
    for (size_t i = 0; i < phases.size(); ++i) {
      const Status status = CheckBlock(phases[i].body);
      if (!status.ok()) return status.WithContext(Concat({what, i}));
    }
    return OkStatus();
  }

  Status CheckBlock(const Block& block) {
    for (const Statement& statement : block)
      EMBER_RETURN_IF_ERROR(CheckStatement(statement));
    return OkStatus();
  }

  Status CheckStatement(const Statement& statement) {
    const bool is_loop = statement.kind == Statement::Kind::kFor;
    if (is_loop && statement.loop == LoopKind::kMatrix)
      return CheckMatrix(statement);
    if (statement.stays_in_flight)
      EMBER_RETURN_IF_ERROR(CheckInFlight(statement));
    EMBER_RETURN_IF_ERROR(NoteAccesses(statement));
    if (is_loop && statement.loop == LoopKind::kSubgroup)
      return CheckSubgroups(statement);
    const bool may_stand = statement.kind == Statement::Kind::kIf ||
                           statement.kind == Statement::Kind::kSlot ||
                           (is_loop && (statement.loop == LoopKind::kSerial ||
                                        statement.loop == LoopKind::kUnrolled));
    if (subgroup_ && !may_stand) {
      return InvalidArgumentError(
          "a subgroup loop: expected matrix loops in it, in serial and "
          "unrolled "
          "ones and branches, found something else");
    }
    const Statement* const outer = std::exchange(around_, &statement);
    EMBER_RETURN_IF_ERROR(CheckBlock(statement.body));
    around_ = outer;
    return OkStatus();
  }

  Status CheckInFlight(const Statement& loop) const {
    const bool is_in_serial = around_ != nullptr &&
                              around_->kind == Statement::Kind::kFor &&
                              around_->loop == LoopKind::kSerial;
    if (is_in_serial && loop.kind == Statement::Kind::kFor &&
        loop.loop == LoopKind::kSubgroup) {
      return OkStatus();
    }
    return InvalidArgumentError(
        "products in flight: expected a subgroup loop directly in a serial "
        "loop");
  }

  Status CheckSubgroups(const Statement& loop) {
    subgroup_ = loop.variable;
    stays_in_flight_ = loop.stays_in_flight;
    stored_.assign(nest_.buffers.size(), false);
    read_.assign(nest_.buffers.size(), false);
    EMBER_RETURN_IF_ERROR(CheckBlock(loop.body));
    subgroup_.reset();
    // A subgroup loop must not read a buffer that it stores to, because its
    // subgroups do not synchronise with each other.
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      if (!stored_[i] || !read_[i]) continue;
      return InvalidArgumentError(
          Concat({"buffer %", nest_.buffers[i].name,
                  ": expected a subgroup loop to read it or to store to it, "
                  "found both"}));
    }
    return OkStatus();
  }

  Status CheckMatrix(const Statement& loop) {
    if (!subgroup_) {
      return InvalidArgumentError(
          "a matrix loop: expected a subgroup loop around it");
    }
    EMBER_ASSIGN_OR_RETURN(const MatrixOperation operation,
                           MatrixOperationOf(nest_, loop, *subgroup_));
    accumulates_[operation.accumulator] = true;
    if (stays_in_flight_ && operation.kind != MatrixOperation::Kind::kProduct) {
      return InvalidArgumentError(
          "products in flight: expected products only in their subgroup loop");
    }
    switch (operation.kind) {
      case MatrixOperation::Kind::kFill:
        break;
      case MatrixOperation::Kind::kProduct:
        read_[operation.a.buffer] = true;
        read_[operation.b.buffer] = true;
        break;
      case MatrixOperation::Kind::kStore:
        stored_[operation.destination.buffer] = true;
        break;
    }
    return OkStatus();
  }

  bool IsAccess(NodeId id) const {
    const Opcode opcode = nest_.pool[id].opcode;
    return opcode == Opcode::kLoad || opcode == Opcode::kPad;
  }

  // Records which buffers a statement other than a matrix loop accesses.
  // Errors: kInvalidArgument if it loads a register in a subgroup loop.
  Status NoteAccesses(const Statement& statement) {
    for (const Store& store : statement.stores)
      is_accessed_[store.buffer] = true;
    for (NodeId id : NodesUnder(nest_.pool, RootsOf(nest_.pool, statement))) {
      if (!IsAccess(id)) continue;
      const uint32_t buffer = nest_.pool[id].buffer;
      is_accessed_[buffer] = true;
      if (subgroup_) read_[buffer] = true;
      if (subgroup_ && nest_.buffers[buffer].scope == MemoryScope::kRegister) {
        return InvalidArgumentError(
            Concat({"load of %", nest_.buffers[buffer].name,
                    ": expected no registers but accumulators in a subgroup "
                    "loop"}));
      }
    }
    return OkStatus();
  }

  const LoopNest& nest_;
  // the statement whose body is being checked; null at the top of a phase
  const Statement* around_ = nullptr;
  std::optional<NodeId> subgroup_;  // variable of the surrounding subgroup loop
  // True if the products of the surrounding subgroup loop stay in flight.
  bool stays_in_flight_ = false;
  // stored_, read_: for each buffer, true if the surrounding subgroup loop
  // stores to it, or reads it
  std::vector<bool> stored_, read_;
  // For each buffer: true if a matrix loop accesses it as an accumulator.
  std::vector<bool> accumulates_;
  // For each buffer: true if a statement outside of matrix loops accesses it.
  std::vector<bool> is_accessed_;
};

}  // namespace

Status CheckMatrices(const LoopNest& nest) { return Checker(nest).Run(); }

}  // namespace ember::loops
