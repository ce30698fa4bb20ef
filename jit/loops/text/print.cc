#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/printer.h"
#include "jit/loops/raw.h"
#include "jit/loops/text/keywords.h"
#include "jit/loops/text/text.h"
#include "jit/loops/text/workgroup_text.h"
#include "jit/loops/walk.h"
#include "tensor/text/expression_printer.h"
#include "tensor/text/tables.h"

namespace ember::loops {
namespace {

using tensor::Node;
using tensor::Opcode;
using tensor::PrintedValue;

// Largest number of instructions of an expression that is always printed in
// full. A larger expression that a statement uses more than once is printed as
// a let.
constexpr uint32_t kInlineSize = 3;

class NestPrinter : private tensor::ExpressionSource {
 public:
  explicit NestPrinter(const LoopNest& nest)
      : nest_(nest), expressions_(*this, printer_) {}

  std::string Run() {
    PrintSignature();
    {
      Printer::Indent indent(printer_);
      if (!nest_.extents.empty()) {
        printer_.Print("extents ");
        expressions_.PrintIndices(nest_.extents);
        printer_.EndLine();
      }
      for (const Buffer& buffer : nest_.buffers) {
        if (IsParameter(buffer)) continue;
        printer_.Print(kScopeKeywords[static_cast<int>(buffer.scope)], " %",
                       buffer.name, ": ");
        PrintType(buffer);
        printer_.EndLine();
      }
      for (const Phase& phase : nest_.prologue) {
        PrintLoop("prologue", phase.task, phase.body, &phase.workgroup);
      }
      for (const Phase& phase : nest_.phases) {
        PrintLoop("phase", phase.task, phase.body, &phase.workgroup);
      }
    }
    printer_.Line("}");
    return std::move(printer_).Take();
  }

  std::string Run(NodeId expression) {
    ChooseNames({&expression, 1}, "t");
    expressions_.PrintDefinition(expression);
    return std::move(printer_).Take();
  }

 private:
  // --- implementation of ExpressionSource ---

  PrintedValue Value(uint32_t number) const override {
    const Node& node = nest_.pool[number];
    const std::span<const NodeId> operands = OperandsOf(nest_.pool, number);
    return {.opcode = node.opcode,
            .type = node.type,
            .immediate = node.immediate,
            .buffer = node.buffer,
            .is_raw = MayBeRaw(node.opcode) && IsRaw(node),
            .vector = VectorOf(node),
            .is_wide = node.opcode != Opcode::kAxis && IsWide(nest_, number),
            .tests = node.opcode == Opcode::kPad ? node.immediate >> 8 : 0,
            .operands = {operands.begin(), operands.end()}};
  }
  DType TypeOf(uint32_t number) const override {
    return nest_.pool[number].type;
  }
  Opcode OpcodeOf(uint32_t number) const override {
    return nest_.pool[number].opcode;
  }
  std::string LeafName(const PrintedValue& leaf) const override {
    const std::vector<std::string>& names =
        leaf.opcode == Opcode::kParameter ? nest_.parameters : nest_.variables;
    if (leaf.immediate < names.size()) return names[leaf.immediate];
    // An invalid nest may refer to a name that does not exist; its text is
    // printed for error messages.
    return "?" + std::to_string(leaf.immediate);
  }
  std::string_view BufferName(uint32_t buffer) const override {
    if (buffer >= nest_.buffers.size()) return "?";
    return nest_.buffers[buffer].name;
  }

  std::vector<uint32_t> ChooseNames(std::span<const NodeId> roots,
                                    std::string_view prefix) {
    const std::vector<NodeId> values = NodesUnder(nest_.pool, roots);
    std::unordered_map<NodeId, uint32_t> uses;
    for (NodeId root : roots) ++uses[root];
    for (NodeId value : values) {
      for (NodeId operand : OperandsOf(nest_.pool, value)) ++uses[operand];
    }
    return expressions_.ChooseNames(
        values, [&](uint32_t value) { return uses[value]; }, kInlineSize,
        prefix, next_);
  }

  // --- signature ---

  static bool IsParameter(const Buffer& buffer) {
    return buffer.scope == MemoryScope::kInput ||
           buffer.scope == MemoryScope::kOutput;
  }

  void PrintType(const Buffer& buffer) {
    printer_.Print(DTypeName(buffer.type));
    expressions_.PrintIndices(buffer.extents);
    for (const uint32_t input : buffer.shares)
      printer_.Print(" shares %", BufferName(input));
    if (buffer.is_shared) printer_.Print(" shared");
  }

  void PrintSignature() {
    std::vector<NodeId> extents = nest_.extents;
    std::vector<const Buffer*> parameters;
    for (const Buffer& buffer : nest_.buffers) {
      if (IsParameter(buffer)) parameters.push_back(&buffer);
      extents.insert(extents.end(), buffer.extents.begin(),
                     buffer.extents.end());
    }
    printer_.Print("loops @", nest_.name);
    expressions_.PrintHeader(nest_.parameters, ChooseNames(extents, "h"));
    printer_.Print("(");
    PrintJoined(printer_, parameters, [&](const Buffer* buffer) {
      printer_.Print("%", buffer->name, ": ",
                     kScopeKeywords[static_cast<int>(buffer->scope)], " ");
      PrintType(*buffer);
    });
    printer_.Line(") {");
    next_ = 0;
  }

  // --- statements ---

  // Prints a let before the statement for each expression that gets a name. The
  // name is only used in that statement: an expression with loads may have
  // another value after the next store.
  std::vector<uint32_t> PrintLets(std::span<const NodeId> roots) {
    std::vector<uint32_t> named = ChooseNames(roots, "t");
    for (uint32_t value : named) {
      printer_.Print("let ", expressions_.NameOf(value), " = ");
      expressions_.PrintDefinition(value);
      printer_.EndLine();
    }
    return named;
  }

  void Forget(std::span<const uint32_t> named) {
    for (uint32_t value : named) expressions_.ForgetName(value);
  }

  void PrintLoop(std::string_view keyword, NodeId variable, const Block& body,
                 const Workgroup* workgroup = nullptr,
                 const Statement* loop = nullptr) {
    const NodeId extent = ExtentOf(nest_.pool, variable);
    const std::vector<uint32_t> named = PrintLets({&extent, 1});
    printer_.Print(keyword, " ");
    expressions_.PrintDefinition(variable);
    printer_.Print(" < ");
    expressions_.PrintValue(extent, DType::kI64, tensor::kSumPrecedence);
    if (IsWide(nest_, variable)) printer_.Print(" ", tensor::kWideWord);
    if (loop != nullptr && loop->subgroup_size != 0) {
      printer_.Print(" subgroup ");
      expressions_.PrintDefinition(loop->subgroup);
      printer_.Print(" < ");
      expressions_.PrintValue(ExtentOf(nest_.pool, loop->subgroup), DType::kI64,
                              tensor::kSumPrecedence);
      printer_.Print(" of ", loop->subgroup_size);
    }
    Forget(named);
    PrintBody(body, workgroup);
  }

  void PrintBody(const Block& body, const Workgroup* workgroup = nullptr) {
    printer_.Line(" {");
    {
      Printer::Indent indent(printer_);
      if (workgroup != nullptr && workgroup->invocations != 0)
        PrintWorkgroup(nest_, *workgroup, printer_);
      for (const Statement& statement : body) PrintStatement(statement);
    }
    printer_.Line("}");
  }

  // Prints the marks before a statement of a device nest: producer, in_flight,
  // box.
  void PrintMarks(const Statement& statement) {
    if (statement.of_producer) printer_.Print("producer ");
    if (statement.box != nullptr) {
      PrintBox(*statement.box, printer_);
      printer_.Print(" ");
    }
    if (statement.stays_in_flight) printer_.Print("in_flight ");
  }

  void PrintSlot(const Statement& statement) {
    PrintMarks(statement);
    printer_.Print(kSlotKeywords[static_cast<size_t>(statement.step)], " ring ",
                   statement.slot.ring, " slot ");
    expressions_.PrintValue(statement.slot.slot, DType::kI64,
                            tensor::kSumPrecedence);
    printer_.EndLine();
  }

  void PrintStatement(const Statement& statement) {
    if (statement.kind == Statement::Kind::kFor) {
      const size_t loop = static_cast<size_t>(statement.loop);
      PrintMarks(statement);
      PrintLoop(kLoopKeywords[loop], statement.variable, statement.body,
                /*workgroup=*/nullptr, &statement);
      return;
    }
    if (statement.kind == Statement::Kind::kFirst) {
      printer_.Print("first");
      return PrintBody(statement.body);
    }
    const std::vector<uint32_t> named =
        PrintLets(RootsOf(nest_.pool, statement));
    switch (statement.kind) {
      case Statement::Kind::kFor:
      case Statement::Kind::kFirst:
        break;
      case Statement::Kind::kIf:
        PrintMarks(statement);
        printer_.Print("if ");
        expressions_.PrintValue(statement.condition, DType::kBool);
        Forget(named);
        PrintBody(statement.body);
        return;
      case Statement::Kind::kStore:
        PrintStores(statement.stores);
        break;
      case Statement::Kind::kCheck:
        printer_.Print("check %", BufferName(statement.buffer), ".",
                       statement.dim, " ");
        expressions_.PrintValue(statement.index, DType::kI64,
                                tensor::kSumPrecedence);
        printer_.Print(" < ");
        expressions_.PrintValue(statement.extent, DType::kI64,
                                tensor::kSumPrecedence);
        if (statement.test != BoundsTest::kBoth) {
          printer_.Print(
              " ", tensor::kTestNames[static_cast<size_t>(statement.test)]);
        }
        printer_.EndLine();
        break;
      case Statement::Kind::kPrefetch:
        printer_.Print("prefetch %", BufferName(statement.buffer), " ");
        expressions_.PrintValue(statement.index, DType::kI64,
                                tensor::kSumPrecedence);
        printer_.EndLine();
        break;
      case Statement::Kind::kAwait:
        PrintMarks(statement);
        printer_.Print("await ", statement.groups);
        printer_.EndLine();
        break;
      case Statement::Kind::kSlot:
        PrintSlot(statement);
        break;
      case Statement::Kind::kBarrier:
        printer_.Line(statement.orders_stores ? "barrier orders stores"
                                              : "barrier");
        break;
    }
    Forget(named);
  }

  void PrintStores(const std::vector<Store>& stores) {
    if (stores.size() == 1) return PrintStore(stores[0]);
    printer_.Line("{");
    {
      Printer::Indent indent(printer_);
      for (const Store& store : stores) PrintStore(store);
    }
    printer_.Line("}");
  }

  void PrintStore(const Store& store) {
    if (store.is_async) printer_.Print("async ");
    if (store.combining != Combining::kNone) {
      printer_.Print(kCombiningKeywords[static_cast<size_t>(store.combining)],
                     " ");
    }
    if (store.rounds_once) printer_.Print("once ");
    if (store.vector != 0)
      printer_.Print(tensor::kVectorWord, store.vector, " ");
    expressions_.PrintElement(store.buffer, store.indices);
    printer_.Print(" ", tensor::kUpdateNames[static_cast<int>(store.update)],
                   " ");
    expressions_.PrintValue(store.value, nest_.buffers[store.buffer].type);
    printer_.EndLine();
  }

  const LoopNest& nest_;
  Printer printer_;
  tensor::ExpressionPrinter expressions_;
  // number of the next let; its name is %t and that number
  uint32_t next_ = 0;
};

}  // namespace

std::string ToText(const LoopNest& nest) { return NestPrinter(nest).Run(); }

std::string ToText(const LoopNest& nest, NodeId expression) {
  return NestPrinter(nest).Run(expression);
}

std::string_view ToText(MemoryScope scope) {
  return kScopeKeywords[static_cast<size_t>(scope)];
}

}  // namespace ember::loops
