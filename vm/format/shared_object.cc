#include "vm/format/shared_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/atomic_file_writer.h"
#include "base/concat.h"
#include "base/rounding.h"

namespace ember::vm {
namespace {

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Section = Elf32_Shdr;
  using Symbol = Elf32_Sym;
  using Dynamic = Elf32_Dyn;
  static constexpr uint8_t kClass = ELFCLASS32;
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Section = Elf64_Shdr;
  using Symbol = Elf64_Sym;
  using Dynamic = Elf64_Dyn;
  static constexpr uint8_t kClass = ELFCLASS64;
  static constexpr uint64_t kMaxBytes = uint64_t{1} << 46;
};

struct Machine {
  uint16_t number;
  uint32_t flags;
  uint64_t page;  // largest page size in bytes of systems with this processor
};

Machine MachineOf(ElfMachine machine) {
  switch (machine) {
    case ElfMachine::kX86_64:
      return {EM_X86_64, 0, 0x4000};
    case ElfMachine::kAarch64:
      return {EM_AARCH64, 0, 0x10000};
    case ElfMachine::kArm:
      // The ELF flags leave open how floats are passed to functions, because
      // kernels have no float arguments.
      return {EM_ARM, EF_ARM_EABI_VER5, 0x4000};
  }
  return {};
}

enum SectionNumber : uint32_t {
  kNull,
  kDynSym,
  kDynStr,
  kHash,
  kRodata,
  kText,
  kDynamic,
  kShStrTab,
  kSectionCount
};
constexpr std::string_view kSectionNames[kSectionCount] = {
    "",        ".dynsym", ".dynstr",  ".hash",
    ".rodata", ".text",   ".dynamic", ".shstrtab"};

template <typename T>
std::span<const uint8_t> BytesOf(const std::vector<T>& items) {
  return {reinterpret_cast<const uint8_t*>(items.data()),
          items.size() * sizeof(T)};
}
std::span<const uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Describes the segments. In the file they follow each other without gaps. In
// memory segment n is moved n pages further, so that no page belongs to two
// segments.
template <typename Elf>
class SharedObject {
 public:
  SharedObject(const NativeLibrary& library, const SharedObjectOptions& options)
      : library_(library),
        options_(options),
        machine_(MachineOf(options.machine)),
        page_(std::max<uint64_t>(machine_.page, library.code_alignment)) {
    LayOut();
    FillHeaders();
    FillDistances();
  }

  uint64_t size() const { return file_size_; }

  Status Write(const std::string& path) const {
    EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
                           AtomicFileWriter::Create(path));
    std::vector<NativeLibrary::Piece> pieces;
    const auto add = [&](uint64_t offset, std::span<const uint8_t> bytes) {
      pieces.push_back({offset, bytes});
    };
    add(0, BytesOf(header_));
    add(sizeof(typename Elf::Header), BytesOf(segments_));
    add(OffsetOf(kDynSym), BytesOf(symbols_));
    add(OffsetOf(kDynStr), BytesOf(strings_));
    add(OffsetOf(kHash), BytesOf(hash_));
    add(OffsetOf(kRodata), table_);
    for (const NativeLibrary::Piece& piece : library_.data)
      add(OffsetOf(kRodata) + piece.offset, piece.bytes);
    for (const NativeLibrary::Piece& piece : library_.code)
      add(OffsetOf(kText) + piece.offset, piece.bytes);
    add(OffsetOf(kDynamic), BytesOf(dynamic_));
    add(OffsetOf(kShStrTab), BytesOf(section_names_));
    add(header_[0].e_shoff, BytesOf(sections_));
    EMBER_RETURN_IF_ERROR(WritePadded(
        std::span<const NativeLibrary::Piece>(pieces), 0, file_size_,
        [&](std::span<const uint8_t> bytes) {
          return writer.Write(
              {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
        }));
    return writer.Commit(Durability::kSurvivesPowerLoss);
  }

 private:
  uint64_t OffsetOf(SectionNumber number) const {
    return sections_[number].sh_offset;
  }
  uint64_t AddressOf(SectionNumber number) const {
    return sections_[number].sh_addr;
  }

  // Places a section at the current end of the file. `segment` is the number of
  // the segment that contains the section, which determines its address in
  // memory.
  void Place(SectionNumber number, uint32_t type, uint64_t flags,
             uint64_t alignment, uint64_t size, uint64_t segment) {
    typename Elf::Section& section = sections_[number];
    file_size_ = RoundUp(file_size_, alignment);
    using Word = decltype(section.sh_offset);
    section.sh_type = type;
    section.sh_flags = static_cast<decltype(section.sh_flags)>(flags);
    section.sh_offset = static_cast<Word>(file_size_);
    if (flags != 0)
      section.sh_addr = static_cast<Word>(file_size_ + segment * page_);
    section.sh_size = static_cast<Word>(size);
    section.sh_addralign = static_cast<Word>(alignment);
    file_size_ += size;
  }

  void LayOut() {
    sections_.resize(kSectionCount);
    segments_.resize(5);
    strings_ = std::string(1, '\0') + options_.symbol + '\0';
    const size_t name = strings_.size();
    if (!options_.name.empty()) strings_ += options_.name + '\0';
    symbols_.resize(2);
    // The hash table of symbols (DT_HASH) has a single bucket, which contains
    // the only symbol.
    hash_ = {1, 2, 1, 0, 0};
    for (size_t i = 0; i < kSectionCount; ++i) {
      sections_[i].sh_name = static_cast<uint32_t>(section_names_.size());
      section_names_ += kSectionNames[i];
      section_names_ += '\0';
    }
    const auto add = [&](int64_t tag, uint64_t value) {
      typename Elf::Dynamic entry = {};
      entry.d_tag = static_cast<decltype(entry.d_tag)>(tag);
      entry.d_un.d_val = static_cast<decltype(entry.d_un.d_val)>(value);
      dynamic_.push_back(entry);
    };
    constexpr uint64_t kWord = alignof(typename Elf::Dynamic);
    file_size_ = sizeof(typename Elf::Header) +
                 segments_.size() * sizeof(typename Elf::Segment);
    Place(kDynSym, SHT_DYNSYM, SHF_ALLOC, kWord,
          symbols_.size() * sizeof(typename Elf::Symbol), 0);
    Place(kDynStr, SHT_STRTAB, SHF_ALLOC, 1, strings_.size(), 0);
    Place(kHash, SHT_HASH, SHF_ALLOC, 4, hash_.size() * sizeof(uint32_t), 0);
    Place(kRodata, SHT_PROGBITS, SHF_ALLOC, library_.data_alignment,
          library_.data_size, 0);
    Place(kText, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
          library_.code_alignment, library_.code_size, 1);
    add(DT_HASH, AddressOf(kHash));
    add(DT_STRTAB, AddressOf(kDynStr));
    add(DT_SYMTAB, AddressOf(kDynSym));
    add(DT_STRSZ, strings_.size());
    add(DT_SYMENT, sizeof(typename Elf::Symbol));
    if (!options_.name.empty()) add(DT_SONAME, name);
    add(DT_NULL, 0);
    Place(kDynamic, SHT_DYNAMIC, SHF_ALLOC | SHF_WRITE, kWord,
          dynamic_.size() * sizeof(typename Elf::Dynamic), 2);
    Place(kShStrTab, SHT_STRTAB, 0, 1, section_names_.size(), 0);
    sections_[kDynSym].sh_link = kDynStr;
    // For a symbol table, sh_info is the index of the first symbol that is not
    // local.
    sections_[kDynSym].sh_info = 1;
    sections_[kDynSym].sh_entsize = sizeof(typename Elf::Symbol);
    sections_[kHash].sh_link = kDynSym;
    sections_[kHash].sh_entsize = sizeof(uint32_t);
    sections_[kDynamic].sh_link = kDynStr;
    sections_[kDynamic].sh_entsize = sizeof(typename Elf::Dynamic);
    typename Elf::Symbol& symbol = symbols_[1];
    symbol.st_name = 1;
    symbol.st_info = (STB_GLOBAL << 4) | STT_OBJECT;
    symbol.st_shndx = kRodata;
    symbol.st_value = sections_[kRodata].sh_addr;
    symbol.st_size =
        static_cast<decltype(symbol.st_size)>(library_.table.size());
  }

  void FillHeaders() {
    file_size_ = RoundUp(file_size_, alignof(typename Elf::Section));
    header_.resize(1);
    typename Elf::Header& header = header_[0];
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = Elf::kClass;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine_.number;
    header.e_version = EV_CURRENT;
    header.e_flags = machine_.flags;
    header.e_phoff = sizeof header;
    header.e_shoff = static_cast<decltype(header.e_shoff)>(file_size_);
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(typename Elf::Segment);
    header.e_phnum = static_cast<uint16_t>(segments_.size());
    header.e_shentsize = sizeof(typename Elf::Section);
    header.e_shnum = kSectionCount;
    header.e_shstrndx = kShStrTab;
    file_size_ += sections_.size() * sizeof(typename Elf::Section);
    const uint64_t data_end = OffsetOf(kRodata) + library_.data_size;
    FillSegment(0, PT_LOAD, PF_R, 0, 0, data_end, page_);
    FillSegment(1, PT_LOAD, PF_R | PF_X, kText, page_);
    FillSegment(2, PT_LOAD, PF_R | PF_W, kDynamic, page_);
    FillSegment(3, PT_DYNAMIC, PF_R | PF_W, kDynamic,
                alignof(typename Elf::Dynamic));
    FillSegment(4, PT_GNU_STACK, PF_R | PF_W, 0, 0, 0, 16);
  }

  void FillSegment(size_t number, uint32_t type, uint32_t flags,
                   SectionNumber section, uint64_t alignment) {
    FillSegment(number, type, flags, OffsetOf(section), AddressOf(section),
                sections_[section].sh_size, alignment);
  }
  void FillSegment(size_t number, uint32_t type, uint32_t flags,
                   uint64_t offset, uint64_t address, uint64_t size,
                   uint64_t alignment) {
    typename Elf::Segment& segment = segments_[number];
    using Word = decltype(segment.p_offset);
    segment.p_type = type;
    segment.p_flags = flags;
    segment.p_offset = static_cast<Word>(offset);
    segment.p_vaddr = segment.p_paddr = static_cast<Word>(address);
    segment.p_filesz = segment.p_memsz = static_cast<Word>(size);
    segment.p_align = static_cast<Word>(alignment);
  }

  void FillDistances() {
    table_ = library_.table;
    for (const NativeLibrary::CodeDistance& distance : library_.distances) {
      const uint64_t value = AddressOf(kText) + distance.offset -
                             (AddressOf(kRodata) + distance.field);
      std::memcpy(table_.data() + distance.field, &value, sizeof value);
    }
  }

  const NativeLibrary& library_;
  const SharedObjectOptions& options_;
  const Machine machine_;
  const uint64_t page_;
  uint64_t file_size_ = 0;
  std::vector<typename Elf::Header> header_;
  std::vector<typename Elf::Segment> segments_;
  std::vector<typename Elf::Section> sections_;
  std::vector<typename Elf::Symbol> symbols_;
  std::vector<typename Elf::Dynamic> dynamic_;
  std::vector<uint32_t> hash_;
  std::vector<uint8_t> table_;
  std::string strings_, section_names_;
};

template <typename Elf>
Status Write(const NativeLibrary& library, const SharedObjectOptions& options,
             const std::string& path) {
  const uint64_t bytes = library.data_size + library.code_size;
  if (bytes > Elf::kMaxBytes) {
    return InvalidArgumentError(
        Concat({path, ": expected at most ", Elf::kMaxBytes,
                " bytes of kernels and packed weights, found ", bytes}));
  }
  return SharedObject<Elf>(library, options).Write(path);
}

}  // namespace

Status WriteSharedObject(const NativeLibrary& library,
                         const SharedObjectOptions& options,
                         const std::string& path) {
  return options.machine == ElfMachine::kArm
             ? Write<Elf32>(library, options, path)
             : Write<Elf64>(library, options, path);
}

}  // namespace ember::vm
