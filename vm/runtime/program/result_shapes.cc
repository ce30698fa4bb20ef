#include "vm/runtime/program/result_shapes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/integer_instructions.h"
#include "vm/runtime/program/signature.h"

namespace ember::vm {
namespace {

// Largest number of bytes of an expression's text. A longer text is not
// readable, and a module could double an expression with every instruction.
constexpr size_t kLongestText = 100;
// Largest number of instructions and operands of calls that are evaluated,
// which takes some milliseconds. Extents that need more are unknown.
constexpr int64_t kMaxSteps = int64_t{1} << 20;

// The precedence of the outermost operator of an expression's text: kSum binds
// least, kWhole needs no parentheses.
enum class Binding : uint8_t { kSum, kProduct, kWhole };

struct Value {
  bool is_number = false;
  int64_t number = 0;
  // The text of the expression; empty for a number. A value that is neither a
  // number nor has a text is not known.
  std::string text;
  Binding binding = Binding::kWhole;

  static Value Number(int64_t number) {
    return {true, number, "", Binding::kWhole};
  }
  bool is_known() const { return is_number || !text.empty(); }
  std::string Text() const { return is_number ? Concat({number}) : text; }
  Binding OuterBinding() const {
    return is_number && number < 0 ? Binding::kSum : binding;
  }
};

std::string Operand(const Value& value, Binding least) {
  const std::string text = value.Text();
  return value.OuterBinding() < least ? Concat({"(", text, ")"}) : text;
}

bool IsNumber(const Value& value, int64_t number) {
  return value.is_number && value.number == number;
}

Value Infix(const Value& b, std::string_view sign, const Value& c,
            Binding binding) {
  const bool is_sum = binding == Binding::kSum;
  // For - // % the right operand must bind more tightly than the operator;
  // otherwise it gets parentheses.
  const bool groups = sign == "+" || sign == "*";
  const Binding right = groups   ? binding
                        : is_sum ? Binding::kProduct
                                 : Binding::kWhole;
  return {false, 0, Concat({Operand(b, binding), sign, Operand(c, right)}),
          binding};
}

// Returns the expression of an instruction whose operands are not both numbers.
Value Express(ProgramOpcode opcode, const Value& b, const Value& c) {
  if (!b.is_known() || !c.is_known()) return {};
  switch (opcode) {
    case ProgramOpcode::kAdd:
      if (IsNumber(b, 0)) return c;
      if (IsNumber(c, 0)) return b;
      // A constant in front is moved behind: -1 + N is written as N-1.
      if (b.is_number) return Express(opcode, c, b);
      if (c.is_number && c.number < 0 && c.number > INT64_MIN)
        return Infix(b, "-", Value::Number(-c.number), Binding::kSum);
      return Infix(b, "+", c, Binding::kSum);
    case ProgramOpcode::kSubtract:
      if (IsNumber(c, 0)) return b;
      return Infix(b, "-", c, Binding::kSum);
    case ProgramOpcode::kMultiply:
      if (IsNumber(b, 1)) return c;
      if (IsNumber(c, 1)) return b;
      if (c.is_number) return Infix(c, "*", b, Binding::kProduct);
      return Infix(b, "*", c, Binding::kProduct);
    case ProgramOpcode::kFloorDivide:
      if (IsNumber(c, 1)) return b;
      return Infix(b, "//", c, Binding::kProduct);
    case ProgramOpcode::kModulo:
      return Infix(b, "%", c, Binding::kProduct);
    case ProgramOpcode::kMinimum:
    case ProgramOpcode::kMaximum:
      if (b.Text() == c.Text()) return b;
      return {false, 0,
              Concat({opcode == ProgramOpcode::kMinimum ? "min(" : "max(",
                      b.Text(), ",", c.Text(), ")"}),
              Binding::kWhole};
    default:
      return {};
  }
}

class Walker {
 public:
  explicit Walker(const Module& module)
      : program_(module.entry()),
        programs_(module.definition().programs),
        symbols_(program_),
        integers_(program_.integer_register_count),
        results_(program_.results.size()) {}

  Status Bind(std::span<const std::vector<int64_t>> shapes) {
    return symbols_.BindShapes(shapes);
  }
  Status Walk();
  StatusOr<ResultExtents> Take();

 private:
  Value DimOf(const TensorSignature& signature, size_t dim) const;
  // Evaluates an instruction of the form a = b op c.
  template <ProgramOpcode opcode>
  Status Compute(const ProgramInstruction& in, size_t index);
  // Evaluates a call of a program and returns the number of its operands.
  int64_t Call(const ProgramInstruction& in);
  void CallLibrary(const ProgramInstruction& in);

  const Program& program_;
  const std::vector<Program>& programs_;
  SymbolValues symbols_;
  std::vector<Value> integers_;
  std::vector<std::vector<Value>> results_;
};

Value Walker::DimOf(const TensorSignature& signature, size_t dim) const {
  const int64_t declared = signature.dims[dim];
  const int64_t value = symbols_.ValueOf(declared);
  if (value >= 0) return Value::Number(value);
  const std::string& name =
      program_.symbols[static_cast<size_t>(-1 - declared)];
  // "?" means an unknown extent, which may differ at each use. A long name is
  // treated as unknown, too, because a file may use it at every dim, and each
  // use would be a copy.
  if (name == "?" || name.size() > kLongestText) return {};
  return {false, 0, name, Binding::kWhole};
}

template <ProgramOpcode opcode>
Status Walker::Compute(const ProgramInstruction& in, size_t index) {
  const Value& b = integers_[in.b];
  const Value& c = integers_[in.c];
  if (b.is_number && c.is_number) {
    int64_t number = 0;
    if (!EvaluateInteger<opcode>(b.number, c.number, &number))
      return ArithmeticError(program_, index);
    integers_[in.a] = Value::Number(number);
    return OkStatus();
  }
  Value value = Express(opcode, b, c);
  if (value.text.size() > kLongestText) value = {};
  integers_[in.a] = std::move(value);
  return OkStatus();
}

// Evaluates a call from the signature of the called program, without executing
// it.
int64_t Walker::Call(const ProgramInstruction& in) {
  const Program& called = programs_[in.a];
  const uint32_t* const parameters = program_.operands.data() + in.b;
  const uint32_t* operand =
      parameters + called.parameters.size() + called.inputs.size();
  // The arguments are copied before the results are computed, because results
  // overwrite registers that may hold arguments.
  std::vector<Value> arguments;
  for (size_t i = 0; i < called.parameters.size(); ++i)
    arguments.push_back(integers_[parameters[i]]);
  auto looked_at = static_cast<int64_t>(arguments.size());
  for (const TensorSignature& result : called.results) {
    ++operand;  // The first operand of each result is the register of its
                // memory, which is skipped; the registers of its dims follow.
    for (const int64_t declared : result.dims) {
      looked_at += 1 + static_cast<int64_t>(arguments.size());
      Value& dim = integers_[*operand++];
      dim = declared >= 0 ? Value::Number(declared) : Value();
      if (declared >= 0) continue;
      const auto found =
          std::ranges::find(called.parameters,
                            called.symbols[static_cast<size_t>(-1 - declared)]);
      if (found != called.parameters.end())
        dim = arguments[static_cast<size_t>(found - called.parameters.begin())];
    }
  }
  return looked_at;
}

void Walker::CallLibrary(const ProgramInstruction& in) {
  const std::string_view operands = LibraryInfoOf(in.a).operands;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == 'I') integers_[program_.operands[in.b + i]] = {};
  }
}

Status Walker::Walk() {
  int64_t steps = 0;
  for (size_t pc = 0; pc < program_.instructions.size();) {
    if (++steps > kMaxSteps) return OkStatus();
    const size_t index = pc++;
    const ProgramInstruction& in = program_.instructions[index];
    switch (in.opcode) {
      case ProgramOpcode::kInteger:
        integers_[in.a] = Value::Number(in.immediate);
        break;
      case ProgramOpcode::kInputDim:
        integers_[in.a] =
            DimOf(program_.inputs[in.b], static_cast<size_t>(in.immediate));
        break;
#define EMBER_ROW(name)                                                \
  case ProgramOpcode::k##name:                                         \
    EMBER_RETURN_IF_ERROR(Compute<ProgramOpcode::k##name>(in, index)); \
    break;
        EMBER_FOR_EACH_INTEGER_INSTRUCTION(EMBER_ROW)
#undef EMBER_ROW
      case ProgramOpcode::kMove:
        integers_[in.a] = integers_[in.b];
        break;
      case ProgramOpcode::kCheckEqual:
        if (integers_[in.b].is_number && integers_[in.c].is_number &&
            integers_[in.b].number != integers_[in.c].number) {
          return CheckError(program_, in, integers_[in.b].number,
                            integers_[in.c].number);
        }
        break;
      case ProgramOpcode::kCheckTrue:
        if (IsNumber(integers_[in.b], 0)) return CheckError(program_, in, 0, 0);
        break;
      case ProgramOpcode::kBranchIf:
        if (!integers_[in.b].is_number) return OkStatus();
        if (integers_[in.b].number == 0) break;
        [[fallthrough]];
      case ProgramOpcode::kBranch:
        pc = static_cast<size_t>(in.immediate);
        break;
      case ProgramOpcode::kLoadInteger:
        integers_[in.a] = {};
        break;
      case ProgramOpcode::kLibraryCall:
        CallLibrary(in);
        break;
      case ProgramOpcode::kCallProgram:
        steps += Call(in);
        break;
      case ProgramOpcode::kResult: {
        std::vector<Value>& dims = results_[in.a];
        dims.clear();
        for (int64_t i = 0; i < in.immediate; ++i)
          dims.push_back(
              integers_[program_.operands[in.c + static_cast<size_t>(i)]]);
        break;
      }
      case ProgramOpcode::kReturn:
        return OkStatus();
      // Instructions on memory have no effect on integers.
      case ProgramOpcode::kInputBuffer:
      case ProgramOpcode::kConstantBuffer:
      case ProgramOpcode::kArena:
      case ProgramOpcode::kAllocate:
      case ProgramOpcode::kView:
      case ProgramOpcode::kMoveBuffer:
      case ProgramOpcode::kRelease:
      case ProgramOpcode::kDispatch:
      case ProgramOpcode::kStoreInteger:
      case ProgramOpcode::kAppend:
      case ProgramOpcode::kSliceAt:
        break;
    }
  }
  return OkStatus();
}

StatusOr<ResultExtents> Walker::Take() {
  ResultExtents extents(results_.size());
  for (size_t i = 0; i < results_.size(); ++i) {
    const TensorSignature& signature = program_.results[i];
    std::vector<int64_t> numbers;
    for (size_t d = 0; d < signature.dims.size(); ++d) {
      // If the program does not determine the extent, the extent in the
      // result's signature is used.
      Value value = d < results_[i].size() ? results_[i][d] : Value();
      if (Value declared = DimOf(signature, d);
          declared.is_number ? !value.is_number : !value.is_known())
        value = std::move(declared);
      extents[i].push_back({value.is_number ? value.number : -1,
                            value.is_known() ? value.Text() : "?"});
      numbers.push_back(extents[i].back().number);
    }
    if (std::ranges::find(numbers, -1) == numbers.end())
      EMBER_RETURN_IF_ERROR(symbols_.CheckResult(signature, numbers));
  }
  return extents;
}

}  // namespace

StatusOr<ResultExtents> ResultShapes(
    const Module& module, std::span<const std::vector<int64_t>> shapes) {
  Walker walker(module);
  EMBER_RETURN_IF_ERROR(walker.Bind(shapes));
  EMBER_RETURN_IF_ERROR(walker.Walk());
  return walker.Take();
}

ResultExtents DescribeResults(const Module& module) {
  Walker walker(module);
  // An error of the program's integer instructions is ignored: it would occur
  // in every run. The extents that were found before it are valid.
  if (Status walked = walker.Walk(); !walked.ok()) {
  }
  StatusOr<ResultExtents> extents = walker.Take();
  return extents.ok() ? *std::move(extents) : ResultExtents();
}

}  // namespace ember::vm
