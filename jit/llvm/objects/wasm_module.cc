#include "jit/llvm/objects/wasm_module.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "llvm/BinaryFormat/Wasm.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Object/Wasm.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ember::jit::llvm_ir {
namespace {

namespace wasm = llvm::wasm;
using Bytes = std::vector<uint8_t>;

constexpr std::string_view kMagic("\0asm", 4);

Status Unexpected(std::string_view what, std::string_view found) {
  return InternalError(
      Concat({"kernel: expected an object file of one kernel, found ", what,
              " '", found, "'"}));
}

void AppendNumber(uint64_t number, Bytes& bytes) {
  for (; number >= 0x80; number >>= 7)
    bytes.push_back(static_cast<uint8_t>(number | 0x80));
  bytes.push_back(static_cast<uint8_t>(number));
}

void AppendName(std::string_view name, Bytes& bytes) {
  AppendNumber(name.size(), bytes);
  bytes.insert(bytes.end(), name.begin(), name.end());
}

void AppendSection(uint8_t kind, llvm::ArrayRef<uint8_t> contents,
                   Bytes& bytes) {
  bytes.push_back(kind);
  AppendNumber(contents.size(), bytes);
  bytes.insert(bytes.end(), contents.begin(), contents.end());
}

// True if applying the relocation would only write a number that the code
// already contains, so that it can be ignored.
bool IsResolved(uint8_t relocation) {
  return relocation == wasm::R_WASM_FUNCTION_INDEX_LEB ||
         relocation == wasm::R_WASM_TYPE_INDEX_LEB ||
         relocation == wasm::R_WASM_GLOBAL_INDEX_LEB ||
         relocation == wasm::R_WASM_MEMORY_ADDR_REL_SLEB;
}

// A global variable of the runtime that kernels may import: its symbol in the
// object file, and its name in the module.
struct Global {
  std::string_view symbol, name;
  bool is_mutable;
};
constexpr std::string_view kData = "data";
constexpr Global kGlobals[] = {{"__stack_pointer", "stack", true},
                               {"__memory_base", kData, false}};

const Global* FindGlobal(const wasm::WasmImport& import) {
  for (const Global& global : kGlobals) {
    if (import.Kind == wasm::WASM_EXTERNAL_GLOBAL &&
        std::string_view(import.Field) == global.symbol)
      return &global;
  }
  return nullptr;
}

class Writer {
 public:
  explicit Writer(const llvm::object::WasmObjectFile& file) : file_(file) {}

  StatusOr<Bytes> Run(std::span<const std::string> symbols) {
    EMBER_ASSIGN_OR_RETURN(const Bytes imports, Imports());
    EMBER_ASSIGN_OR_RETURN(const Bytes constants, Constants());
    EMBER_ASSIGN_OR_RETURN(const Bytes exports, Exports(symbols));
    Bytes bytes(kMagic.begin(), kMagic.end());
    bytes.insert(bytes.end(), {1, 0, 0, 0});
    EMBER_RETURN_IF_ERROR(Copy(wasm::WASM_SEC_TYPE, bytes));
    AppendSection(wasm::WASM_SEC_IMPORT, imports, bytes);
    EMBER_RETURN_IF_ERROR(Copy(wasm::WASM_SEC_FUNCTION, bytes));
    AppendSection(wasm::WASM_SEC_EXPORT, exports, bytes);
    EMBER_RETURN_IF_ERROR(Copy(wasm::WASM_SEC_CODE, bytes));
    if (!constants.empty()) AppendConstants(constants, bytes);
    return bytes;
  }

 private:
  // Returns the contents of the import section. The imports keep their order in
  // the object file, because the code refers to them by number.
  StatusOr<Bytes> Imports() const {
    Bytes bytes;
    AppendNumber(file_.imports().size(), bytes);
    for (const wasm::WasmImport& import : file_.imports()) {
      const Global* const global = FindGlobal(import);
      if (global == nullptr && import.Kind != wasm::WASM_EXTERNAL_MEMORY)
        return Unexpected("an import", std::string_view(import.Field));
      AppendName("ember", bytes);
      AppendName(global == nullptr ? "memory" : global->name, bytes);
      bytes.push_back(import.Kind);
      if (global == nullptr) {
        bytes.insert(bytes.end(), {/*no maximum*/ 0, /*pages*/ 0});
      } else {
        bytes.insert(bytes.end(), {wasm::WASM_TYPE_I32, global->is_mutable});
      }
    }
    return bytes;
  }

  // Returns the bytes of all constants, joined so that each is at the offset
  // that the object file gives.
  StatusOr<Bytes> Constants() const {
    constexpr uint32_t kMaxBytes = uint32_t{1} << 24;
    Bytes bytes;
    for (const llvm::object::WasmSegment& segment : file_.dataSegments()) {
      const wasm::WasmInitExpr& offset = segment.Data.Offset;
      const llvm::ArrayRef<uint8_t> contents = segment.Data.Content;
      if (offset.Extended || offset.Inst.Opcode != wasm::WASM_OPCODE_I32_CONST)
        return Unexpected("constants", std::string_view(segment.Data.Name));
      const auto begin = static_cast<uint32_t>(offset.Inst.Value.Int32);
      if (begin > kMaxBytes || contents.size() > kMaxBytes - begin)
        return Unexpected("constants", std::string_view(segment.Data.Name));
      if (bytes.size() < begin + contents.size())
        bytes.resize(begin + contents.size());
      std::copy(contents.begin(), contents.end(), bytes.begin() + begin);
    }
    return bytes;
  }

  // Appends a data segment with the constants, which is copied to the address
  // "ember.data" at instantiation, and the custom section with its size;
  // appends nothing if the object does not import that address.
  void AppendConstants(const Bytes& constants, Bytes& bytes) const {
    uint32_t number = 0;
    bool is_found = false;
    for (const wasm::WasmImport& import : file_.imports()) {
      const Global* const global = FindGlobal(import);
      is_found = global != nullptr && global->name == kData;
      if (is_found) break;
      number += global != nullptr;
    }
    // Without the import no function reads the constants, so they are left out.
    if (!is_found) return;
    Bytes segment = {/*segments*/ 1, /*active*/ 0,
                     wasm::WASM_OPCODE_GLOBAL_GET};
    AppendNumber(number, segment);
    segment.push_back(wasm::WASM_OPCODE_END);
    AppendNumber(constants.size(), segment);
    segment.insert(segment.end(), constants.begin(), constants.end());
    AppendSection(wasm::WASM_SEC_DATA, segment, bytes);
    Bytes size;
    AppendName("ember.data", size);
    for (int shift = 0; shift < 32; shift += 8)
      size.push_back(static_cast<uint8_t>(constants.size() >> shift));
    AppendSection(wasm::WASM_SEC_CUSTOM, size, bytes);
  }

  StatusOr<Bytes> Exports(std::span<const std::string> symbols) const {
    std::map<std::string, uint32_t> functions;
    for (const llvm::object::SymbolRef& reference : file_.symbols()) {
      const wasm::WasmSymbolInfo& symbol = file_.getWasmSymbol(reference).Info;
      if (symbol.Kind == wasm::WASM_SYMBOL_TYPE_FUNCTION)
        functions[symbol.Name.str()] = symbol.ElementIndex;
    }
    Bytes bytes;
    AppendNumber(symbols.size(), bytes);
    for (size_t i = 0; i < symbols.size(); ++i) {
      const auto found = functions.find(symbols[i]);
      if (found == functions.end()) return Unexpected("no symbol", symbols[i]);
      AppendName(Concat({"f", i}), bytes);
      bytes.push_back(wasm::WASM_EXTERNAL_FUNCTION);
      AppendNumber(found->second, bytes);
    }
    return bytes;
  }

  // Appends the object file's section of this kind unchanged. Errors: kInternal
  // if a relocation in it would change it.
  Status Copy(uint32_t kind, Bytes& bytes) const {
    for (const llvm::object::SectionRef& reference : file_.sections()) {
      const llvm::object::WasmSection& section =
          file_.getWasmSection(reference);
      if (section.Type != kind) continue;
      for (const wasm::WasmRelocation& relocation : section.Relocations) {
        if (!IsResolved(relocation.Type)) {
          return Unexpected(
              "relocation",
              std::string_view(wasm::relocTypetoString(relocation.Type)));
        }
      }
      AppendSection(static_cast<uint8_t>(kind), section.Content, bytes);
      return OkStatus();
    }
    return Unexpected("no section", Concat({kind}));
  }

  const llvm::object::WasmObjectFile& file_;
};

}  // namespace

bool IsWasmObject(std::string_view object) {
  return object.starts_with(kMagic);
}

StatusOr<vm::KernelCode> WasmModuleOf(std::string_view object,
                                      std::span<const std::string> symbols) {
  auto file =
      llvm::object::ObjectFile::createWasmObjectFile(llvm::MemoryBufferRef(
          llvm::StringRef(object.data(), object.size()), "kernel"));
  if (!file) return Unexpected("a file", toString(file.takeError()));
  EMBER_ASSIGN_OR_RETURN(Bytes bytes, Writer(**file).Run(symbols));
  auto owner = std::make_shared<Bytes>(std::move(bytes));
  vm::KernelCode code;
  for (size_t i = 0; i < symbols.size(); ++i)
    code.entries.push_back(static_cast<uint32_t>(i));
  code.bytes = *owner;
  code.owner = std::move(owner);
  return code;
}

}  // namespace ember::jit::llvm_ir
