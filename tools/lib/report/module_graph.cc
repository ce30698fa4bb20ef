#include "tools/lib/report/module_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "vm/isa/library_functions.h"
#include "vm/isa/operand_list.h"

namespace ember::tools {
namespace {

constexpr int64_t kUnknownEnd = std::numeric_limits<int64_t>::max();

// A byte range within one piece of memory (an arena, an allocation, an input or
// a constant).
struct Region {
  size_t memory = 0;
  int64_t begin = 0;
  int64_t end = kUnknownEnd;
  // True if the region's length is known, so that `end` is exact.
  bool has_length = false;
};

constexpr size_t kNoRange = std::numeric_limits<size_t>::max();

struct Write {
  int64_t begin, end;
  size_t node;
  size_t range = kNoRange;  // index of the written tensor in ModuleGraph::arena
};

class GraphMaker {
 public:
  explicit GraphMaker(const vm::ModuleDefinition& module) : module_(module) {}

  ModuleGraph Make() {
    const vm::Program& program = module_.programs.front();
    graph_.name =
        module_.source_name.empty() ? program.name : module_.source_name;
    registers_.resize(program.buffer_register_count);
    integers_.resize(program.integer_register_count);
    for (const vm::TensorSignature& input : program.inputs) {
      AddNode(GraphNode::Kind::kInput, input.name,
              SignatureText(program, input));
    }
    for (const vm::ProgramInstruction& instruction : program.instructions) {
      Visit(program, instruction);
      ++instruction_;
    }
    return std::move(graph_);
  }

 private:
  using Opcode = vm::ProgramOpcode;

  static std::string SignatureText(const vm::Program& program,
                                   const vm::TensorSignature& signature) {
    std::string text = std::string(DTypeName(signature.type)) + "[";
    for (size_t i = 0; i < signature.dims.size(); ++i) {
      const int64_t dim = signature.dims[i];
      if (i > 0) text += ", ";
      text += dim >= 0 ? std::to_string(dim)
                       : program.symbols[static_cast<size_t>(-1 - dim)];
    }
    return text + "]";
  }

  size_t AddNode(GraphNode::Kind kind, std::string name, std::string type) {
    GraphNode& node = graph_.nodes.emplace_back();
    node.kind = kind;
    node.name = std::move(name);
    node.type = std::move(type);
    if (kind != GraphNode::Kind::kInput) node.instruction = instruction_;
    return graph_.nodes.size() - 1;
  }

  void Visit(const vm::Program& program,
             const vm::ProgramInstruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::kInteger:
        integers_[instruction.a] = instruction.immediate;
        break;
      case Opcode::kAdd:
      case Opcode::kSubtract:
      case Opcode::kMultiply:
        integers_[instruction.a] = Arithmetic(instruction);
        break;
      case Opcode::kInputBuffer:
        registers_[instruction.a] = NewMemory();
        writes_[registers_[instruction.a].memory] = {
            {0, kUnknownEnd, instruction.b}};
        break;
      case Opcode::kConstantBuffer:
        registers_[instruction.a] = NewMemory();
        constants_[registers_[instruction.a].memory] = instruction.b;
        break;
      case Opcode::kArena:
        // A program has one arena, so every instruction that returns the arena
        // gets the same memory.
        if (!arena_) arena_ = NewMemory();
        registers_[instruction.a] = *arena_;
        break;
      case Opcode::kAllocate:
        registers_[instruction.a] = NewMemory();
        break;
      case Opcode::kMoveBuffer:
        registers_[instruction.a] = registers_[instruction.b];
        break;
      case Opcode::kView:
        registers_[instruction.a] = View(instruction);
        break;
      case Opcode::kDispatch:
        VisitDispatch(program, instruction);
        break;
      case Opcode::kSliceAt:
        registers_[instruction.a] = registers_[instruction.b];
        break;
      case Opcode::kLibraryCall:
        VisitCall(program, instruction, vm::LibraryInfoOf(instruction.a).text);
        break;
      case Opcode::kCallProgram:
        VisitCall(program, instruction, module_.programs[instruction.a].name);
        break;
      case Opcode::kResult: {
        const vm::TensorSignature& result = program.results[instruction.a];
        const size_t node = AddNode(GraphNode::Kind::kResult, result.name,
                                    SignatureText(program, result));
        Read(registers_[instruction.b], node, graph_.nodes[node].type);
        break;
      }
      default:
        break;
    }
  }

  // Evaluates an integer instruction. Returns nullopt if an operand is not
  // known.
  std::optional<int64_t> Arithmetic(
      const vm::ProgramInstruction& instruction) const {
    const std::optional<int64_t> b = integers_[instruction.b],
                                 c = integers_[instruction.c];
    int64_t result = 0;
    if (!b || !c) return std::nullopt;
    const bool overflow = instruction.opcode == Opcode::kAdd
                              ? __builtin_add_overflow(*b, *c, &result)
                          : instruction.opcode == Opcode::kSubtract
                              ? __builtin_sub_overflow(*b, *c, &result)
                              : __builtin_mul_overflow(*b, *c, &result);
    return overflow ? std::nullopt : std::optional<int64_t>(result);
  }

  Region NewMemory() { return {memory_count_++, 0, kUnknownEnd, false}; }

  Region View(const vm::ProgramInstruction& instruction) const {
    Region region = registers_[instruction.b];
    region.begin += instruction.immediate;
    const std::optional<int64_t> length = integers_[instruction.c];
    // A view whose length is not known counts as one byte long. So views that
    // begin at different offsets of one memory are different tensors.
    region.end = region.begin + (length ? *length : 1);
    region.has_length = length.has_value();
    return region;
  }

  void VisitDispatch(const vm::Program& program,
                     const vm::ProgramInstruction& instruction) {
    const tensor::Dispatch& dispatch = module_.dispatches[instruction.a];
    const size_t node = AddNode(GraphNode::Kind::kDispatch, dispatch.name, "");
    graph_.nodes[node].dispatch = instruction.a;
    if (instruction.a < module_.dispatch_origins.size()) {
      graph_.nodes[node].origin = module_.dispatch_origins[instruction.a];
    }
    size_t operand = instruction.b + dispatch.parameters.size();
    std::vector<std::pair<Region, std::string>> outputs;
    for (const tensor::Buffer& buffer : dispatch.buffers) {
      if (buffer.kind == tensor::BufferKind::kTemporary) continue;
      const Region region = registers_[program.operands[operand++]];
      const std::string type = BufferTypeText(dispatch, buffer);
      if (buffer.kind == tensor::BufferKind::kInput) {
        Read(region, node, type);
      } else {
        outputs.emplace_back(region, type);
      }
    }
    for (const auto& [region, type] : outputs) {
      std::string& shown = graph_.nodes[node].type;
      shown += (shown.empty() ? "" : ", ") + type;
      Overwrite(region, node);
    }
  }

  // Adds a node for the call of a library function or of another program.
  void VisitCall(const vm::Program& program,
                 const vm::ProgramInstruction& instruction,
                 std::string_view name) {
    const size_t node =
        AddNode(GraphNode::Kind::kLibraryCall, std::string(name), "");
    const std::string letters = vm::ListLetters(program, module_, instruction);
    for (size_t i = 0; i < letters.size(); ++i) {
      const uint32_t operand = program.operands[instruction.b + i];
      switch (letters[i]) {
        case 'b':
          Read(registers_[operand], node, "");
          break;
        case 'w':
          Overwrite(registers_[operand], node);
          break;
        case 'B':
          registers_[operand] = NewMemory();
          Overwrite(registers_[operand], node);
          break;
        case 'I':
          integers_[operand] = std::nullopt;
          break;
        default:
          break;
      }
    }
  }

  void Read(const Region& region, size_t node, const std::string& type) {
    if (const auto constant = constants_.find(region.memory);
        constant != constants_.end()) {
      graph_.nodes[node].constants.push_back(constant->second);
      return;
    }
    std::vector<size_t> sources;
    for (const Write& write : writes_[region.memory]) {
      if (write.begin >= region.end || region.begin >= write.end) continue;
      sources.push_back(write.node);
      if (write.range != kNoRange) graph_.arena[write.range].last_node = node;
    }
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    for (const size_t source : sources)
      graph_.edges.push_back({source, node, type});
  }

  // Records that a node writes a region. Earlier writes lose the bytes that are
  // overwritten but keep their bytes outside of the region.
  void Overwrite(const Region& region, size_t node) {
    std::vector<Write> kept;
    for (const Write& write : writes_[region.memory]) {
      if (write.begin < region.begin) {
        kept.push_back({write.begin, std::min(write.end, region.begin),
                        write.node, write.range});
      }
      if (write.end > region.end) {
        kept.push_back({std::max(write.begin, region.end), write.end,
                        write.node, write.range});
      }
    }
    size_t range = kNoRange;
    if (arena_ && region.memory == arena_->memory && region.has_length) {
      range = graph_.arena.size();
      graph_.arena.push_back({node, node, region.begin, region.end});
    }
    kept.push_back({region.begin, region.end, node, range});
    writes_[region.memory] = std::move(kept);
  }

  const vm::ModuleDefinition& module_;
  ModuleGraph graph_;
  std::vector<Region> registers_;
  std::vector<std::optional<int64_t>> integers_;
  std::optional<Region> arena_;
  size_t memory_count_ = 0;
  int64_t instruction_ = 0;  // index of the instruction that is visited
  // For each memory: the writes that are still visible, which no later write
  // has overwritten.
  std::map<size_t, std::vector<Write>> writes_;
  // Maps each memory that is a constant to the constant's number.
  std::map<size_t, size_t> constants_;
};

}  // namespace

std::string BufferTypeText(const tensor::Dispatch& dispatch,
                           const tensor::Buffer& buffer) {
  std::string text = std::string(DTypeName(buffer.type)) + "[";
  for (size_t i = 0; i < buffer.extents.size(); ++i) {
    if (i > 0) text += ", ";
    const tensor::Instruction& extent =
        dispatch.instructions[buffer.extents[i]];
    if (extent.opcode == tensor::Opcode::kConstant) {
      text += std::to_string(static_cast<int64_t>(extent.immediate));
    } else if (extent.opcode == tensor::Opcode::kParameter) {
      text += dispatch.parameters[extent.immediate];
    } else {
      text += "?";
    }
  }
  return text + "]";
}

ModuleGraph MakeModuleGraph(const vm::ModuleDefinition& module) {
  return GraphMaker(module).Make();
}

}  // namespace ember::tools
