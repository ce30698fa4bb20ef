#include "jit/llvm/objects/wasm_module.h"

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

// Returns true if the linker of an object file would only write a number that
// the code already contains.
bool IsResolved(uint8_t relocation) {
  return relocation == wasm::R_WASM_FUNCTION_INDEX_LEB ||
         relocation == wasm::R_WASM_TYPE_INDEX_LEB ||
         relocation == wasm::R_WASM_GLOBAL_INDEX_LEB;
}

class Writer {
 public:
  explicit Writer(const llvm::object::WasmObjectFile& file) : file_(file) {}

  StatusOr<Bytes> Run(std::span<const std::string> symbols) {
    if (!file_.dataSegments().empty())
      return Unexpected("constants", file_.dataSegments().front().Data.Name);
    EMBER_ASSIGN_OR_RETURN(const Bytes imports, Imports());
    EMBER_ASSIGN_OR_RETURN(const Bytes exports, Exports(symbols));
    Bytes bytes(kMagic.begin(), kMagic.end());
    bytes.insert(bytes.end(), {1, 0, 0, 0});
    EMBER_RETURN_IF_ERROR(Copy(wasm::WASM_SEC_TYPE, bytes));
    AppendSection(wasm::WASM_SEC_IMPORT, imports, bytes);
    EMBER_RETURN_IF_ERROR(Copy(wasm::WASM_SEC_FUNCTION, bytes));
    AppendSection(wasm::WASM_SEC_EXPORT, exports, bytes);
    EMBER_RETURN_IF_ERROR(Copy(wasm::WASM_SEC_CODE, bytes));
    return bytes;
  }

 private:
  // Returns the contents of the import section. The order stays that of the
  // object file, because the code contains the numbers of imports.
  StatusOr<Bytes> Imports() const {
    Bytes bytes;
    AppendNumber(file_.imports().size(), bytes);
    for (const wasm::WasmImport& import : file_.imports()) {
      const bool is_stack = import.Kind == wasm::WASM_EXTERNAL_GLOBAL &&
                            import.Field == "__stack_pointer";
      if (!is_stack && import.Kind != wasm::WASM_EXTERNAL_MEMORY)
        return Unexpected("an import", std::string_view(import.Field));
      AppendName("ember", bytes);
      AppendName(is_stack ? "stack" : "memory", bytes);
      bytes.push_back(import.Kind);
      if (is_stack) {
        bytes.insert(bytes.end(), {wasm::WASM_TYPE_I32, /*mutable*/ 1});
      } else {
        bytes.insert(bytes.end(), {/*no maximum*/ 0, /*pages*/ 0});
      }
    }
    return bytes;
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

  // Copies a section of the object file.
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
