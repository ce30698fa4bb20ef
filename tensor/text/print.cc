#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "base/printer.h"
#include "tensor/text/expression_printer.h"
#include "tensor/text/tables.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

// Largest number of instructions of an expression that is printed at each of
// its uses. A larger expression that is used more than once gets a name
// instead.
constexpr uint32_t kInlineStageSize = 3;
constexpr uint32_t kInlineHeaderSize = 7;

class DispatchPrinter : private ExpressionSource {
 public:
  explicit DispatchPrinter(const Dispatch& dispatch)
      : dispatch_(dispatch),
        uses_(dispatch.instructions.size(), 0),
        expressions_(*this, printer_) {}

  std::string Run() {
    CountUses();
    PrintSignature(
        ChooseNames(0, dispatch_.header_end, kInlineHeaderSize, "h"));
    {
      Printer::Indent indent(printer_);
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
  // --- values, for the printer of expressions ---

  PrintedValue Value(uint32_t number) const override {
    const Instruction& instruction = dispatch_.instructions[number];
    PrintedValue value{
        instruction.opcode, instruction.type, instruction.immediate, 0, {}};
    if (instruction.opcode == Opcode::kLoad ||
        instruction.opcode == Opcode::kPad) {
      value.buffer = instruction.a;
    }
    dispatch_.ForEachOperand(
        instruction, [&](Register reg) { value.operands.push_back(reg); });
    return value;
  }
  DType TypeOf(uint32_t number) const override {
    return dispatch_.instructions[number].type;
  }
  Opcode OpcodeOf(uint32_t number) const override {
    return dispatch_.instructions[number].opcode;
  }
  std::string LeafName(const PrintedValue& leaf) const override {
    switch (leaf.opcode) {
      case Opcode::kParameter:
        return dispatch_.parameters[leaf.immediate];
      case Opcode::kAxis:
        return AxisName(leaf.immediate);
      default:
        return (leaf.opcode == Opcode::kAccumulator ? "%a" : "%e") +
               std::to_string(leaf.immediate);
    }
  }
  std::string_view BufferName(uint32_t buffer) const override {
    return dispatch_.buffers[buffer].name;
  }

  // --- choice of the values that get names in the text ---

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

  // Chooses the values in [begin, end) that get a name (%t0, %t1, ...) and a
  // line of their own.
  std::vector<uint32_t> ChooseNames(uint32_t begin, uint32_t end,
                                    uint32_t inline_size,
                                    std::string_view prefix) {
    std::vector<uint32_t> values(end - begin);
    std::iota(values.begin(), values.end(), begin);
    uint32_t next = 0;
    return expressions_.ChooseNames(
        values, [&](uint32_t value) { return uses_[value]; }, inline_size,
        prefix, next);
  }

  // --- signature ---

  void PrintSignature(const std::vector<uint32_t>& named) {
    printer_.Print("dispatch @", dispatch_.name);
    expressions_.PrintHeader(dispatch_.parameters, named);
    PrintBuffers(BufferKind::kInput);
    printer_.Print(" -> ");
    PrintBuffers(BufferKind::kOutput);
    printer_.Line(" {");
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
    expressions_.PrintIndices(buffer.extents);
  }

  // --- stages ---

  void PrintStage(const Stage& stage) {
    stage_ = &stage;
    const std::vector<uint32_t> named =
        ChooseNames(stage.begin, stage.end, kInlineStageSize, "t");
    const bool one_line = named.empty() && stage.stores.size() == 1 &&
                          stage.combiner != Combiner::kFold;
    if (one_line && IsIdentity(stage)) {
      PrintStore(stage, 0, /*with_combiner=*/true);
    } else if (one_line) {
      PrintAxes("for ", stage.spatial);
      printer_.Print(" ");
      PrintStore(stage, 0, /*with_combiner=*/true);
    } else {
      PrintBlock(stage, named);
    }
    stage_ = nullptr;
  }

  // True if the indices of the stage's store are its axes, in order, and the
  // axes cover the whole buffer.
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
      expressions_.PrintValue(axis.extent, DType::kI64, kSumPrecedence);
    });
    printer_.Print(")");
  }

  void PrintStore(const Stage& stage, size_t number, bool with_combiner) {
    const Store& store = stage.stores[number];
    const Buffer& buffer = dispatch_.buffers[store.buffer];
    expressions_.PrintElement(store.buffer, store.indices);
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
    expressions_.PrintValue(stage.values[number], buffer.type);
    printer_.EndLine();
  }

  void PrintBlock(const Stage& stage, const std::vector<uint32_t>& named) {
    PrintAxes("for ", stage.spatial);
    printer_.Print(" ");
    if (stage.combiner != Combiner::kNone) {
      PrintAxes(kCombinerNames[static_cast<int>(stage.combiner)],
                stage.reduction);
      printer_.Print(" ");
    }
    printer_.Line("{");
    {
      Printer::Indent indent(printer_);
      const std::vector<bool> of_fold = OfFold(stage);
      const auto print_lets = [&](bool in_fold) {
        for (uint32_t value : named) {
          if (of_fold[value - stage.begin] != in_fold) continue;
          printer_.Print("let ", expressions_.NameOf(value), " = ");
          expressions_.PrintDefinition(value);
          printer_.EndLine();
        }
      };
      // Lets that depend on fold values must follow the declarations of the
      // elements, so the others are printed first.
      print_lets(false);
      if (stage.combiner == Combiner::kFold) {
        PrintElements(stage);
        print_lets(true);
        PrintNext(stage);
      }
      for (size_t i = 0; i < stage.stores.size(); ++i)
        PrintStore(stage, i, false);
    }
    printer_.Line("}");
  }

  // Returns for each value of the stage true if it depends on fold values.
  std::vector<bool> OfFold(const Stage& stage) const {
    std::vector<bool> of_fold(stage.end - stage.begin, false);
    for (uint32_t i = stage.begin; i < stage.end; ++i) {
      const Instruction& instruction = dispatch_.instructions[i];
      bool depends = instruction.opcode == Opcode::kAccumulator ||
                     instruction.opcode == Opcode::kElement;
      dispatch_.ForEachOperand(instruction, [&](Register reg) {
        depends = depends || (reg >= stage.begin && of_fold[reg - stage.begin]);
      });
      of_fold[i - stage.begin] = depends;
    }
    return of_fold;
  }

  void PrintElements(const Stage& stage) {
    for (size_t i = 0; i < stage.values.size(); ++i) {
      const DType type = TypeOf(stage.values[i]);
      printer_.Print("element %e", i, ": ", DTypeName(type), " = ");
      expressions_.PrintValue(stage.values[i], type);
      printer_.Print(" from ");
      expressions_.PrintValue(stage.fold.initial[i], type);
      printer_.EndLine();
    }
  }

  void PrintNext(const Stage& stage) {
    for (size_t i = 0; i < stage.fold.results.size(); ++i) {
      printer_.Print("next %a", i, " = ");
      expressions_.PrintValue(stage.fold.results[i], TypeOf(stage.values[i]));
      printer_.EndLine();
    }
  }

  const std::string& AxisName(uint64_t number) const {
    const size_t spatial = stage_->spatial.size();
    return number < spatial ? stage_->spatial[number].name
                            : stage_->reduction[number - spatial].name;
  }

  const Dispatch& dispatch_;
  std::vector<uint32_t> uses_;
  const Stage* stage_ = nullptr;
  Printer printer_;
  ExpressionPrinter expressions_;
};

}  // namespace

std::string Print(const Dispatch& dispatch) {
  return DispatchPrinter(dispatch).Run();
}

}  // namespace ember::tensor
