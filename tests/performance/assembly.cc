#include "tests/performance/assembly.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>

namespace ember::tests {
namespace {

bool StartsWithAny(std::string_view text,
                   std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(
      beginnings, [&](std::string_view b) { return text.starts_with(b); });
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Splits operands at commas outside brackets.
std::vector<std::string> SplitOperands(std::string_view text) {
  std::vector<std::string> operands;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size()) {
      const char c = text[i];
      depth += c == '(' || c == '[' || c == '{';
      depth -= c == ')' || c == ']' || c == '}';
      if (c != ',' || depth > 0) continue;
    }
    const std::string_view operand = Trim(text.substr(begin, i - begin));
    if (!operand.empty()) operands.emplace_back(operand);
    begin = i + 1;
  }
  return operands;
}

// --- x86-64

// Returns the 64-bit name of a general register; "" for other names.
std::string GeneralRegister(std::string_view name) {
  static const std::map<std::string, std::string, std::less<>> names = [] {
    std::map<std::string, std::string, std::less<>> result;
    for (const std::string letter : {"a", "b", "c", "d"}) {
      for (const std::string& form : {"r" + letter + "x", "e" + letter + "x",
                                      letter + "x", letter + "l", letter + "h"})
        result[form] = "r" + letter + "x";
    }
    for (const std::string name : {"si", "di", "bp", "sp"}) {
      for (const std::string& form : {"r" + name, "e" + name, name, name + "l"})
        result[form] = "r" + name;
    }
    for (int i = 8; i < 16; ++i) {
      const std::string name = "r" + std::to_string(i);
      for (const char* suffix : {"", "d", "w", "b"})
        result[name + suffix] = name;
    }
    return result;
  }();
  const auto found = names.find(name);
  return found == names.end() ? "" : found->second;
}

int VectorBytes(std::string_view operand) {
  if (operand.starts_with("%zmm")) return 64;
  if (operand.starts_with("%ymm")) return 32;
  if (operand.starts_with("%xmm")) return 16;
  return 0;
}

// Parses an access of memory such as "8(%rax,%rcx,4)", which may be followed by
// "{1to16}" or "{%k1}".
std::optional<MemoryAccess> X86Access(std::string_view operand) {
  const size_t open = operand.find('(');
  if (open == std::string_view::npos) return std::nullopt;
  MemoryAccess access;
  const std::string before(operand.substr(0, open));
  char* end = nullptr;
  access.offset = std::strtoll(before.c_str(), &end, 0);
  if (*end != 0) {
    // The text before the parentheses is no number but contains a symbol. It
    // becomes the first part of the base, before the register's name.
    access.base = before;
    access.offset = 0;
  }
  const std::string_view inside =
      operand.substr(open + 1, operand.find(')') - open - 1);
  const std::vector<std::string> parts = SplitOperands(inside);
  const auto name = [](const std::string& part) {
    return part.starts_with("%") ? part.substr(1) : part;
  };
  if (inside.starts_with(",")) {
    access.index = name(parts[0]) + "*" + (parts.size() > 1 ? parts[1] : "1");
    return access;
  }
  if (!parts.empty()) access.base += name(parts[0]);
  if (parts.size() > 1)
    access.index = name(parts[1]) + "*" + (parts.size() > 2 ? parts[2] : "1");
  access.is_gather = access.index.starts_with("xmm") ||
                     access.index.starts_with("ymm") ||
                     access.index.starts_with("zmm");
  return access;
}

int64_t X86Bytes(const Instruction& instruction, std::string_view operand) {
  const std::string& name = instruction.name;
  const auto has = [&](const char* part) {
    return name.find(part) != std::string::npos;
  };
  const int vector = instruction.vector_bytes;
  if (operand.find("{1to") != std::string_view::npos)
    return name.ends_with("d") && !name.ends_with("pd")       ? 4
           : name.ends_with("ps") || name.ends_with("bf16ps") ? 4
                                                              : 8;
  if (has("128") || has("32x4") || has("64x2") || has("i128")) return 16;
  if (has("64x4") || has("32x8")) return 32;
  if (has("broadcastss") || name == "vpbroadcastd") return 4;
  if (has("broadcastsd") || name == "vpbroadcastq") return 8;
  if (has("broadcastb")) return 1;
  if (has("broadcastw")) return 2;
  for (const char* widening : {"pmovzx", "pmovsx"}) {
    const size_t at = name.find(widening);
    if (at == std::string::npos || at + 8 > name.size()) continue;
    const auto size = [](char c) {
      return c == 'b' ? 1 : c == 'w' ? 2 : c == 'd' ? 4 : 8;
    };
    return vector * size(name[at + 6]) / size(name[at + 7]);
  }
  if (has("cvtph2ps") || has("cvtps2pd") || has("cvtdq2pd")) return vector / 2;
  if (has("cvtps2ph")) return vector / 2;
  if (has("pinsrb") || has("pextrb")) return 1;
  if (has("pinsrw") || has("pextrw")) return 2;
  if (has("insertps") || has("extractps") || has("pinsrd") || has("pextrd") ||
      name.ends_with("ss") || name == "vmovd" || name == "movd")
    return 4;
  if (has("pinsrq") || has("pextrq") || has("movhp") || has("movlp") ||
      name.ends_with("sd") || name == "vmovq" || name == "movq" ||
      has("movddup"))
    return vector > 0 && !has("movddup") ? 8
           : has("movddup")              ? (vector == 16 ? 8 : vector)
                                         : 8;
  if (vector > 0) return vector;
  if (StartsWithAny(name, {"movz", "movs"}) && name.size() >= 6)
    return name[4] == 'b' ? 1 : name[4] == 'w' ? 2 : 4;
  switch (name.empty() ? 'q' : name.back()) {
    case 'b':
      return 1;
    case 'w':
      return 2;
    case 'l':
      return 4;
    default:
      return 8;
  }
}

void DescribeX86(Instruction& instruction) {
  const std::string& name = instruction.name;
  const std::vector<std::string>& operands = instruction.operands;
  for (const std::string& operand : operands)
    instruction.vector_bytes =
        std::max(instruction.vector_bytes, VectorBytes(operand));
  const bool is_vector = instruction.vector_bytes > 0;
  const bool is_float_name = name.ends_with("ps") || name.ends_with("pd") ||
                             name.ends_with("ss") || name.ends_with("sd");
  instruction.is_float_arithmetic =
      is_vector && is_float_name &&
      StartsWithAny(
          name, {"vadd", "vsub", "vmul", "vdiv", "vfm", "vfnm", "vmax", "vmin",
                 "vsqrt", "vdpbf16", "add", "sub", "mul", "div", "max", "min"});
  instruction.is_lane = !name.ends_with("ss") && !name.ends_with("sd");
  const bool compares = StartsWithAny(
      name, {"cmp", "test", "vucomi", "vcomi", "ucomi", "prefetch", "vptest",
             "push", "call", "jmp", "kortest"});
  for (size_t i = 0; i < operands.size(); ++i) {
    std::optional<MemoryAccess> access = X86Access(operands[i]);
    if (!access || name.starts_with("lea") || name.starts_with("prefetch"))
      continue;
    access->bytes = X86Bytes(instruction, operands[i]);
    const bool is_last = i + 1 == operands.size();
    const bool is_move =
        StartsWithAny(name, {"mov", "vmov", "vextract", "vpextr", "vcvtps2ph",
                             "vpmov", "vcompress", "vscatter", "vpscatter",
                             "set", "kmov", "vmaskmov", "vpmaskmov", "vst"});
    access->is_store = is_last && !compares;
    // An instruction that computes in memory, such as "addl $1, (%rax)", also
    // reads what it writes.
    if (access->is_store && !is_move && operands.size() > 0) {
      MemoryAccess read = *access;
      read.is_store = false;
      instruction.accesses.push_back(read);
    }
    instruction.accesses.push_back(*access);
  }
  if (operands.empty() || compares) return;
  const std::string& target = operands.back();
  if (target.starts_with("%")) {
    const std::string general = GeneralRegister(target.substr(1));
    if (!general.empty()) instruction.written.push_back(general);
  }
  // MULX writes two registers; the older instructions write fixed ones.
  if (name.starts_with("mulx") && operands.size() > 1)
    instruction.written.push_back(GeneralRegister(operands[1].substr(1)));
  if (operands.size() == 1 &&
      StartsWithAny(name, {"mul", "imul", "div", "idiv"})) {
    instruction.written.insert(instruction.written.end(), {"rax", "rdx"});
  }
}

// --- AArch64

int NeonBytes(std::string_view operand) {
  if (operand.starts_with("{")) operand.remove_prefix(1);
  operand = Trim(operand);
  if (operand.size() < 2) return 0;
  const bool has_number = operand[1] >= '0' && operand[1] <= '9';
  if (!has_number) return 0;
  switch (operand[0]) {
    case 'q':
      return 16;
    case 'd':
      return 8;
    case 's':
      return 4;
    case 'h':
      return 2;
    case 'b':
      return 1;
    case 'v':
      return operand.find(".8b") != std::string_view::npos ||
                     operand.find(".4h") != std::string_view::npos ||
                     operand.find(".2s") != std::string_view::npos
                 ? 8
                 : 16;
    default:
      return 0;
  }
}

std::string ArmRegister(std::string_view operand) {
  if (operand == "sp") return "sp";
  if (operand.size() < 2 || (operand[0] != 'x' && operand[0] != 'w')) return "";
  return "x" + std::string(operand.substr(1));
}

void DescribeArm(Instruction& instruction) {
  const std::string& name = instruction.name;
  const std::vector<std::string>& operands = instruction.operands;
  bool has_lanes = false;
  for (const std::string& operand : operands) {
    instruction.vector_bytes =
        std::max(instruction.vector_bytes, NeonBytes(operand));
    has_lanes |= operand.starts_with("v") || operand.starts_with("{");
  }
  instruction.is_lane = has_lanes;
  instruction.is_float_arithmetic =
      StartsWithAny(name, {"fadd", "fsub", "fmul", "fdiv", "fmadd", "fmsub",
                           "fmla", "fmls", "fmax", "fmin", "fsqrt", "fnm"});
  const bool is_load = StartsWithAny(name, {"ld"});
  const bool is_store = StartsWithAny(name, {"st"});
  const auto memory = std::ranges::find_if(
      operands, [](const std::string& o) { return o.starts_with("["); });
  if ((is_load || is_store) && memory != operands.end()) {
    MemoryAccess access;
    access.is_store = is_store;
    const std::vector<std::string> parts = SplitOperands(
        std::string_view(*memory).substr(1, memory->find(']') - 1));
    access.base = parts.empty() ? "" : parts[0];
    if (parts.size() > 1 && parts[1].starts_with("#"))
      access.offset = std::strtoll(parts[1].c_str() + 1, nullptr, 0);
    else if (parts.size() > 1)
      access.index = parts[1] + (parts.size() > 2 ? "," + parts[2] : "");
    const auto bytes_of = [&](const std::string& operand) -> int64_t {
      // Returns the bytes of memory for an operand that is one lane of a
      // vector, such as "{ v0.s }[1]". ld1r also loads only one element, which
      // it copies to all lanes.
      if (name.ends_with("r") && name.starts_with("ld1"))
        return operand.find("s") != std::string::npos   ? 4
               : operand.find("d") != std::string::npos ? 8
               : operand.find("h") != std::string::npos ? 2
                                                        : 1;
      if (operand.find("}[") != std::string::npos)
        return operand.find(".s") != std::string::npos   ? 4
               : operand.find(".d") != std::string::npos ? 8
               : operand.find(".h") != std::string::npos ? 2
                                                         : 1;
      if (const int bytes = NeonBytes(operand); bytes > 0) return bytes;
      if (name.ends_with("b")) return 1;
      if (name.ends_with("h")) return 2;
      return operand.starts_with("w") ? 4 : 8;
    };
    const bool is_pair = StartsWithAny(name, {"ldp", "stp", "ldnp", "stnp"});
    access.bytes = bytes_of(operands[0]);
    instruction.accesses.push_back(access);
    if (is_pair) {
      access.offset += access.bytes;
      instruction.accesses.push_back(access);
    }
    // An access with pre-indexing ("!") or post-indexing also changes its base
    // register.
    if (memory->ends_with("!") || memory + 1 != operands.end())
      instruction.written.push_back(access.base);
    if (is_load) {
      for (size_t i = 0; i < (is_pair ? 2u : 1u) && i < operands.size(); ++i) {
        const std::string general = ArmRegister(operands[i]);
        if (!general.empty()) instruction.written.push_back(general);
      }
    }
    return;
  }
  if (operands.empty() || StartsWithAny(name, {"cmp", "tst", "ccmp", "b", "cb",
                                               "tb", "prfm", "fcmp"}))
    return;
  const std::string general = ArmRegister(operands[0]);
  if (!general.empty()) instruction.written.push_back(general);
}

bool IsBranch(std::string_view name, bool is_arm) {
  if (!is_arm) return name.starts_with("j");
  return name == "b" || name.starts_with("b.") ||
         StartsWithAny(name, {"cbz", "cbnz", "tbz", "tbnz"});
}

}  // namespace

std::vector<Function> ParseAssembly(std::string_view text) {
  std::vector<Function> functions;
  // The code is for x86 if it has a name that begins with %r, such as %rsp, and
  // for AArch64 otherwise.
  const bool is_arm = text.find('%') == std::string_view::npos ||
                      text.find("%rsp") == std::string_view::npos;
  const bool has_x86 = text.find("%r") != std::string_view::npos;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    for (const char* comment : {"#", "//"}) {
      // '#' begins a comment on x86 only; in AArch64, "#4" is a number.
      const size_t at = line.find(comment);
      if (at == std::string_view::npos || (comment[0] == '#' && !has_x86))
        continue;
      line = line.substr(0, at);
    }
    if (Trim(line).empty()) continue;
    if (line[0] != '\t' && line[0] != ' ') {
      const std::string label(line.substr(0, line.find(':')));
      const bool is_local = label.starts_with(".L");
      if (!is_local) functions.push_back({label, {}});
      if (!functions.empty())
        functions.back().blocks.push_back({label, {}, ""});
      continue;
    }
    line = Trim(line);
    if (line[0] == '.' || functions.empty()) continue;
    Instruction instruction;
    const size_t space = line.find_first_of(" \t");
    instruction.name = line.substr(0, space);
    if (space != std::string_view::npos)
      instruction.operands = SplitOperands(line.substr(space));
    const bool arm = is_arm && !has_x86;
    if (arm)
      DescribeArm(instruction);
    else
      DescribeX86(instruction);
    Block& block = functions.back().blocks.back();
    const bool is_branch =
        IsBranch(instruction.name, arm) && !instruction.operands.empty();
    if (is_branch) block.target = instruction.operands.back();
    block.instructions.push_back(std::move(instruction));
    // Instructions after a branch may be skipped, so they are another block.
    if (is_branch) functions.back().blocks.emplace_back();
  }
  return functions;
}

std::vector<Loop> InnermostLoops(const std::vector<Function>& functions) {
  std::vector<Loop> loops;
  for (const Function& function : functions) {
    std::map<std::string, size_t> places;
    for (size_t i = 0; i < function.blocks.size(); ++i) {
      if (!function.blocks[i].label.empty())
        places[function.blocks[i].label] = i;
    }
    // For each backward jump: the first and the last block of the loop that it
    // closes.
    std::vector<std::pair<size_t, size_t>> ranges;
    for (size_t i = 0; i < function.blocks.size(); ++i) {
      const auto place = places.find(function.blocks[i].target);
      if (place != places.end() && place->second <= i)
        ranges.push_back({place->second, i});
    }
    std::ranges::sort(ranges);
    const auto [first, last] = std::ranges::unique(ranges);
    ranges.erase(first, last);
    for (const auto& range : ranges) {
      const bool has_inner = std::ranges::any_of(ranges, [&](const auto& r) {
        return r != range && r.first >= range.first && r.second <= range.second;
      });
      if (has_inner) continue;
      Loop loop;
      for (size_t i = range.first; i <= range.second; ++i)
        loop.insert(loop.end(), function.blocks[i].instructions.begin(),
                    function.blocks[i].instructions.end());
      loops.push_back(std::move(loop));
    }
  }
  return loops;
}

bool IsOnStack(const MemoryAccess& access) {
  return access.base == "rsp" || access.base == "sp";
}

}  // namespace ember::tests
