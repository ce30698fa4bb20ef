#include "vm/format/kernel_image_text.h"

#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/lexer.h"
#include "base/printer.h"
#include "tensor/open_parameter.h"
#include "vm/format/kernel_image_verifier.h"

namespace ember::vm {
namespace {

using tensor::Instruction;
using tensor::Opcode;

// --- printing

void PrintFormula(Printer& printer, size_t number, const Instruction& in) {
  printer.Print("%", number, ": ", DTypeName(in.type), " = ",
                tensor::InfoOf(in.opcode).text);
  if (in.opcode == Opcode::kParameter ||
      (in.opcode == Opcode::kConstant && in.type != DType::kI64)) {
    printer.Print(" ", in.immediate);
  } else if (in.opcode == Opcode::kConstant) {
    printer.Print(" ", static_cast<int64_t>(in.immediate));
  }
  const uint32_t operands[3] = {in.a, in.b, in.c};
  const int count = tensor::RegisterOperandCount(in.opcode);
  for (int i = 0; i < count; ++i) printer.Print(" %", operands[i]);
  printer.EndLine();
}

void PrintBuffer(Printer& printer, const KernelBuffer& buffer) {
  printer.Print(kKernelScopes[static_cast<size_t>(buffer.scope)].text, " ",
                QuoteString(buffer.name), ": ", DTypeName(buffer.type), "[");
  PrintJoined(printer, buffer.extents,
              [&](uint32_t extent) { printer.Print("%", extent); });
  printer.Print("]");
  if (buffer.alignment != 1) printer.Print(" align ", buffer.alignment);
  if (buffer.may_be_overwritten) printer.Print(" overwritten");
  printer.EndLine();
}

void PrintDevicePhase(Printer& printer, const DevicePhase& phase) {
  printer.Print("device ", QuoteString(phase.entry_point));
  if (phase.invocations != 1) printer.Print(" workgroup ", phase.invocations);
  if (phase.tasks_per_workgroup != 1)
    printer.Print(" tasks ", phase.tasks_per_workgroup);
  if (phase.shared_bytes != 0) printer.Print(" shared ", phase.shared_bytes);
  if (phase.most_iterations != 0)
    printer.Print(" iterations ", phase.most_iterations);
  if (phase.most_workgroups != 0)
    printer.Print(" workgroups ", phase.most_workgroups);
  if (phase.has_checks) printer.Print(" checks");
  if (!phase.bindings.empty()) printer.Print(" bindings");
  for (const DevicePhase::Binding& binding : phase.bindings)
    printer.Print(" ", binding.buffer, binding.is_sliced ? " sliced" : "");
  if (!phase.boxes.empty()) printer.Print(" boxes");
  for (const BoxMap& map : phase.boxes) {
    printer.Print(" ", map.binding, " [");
    PrintJoined(printer, map.box,
                [&](uint32_t extent) { printer.Print(extent); });
    printer.Print("]");
    if (!map.order.empty()) {
      printer.Print(" order [");
      PrintJoined(printer, map.order,
                  [&](uint32_t dim) { printer.Print(dim); });
      printer.Print("]");
    }
    if (map.is_swizzled) printer.Print(" swizzled");
  }
  printer.EndLine();
}

void PrintBytes(Printer& printer, std::span<const uint8_t> bytes) {
  constexpr size_t kPerLine = 32;
  constexpr char kDigits[] = "0123456789abcdef";
  for (size_t begin = 0; begin < bytes.size(); begin += kPerLine) {
    std::string line;
    const size_t count = std::min(kPerLine, bytes.size() - begin);
    for (const uint8_t byte : bytes.subspan(begin, count)) {
      line += kDigits[byte >> 4];
      line += kDigits[byte & 15];
    }
    printer.Line("\"", line, "\"");
  }
}

std::string NumberText(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// --- parsing

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  StatusOr<KernelImage> Run() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("kernel"));
    EMBER_ASSIGN_OR_RETURN(image_.dispatch, Text("a name"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("for"));
    EMBER_ASSIGN_OR_RETURN(image_.target, Text("a target"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (!lexer_.Accept("}")) EMBER_RETURN_IF_ERROR(Line());
    if (!lexer_.AtEnd()) return lexer_.ExpectedError("the end");
    EMBER_RETURN_IF_ERROR(VerifyKernelImage(image_));
    return std::move(image_);
  }

 private:
  Status Line() {
    if (lexer_.Peek().kind == Token::kSigil) return Formula();
    for (size_t i = 0; i < std::size(kKernelScopes); ++i) {
      if (lexer_.Accept(kKernelScopes[i].text))
        return Buffer(static_cast<KernelScope>(i));
    }
    if (lexer_.Accept("tier")) {
      EMBER_ASSIGN_OR_RETURN(const uint32_t tier, Small("a tier"));
      image_.tier = static_cast<int>(tier);
      return OkStatus();
    }
    if (lexer_.Accept("error_growth")) return ErrorGrowth();
    if (lexer_.Accept("parameters")) {
      EMBER_ASSIGN_OR_RETURN(image_.parameter_count, Small("a count"));
      return OkStatus();
    }
    if (lexer_.Accept("shape")) return Shape();
    if (lexer_.Accept("prologue")) {
      if (image_.prologue_count != image_.phases.size())
        return lexer_.ExpectedError("the prologue before other phases");
      ++image_.prologue_count;
      return Phase();
    }
    if (lexer_.Accept("phase")) return Phase();
    if (lexer_.Accept("code")) return Code();
    return lexer_.ExpectedError(
        "tier, error_growth, parameters, shape, a formula, a buffer, "
        "prologue, phase or code");
  }

  StatusOr<std::string> Text(std::string_view what) {
    EMBER_ASSIGN_OR_RETURN(const Token token,
                           lexer_.Expect(Token::kString, what));
    return StringValue(token);
  }

  StatusOr<uint32_t> Small(std::string_view what) {
    const Token token = lexer_.Peek();
    EMBER_ASSIGN_OR_RETURN(const int64_t value, lexer_.ExpectInteger(what));
    if (value < 0 || value > UINT32_MAX)
      return ErrorAt(token, "expected a number of 32 bits");
    return static_cast<uint32_t>(value);
  }

  StatusOr<uint32_t> Value() {
    EMBER_ASSIGN_OR_RETURN(const Token token,
                           lexer_.ExpectSigil('%', "a formula"));
    uint32_t number = 0;
    const std::string_view name = token.name();
    const auto [at, error] =
        std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || at != name.data() + name.size())
      return ErrorAt(token, "expected the number of a formula");
    return number;
  }

  StatusOr<DType> Type() {
    const Token token = lexer_.Next();
    for (int i = 0; i < kDTypeCount; ++i) {
      if (token.Is(DTypeName(static_cast<DType>(i))))
        return static_cast<DType>(i);
    }
    return ErrorAt(token, "expected an element type");
  }

  Status ErrorGrowth() {
    const Token token = lexer_.Next();
    const char* const end = token.text.data() + token.text.size();
    const auto [at, error] =
        std::from_chars(token.text.data(), end, image_.error_growth);
    if (error == std::errc() && at == end) return OkStatus();
    return ErrorAt(token, "expected a number");
  }

  Status Shape() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    do {
      int64_t& value = image_.shape.emplace_back(tensor::kOpenParameter);
      if (lexer_.Accept("open")) continue;
      EMBER_ASSIGN_OR_RETURN(value, lexer_.ExpectInteger("a parameter"));
    } while (lexer_.Accept(","));
    return lexer_.Expect("]");
  }

  Status Formula() {
    const Token token = lexer_.Peek();
    EMBER_ASSIGN_OR_RETURN(const uint32_t number, Value());
    if (number != image_.formulas.size())
      return ErrorAt(token, Concat({"expected %", image_.formulas.size()}));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    Instruction in;
    EMBER_ASSIGN_OR_RETURN(in.type, Type());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("="));
    const Token operation = lexer_.Next();
    int opcode = 0;
    while (opcode < tensor::kOpcodeCount &&
           !operation.Is(tensor::kInstructionTable[opcode].text))
      ++opcode;
    if (opcode == tensor::kOpcodeCount)
      return ErrorAt(operation, "expected an operation");
    in.opcode = static_cast<Opcode>(opcode);
    if (in.opcode == Opcode::kConstant && in.type == DType::kI64) {
      EMBER_ASSIGN_OR_RETURN(const int64_t value,
                             lexer_.ExpectInteger("a value"));
      in.immediate = static_cast<uint64_t>(value);
    } else if (in.opcode == Opcode::kConstant ||
               in.opcode == Opcode::kParameter) {
      EMBER_ASSIGN_OR_RETURN(const Token value,
                             lexer_.Expect(Token::kInteger, "a number"));
      EMBER_ASSIGN_OR_RETURN(in.immediate, IntegerValue(value));
    }
    uint32_t* const operands[3] = {&in.a, &in.b, &in.c};
    const int count = tensor::RegisterOperandCount(in.opcode);
    for (int i = 0; i < count; ++i) {
      EMBER_ASSIGN_OR_RETURN(*operands[i], Value());
    }
    image_.formulas.push_back(in);
    return OkStatus();
  }

  Status Buffer(KernelScope scope) {
    KernelBuffer buffer;
    buffer.scope = scope;
    EMBER_ASSIGN_OR_RETURN(buffer.name, Text("a name"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect(":"));
    EMBER_ASSIGN_OR_RETURN(buffer.type, Type());
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    if (!lexer_.Accept("]")) {
      do {
        EMBER_ASSIGN_OR_RETURN(buffer.extents.emplace_back(), Value());
      } while (lexer_.Accept(","));
      EMBER_RETURN_IF_ERROR(lexer_.Expect("]"));
    }
    if (lexer_.Accept("align")) {
      EMBER_ASSIGN_OR_RETURN(buffer.alignment, Small("an alignment"));
    }
    buffer.may_be_overwritten = lexer_.Accept("overwritten");
    image_.buffers.push_back(std::move(buffer));
    return OkStatus();
  }

  Status Phase() {
    EMBER_RETURN_IF_ERROR(lexer_.Expect("tasks"));
    EMBER_ASSIGN_OR_RETURN(image_.phases.emplace_back(), Value());
    if (lexer_.Accept("iterations")) {
      EMBER_ASSIGN_OR_RETURN(image_.iterations.emplace_back(), Value());
    }
    return OkStatus();
  }

  StatusOr<DevicePhase> Device() {
    DevicePhase phase;
    EMBER_ASSIGN_OR_RETURN(phase.entry_point, Text("a name"));
    for (const auto& [name, number] :
         {std::pair("workgroup", &phase.invocations),
          std::pair("tasks", &phase.tasks_per_workgroup),
          std::pair("shared", &phase.shared_bytes)}) {
      if (!lexer_.Accept(name)) continue;
      EMBER_ASSIGN_OR_RETURN(*number, Small("a number"));
    }
    if (lexer_.Accept("iterations")) {
      EMBER_ASSIGN_OR_RETURN(phase.most_iterations,
                             lexer_.ExpectInteger("a number"));
    }
    if (lexer_.Accept("workgroups")) {
      EMBER_ASSIGN_OR_RETURN(phase.most_workgroups, Small("a number"));
    }
    phase.has_checks = lexer_.Accept("checks");
    if (!lexer_.Accept("bindings")) return phase;
    do {
      DevicePhase::Binding& binding = phase.bindings.emplace_back();
      EMBER_ASSIGN_OR_RETURN(binding.buffer, Small("a buffer"));
      binding.is_sliced = lexer_.Accept("sliced");
    } while (lexer_.Peek().kind == Token::kInteger);
    if (!lexer_.Accept("boxes")) return phase;
    do {
      EMBER_ASSIGN_OR_RETURN(phase.boxes.emplace_back(), Box());
    } while (lexer_.Peek().kind == Token::kInteger);
    return phase;
  }

  StatusOr<BoxMap> Box() {
    BoxMap map;
    EMBER_ASSIGN_OR_RETURN(map.binding, Small("a binding"));
    EMBER_ASSIGN_OR_RETURN(map.box, NumbersOfBox());
    if (lexer_.Accept("order")) {
      EMBER_ASSIGN_OR_RETURN(map.order, NumbersOfBox());
    }
    map.is_swizzled = lexer_.Accept("swizzled");
    return map;
  }

  StatusOr<std::vector<uint32_t>> NumbersOfBox() {
    std::vector<uint32_t> numbers;
    EMBER_RETURN_IF_ERROR(lexer_.Expect("["));
    do {
      EMBER_ASSIGN_OR_RETURN(numbers.emplace_back(), Small("a number"));
    } while (lexer_.Accept(","));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("]"));
    return numbers;
  }

  Status Code() {
    // The name of a format is read token by token, because names such as
    // machine-code consist of several tokens.
    const Token first = lexer_.Peek();
    std::string format;
    while (lexer_.Peek().kind == Token::kIdentifier || lexer_.Peek().Is("-")) {
      if (lexer_.Peek().Is("align")) break;
      format += lexer_.Next().text;
    }
    size_t row = 0;
    while (row < std::size(kKernelFormats) &&
           format != kKernelFormats[row].text)
      ++row;
    if (row == std::size(kKernelFormats))
      return ErrorAt(first, "expected a format of code");
    KernelCode& code = image_.code;
    code.format = static_cast<KernelFormat>(row);
    EMBER_RETURN_IF_ERROR(lexer_.Expect("align"));
    EMBER_ASSIGN_OR_RETURN(code.alignment, Small("an alignment"));
    EMBER_RETURN_IF_ERROR(lexer_.Expect("entries"));
    while (lexer_.Peek().kind == Token::kInteger) {
      EMBER_ASSIGN_OR_RETURN(code.entries.emplace_back(), Small("an offset"));
    }
    EMBER_RETURN_IF_ERROR(lexer_.Expect("{"));
    while (lexer_.Accept("device")) {
      EMBER_ASSIGN_OR_RETURN(code.device.emplace_back(), Device());
    }
    auto bytes = std::make_shared<std::vector<uint8_t>>();
    while (lexer_.Peek().kind == Token::kString)
      EMBER_RETURN_IF_ERROR(Digits(*bytes));
    code.bytes = *bytes;
    code.owner = std::move(bytes);
    return lexer_.Expect("}");
  }

  Status Digits(std::vector<uint8_t>& bytes) {
    const Token token = lexer_.Next();
    EMBER_ASSIGN_OR_RETURN(const std::string digits, StringValue(token));
    for (size_t i = 0; i < digits.size(); i += 2) {
      uint8_t byte = 0;
      const char* const begin = digits.data() + i;
      const auto [at, error] = std::from_chars(
          begin, begin + std::min<size_t>(2, digits.size() - i), byte, 16);
      if (error != std::errc() || at != begin + 2)
        return ErrorAt(token, "expected pairs of hexadecimal digits");
      bytes.push_back(byte);
    }
    return OkStatus();
  }

  Lexer lexer_;
  KernelImage image_;
};

}  // namespace

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t value : shape) {
    if (!text.empty()) text += ", ";
    text += value == tensor::kOpenParameter ? "open" : std::to_string(value);
  }
  return text;
}

std::string PrintKernelImage(const KernelImage& image, bool with_code) {
  Printer printer;
  printer.Line("kernel ", QuoteString(image.dispatch), " for ",
               QuoteString(image.target), " {");
  {
    const Printer::Indent indent(printer);
    printer.Line("tier ", image.tier);
    if (image.error_growth != 1)
      printer.Line("error_growth ", NumberText(image.error_growth));
    if (image.parameter_count != 0)
      printer.Line("parameters ", image.parameter_count);
    if (!image.shape.empty()) {
      printer.Line("shape [", ShapeText(image.shape), "]");
    }
    for (size_t i = 0; i < image.formulas.size(); ++i)
      PrintFormula(printer, i, image.formulas[i]);
    for (const KernelBuffer& buffer : image.buffers)
      PrintBuffer(printer, buffer);
    for (size_t i = 0; i < image.phases.size(); ++i) {
      printer.Print(i < image.prologue_count ? "prologue" : "phase", " tasks %",
                    image.phases[i]);
      if (i < image.iterations.size())
        printer.Print(" iterations %", image.iterations[i]);
      printer.EndLine();
    }
    const KernelCode& code = image.code;
    printer.Print("code ",
                  kKernelFormats[static_cast<size_t>(code.format)].text,
                  " align ", code.alignment, " entries");
    for (const uint32_t entry : code.entries) printer.Print(" ", entry);
    printer.Line(" {");
    const Printer::Indent inner(printer);
    for (const DevicePhase& phase : code.device)
      PrintDevicePhase(printer, phase);
    if (with_code) {
      PrintBytes(printer, code.bytes);
    } else {
      printer.Line("// ", code.bytes.size(), " bytes");
    }
  }
  printer.Line("  }");
  printer.Line("}");
  return std::move(printer).Take();
}

StatusOr<KernelImage> ParseKernelImage(std::string_view text) {
  return Parser(text).Run();
}

}  // namespace ember::vm
