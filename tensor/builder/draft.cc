#include "tensor/builder/draft.h"

#include <unordered_map>
#include <utility>

namespace ember::tensor {
namespace {

constexpr uint32_t kUnused = UINT32_MAX;

class Assembler {
 public:
  explicit Assembler(const Draft& draft) : draft_(draft), pool_(draft.pool) {}

  Dispatch Run() {
    result_.name = draft_.name;
    SortBuffers();
    for (const DraftStage& stage : draft_.stages) {
      for (const DraftAxis& axis : stage.spatial) EmitHeader(axis.extent);
      for (const DraftAxis& axis : stage.reduction) EmitHeader(axis.extent);
    }
    for (const DraftStage& stage : draft_.stages) {
      VisitRoots(stage, [&](NodeId root) { EmitHeaderParts(root); });
      visited_.clear();
    }
    result_.header_end = static_cast<uint32_t>(result_.instructions.size());
    for (const DraftStage& stage : draft_.stages) EmitStage(stage);
    DropUnusedParameters();
    return std::move(result_);
  }

 private:
  template <typename Visitor>
  static void VisitRoots(const DraftStage& stage, Visitor&& visit) {
    for (const DraftStore& store : stage.stores) {
      for (NodeId index : store.indices) visit(index);
    }
    for (NodeId value : stage.values) visit(value);
    for (NodeId initial : stage.initial) visit(initial);
    for (NodeId next : stage.results) visit(next);
  }

  // Returns the operands of a node that become registers. The extent of an axis
  // is not among them, because the stage's list of axes holds it.
  std::span<const NodeId> Operands(NodeId id) const {
    const Node& node = pool_[id];
    return node.opcode == Opcode::kAxis ? std::span<const NodeId>()
                                        : node.operands;
  }

  bool IsHeaderNode(NodeId id) const {
    return pool_[id].scope == 0 && pool_[id].opcode != Opcode::kConstant;
  }

  // Calls emit(node) in post-order for every node under root for which
  // enter(node) is true. The function is not recursive, because chains of
  // operands may be long.
  template <typename Enter, typename Emit>
  void PostOrder(NodeId root, Enter&& enter, Emit&& emit) {
    if (!enter(root)) return;
    std::vector<std::pair<NodeId, size_t>> stack = {{root, 0}};
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const std::span<const NodeId> operands = Operands(id);
      if (next < operands.size()) {
        const NodeId operand = operands[next++];
        if (enter(operand)) stack.push_back({operand, 0});
        continue;
      }
      const NodeId done = id;
      stack.pop_back();
      emit(done);
    }
  }

  void EmitHeader(NodeId root) {
    PostOrder(
        root,
        [&](NodeId id) {
          return header_registers_.find(id) == header_registers_.end();
        },
        [&](NodeId id) {
          // Two operands may share a node, which is then on the stack twice but
          // emitted once.
          if (header_registers_.find(id) == header_registers_.end()) {
            header_registers_[id] = Emit(id, header_registers_);
          }
        });
  }

  // Emits the parts of a stage's expression that belong to the header, each as
  // a whole.
  void EmitHeaderParts(NodeId root) {
    PostOrder(
        root,
        [&](NodeId id) {
          if (IsHeaderNode(id)) EmitHeader(id);
          return pool_[id].scope != 0 && visited_.emplace(id, 0).second;
        },
        [](NodeId) {});
  }

  Register Emit(NodeId id,
                const std::unordered_map<NodeId, Register>& registers) {
    const Node& node = pool_[id];
    const std::span<const NodeId> operands = Operands(id);
    Instruction instruction;
    instruction.opcode = node.opcode;
    instruction.type = node.type;
    instruction.immediate = node.immediate;
    const auto reg = [&](size_t i) { return registers.at(operands[i]); };
    if (node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad) {
      const size_t rank = operands.size() - (node.opcode == Opcode::kPad);
      instruction.a = buffer_numbers_[node.buffer];
      instruction.b = static_cast<uint32_t>(result_.operands.size());
      for (size_t i = 0; i < rank; ++i) result_.operands.push_back(reg(i));
      if (node.opcode == Opcode::kPad) instruction.c = reg(rank);
    } else {
      if (operands.size() > 0) instruction.a = reg(0);
      if (operands.size() > 1) instruction.b = reg(1);
      if (operands.size() > 2) instruction.c = reg(2);
    }
    result_.instructions.push_back(instruction);
    return static_cast<Register>(result_.instructions.size() - 1);
  }

  void EmitStage(const DraftStage& draft) {
    Stage stage;
    for (const DraftAxis& axis : draft.spatial) {
      stage.spatial.push_back({axis.name, header_registers_.at(axis.extent)});
    }
    for (const DraftAxis& axis : draft.reduction) {
      stage.reduction.push_back({axis.name, header_registers_.at(axis.extent)});
    }
    stage.combiner = draft.combiner;
    stage.begin = static_cast<uint32_t>(result_.instructions.size());
    std::unordered_map<NodeId, Register> registers;
    const auto enter = [&](NodeId id) {
      if (IsHeaderNode(id)) registers.emplace(id, header_registers_.at(id));
      return registers.find(id) == registers.end();
    };
    const auto emit = [&](NodeId id) {
      if (registers.find(id) == registers.end())
        registers[id] = Emit(id, registers);
    };
    const auto emit_all = [&](std::span<const NodeId> roots) {
      std::vector<Register> result;
      for (NodeId root : roots) {
        PostOrder(root, enter, emit);
        result.push_back(registers.at(root));
      }
      return result;
    };
    for (const DraftStore& store : draft.stores) {
      stage.stores.push_back({buffer_numbers_[store.buffer],
                              emit_all(store.indices), store.update});
    }
    stage.values = emit_all(draft.values);
    stage.fold.initial = emit_all(draft.initial);
    stage.fold.results = emit_all(draft.results);
    stage.end = static_cast<uint32_t>(result_.instructions.size());
    result_.stages.push_back(std::move(stage));
  }

  void SortBuffers() {
    buffer_numbers_.resize(draft_.buffers.size());
    for (BufferKind kind :
         {BufferKind::kInput, BufferKind::kOutput, BufferKind::kTemporary}) {
      for (size_t i = 0; i < draft_.buffers.size(); ++i) {
        const DraftBuffer& draft = draft_.buffers[i];
        if (draft.kind != kind) continue;
        buffer_numbers_[i] = static_cast<uint32_t>(result_.buffers.size());
        Buffer buffer{draft.name, draft.type, draft.kind, {}};
        for (NodeId extent : draft.extents) {
          EmitHeader(extent);
          buffer.extents.push_back(header_registers_.at(extent));
        }
        result_.buffers.push_back(std::move(buffer));
      }
    }
  }

  void DropUnusedParameters() {
    std::vector<uint32_t> numbers(draft_.parameters.size(), kUnused);
    for (uint32_t i = 0; i < result_.header_end; ++i) {
      const Instruction& instruction = result_.instructions[i];
      if (instruction.opcode == Opcode::kParameter)
        numbers[instruction.immediate] = 0;
    }
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] == kUnused) continue;
      numbers[i] = static_cast<uint32_t>(result_.parameters.size());
      result_.parameters.push_back(draft_.parameters[i]);
    }
    for (uint32_t i = 0; i < result_.header_end; ++i) {
      Instruction& instruction = result_.instructions[i];
      if (instruction.opcode == Opcode::kParameter) {
        instruction.immediate = numbers[instruction.immediate];
      }
    }
  }

  const Draft& draft_;
  const ExpressionPool& pool_;
  Dispatch result_;
  std::vector<uint32_t> buffer_numbers_;
  std::unordered_map<NodeId, Register> header_registers_;
  std::unordered_map<NodeId, int> visited_;
};

}  // namespace

Dispatch Assemble(const Draft& draft) { return Assembler(draft).Run(); }

}  // namespace ember::tensor
