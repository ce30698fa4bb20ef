#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/printer.h"
#include "tensor/literal.h"
#include "tensor/text.h"
#include "tensor/text_tables.h"

namespace ember::tensor {
namespace {

// A value used more than once gets a name if its expression is larger than this
// many instructions.
constexpr uint32_t kInlineStageSize = 3;
constexpr uint32_t kInlineHeaderSize = 7;
constexpr uint32_t kMaximumSize = 1u << 20;
// Deeper expressions are cut by a name as well, so that neither printing nor
// parsing runs out of stack, and lines stay readable.
constexpr uint32_t kMaximumDepth = 24;

class DispatchPrinter {
 public:
  explicit DispatchPrinter(const Dispatch& dispatch)
      : dispatch_(dispatch),
        names_(dispatch.instructions.size()),
        uses_(dispatch.instructions.size(), 0),
        depths_(dispatch.instructions.size(), 0) {}

  std::string Run() {
    CountUses();
    ChooseNames(0, dispatch_.header_end, kInlineHeaderSize, "h");
    PrintSignature();
    {
      Printer::Scope scope(printer_);
      for (const Buffer& buffer : dispatch_.buffers) {
        if (buffer.kind != BufferKind::kTemporary) continue;
        printer_.Print("temp ");
        PrintBuffer(buffer);
        printer_.EndLine();
      }
      for (const Stage& stage : dispatch_.stages) PrintStage(stage);
    }
    printer_.Line("}");
    return std::move(printer_).Take();
  }

 private:
  // --- which values get names ---

  void CountUses() {
    for (const Instruction& instruction : dispatch_.instructions) {
      dispatch_.ForEachOperand(instruction,
                               [&](Register reg) { ++uses_[reg]; });
    }
    for (const Buffer& buffer : dispatch_.buffers) CountAll(buffer.extents);
    for (const Stage& stage : dispatch_.stages) {
      for (const Axis& axis : stage.spatial) ++uses_[axis.extent];
      for (const Axis& axis : stage.reduction) ++uses_[axis.extent];
      for (const Store& store : stage.stores) CountAll(store.indices);
      CountAll(stage.values);
      CountAll(stage.fold.initial);
      CountAll(stage.fold.results);
    }
  }

  void CountAll(const std::vector<Register>& registers) {
    for (Register reg : registers) ++uses_[reg];
  }

  static bool IsLeaf(Opcode opcode) {
    return opcode == Opcode::kConstant || opcode == Opcode::kParameter ||
           opcode == Opcode::kAxis || opcode == Opcode::kAccumulator ||
           opcode == Opcode::kElement;
  }

  // Names the values of [begin, end) that will be printed on their own lines:
  // %t0, %t1, ...
  void ChooseNames(uint32_t begin, uint32_t end, uint32_t inline_size,
                   std::string_view prefix) {
    std::vector<uint32_t> sizes(end - begin, 1);
    uint32_t count = 0;
    for (uint32_t i = begin; i < end; ++i) {
      const Instruction& instruction = dispatch_.instructions[i];
      if (IsLeaf(instruction.opcode)) continue;
      const bool loads = instruction.opcode == Opcode::kLoad ||
                         instruction.opcode == Opcode::kPad;
      uint32_t size = 1, depth = 1;
      dispatch_.ForEachOperand(instruction, [&](Register reg) {
        const bool local = reg >= begin && names_[reg].empty();
        // An index that is an axis or a constant does not make a load larger.
        const uint32_t leaf = loads ? 0 : 1;
        const bool is_leaf =
            IsLeaf(dispatch_.instructions[reg].opcode) || !local;
        size = std::min(kMaximumSize,
                        size + (is_leaf ? leaf : sizes[reg - begin]));
        if (names_[reg].empty()) depth = std::max(depth, depths_[reg] + 1);
      });
      sizes[i - begin] = size;
      depths_[i] = depth;
      const bool shared = uses_[i] > 1 && size > inline_size;
      if (uses_[i] > 0 && (shared || depth >= kMaximumDepth)) {
        names_[i] = "%" + std::string(prefix) + std::to_string(count++);
      }
    }
  }

  // --- signature ---

  void PrintSignature() {
    printer_.Print("dispatch @", dispatch_.name);
    PrintParameters();
    PrintBuffers(BufferKind::kInput);
    printer_.Print(" -> ");
    PrintBuffers(BufferKind::kOutput);
    printer_.Line(" {");
  }

  void PrintParameters() {
    bool first = true;
    const auto separate = [&] {
      printer_.Print(first ? "<" : ", ");
      first = false;
    };
    for (const std::string& name : dispatch_.parameters) {
      separate();
      printer_.Print(name);
    }
    for (Register reg = 0; reg < dispatch_.header_end; ++reg) {
      if (names_[reg].empty()) continue;
      separate();
      printer_.Print(names_[reg], " = ");
      PrintDefinition(reg, std::nullopt, kSumPrecedence);
    }
    if (!first) printer_.Print(">");
  }

  void PrintBuffers(BufferKind kind) {
    printer_.Print("(");
    bool first = true;
    for (const Buffer& buffer : dispatch_.buffers) {
      if (buffer.kind != kind) continue;
      if (!first) printer_.Print(", ");
      first = false;
      PrintBuffer(buffer);
    }
    printer_.Print(")");
  }

  void PrintBuffer(const Buffer& buffer) {
    printer_.Print("%", buffer.name, ": ", DTypeName(buffer.type));
    PrintIndices(buffer.extents);
  }

  void PrintIndices(const std::vector<Register>& indices) {
    printer_.Print("[");
    PrintJoined(printer_, indices,
                [&](Register reg) { PrintValue(reg, DType::kI64); });
    printer_.Print("]");
  }

  // --- stages ---

  void PrintStage(const Stage& stage) {
    stage_ = &stage;
    ChooseNames(stage.begin, stage.end, kInlineStageSize, "t");
    const bool named =
        std::any_of(names_.begin() + stage.begin, names_.begin() + stage.end,
                    [](const std::string& name) { return !name.empty(); });
    const bool one_line =
        !named && stage.stores.size() == 1 && stage.combiner != Combiner::kFold;
    if (one_line && IsIdentity(stage)) {
      PrintStore(stage, 0, /*with_combiner=*/true);
    } else if (one_line) {
      PrintAxes("for ", stage.spatial);
      printer_.Print(" ");
      PrintStore(stage, 0, /*with_combiner=*/true);
    } else {
      PrintBlock(stage);
    }
    stage_ = nullptr;
  }

  // Stores element [i, j, ...] of the whole buffer for axes i, j, ... in order.
  bool IsIdentity(const Stage& stage) const {
    const Store& store = stage.stores[0];
    const Buffer& buffer = dispatch_.buffers[store.buffer];
    if (stage.spatial.size() != buffer.extents.size()) return false;
    for (size_t i = 0; i < stage.spatial.size(); ++i) {
      const Instruction& index = dispatch_.instructions[store.indices[i]];
      if (index.opcode != Opcode::kAxis || index.immediate != i) return false;
      if (stage.spatial[i].extent != buffer.extents[i]) return false;
    }
    return true;
  }

  void PrintAxes(std::string_view keyword, const std::vector<Axis>& axes) {
    printer_.Print(keyword, "(");
    PrintJoined(printer_, axes, [&](const Axis& axis) {
      printer_.Print(axis.name, " < ");
      PrintValue(axis.extent, DType::kI64, kSumPrecedence);
    });
    printer_.Print(")");
  }

  void PrintStore(const Stage& stage, size_t number, bool with_combiner) {
    const Store& store = stage.stores[number];
    const Buffer& buffer = dispatch_.buffers[store.buffer];
    printer_.Print("%", buffer.name);
    PrintIndices(store.indices);
    printer_.Print(" ", kUpdateNames[static_cast<int>(store.update)], " ");
    if (stage.combiner == Combiner::kFold) {
      printer_.Line("%a", number);
      return;
    }
    if (with_combiner && stage.combiner != Combiner::kNone) {
      PrintAxes(kCombinerNames[static_cast<int>(stage.combiner)],
                stage.reduction);
      printer_.Print(" ");
    }
    PrintValue(stage.values[number], buffer.type);
    printer_.EndLine();
  }

  void PrintBlock(const Stage& stage) {
    PrintAxes("for ", stage.spatial);
    printer_.Print(" ");
    if (stage.combiner != Combiner::kNone) {
      PrintAxes(kCombinerNames[static_cast<int>(stage.combiner)],
                stage.reduction);
      printer_.Print(" ");
    }
    printer_.Line("{");
    {
      Printer::Scope scope(printer_);
      if (stage.combiner == Combiner::kFold) {
        PrintLets(stage, /*in_fold=*/false);
        PrintElements(stage);
        PrintLets(stage, /*in_fold=*/true);
        PrintNext(stage);
      } else {
        PrintLets(stage, false);
      }
      for (size_t i = 0; i < stage.stores.size(); ++i)
        PrintStore(stage, i, false);
    }
    printer_.Line("}");
  }

  // Lets that depend on fold values come after the elements are declared.
  void PrintLets(const Stage& stage, bool in_fold) {
    std::vector<bool> of_fold(stage.end - stage.begin, false);
    for (uint32_t i = stage.begin; i < stage.end; ++i) {
      const Instruction& instruction = dispatch_.instructions[i];
      bool depends = instruction.opcode == Opcode::kAccumulator ||
                     instruction.opcode == Opcode::kElement;
      dispatch_.ForEachOperand(instruction, [&](Register reg) {
        depends = depends || (reg >= stage.begin && of_fold[reg - stage.begin]);
      });
      of_fold[i - stage.begin] = depends;
      if (names_[i].empty() || depends != in_fold) continue;
      printer_.Print("let ", names_[i], " = ");
      PrintDefinition(i, std::nullopt, 0);
      printer_.EndLine();
    }
  }

  void PrintElements(const Stage& stage) {
    for (size_t i = 0; i < stage.values.size(); ++i) {
      const DType type = TypeOf(stage.values[i]);
      printer_.Print("element %e", i, ": ", DTypeName(type), " = ");
      PrintValue(stage.values[i], type);
      printer_.Print(" from ");
      PrintValue(stage.fold.initial[i], type);
      printer_.EndLine();
    }
  }

  void PrintNext(const Stage& stage) {
    for (size_t i = 0; i < stage.fold.results.size(); ++i) {
      printer_.Print("next %a", i, " = ");
      PrintValue(stage.fold.results[i], TypeOf(stage.values[i]));
      printer_.EndLine();
    }
  }

  // --- expressions ---

  DType TypeOf(Register reg) const { return dispatch_.instructions[reg].type; }
  bool IsConstant(Register reg) const {
    return dispatch_.instructions[reg].opcode == Opcode::kConstant;
  }

  // `expected` is the type that the parser will give to a literal without one.
  void PrintValue(Register reg, std::optional<DType> expected,
                  int precedence = 0) {
    if (!names_[reg].empty()) {
      printer_.Print(names_[reg]);
    } else {
      PrintDefinition(reg, expected, precedence);
    }
  }

  void PrintDefinition(Register reg, std::optional<DType> expected,
                       int precedence) {
    const Instruction& instruction = dispatch_.instructions[reg];
    switch (InfoOf(instruction.opcode).group) {
      case InstructionGroup::kStructural:
        return PrintStructural(instruction, expected);
      case InstructionGroup::kUnary:
        return PrintCall(instruction, {instruction.a}, expected);
      case InstructionGroup::kClassify:
        return PrintCall(instruction, {instruction.a}, std::nullopt);
      case InstructionGroup::kBinary:
        return PrintBinary(instruction, expected, precedence);
      case InstructionGroup::kCompare:
        return PrintBinary(instruction, std::nullopt, precedence);
    }
  }

  // The types that literals among two operands of one type will get: one takes
  // the other's.
  struct PairTypes {
    std::optional<DType> left;
    std::optional<DType> right;
  };
  PairTypes TypesOfPair(Register a, Register b,
                        std::optional<DType> expected) const {
    const DType type = TypeOf(a);
    if (IsConstant(a) && !IsConstant(b)) return {type, expected};
    return {expected, type};
  }

  void PrintBinary(const Instruction& instruction,
                   std::optional<DType> expected, int precedence) {
    const PairTypes types = TypesOfPair(instruction.a, instruction.b, expected);
    const InstructionInfo& info = InfoOf(instruction.opcode);
    if (info.notation == Notation::Prefix) {
      printer_.Print(info.text, "(");
      PrintValue(instruction.a, types.left);
      printer_.Print(", ");
      PrintValue(instruction.b, types.right);
      printer_.Print(")");
      return;
    }
    const int own = PrecedenceOf(instruction.opcode);
    const bool compares = own == kComparePrecedence;
    if (own < precedence) printer_.Print("(");
    PrintValue(instruction.a, types.left, compares ? own + 1 : own);
    printer_.Print(" ", info.text, " ");
    PrintValue(instruction.b, types.right, own + 1);
    if (own < precedence) printer_.Print(")");
  }

  void PrintCall(const Instruction& instruction,
                 std::initializer_list<Register> operands,
                 std::optional<DType> expected) {
    printer_.Print(InfoOf(instruction.opcode).text, "(");
    PrintJoined(printer_, operands,
                [&](Register reg) { PrintValue(reg, expected); });
    printer_.Print(")");
  }

  void PrintStructural(const Instruction& instruction,
                       std::optional<DType> expected) {
    switch (instruction.opcode) {
      case Opcode::kConstant:
        return PrintConstant(instruction, expected);
      case Opcode::kParameter:
        printer_.Print(dispatch_.parameters[instruction.immediate]);
        return;
      case Opcode::kAxis:
        printer_.Print(AxisName(instruction.immediate));
        return;
      case Opcode::kAccumulator:
        printer_.Print("%a", instruction.immediate);
        return;
      case Opcode::kElement:
        printer_.Print("%e", instruction.immediate);
        return;
      case Opcode::kLoad:
        PrintLoad(instruction);
        return;
      case Opcode::kPad:
        printer_.Print("pad(");
        PrintLoad(instruction);
        printer_.Print(", ");
        PrintValue(instruction.c, instruction.type);
        printer_.Print(")");
        return;
      case Opcode::kSelect: {
        const PairTypes types =
            TypesOfPair(instruction.b, instruction.c, expected);
        printer_.Print("select(");
        PrintValue(instruction.a, DType::kBool);
        printer_.Print(", ");
        PrintValue(instruction.b, types.left);
        printer_.Print(", ");
        PrintValue(instruction.c, types.right);
        printer_.Print(")");
        return;
      }
      case Opcode::kCast:
      case Opcode::kBitcast:
        if (instruction.opcode == Opcode::kBitcast) printer_.Print("bitcast_");
        printer_.Print(DTypeName(instruction.type), "(");
        PrintValue(instruction.a, std::nullopt);
        printer_.Print(")");
        return;
      default:
        return;
    }
  }

  void PrintConstant(const Instruction& instruction,
                     std::optional<DType> expected) {
    const DType type = instruction.type;
    const std::string text = FormatLiteral(instruction.immediate, type);
    printer_.Print(text);
    if (type == DType::kBool) return;
    // Without context an integer is i64 and what looks like a float is f32.
    if (type == expected.value_or(IsFloat(type) ? DType::kF32 : DType::kI64))
      return;
    printer_.Print(":", DTypeName(type));
  }

  void PrintLoad(const Instruction& instruction) {
    const Buffer& buffer = dispatch_.buffers[instruction.a];
    printer_.Print("%", buffer.name);
    const auto begin = dispatch_.operands.begin() + instruction.b;
    PrintIndices(
        {begin, begin + static_cast<std::ptrdiff_t>(buffer.extents.size())});
  }

  const std::string& AxisName(uint64_t number) const {
    const size_t spatial = stage_->spatial.size();
    return number < spatial ? stage_->spatial[number].name
                            : stage_->reduction[number - spatial].name;
  }

  const Dispatch& dispatch_;
  std::vector<std::string>
      names_;  // per register; empty: printed where it is used
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> depths_;
  const Stage* stage_ = nullptr;
  Printer printer_;
};

}  // namespace

std::string Print(const Dispatch& dispatch) {
  return DispatchPrinter(dispatch).Run();
}

}  // namespace ember::tensor
