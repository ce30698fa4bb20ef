#include "compiler/passes/widen_chains.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/float_format.h"
#include "compiler/graph/operators.h"
#include "compiler/passes/rewriter.h"

namespace ember::compiler {
namespace {

using graph::Graph;
using graph::Operation;
using graph::OperatorTrait;
using graph::Value;
using tensor::InstructionGroup;
using tensor::Opcode;

bool IsHalf(const Value* value) {
  return value->dtype() == DType::kF16 || value->dtype() == DType::kBF16;
}

bool IsCast(const Operation& operation) { return operation.name() == "cast"; }

// True for a view: an operation that computes nothing and passes each element
// on, whatever its type.
bool IsView(const Operation& operation) {
  const std::string_view name = operation.name();
  return name == "reshape" || name == "broadcast" || name == "transpose" ||
         name == "assume";
}

bool IsArithmetic(const Operation& operation) {
  return operation.name() == "reduce" ||
         (operation.record().trait == OperatorTrait::kElementwise &&
          operation.name() != "bitcast");
}

// True if the operation is discontinuous: a change of an operand in its last
// bit may change the result by much more, as in rounding functions and casts to
// integers.
bool Jumps(const Operation& operation) {
  if (IsCast(operation)) {
    const DType to = operation.result()->dtype();
    return !IsFloat(to) || IsFloat8(to);
  }
  if (!operation.record().is_instruction) return false;
  const Opcode opcode = operation.record().opcode;
  switch (opcode) {
    case Opcode::kSign:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRound:
    case Opcode::kTruncate:
    case Opcode::kModulo:
    case Opcode::kRemainder:
      return true;
    default:
      break;
  }
  const InstructionGroup group = InfoOf(opcode).group;
  return group == InstructionGroup::kClassify ||
         group == InstructionGroup::kCompare;
}

class Widener {
 public:
  explicit Widener(Graph& graph) : graph_(graph), rewriter_(graph) {}

  Status Run() {
    const std::vector<Operation*> operations = graph_.Operations();
    for (auto it = operations.rbegin(); it != operations.rend(); ++it)
      LookAt(**it);
    for (Operation* operation : operations)
      EMBER_RETURN_IF_ERROR(Widen(operation));
    for (auto it = operations.rbegin(); it != operations.rend(); ++it) {
      Operation* operation = *it;
      if (operation->results().size() == 1 && operation->result()->unused() &&
          (wide_.contains(operation->result()) || erased_.contains(operation)))
        graph_.Erase(operation);
    }
    return OkStatus();
  }

 private:
  // --- deciding which values stay in f32, from the end of the graph to its
  // start ---

  void LookAt(const Operation& operation) {
    bool is_used = operation.record().trait == OperatorTrait::kProgram;
    for (const auto& result : operation.results()) {
      is_used =
          is_used || result->is_graph_output() ||
          std::ranges::any_of(result->users(), [&](const Operation* user) {
            return used_.contains(user);
          });
    }
    if (is_used) used_.insert(&operation);
    if (operation.results().size() != 1) return;
    const Value* result = operation.result();
    const Operation* reader = OnlyReader(result);
    if (reader != nullptr && Takes(*reader)) flowing_.insert(result);
  }

  // Returns the operation that alone reads the value. Null if no operation or
  // several read it, or if the value is a result of the graph. Operations whose
  // results are unused do not count, so that eliminating dead code changes
  // nothing.
  const Operation* OnlyReader(const Value* value) const {
    if (value->is_graph_output()) return nullptr;
    const Operation* reader = nullptr;
    for (const Operation* user : value->users()) {
      if (!used_.contains(user) || user == reader) continue;
      if (reader != nullptr) return nullptr;
      reader = user;
    }
    return reader;
  }

  // True if the operation may read its operand in f32, that is, before the
  // operand is rounded to f16 or bf16. Then the operand need not be rounded.
  bool Takes(const Operation& reader) const {
    if (IsView(reader)) return flowing_.contains(reader.result());
    if (!IsArithmetic(reader) || Jumps(reader)) return false;
    // A cast to f32 or wider only passes the value on, so it may read an
    // unrounded operand only if the reader of its result may.
    const bool widens = IsCast(reader) && !IsHalf(reader.result());
    return !widens || flowing_.contains(reader.result());
  }

  // True if the model asks for the rounding of this value: the value is a float
  // that has been cast, and its only reader is another cast.
  bool IsAskedFor(const Value* value) const {
    if (!IsCast(*value->producer()) ||
        !IsFloat(value->producer()->operand(0)->dtype()))
      return false;
    const Operation* reader = OnlyReader(value);
    while (reader != nullptr && IsView(*reader))
      reader = OnlyReader(reader->result());
    return reader != nullptr && IsCast(*reader);
  }

  bool StaysWide(const Operation& operation) const {
    if (operation.results().size() != 1) return false;
    const Value* result = operation.result();
    if (!IsHalf(result) || !flowing_.contains(result)) return false;
    if (IsView(operation)) return wide_.contains(operation.operand(0));
    return IsArithmetic(operation) && !IsAskedFor(result);
  }

  // --- rewriting the operations, from the start of the graph to its end ---

  StatusOr<Value*> WideOperand(Value* operand) {
    if (!IsHalf(operand)) return operand;
    const auto wide = wide_.find(operand);
    if (wide != wide_.end()) return wide->second;
    return rewriter_.Cast(operand, DType::kF32);
  }

  // Makes the operation compute in f32. A cast is made to its own type unless
  // its result stays in f32.
  StatusOr<Value*> MakeWide(const Operation& operation, bool stays_wide) {
    if (IsCast(operation)) {
      Value* operand = operation.operand(0);
      const auto wide = wide_.find(operand);
      if (wide != wide_.end()) operand = wide->second;
      const DType type = stays_wide ? DType::kF32 : operation.result()->dtype();
      return operand->dtype() == type ? operand : rewriter_.Cast(operand, type);
    }
    std::vector<Value*> operands = OperandsOf(operation);
    for (Value*& operand : operands) {
      EMBER_ASSIGN_OR_RETURN(operand, WideOperand(operand));
    }
    return rewriter_.MakeLike(operation, std::move(operands));
  }

  Status Widen(Operation* operation) {
    const bool stays_wide = StaysWide(*operation);
    const bool reads_wide =
        used_.contains(operation) &&
        std::ranges::any_of(operation->operands(), [&](const Value* operand) {
          return wide_.contains(operand);
        });
    if (!stays_wide && !reads_wide) return OkStatus();
    rewriter_.StartAt(operation);
    EMBER_ASSIGN_OR_RETURN(Value * made, MakeWide(*operation, stays_wide));
    Value* result = operation->result();
    if (stays_wide) {
      if (made->name().empty()) made->set_name(result->name());
      wide_.emplace(result, made);
      return OkStatus();
    }
    if (made->dtype() != result->dtype()) {
      EMBER_ASSIGN_OR_RETURN(made, rewriter_.Cast(made, result->dtype()));
    }
    if (made->name().empty()) made->set_name(result->name());
    graph_.ReplaceAllUses(result, made);
    erased_.insert(operation);
    return OkStatus();
  }

  Graph& graph_;
  Rewriter rewriter_;
  std::set<const Operation*> used_;
  // Values that are computed in f32 and not rounded, because their only reader
  // may read them in f32.
  std::set<const Value*> flowing_;
  // The f32 values that replace values of f16 or bf16.
  std::map<const Value*, Value*> wide_;
  // operations that were erased because others replace them
  std::set<const Operation*> erased_;
};

}  // namespace

Status WidenChains(Graph& graph) { return Widener(graph).Run(); }

}  // namespace ember::compiler
