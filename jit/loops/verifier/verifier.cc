#include "jit/loops/verifier/verifier.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/loops/analysis/bounds.h"
#include "jit/loops/analysis/buffer_uses.h"
#include "jit/loops/analysis/combining.h"
#include "jit/loops/analysis/dot_product.h"
#include "jit/loops/analysis/facts.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/device_rules.h"
#include "jit/loops/verifier/matrix_rules.h"
#include "jit/loops/verifier/signature.h"
#include "jit/loops/verifier/workgroup_rules.h"
#include "jit/loops/walk.h"
#include "tensor/builder/linear.h"
#include "tensor/verifier/type_rules.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;
using tensor::TypeFault;
using tensor::Update;

constexpr int64_t kMaxUnroll = 4096;
constexpr int64_t kMaxLanes = 64;

// The kinds of loops and tasks that can bind a variable.
enum class Binder : uint8_t {
  kTask,
  kSerial,
  kUnrolled,
  kVector,
  kInvocation,  // the variable of an invocation or subgroup loop
  // A matrix loop. Here it is checked like an unrolled loop; matrix_rules.h
  // checks the rules that are special to matrix loops.
  kMatrix
};

Status Error(std::string message) {
  return InvalidArgumentError(std::move(message));
}

class Verifier {
 public:
  explicit Verifier(const LoopNest& nest)
      : nest_(nest),
        facts_(nest),
        has_value_(nest.buffers.size(), false),
        per_invocation_(BuffersOfInvocations(nest)) {
    for (size_t i = 0; i < nest.buffers.size(); ++i) {
      has_value_[i] = nest.buffers[i].scope == MemoryScope::kInput;
    }
  }

  Status Run() {
    EMBER_RETURN_IF_ERROR(CheckRegisterCounts(nest_, per_invocation_));
    for (size_t i = 0; i < nest_.prologue.size(); ++i) {
      in_prologue_ = true;
      const Status status = CheckPhase(nest_.prologue[i]);
      if (!status.ok()) {
        return status.WithContext(Concat({"prologue phase ", i}));
      }
    }
    for (size_t i = 0; i < nest_.phases.size(); ++i) {
      in_prologue_ = false;
      const Status status = CheckPhase(nest_.phases[i]);
      if (!status.ok()) return status.WithContext(Concat({"phase ", i}));
    }
    return OkStatus();
  }

 private:
  std::string Text(NodeId node) const { return ToText(nest_, node); }
  std::string BufferName(uint32_t buffer) const {
    return Concat({"%", nest_.buffers[buffer].name});
  }
  DType TypeOf(NodeId node) const { return nest_.pool[node].type; }

  // --- Checks of phases and loops. ---

  Status CheckPhase(const Phase& phase) {
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      const MemoryScope scope = nest_.buffers[i].scope;
      if (scope == MemoryScope::kTask || scope == MemoryScope::kRegister) {
        has_value_[i] = false;
      }
    }
    facts_.BeginPhase(StoredIn(nest_, phase.body));
    return CheckLoop(phase.task, Binder::kTask, phase.body);
  }

  Status CheckLoop(NodeId variable, Binder binder, const Block& body) {
    const Node& node = nest_.pool[variable];
    if (node.opcode != Opcode::kAxis || node.operands.size() != 1 ||
        node.type != DType::kI64 || node.immediate >= nest_.variables.size()) {
      return Error(Concat({"expected a variable for a loop, found ",
                           tensor::InfoOf(node.opcode).text}));
    }
    const std::string& name = nest_.variables[node.immediate];
    if (in_first_ && binder == Binder::kInvocation)
      return Error(
          Concat({"variable ", name, ": an invocation loop in 'first'"}));
    const Status status = CheckExtent(node.operands[0], binder);
    if (!status.ok()) return status.WithContext(Concat({"extent of ", name}));
    if (!numbers_.insert(node.immediate).second) {
      return Error(Concat({"variable ", name, ": bound by a loop around it"}));
    }
    if (binder == Binder::kVector && in_vector_) {
      return Error(
          Concat({"variable ", name, ": a vector loop in a vector loop"}));
    }
    if (binder == Binder::kInvocation && (in_vector_ || invocation_)) {
      return Error(
          Concat({"variable ", name, ": an invocation loop in ",
                  in_vector_ ? "a vector" : "an invocation", " loop"}));
    }
    const size_t mark = facts_.Mark();
    // An earlier iteration may have performed the stores of the body. So facts
    // about the contents of buffers that the body stores to do not hold in the
    // body.
    ForgetStores(body);
    bound_.emplace(variable, binder);
    facts_.AssumeIterates(variable);
    in_vector_ |= binder == Binder::kVector;
    if (binder == Binder::kInvocation) {
      EMBER_RETURN_IF_ERROR(CheckInvocations(variable, body));
    } else {
      EMBER_RETURN_IF_ERROR(CheckBlock(body));
    }
    in_vector_ &= binder != Binder::kVector;
    facts_.Rollback(mark);
    bound_.erase(variable);
    numbers_.erase(node.immediate);
    return OkStatus();
  }

  // Checks an invocation loop and its effect on register buffers that are not
  // indexed by the invocation (short-lived ones). They have no contents when
  // the body begins, and those that the loop stores to have none after the
  // loop.
  Status CheckInvocations(NodeId variable, const Block& body) {
    const std::vector<bool> stored = StoredIn(nest_, body);
    std::vector<bool> before = has_value_;
    for (size_t i = 0; i < has_value_.size(); ++i) {
      if (IsShortLived(i)) has_value_[i] = false;
    }
    facts_.BeginInvocations(SharedIn(nest_, variable, body));
    invocation_ = variable;
    EMBER_RETURN_IF_ERROR(CheckBlock(body));
    invocation_.reset();
    facts_.EndInvocations();
    for (size_t i = 0; i < has_value_.size(); ++i) {
      if (IsShortLived(i)) has_value_[i] = before[i] && !stored[i];
    }
    return OkStatus();
  }

  bool IsShortLived(size_t buffer) const {
    return nest_.buffers[buffer].scope == MemoryScope::kRegister &&
           !per_invocation_[buffer];
  }

  void ForgetStores(const Block& block) {
    const std::vector<bool> stored = StoredIn(nest_, block);
    for (size_t i = 0; i < stored.size(); ++i) {
      if (stored[i]) facts_.Forget(static_cast<uint32_t>(i));
    }
  }

  Status CheckExtent(NodeId extent, Binder binder) {
    EMBER_RETURN_IF_ERROR(CheckExpressions({{extent}}));
    if (TypeOf(extent) != DType::kI64) {
      return Error(Concat({"expected i64, found ", DTypeName(TypeOf(extent))}));
    }
    for (NodeId id : NodesUnder(nest_.pool, {{extent}})) {
      if (IsAccess(nest_.pool[id])) {
        return Error(Concat({"expected no loads, found ", Text(id)}));
      }
      const auto bound = bound_.find(id);
      if (bound != bound_.end() && bound->second == Binder::kVector) {
        return Error(
            Concat({"expected nothing of a vector loop, found ", Text(id)}));
      }
    }
    switch (binder) {
      case Binder::kTask:
      case Binder::kSerial:
        break;
      case Binder::kUnrolled:
        return CheckConstantExtent(extent, kMaxUnroll, "an unrolled");
      case Binder::kVector:
        return CheckConstantExtent(extent, kMaxLanes, "a vector");
      case Binder::kInvocation:
        return CheckConstantExtent(extent, kMaxInvocations, "an invocation");
      case Binder::kMatrix:
        return CheckConstantExtent(extent, kMaxMatrixExtent, "a matrix");
    }
    return OkStatus();
  }

  Status CheckConstantExtent(NodeId extent, int64_t limit,
                             std::string_view kind) const {
    const std::optional<int64_t> constant = nest_.pool.IntegerConstant(extent);
    if (constant && *constant >= 1 && *constant <= limit) return OkStatus();
    return Error(Concat({"expected a constant in 1..", limit, " for ", kind,
                         " loop, found ", Text(extent)}));
  }

  // --- statements ---

  Status CheckBlock(const Block& block) {
    if (++nesting_ > kMaxNesting) {
      return Error(Concat(
          {"expected at most ", kMaxNesting, " statements in each other"}));
    }
    for (const Statement& statement : block) {
      EMBER_RETURN_IF_ERROR(CheckStatement(statement));
    }
    --nesting_;
    return OkStatus();
  }

  Status CheckStatement(const Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kFor:
        combines_ = IsCombining(nest_.pool, statement);
        EMBER_RETURN_IF_ERROR(CheckDot(statement));
        if (statement.subgroup_size != 0) return CheckOfSubgroups(statement);
        return CheckLoop(statement.variable, BinderOf(statement.loop),
                         statement.body);
      case Statement::Kind::kIf:
        return CheckIf(statement);
      case Statement::Kind::kStore:
        return CheckStores(statement);
      case Statement::Kind::kCheck:
        return CheckCheck(statement);
      case Statement::Kind::kPrefetch:
        return CheckPrefetch(statement);
      case Statement::Kind::kAwait:
        return CheckAwait(statement);
      case Statement::Kind::kBarrier:
        return CheckBarrier();
      case Statement::Kind::kSlot:
        return CheckSlot(statement);
      case Statement::Kind::kFirst:
        return CheckFirst(statement);
    }
    return OkStatus();
  }

  // Checks an invocation loop that also binds the number of the invocation's
  // subgroup (Statement::subgroup).
  Status CheckOfSubgroups(const Statement& loop) {
    EMBER_RETURN_IF_ERROR(CheckSubgroupsOf(nest_, loop));
    const uint64_t number = nest_.pool[loop.subgroup].immediate;
    if (!numbers_.insert(number).second) {
      return Error(Concat({"variable ", nest_.variables[number],
                           ": bound by a loop around it"}));
    }
    const size_t mark = facts_.Mark();
    bound_.emplace(loop.subgroup, Binder::kInvocation);
    facts_.AssumeIterates(loop.subgroup);
    of_subgroups_ = &loop;
    EMBER_RETURN_IF_ERROR(
        CheckLoop(loop.variable, Binder::kInvocation, loop.body));
    of_subgroups_ = nullptr;
    facts_.Rollback(mark);
    bound_.erase(loop.subgroup);
    numbers_.erase(number);
    return OkStatus();
  }

  Status CheckSlot(const Statement& statement) {
    EMBER_RETURN_IF_ERROR(CheckExpressions({{statement.slot.slot}}));
    if (TypeOf(statement.slot.slot) == DType::kI64) return OkStatus();
    return Error("slot: expected an index of type i64");
  }

  // Checks a `first` statement. Registers that its body stores to have no
  // contents after it, since only one invocation has run it.
  Status CheckFirst(const Statement& first) {
    if (invocation_ || in_first_) {
      return Error(
          "first: expected no loop over invocations and no 'first' around it");
    }
    in_first_ = true;
    EMBER_RETURN_IF_ERROR(CheckBlock(first.body));
    in_first_ = false;
    const std::vector<bool> stored = StoredIn(nest_, first.body);
    for (size_t i = 0; i < has_value_.size(); ++i) {
      if (stored[i] && nest_.buffers[i].scope == MemoryScope::kRegister)
        has_value_[i] = false;
    }
    return OkStatus();
  }

  // Checks that a dot loop is a dot product (DotProductOf). Its expressions are
  // checked like those of any other loop.
  Status CheckDot(const Statement& loop) {
    const bool is_dot = loop.loop == LoopKind::kDot &&
                        nest_.pool[loop.variable].opcode == Opcode::kAxis;
    return is_dot ? DotProductOf(nest_, loop).status() : OkStatus();
  }

  static Binder BinderOf(LoopKind kind) {
    switch (kind) {
      case LoopKind::kSerial:
        return Binder::kSerial;
      case LoopKind::kUnrolled:
      case LoopKind::kDot:
        return Binder::kUnrolled;
      case LoopKind::kVector:
        return Binder::kVector;
      case LoopKind::kInvocation:
      case LoopKind::kSubgroup:
        return Binder::kInvocation;
      case LoopKind::kMatrix:
        return Binder::kMatrix;
    }
    return Binder::kSerial;
  }

  Status CheckIf(const Statement& statement) {
    EMBER_RETURN_IF_ERROR(CheckExpressions({{statement.condition}}));
    if (TypeOf(statement.condition) != DType::kBool) {
      return Error(Concat({"condition ", Text(statement.condition),
                           ": expected bool, found ",
                           DTypeName(TypeOf(statement.condition))}));
    }
    const size_t mark = facts_.Mark();
    facts_.AssumeHolds(statement.condition);
    EMBER_RETURN_IF_ERROR(CheckBlock(statement.body));
    facts_.Rollback(mark);
    return OkStatus();
  }

  Status CheckCheck(const Statement& check) {
    if (check.buffer >= nest_.buffers.size() ||
        check.dim >= nest_.buffers[check.buffer].extents.size()) {
      return Error("check: expected a buffer and one of its dims");
    }
    if (in_first_) return Error("check: expected no 'first' around it");
    EMBER_RETURN_IF_ERROR(CheckExpressions({{check.index, check.extent}}));
    if (TypeOf(check.index) != DType::kI64 ||
        TypeOf(check.extent) != DType::kI64) {
      return Error(Concat({"check of ", BufferName(check.buffer),
                           ": expected index and extent of type i64"}));
    }
    facts_.AssumeInBounds(check.index, check.extent);
    return OkStatus();
  }

  Status CheckPrefetch(const Statement& prefetch) {
    if (prefetch.buffer >= nest_.buffers.size() ||
        nest_.buffers[prefetch.buffer].scope == MemoryScope::kRegister) {
      return Error("prefetch: expected a buffer in memory");
    }
    if (in_vector_) {
      return Error(Concat({"prefetch of ", BufferName(prefetch.buffer),
                           ": expected no vector loop around it"}));
    }
    EMBER_RETURN_IF_ERROR(CheckExpressions({{prefetch.index}}));
    if (TypeOf(prefetch.index) != DType::kI64) {
      return Error(Concat({"prefetch of ", BufferName(prefetch.buffer),
                           ": expected an element's number of type i64"}));
    }
    return OkStatus();
  }

  Status CheckAwait(const Statement& await) {
    if (in_vector_ || invocation_ || in_first_) {
      return Error(
          "await: expected no loop over invocations, no vector loop and no "
          "'first' around it");
    }
    if (await.groups >= 0 && await.groups <= kMaxGroups) return OkStatus();
    return Error(Concat({"await: expected a number of groups in 0..",
                         kMaxGroups, ", found ", await.groups}));
  }

  // Checks that all invocations of the task execute a barrier: no loop over
  // invocations, no vector loop and no `first` is around it. Other loops and
  // conditions have the same extents and values for all invocations.
  Status CheckBarrier() const {
    if (!in_vector_ && !invocation_ && !in_first_) return OkStatus();
    return Error(
        "barrier: expected no loop over invocations, no vector loop and no "
        "'first' around it");
  }

  Status CheckStores(const Statement& statement) {
    if (statement.stores.empty()) {
      return Error("expected at least one value to store, found none");
    }
    EMBER_RETURN_IF_ERROR(CheckExpressions(RootsOf(nest_.pool, statement)));
    for (const Store& store : statement.stores) {
      EMBER_RETURN_IF_ERROR(CheckStore(store));
      EMBER_RETURN_IF_ERROR(CheckMarks(store));
    }
    if (invocation_) EMBER_RETURN_IF_ERROR(CheckCombining(statement));
    for (const Store& store : statement.stores) {
      has_value_[store.buffer] = true;
      facts_.Forget(store.buffer);
    }
    return OkStatus();
  }

  // Checks that a store has the form that each of its marks requires:
  // asynchronous, combining, rounding once, or stored as a vector.
  Status CheckMarks(const Store& store) const {
    if (store.is_async)
      EMBER_RETURN_IF_ERROR(
          CheckAsyncStore(nest_, store, invocation_.has_value()));
    if (store.rounds_once) EMBER_RETURN_IF_ERROR(CheckRoundsOnce(nest_, store));
    if (store.combining != Combining::kNone)
      EMBER_RETURN_IF_ERROR(CheckCombinedStore(nest_, of_subgroups_, store));
    if (store.vector == 0) return OkStatus();
    const auto lanes = std::ranges::find_if(
        bound_, [](const auto& b) { return b.second == Binder::kVector; });
    return CheckVectorStore(
        nest_, store,
        lanes == bound_.end() ? std::nullopt : std::optional(lanes->first));
  }

  // Checks that a store by which all invocations of the surrounding loop update
  // one element is alone in that loop, and updates it in one way.
  Status CheckCombining(const Statement& statement) {
    for (const Store& store : statement.stores) {
      if (store.update == Update::kAssign ||
          store.combining != Combining::kNone ||
          nest_.buffers[store.buffer].scope == MemoryScope::kRegister ||
          !IsOfAllInvocations(nest_.pool, store, *invocation_)) {
        continue;
      }
      const std::string what = Concat({"store to ", BufferName(store.buffer)});
      if (!combines_) {
        return Error(Concat({what,
                             ": expected an update by all invocations to be "
                             "alone in its loop"}));
      }
      for (const Store& other : statement.stores) {
        if (other.buffer != store.buffer || other.update == store.update)
          continue;
        return Error(Concat({what, ": all invocations update it in two ways"}));
      }
      for (NodeId id : NodesUnder(nest_.pool, RootsOf(nest_.pool, statement))) {
        const Node& node = nest_.pool[id];
        if (!IsAccess(node) || node.buffer != store.buffer) continue;
        return Error(Concat({what, ": all invocations update and read it"}));
      }
    }
    return OkStatus();
  }

  Status CheckStore(const Store& store) {
    if (store.buffer >= nest_.buffers.size()) {
      return Error(Concat({"store: expected a buffer below ",
                           nest_.buffers.size(), ", found ", store.buffer}));
    }
    const Buffer& buffer = nest_.buffers[store.buffer];
    const std::string what = Concat({"store to ", BufferName(store.buffer)});
    if (!MayStore(buffer.scope)) {
      return Error(Concat(
          {what, ": expected ",
           in_prologue_ ? "a packed, task or register buffer in the prologue"
                        : "no input or packed buffer"}));
    }
    if (TypeOf(store.value) != buffer.type) {
      return Error(Concat({what, ": expected ", DTypeName(buffer.type),
                           ", found ", DTypeName(TypeOf(store.value))}));
    }
    const bool adds =
        store.update == Update::kAdd || store.update == Update::kMultiply;
    if (adds && buffer.type == DType::kBool) {
      return Error(Concat({what, ": sums and products of bool"}));
    }
    if (store.update != Update::kAssign && !has_value_[store.buffer]) {
      return Error(Concat({what, ": an update before any store to it"}));
    }
    const Status status =
        CheckIndices(store.buffer, store.indices, /*in_bounds=*/true);
    return status.ok() ? status : status.WithContext(what);
  }

  bool MayStore(MemoryScope scope) const {
    switch (scope) {
      case MemoryScope::kInput:
        return false;
      case MemoryScope::kOutput:
      case MemoryScope::kCall:
        return !in_prologue_;
      case MemoryScope::kPacked:
        return in_prologue_;
      case MemoryScope::kTask:
      case MemoryScope::kRegister:
        return true;
    }
    return false;
  }

  // --- expressions ---

  // Checks the expressions of a statement. Types are checked first, because all
  // other checks rely on them.
  Status CheckExpressions(std::span<const NodeId> roots) {
    const std::vector<NodeId> nodes = NodesUnder(nest_.pool, roots);
    for (NodeId id : nodes) {
      if (has_types_.contains(id)) continue;
      EMBER_RETURN_IF_ERROR(CheckNode(nest_, id));
      has_types_.insert(id);
    }
    for (NodeId id : nodes) {
      const Node& node = nest_.pool[id];
      if (node.opcode == Opcode::kAxis && !bound_.contains(id)) {
        return Error(
            Concat({"variable ", Text(id), " is used outside of its loop"}));
      }
    }
    for (NodeId id : nodes) {
      if (!IsAccess(nest_.pool[id])) continue;
      EMBER_RETURN_IF_ERROR(CheckLoad(id));
    }
    return OkStatus();
  }

  Status CheckLoad(NodeId id) {
    const Node& node = nest_.pool[id];
    const Buffer& buffer = nest_.buffers[node.buffer];
    const std::string what = Concat({"load of ", BufferName(node.buffer)});
    if (in_prologue_ && (buffer.scope == MemoryScope::kOutput ||
                         buffer.scope == MemoryScope::kCall)) {
      return Error(Concat({what,
                           ": expected no output or call buffer in the "
                           "prologue"}));
    }
    if (!has_value_[node.buffer]) {
      return Error(Concat({what, ": before any store to it"}));
    }
    const bool is_unrolled =
        std::ranges::any_of(bound_, [](const auto& variable) {
          return variable.second == Binder::kUnrolled ||
                 variable.second == Binder::kVector;
        });
    if (VectorOf(node) != 0 && !is_unrolled) {
      return Error(Concat({what,
                           ": expected an unrolled loop around an element of a "
                           "vector"}));
    }
    const Status status = CheckIndices(
        node.buffer, std::span(node.operands).first(buffer.extents.size()),
        /*in_bounds=*/node.opcode == Opcode::kLoad);
    return status.ok() ? status : status.WithContext(what);
  }

  Status CheckIndices(uint32_t number, std::span<const NodeId> indices,
                      bool in_bounds) {
    const Buffer& buffer = nest_.buffers[number];
    EMBER_RETURN_IF_ERROR(CheckIndexTypes(nest_, buffer, indices));
    for (size_t dim = 0; dim < indices.size(); ++dim) {
      const NodeId index = indices[dim], extent = buffer.extents[dim];
      if (dim == 0 && per_invocation_[number]) {
        EMBER_RETURN_IF_ERROR(CheckInvocationIndex(index, extent));
      } else if (buffer.scope == MemoryScope::kRegister &&
                 !IsRegisterIndex(index, dim + 1 == indices.size())) {
        return Error(
            Concat({"index ", dim, ": expected nothing but unrolled variables",
                    dim + 1 == indices.size() ? " and a vector variable" : "",
                    ", found ", Text(index)}));
      }
      if (in_bounds && !ProvablyInBounds(nest_.pool, facts_, index, extent)) {
        return Error(
            Concat({"index ", dim, ": expected a proof of 0 <= ", Text(index),
                    " < ", Text(extent), ", found none"}));
      }
    }
    return OkStatus();
  }

  // Checks the first index of a register buffer of which each invocation has
  // its own elements: it must be the variable of an invocation loop that covers
  // the first dim.
  Status CheckInvocationIndex(NodeId index, NodeId extent) const {
    const std::optional<int64_t> wanted = nest_.pool.IntegerConstant(extent);
    const bool fits =
        index == invocation_ &&
        nest_.pool.IntegerConstant(ExtentOf(nest_.pool, index)) == wanted;
    if (fits) return OkStatus();
    return Error(
        Concat({"index 0: expected the variable of an invocation loop "
                "of extent ",
                Text(extent), ", as elsewhere, found ", Text(index)}));
  }

  // True if the index of a register buffer is a constant after unrolling. In
  // the last dim, the variable of a vector loop may be added to it once.
  bool IsRegisterIndex(NodeId index, bool is_last) const {
    const std::optional<tensor::LinearSum> sum =
        tensor::Linearize(nest_.pool, index, /*by_ranges=*/false);
    if (!is_last || !sum) return IsUnrolled(index);
    int lanes = 0;
    for (const tensor::LinearTerm& term : sum->terms) {
      const auto bound = bound_.find(term.node);
      if (bound != bound_.end() && bound->second == Binder::kVector &&
          term.coefficient == 1) {
        ++lanes;
      } else if (!IsUnrolled(term.node)) {
        return false;
      }
    }
    return lanes <= 1;
  }

  bool IsUnrolled(NodeId root) const {
    for (NodeId id : NodesUnder(nest_.pool, {&root, 1})) {
      const Node& node = nest_.pool[id];
      if (IsAccess(node) || node.opcode == Opcode::kParameter) return false;
      const auto bound = bound_.find(id);
      if (bound != bound_.end() && bound->second != Binder::kUnrolled &&
          bound->second != Binder::kMatrix) {
        return false;
      }
    }
    return true;
  }

  const LoopNest& nest_;
  Facts facts_;
  bool in_prologue_ = false;
  bool in_vector_ = false;
  bool in_first_ = false;
  int nesting_ = 0;
  // the variables that surrounding loops bind, and the kinds of the loops
  std::unordered_map<NodeId, Binder> bound_;
  // numbers (positions in LoopNest::variables) of the variables in bound_
  std::unordered_set<uint64_t> numbers_;
  // the nodes whose types were checked without an error
  std::unordered_set<NodeId> has_types_;
  // variable of the surrounding invocation loop
  std::optional<NodeId> invocation_;
  // true if the innermost surrounding loop is a combining loop
  bool combines_ = false;
  // the surrounding invocation loop that binds the subgroup's number
  // (Statement::subgroup); null if there is none
  const Statement* of_subgroups_ = nullptr;
  // For each buffer: true if it has contents, because it is an input or was
  // stored to.
  std::vector<bool> has_value_;
  // For each buffer: true if it is a register buffer of which each invocation
  // has its own elements.
  const std::vector<bool> per_invocation_;
};

}  // namespace

Status Verify(const LoopNest& nest) {
  Status status = CheckSignature(nest);
  if (status.ok()) status = Verifier(nest).Run();
  if (status.ok()) status = CheckMatrices(nest);
  if (status.ok()) status = CheckWorkgroups(nest);
  return status.ok() ? status
                     : status.WithContext(Concat({"loops @", nest.name}));
}

}  // namespace ember::loops
