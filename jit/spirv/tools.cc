#include "jit/spirv/tools.h"

#include <algorithm>
#include <cstring>
#include <spirv-tools/libspirv.hpp>
#include <spirv/unified1/spirv.hpp11>
#include <string_view>
#include <vector>

#include "base/concat.h"
#include "jit/spirv/cooperative_matrix.h"

namespace ember::jit::spirv {
namespace {

constexpr spv_target_env kEnvironment = SPV_ENV_VULKAN_1_2;
constexpr size_t kHeaderWords = 5;

// An instruction that the linked SPIRV-Tools may be too old to know. has_type
// and has_result say if its operands begin with a type and a result.
struct NewInstruction {
  spv::Op op;
  const char* name;
  bool has_type;
  bool has_result;
};
constexpr NewInstruction kNewInstructions[] = {
    {kOpTypeMatrix, "OpTypeCooperativeMatrixKHR", false, true},
    {kOpMatrixLoad, "OpCooperativeMatrixLoadKHR", true, true},
    {kOpMatrixStore, "OpCooperativeMatrixStoreKHR", false, false},
    {kOpMatrixMulAdd, "OpCooperativeMatrixMulAddKHR", true, true},
};

// Calls visit(op, operands) for each instruction of the module, up to an
// instruction that is cut off by the module's end.
template <typename Visit>
void ForEachInstruction(std::span<const uint32_t> words, Visit&& visit) {
  for (size_t at = kHeaderWords; at < words.size();) {
    const size_t length = words[at] >> spv::WordCountShift;
    if (length == 0 || length > words.size() - at) return;
    visit(static_cast<spv::Op>(words[at] & spv::OpCodeMask),
          words.subspan(at + 1, length - 1));
    at += length;
  }
}

bool IsMatrixCapability(spv::Op op, std::span<const uint32_t> operands) {
  return op == spv::Op::OpCapability && operands.size() == 1 &&
         operands[0] == static_cast<uint32_t>(kMatrixCapability);
}

bool HasMatrices(std::span<const uint32_t> words) {
  bool has_them = false;
  ForEachInstruction(words,
                     [&](spv::Op op, std::span<const uint32_t> operands) {
                       has_them |= IsMatrixCapability(op, operands);
                     });
  return has_them;
}

// Returns the instruction as text if old versions of SPIRV-Tools may not know
// it; otherwise empty. All operands are ids, except for the optional last one
// of loads, stores and products, which is a mask.
std::string TextOf(spv::Op op, std::span<const uint32_t> operands) {
  if (IsMatrixCapability(op, operands))
    return "OpCapability CooperativeMatrixKHR";
  const auto* const known =
      std::ranges::find(kNewInstructions, op, &NewInstruction::op);
  if (known == std::end(kNewInstructions)) return "";
  const size_t ids = op == kOpMatrixStore ? 4 : 5;
  std::string text;
  size_t next = 0;
  if (known->has_result && operands.size() > (known->has_type ? 1u : 0u))
    text = Concat({"%", operands[known->has_type ? 1 : 0], " = "});
  text += known->name;
  if (known->has_type && !operands.empty()) text += Concat({" %", operands[0]});
  next = known->has_result ? (known->has_type ? 2 : 1) : 0;
  for (; next < operands.size(); ++next) {
    const bool is_id = op == kOpTypeMatrix || next < ids;
    text += Concat({is_id ? " %" : " ", operands[next]});
  }
  return text;
}

constexpr std::string_view kMark = "OpModuleProcessed";

// Replaces each instruction that SPIRV-Tools may not know by an
// OpModuleProcessed whose string is the instruction's text.
std::vector<uint32_t> WithTexts(std::span<const uint32_t> words) {
  std::vector<uint32_t> result(words.begin(), words.begin() + kHeaderWords);
  ForEachInstruction(
      words, [&](spv::Op op, std::span<const uint32_t> operands) {
        const std::string text = TextOf(op, operands);
        std::vector<uint32_t> literal(text.size() / 4 + 1, 0);
        std::memcpy(literal.data(), text.data(), text.size());
        if (!text.empty()) {
          op = spv::Op::OpModuleProcessed;
          operands = literal;
        }
        result.push_back(static_cast<uint32_t>(operands.size() + 1)
                             << spv::WordCountShift |
                         static_cast<uint32_t>(op));
        result.insert(result.end(), operands.begin(), operands.end());
      });
  return result;
}

// Undoes WithTexts in a disassembly: replaces each OpModuleProcessed by the
// text that it contains.
std::string WithoutMarks(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const size_t mark = line.find(kMark);
    if (mark != std::string_view::npos) {
      result += line.substr(0, mark);
      line.remove_prefix(mark + kMark.size());
      for (char c : line) {
        if (c != '"') result += c;
      }
      continue;
    }
    result += line;
  }
  return result;
}

// Returns the disassembly of the module; if that fails, returns "" and appends
// the messages to `log`.
std::string Disassemble(std::span<const uint32_t> words, uint32_t options,
                        std::string& log) {
  spvtools::SpirvTools tools(kEnvironment);
  std::string text;
  tools.SetMessageConsumer([&](spv_message_level_t, const char*,
                               const spv_position_t&, const char* message) {
    log += message;
    log += '\n';
  });
  const bool works =
      tools.Disassemble(words.data(), words.size(), &text,
                        options | SPV_BINARY_TO_TEXT_OPTION_INDENT);
  return works ? text : "";
}

}  // namespace

Status ValidateModule(std::span<const uint32_t> words) {
  spvtools::SpirvTools tools(kEnvironment);
  std::string log;
  // Only the first message is kept, which says what is wrong.
  tools.SetMessageConsumer([&](spv_message_level_t, const char*,
                               const spv_position_t&, const char* message) {
    if (log.empty()) log = message;
  });
  if (tools.Validate(words.data(), words.size())) return OkStatus();
  std::string unused;
  if (HasMatrices(words) &&
      Disassemble(words, SPV_BINARY_TO_TEXT_OPTION_NONE, unused).empty()) {
    return UnimplementedError(
        Concat({"SPIR-V module: it has cooperative matrices, which this "
                "SPIRV-Tools does not know (",
                log, "); a spirv-val of 2023.4 or newer does"}));
  }
  return InternalError(Concat({"SPIR-V module: ", log}));
}

std::string DisassembleModule(std::span<const uint32_t> words) {
  std::string log;
  std::string text =
      Disassemble(words, SPV_BINARY_TO_TEXT_OPTION_FRIENDLY_NAMES, log);
  if (!text.empty() || !HasMatrices(words)) return text.empty() ? log : text;
  text = Disassemble(WithTexts(words), SPV_BINARY_TO_TEXT_OPTION_NONE, log);
  if (text.empty()) return log;
  return "; Cooperative matrices are newer than this SPIRV-Tools: ids have "
         "numbers here.\n; spirv-dis of 2023.4 or newer prints their names.\n" +
         WithoutMarks(text);
}

}  // namespace ember::jit::spirv
