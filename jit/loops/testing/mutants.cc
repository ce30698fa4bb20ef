#include "jit/loops/testing/mutants.h"

#include <functional>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "jit/loops/text/text.h"
#include "jit/loops/walk.h"
#include "tensor/scalar.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;

// A change that can make the nest wrong: its description, and a function that
// makes it. Most changes replace the root of one of a statement's expressions.
struct Change {
  std::string what;
  std::function<void()> apply;
};

class Mutator {
 public:
  Mutator(LoopNest& nest, MutantKind kind) : nest_(nest), kind_(kind) {}

  std::vector<Change> Find() {
    for (std::vector<Phase>* phases : {&nest_.prologue, &nest_.phases}) {
      for (Phase& phase : *phases) {
        if (kind_ == MutantKind::kOffByOne) ShortenTasks(phase);
        Visit(phase.body);
      }
    }
    return std::move(changes_);
  }

 private:
  // --- expressions ---

  NodeId Number(int64_t value) { return nest_.pool.Integer(value); }
  NodeId Make(Opcode opcode, DType type, std::vector<NodeId> operands) {
    return nest_.pool.Intern(opcode, type, operands);
  }
  NodeId WithOperands(NodeId id, const std::vector<NodeId>& operands) {
    const Node node = nest_.pool[id];
    return nest_.pool.Intern(node.opcode, node.type, operands, node.immediate,
                             node.scope, node.buffer);
  }
  // Returns the root with every occurrence of `from` replaced by `to`.
  NodeId Replaced(NodeId root, NodeId from, NodeId to) {
    std::map<NodeId, NodeId> done = {{from, to}};
    for (const NodeId id : NodesUnder(nest_.pool, {&root, 1})) {
      if (done.contains(id)) continue;
      std::vector<NodeId> operands;
      bool is_changed = false;
      for (const NodeId operand : OperandsOf(nest_.pool, id)) {
        operands.push_back(done.contains(operand) ? done[operand] : operand);
        is_changed |= operands.back() != operand;
      }
      done[id] = is_changed ? WithOperands(id, operands) : id;
    }
    return done[root];
  }

  void Offer(NodeId& root, NodeId from, NodeId to) {
    const NodeId changed = Replaced(root, from, to);
    if (changed == root) return;
    changes_.push_back({ToText(nest_, from) + " as " + ToText(nest_, to) +
                            " in " + ToText(nest_, root),
                        [&root, changed] { root = changed; }});
  }

  // --- places ---

  void Visit(Block& block) {
    for (Statement& statement : block) {
      const bool is_vector = statement.kind == Statement::Kind::kFor &&
                             statement.loop == LoopKind::kVector;
      const NodeId outer = vector_;
      if (is_vector) {
        vector_ = statement.variable;
        has_vector_ = true;
      }
      if (statement.kind == Statement::Kind::kFor) Shorten(statement);
      if (statement.kind == Statement::Kind::kIf) Unguard(statement);
      for (Store& store : statement.stores) VisitStore(store);
      Visit(statement.body);
      if (is_vector) {
        vector_ = outer;
        has_vector_ = false;
      }
    }
  }

  void VisitStore(Store& store) {
    const Buffer& buffer = nest_.buffers[store.buffer];
    for (size_t i = 0; i < store.indices.size(); ++i) {
      NodeId& index = store.indices[i];
      if (kind_ == MutantKind::kWrongIndex)
        OfferNext(index, index, buffer.extents[i]);
      if (kind_ == MutantKind::kWrongLane) OfferLanes(index, index);
    }
    if (kind_ == MutantKind::kReassociatedSum) Reassociate(store);
    for (const NodeId id : NodesUnder(nest_.pool, {&store.value, 1}))
      VisitNode(store.value, id);
  }

  void VisitNode(NodeId& root, NodeId id) {
    const Node node = nest_.pool[id];
    const bool reads =
        node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
    switch (kind_) {
      case MutantKind::kWrongIndex:
        for (size_t i = 0; reads && i < Rank(node); ++i) {
          const NodeId extent = nest_.buffers[node.buffer].extents[i];
          const std::optional<NodeId> next = Next(node.operands[i], extent);
          if (next) OfferOperand(root, id, i, *next);
        }
        return;
      case MutantKind::kWrongLane:
        for (size_t i = 0; reads && i < Rank(node); ++i) {
          for (const NodeId lanes : OtherLanes(node.operands[i]))
            OfferOperand(root, id, i, lanes);
        }
        return;
      case MutantKind::kDroppedGuard:
        if (node.opcode == Opcode::kSelect) {
          Offer(root, id, node.operands[1]);
          Offer(root, id, node.operands[2]);
        }
        if (node.opcode == Opcode::kPad) OfferClamped(root, id);
        return;
      case MutantKind::kSwappedOperand:
        OfferSwapped(root, id);
        return;
      default:
        return;
    }
  }

  size_t Rank(const Node& node) const {
    return nest_.buffers[node.buffer].extents.size();
  }
  void OfferOperand(NodeId& root, NodeId id, size_t operand, NodeId value) {
    std::vector<NodeId> operands = nest_.pool[id].operands;
    operands[operand] = value;
    Offer(root, id, WithOperands(id, operands));
  }

  // --- The changes of each kind. ---

  // Returns an index off by one: (index + 1) mod extent, which stays in bounds.
  std::optional<NodeId> Next(NodeId index, NodeId extent) {
    const auto size = nest_.pool.IntegerConstant(extent);
    if (!size.has_value() || *size < 2) return std::nullopt;
    const NodeId sum = Make(Opcode::kAdd, DType::kI64, {index, Number(1)});
    return Make(Opcode::kModulo, DType::kI64, {sum, Number(*size)});
  }
  void OfferNext(NodeId& root, NodeId index, NodeId extent) {
    if (const auto next = Next(index, extent)) Offer(root, index, *next);
  }

  // Returns two wrong versions of the index: with the order of the vector's
  // lanes reversed, and with all lanes moved by one. Empty outside of vector
  // loops.
  std::vector<NodeId> OtherLanes(NodeId index) {
    if (!has_vector_) return {};
    const auto lanes =
        nest_.pool.IntegerConstant(ExtentOf(nest_.pool, vector_));
    if (!lanes.has_value() || *lanes < 2) return {};
    const NodeId reversed =
        Make(Opcode::kSubtract, DType::kI64, {Number(*lanes - 1), vector_});
    const std::optional<NodeId> next =
        Next(vector_, ExtentOf(nest_.pool, vector_));
    std::vector<NodeId> found;
    for (const NodeId lane : {reversed, *next}) {
      const NodeId changed = Replaced(index, vector_, lane);
      if (changed != index) found.push_back(changed);
    }
    return found;
  }
  void OfferLanes(NodeId& root, NodeId index) {
    for (const NodeId lanes : OtherLanes(index)) Offer(root, index, lanes);
  }

  // Offers a change that turns a pad into a load with clamped indices: out of
  // bounds it reads an existing element instead of giving the default value.
  void OfferClamped(NodeId& root, NodeId id) {
    const Node node = nest_.pool[id];
    std::vector<NodeId> indices;
    for (size_t i = 0; i < Rank(node); ++i) {
      const auto size =
          nest_.pool.IntegerConstant(nest_.buffers[node.buffer].extents[i]);
      if (!size.has_value() || *size < 1) return;
      const NodeId raised =
          Make(Opcode::kMaximum, DType::kI64, {node.operands[i], Number(0)});
      indices.push_back(
          Make(Opcode::kMinimum, DType::kI64, {raised, Number(*size - 1)}));
    }
    Offer(root, id,
          nest_.pool.Intern(Opcode::kLoad, node.type, indices, node.immediate,
                            node.scope, node.buffer));
  }

  void OfferSwapped(NodeId& root, NodeId id) {
    const Node node = nest_.pool[id];
    switch (node.opcode) {
      case Opcode::kSubtract:
      case Opcode::kDivide:
      case Opcode::kPower:
      case Opcode::kLess:
      case Opcode::kLessEqual:
        if (IsFloat(nest_.pool[node.operands[0]].type))
          Offer(root, id,
                WithOperands(id, {node.operands[1], node.operands[0]}));
        return;
      case Opcode::kSelect:
        Offer(root, id,
              WithOperands(
                  id, {node.operands[0], node.operands[2], node.operands[1]}));
        return;
      case Opcode::kAdd:
      case Opcode::kMultiply:
      case Opcode::kMinimum:
      case Opcode::kMaximum:
        // An i64 value is most likely an index, so it is left alone.
        if (node.type == DType::kI64) return;
        Offer(root, id, WithOperands(id, {node.operands[0], node.operands[0]}));
        Offer(root, id, WithOperands(id, {node.operands[1], node.operands[1]}));
        return;
      default:
        return;
    }
  }

  void Reassociate(Store& store) {
    const DType type = nest_.buffers[store.buffer].type;
    if (store.update != tensor::Update::kAdd) return;
    changes_.push_back(
        {"the sum in " + nest_.buffers[store.buffer].name + " is lost",
         [&store] { store.update = tensor::Update::kAssign; }});
    if (!IsFloat(type)) return;
    // Offers the value with lost precision: (value + c) - c, where c is 2^14,
    // so that the bits of the value below the last place of c are lost.
    const NodeId large =
        nest_.pool.Constant(tensor::DoubleToBits(16384, type), type);
    const NodeId sum = Make(Opcode::kAdd, type, {store.value, large});
    Offer(store.value, store.value,
          Make(Opcode::kSubtract, type, {sum, large}));
  }

  void Unguard(Statement& statement) {
    if (kind_ != MutantKind::kDroppedGuard) return;
    const NodeId yes = nest_.pool.Constant(1, DType::kBool);
    changes_.push_back({"if " + ToText(nest_, statement.condition),
                        [&statement, yes] { statement.condition = yes; }});
  }

  static void Guard(Block& block, NodeId condition) {
    Statement guard;
    guard.kind = Statement::Kind::kIf;
    guard.condition = condition;
    guard.body = std::move(block);
    block.clear();
    block.push_back(std::move(guard));
  }
  void ShortenBody(Block& body, NodeId variable) {
    const NodeId extent = ExtentOf(nest_.pool, variable);
    if (nest_.pool.IntegerConstant(extent).value_or(2) < 2) return;
    const NodeId end =
        Make(Opcode::kSubtract, DType::kI64, {extent, Number(1)});
    const NodeId condition = Make(Opcode::kLess, DType::kBool, {variable, end});
    changes_.push_back({"loop " + ToText(nest_, variable) + " ends early",
                        [&body, condition] { Guard(body, condition); }});
  }
  void Shorten(Statement& statement) {
    const bool is_plain = statement.loop == LoopKind::kSerial ||
                          statement.loop == LoopKind::kUnrolled ||
                          statement.loop == LoopKind::kVector;
    if (kind_ == MutantKind::kOffByOne && is_plain)
      ShortenBody(statement.body, statement.variable);
  }
  void ShortenTasks(Phase& phase) { ShortenBody(phase.body, phase.task); }

  LoopNest& nest_;
  const MutantKind kind_;
  NodeId vector_ = 0;  // variable of the surrounding vector loop
  bool has_vector_ = false;
  std::vector<Change> changes_;
};

}  // namespace

std::optional<std::string> Mutate(LoopNest& nest, MutantKind kind,
                                  uint64_t seed) {
  std::vector<Change> changes = Mutator(nest, kind).Find();
  if (changes.empty()) return std::nullopt;
  std::mt19937_64 random(seed);
  Change& chosen = changes[random() % changes.size()];
  chosen.apply();
  return std::move(chosen.what);
}

}  // namespace ember::loops
