#include "jit/llvm/objects/flat_code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/rounding.h"
#include "jit/llvm/objects/wasm_module.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/TargetParser/Triple.h"

namespace ember::jit::llvm_ir {
namespace {

namespace elf = llvm::ELF;
using llvm::object::ELFSectionRef;
using llvm::object::SectionRef;

constexpr uint32_t kPage = 4096;

// The kinds of values that relocations write, and the bits that receive them. S
// is the address of the symbol, A the addend, and P the address of the written
// bytes.
enum class Fixup : uint8_t {
  kNone,
  kRelative32,  // the distance S + A - P, in 4 bytes
  kRelative64,  // the distance S + A - P, in 8 bytes
  kBranch26,    // AArch64 branch: (S + A - P) / 4, in 26 bits
  // AArch64 branch or literal load: (S + A - P) / 4, in bits 5..23
  kBranch19,
  kBranch14,   // AArch64 branch: (S + A - P) / 4, in bits 5..18
  kAddress21,  // AArch64 ADR: S + A - P, in 21 bits
  // AArch64 ADRP: distance in pages from the page of P to that of S + A.
  kPage21,
  // AArch64: the offset of S + A in its page, as an immediate operand.
  kPageOffset12,
  // AArch64: the offset of S + A in its page, in units of 2, 4, 8 or 16 bytes
  kPageOffset12x2,
  kPageOffset12x4,
  kPageOffset12x8,
  kPageOffset12x16,
  kArmBranch24,  // Arm: (S + A - P) / 4, in 24 bits; the instruction contains A
  kArmRelative32,
  // Arm: the lower half of S + A - P, in a MOVW instruction, which contains A.
  kArmMoveLow,
  kArmMoveHigh,
};

struct Row {
  llvm::Triple::ArchType machine;
  uint64_t type;
  Fixup fixup;
};

// The relocations that occur in position-independent kernels.
constexpr Row kRows[] = {
    {llvm::Triple::x86_64, elf::R_X86_64_PC32, Fixup::kRelative32},
    {llvm::Triple::x86_64, elf::R_X86_64_PLT32, Fixup::kRelative32},
    {llvm::Triple::x86_64, elf::R_X86_64_PC64, Fixup::kRelative64},
    {llvm::Triple::aarch64, elf::R_AARCH64_PREL32, Fixup::kRelative32},
    {llvm::Triple::aarch64, elf::R_AARCH64_PREL64, Fixup::kRelative64},
    {llvm::Triple::aarch64, elf::R_AARCH64_CALL26, Fixup::kBranch26},
    {llvm::Triple::aarch64, elf::R_AARCH64_JUMP26, Fixup::kBranch26},
    {llvm::Triple::aarch64, elf::R_AARCH64_CONDBR19, Fixup::kBranch19},
    {llvm::Triple::aarch64, elf::R_AARCH64_LD_PREL_LO19, Fixup::kBranch19},
    {llvm::Triple::aarch64, elf::R_AARCH64_TSTBR14, Fixup::kBranch14},
    {llvm::Triple::aarch64, elf::R_AARCH64_ADR_PREL_LO21, Fixup::kAddress21},
    {llvm::Triple::aarch64, elf::R_AARCH64_ADR_PREL_PG_HI21, Fixup::kPage21},
    {llvm::Triple::aarch64, elf::R_AARCH64_ADD_ABS_LO12_NC,
     Fixup::kPageOffset12},
    {llvm::Triple::aarch64, elf::R_AARCH64_LDST8_ABS_LO12_NC,
     Fixup::kPageOffset12},
    {llvm::Triple::aarch64, elf::R_AARCH64_LDST16_ABS_LO12_NC,
     Fixup::kPageOffset12x2},
    {llvm::Triple::aarch64, elf::R_AARCH64_LDST32_ABS_LO12_NC,
     Fixup::kPageOffset12x4},
    {llvm::Triple::aarch64, elf::R_AARCH64_LDST64_ABS_LO12_NC,
     Fixup::kPageOffset12x8},
    {llvm::Triple::aarch64, elf::R_AARCH64_LDST128_ABS_LO12_NC,
     Fixup::kPageOffset12x16},
    {llvm::Triple::arm, elf::R_ARM_CALL, Fixup::kArmBranch24},
    {llvm::Triple::arm, elf::R_ARM_JUMP24, Fixup::kArmBranch24},
    {llvm::Triple::arm, elf::R_ARM_REL32, Fixup::kArmRelative32},
    {llvm::Triple::arm, elf::R_ARM_MOVW_PREL_NC, Fixup::kArmMoveLow},
    {llvm::Triple::arm, elf::R_ARM_MOVT_PREL, Fixup::kArmMoveHigh},
};

Fixup FixupOf(llvm::Triple::ArchType machine, uint64_t type) {
  for (const Row& row : kRows) {
    if (row.machine == machine && row.type == type) return row.fixup;
  }
  return Fixup::kNone;
}

bool Fits(int64_t value, int bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  return value >= -limit && value < limit;
}

// Returns the word with the low `bits` bits of `value` in bits `at` to `at` +
// `bits` - 1.
uint32_t Insert(uint32_t word, int64_t value, int at, int bits) {
  const uint32_t mask = ((uint32_t{1} << bits) - 1) << at;
  return (word & ~mask) | ((static_cast<uint32_t>(value) << at) & mask);
}

// Returns a MOVW or MOVT instruction with `value` as its 16-bit operand, which
// is encoded in bits 16..19 (imm4) and 0..11 (imm12).
uint32_t InsertMove(uint32_t word, int64_t value) {
  return Insert(Insert(word, value >> 12, 16, 4), value, 0, 12);
}
int64_t MoveAddend(uint32_t word) {
  return static_cast<int16_t>(((word >> 4) & 0xf000) | (word & 0xfff));
}

// Returns an instruction whose immediate is the offset of `target` in its page.
// The offset is encoded in units of 2^shift; returns nullopt if it is no
// multiple of that.
std::optional<uint32_t> InsertPageOffset(uint32_t word, int64_t target,
                                         int shift) {
  const int64_t offset = target & (kPage - 1);
  if ((offset & ((1 << shift) - 1)) != 0) return std::nullopt;
  return Insert(word, offset >> shift, 10, 12);
}

// Returns an instruction with a branch distance or address in units of 4 bytes,
// encoded in `bits` bits from bit `at` on; nullopt if it does not fit.
std::optional<uint32_t> InsertDistance(uint32_t word, int64_t distance, int at,
                                       int bits) {
  if (distance % 4 != 0 || !Fits(distance / 4, bits)) return std::nullopt;
  return Insert(word, distance / 4, at, bits);
}

// Returns the word with the relocation applied, or nullopt if the distance does
// not fit or the relocation writes 8 bytes. `symbol` is S, `addend` is A if the
// object file stores it outside of the word, and `place` is P.
std::optional<uint32_t> Apply(Fixup fixup, uint32_t word, int64_t symbol,
                              int64_t addend, int64_t place) {
  const int64_t target = symbol + addend;
  const int64_t distance = target - place;
  switch (fixup) {
    case Fixup::kNone:
    case Fixup::kRelative64:
      return std::nullopt;
    case Fixup::kRelative32:
      if (!Fits(distance, 32)) return std::nullopt;
      return static_cast<uint32_t>(distance);
    case Fixup::kBranch26:
      return InsertDistance(word, distance, 0, 26);
    case Fixup::kBranch19:
      return InsertDistance(word, distance, 5, 19);
    case Fixup::kBranch14:
      return InsertDistance(word, distance, 5, 14);
    case Fixup::kAddress21:
    case Fixup::kPage21: {
      const int64_t value = fixup == Fixup::kAddress21
                                ? distance
                                : (target >> 12) - (place >> 12);
      if (!Fits(value, 21)) return std::nullopt;
      return Insert(Insert(word, value, 29, 2), value >> 2, 5, 19);
    }
    case Fixup::kPageOffset12:
      return InsertPageOffset(word, target, 0);
    case Fixup::kPageOffset12x2:
      return InsertPageOffset(word, target, 1);
    case Fixup::kPageOffset12x4:
      return InsertPageOffset(word, target, 2);
    case Fixup::kPageOffset12x8:
      return InsertPageOffset(word, target, 3);
    case Fixup::kPageOffset12x16:
      return InsertPageOffset(word, target, 4);
    case Fixup::kArmBranch24: {
      // The branch contains A in bits 0..23, in units of 4 bytes.
      const int64_t own = static_cast<int32_t>(word << 8) >> 6;
      return InsertDistance(word, symbol + own - place, 0, 24);
    }
    case Fixup::kArmRelative32:
      return static_cast<uint32_t>(symbol + static_cast<int32_t>(word) - place);
    case Fixup::kArmMoveLow:
      return InsertMove(word, symbol + MoveAddend(word) - place);
    case Fixup::kArmMoveHigh:
      return InsertMove(word, (symbol + MoveAddend(word) - place) >> 16);
  }
  return std::nullopt;
}

Status Unexpected(std::string_view what, std::string_view found) {
  return InternalError(
      Concat({"kernel: expected an object file of one kernel, found ", what,
              " '", found, "'"}));
}

// True if kernels need the section: it is loaded (SHF_ALLOC), and it is neither
// an unwind table nor a note, which have that flag, too.
bool IsNeeded(const SectionRef& section, llvm::StringRef name) {
  return (ELFSectionRef(section).getFlags() & elf::SHF_ALLOC) != 0 &&
         section.getSize() > 0 && !name.starts_with(".eh_frame") &&
         !name.starts_with(".ARM.ex") && !name.starts_with(".note");
}

class Flattener {
 public:
  explicit Flattener(const llvm::object::ObjectFile& file)
      : file_(file), machine_(file.getArch()) {}

  Status Run(std::span<const std::string> symbols) {
    for (const SectionRef& section : file_.sections())
      EMBER_RETURN_IF_ERROR(Place(section));
    for (const SectionRef& section : file_.sections())
      EMBER_RETURN_IF_ERROR(Relocate(section));
    std::map<std::string, int64_t> addresses;
    for (const llvm::object::SymbolRef& symbol : file_.symbols()) {
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      if (!name) return Unexpected("a symbol", toString(name.takeError()));
      const std::optional<int64_t> address = AddressOf(symbol);
      if (address) addresses[name->str()] = *address;
    }
    for (const std::string& symbol : symbols) {
      const auto found = addresses.find(symbol);
      if (found == addresses.end()) return Unexpected("no symbol", symbol);
      entries_.push_back(static_cast<uint32_t>(found->second));
    }
    return OkStatus();
  }

  vm::KernelCode Take() && {
    auto bytes = std::make_shared<std::vector<uint8_t>>(std::move(bytes_));
    vm::KernelCode code;
    code.alignment = alignment_;
    code.entries = std::move(entries_);
    code.bytes = *bytes;
    code.owner = std::move(bytes);
    return code;
  }

 private:
  Status Place(const SectionRef& section) {
    llvm::Expected<llvm::StringRef> name = section.getName();
    if (!name) return Unexpected("a section", toString(name.takeError()));
    if (!IsNeeded(section, *name)) return OkStatus();
    if ((ELFSectionRef(section).getFlags() & elf::SHF_WRITE) != 0 ||
        section.isBSS())
      return Unexpected("variables in section", std::string_view(*name));
    llvm::Expected<llvm::StringRef> contents = section.getContents();
    if (!contents) return Unexpected("section", std::string_view(*name));
    const auto alignment =
        static_cast<uint32_t>(section.getAlignment().value());
    alignment_ = std::max(alignment_, alignment);
    bytes_.resize(RoundUp(bytes_.size(), alignment));
    offsets_[section.getIndex()] = static_cast<int64_t>(bytes_.size());
    bytes_.insert(bytes_.end(), contents->begin(), contents->end());
    return OkStatus();
  }

  // Returns the symbol's offset in the joined bytes; nullopt if its section is
  // not among them.
  std::optional<int64_t> AddressOf(const llvm::object::SymbolRef& symbol) {
    llvm::Expected<llvm::object::section_iterator> section =
        symbol.getSection();
    llvm::Expected<uint64_t> value = symbol.getValue();
    if (!section || !value || *section == file_.section_end()) {
      if (!section) llvm::consumeError(section.takeError());
      if (!value) llvm::consumeError(value.takeError());
      return std::nullopt;
    }
    const auto found = offsets_.find((*section)->getIndex());
    if (found == offsets_.end()) return std::nullopt;
    return found->second + static_cast<int64_t>(*value);
  }

  // Applies the relocations that a section of the object file lists. They
  // belong to another section, which is left out if kernels do not need it.
  Status Relocate(const SectionRef& relocations) {
    llvm::Expected<llvm::object::section_iterator> section =
        relocations.getRelocatedSection();
    if (!section) return Unexpected("section", toString(section.takeError()));
    if (*section == file_.section_end()) return OkStatus();
    const auto found = offsets_.find((*section)->getIndex());
    if (found == offsets_.end()) return OkStatus();
    for (const llvm::object::RelocationRef& relocation :
         relocations.relocations())
      EMBER_RETURN_IF_ERROR(Relocate(relocation, found->second));
    return OkStatus();
  }

  Status Relocate(const llvm::object::RelocationRef& relocation,
                  int64_t section) {
    llvm::SmallString<32> text;
    relocation.getTypeName(text);
    const std::string name(text);
    const Fixup fixup = FixupOf(machine_, relocation.getType());
    if (fixup == Fixup::kNone) return Unexpected("relocation", name);
    if (fixup == Fixup::kPage21) alignment_ = std::max(alignment_, kPage);
    const llvm::object::symbol_iterator symbol = relocation.getSymbol();
    std::optional<int64_t> address;
    if (symbol != file_.symbol_end()) address = AddressOf(*symbol);
    const int64_t place =
        section + static_cast<int64_t>(relocation.getOffset());
    const int64_t width = fixup == Fixup::kRelative64 ? 8 : 4;
    if (!address || place + width > static_cast<int64_t>(bytes_.size()))
      return Unexpected("relocation to nowhere", name);
    int64_t addend = 0;
    if (machine_ != llvm::Triple::arm) {
      llvm::Expected<int64_t> stored =
          llvm::object::ELFRelocationRef(relocation).getAddend();
      if (!stored)
        return Unexpected("relocation", toString(stored.takeError()));
      addend = *stored;
    }
    uint8_t* const at = bytes_.data() + place;
    if (fixup == Fixup::kRelative64) {
      const int64_t distance = *address + addend - place;
      std::memcpy(at, &distance, sizeof distance);
      return OkStatus();
    }
    uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    const std::optional<uint32_t> fixed =
        Apply(fixup, word, *address, addend, place);
    if (!fixed) return Unexpected("relocation too far", name);
    std::memcpy(at, &*fixed, sizeof word);
    return OkStatus();
  }

  const llvm::object::ObjectFile& file_;
  const llvm::Triple::ArchType machine_;
  std::vector<uint8_t> bytes_;
  uint32_t alignment_ = 16;
  // the offset of each section in bytes_; key: the section's number
  std::map<uint64_t, int64_t> offsets_;
  std::vector<uint32_t> entries_;
};

}  // namespace

StatusOr<vm::KernelCode> FlattenObject(std::string_view object,
                                       std::span<const std::string> symbols) {
  if (IsWasmObject(object)) return WasmModuleOf(object, symbols);
  auto file =
      llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(
          llvm::StringRef(object.data(), object.size()), "kernel"));
  if (!file) return Unexpected("a file", toString(file.takeError()));
  Flattener flattener(**file);
  EMBER_RETURN_IF_ERROR(flattener.Run(symbols));
  return std::move(flattener).Take();
}

}  // namespace ember::jit::llvm_ir
