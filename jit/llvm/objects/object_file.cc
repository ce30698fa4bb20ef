#include "jit/llvm/objects/object_file.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/concat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCExpr.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/VersionTuple.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

namespace ember::jit::llvm_ir {
namespace {

// Largest number of bytes of code and data for ARMv7. Linkers can place so many
// so that the 32-bit distances of relocations reach all of them.
constexpr uint64_t kMaxBytes32 = uint64_t{1} << 30;
constexpr unsigned kFieldBytes = 8;

llvm::StringRef TextOf(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class ObjectWriter {
 public:
  ObjectWriter(const vm::NativeLibrary& library, const std::string& triple)
      : library_(library), triple_(llvm::Triple::normalize(triple)) {}

  StatusOr<std::string> Write(const std::string& symbol) {
    EMBER_RETURN_IF_ERROR(Start());
    const bool is_elf = triple_.isOSBinFormatELF();
    // initSections begins the object file's sections. For ELF, it also marks
    // the stack as not executable.
    streamer_->initSections(/*NoExecStack=*/is_elf, *subtarget_);
    if (triple_.isOSDarwin()) {
      streamer_->emitVersionForTarget(triple_, llvm::VersionTuple(), nullptr,
                                      llvm::VersionTuple());
    }
    streamer_->switchSection(info_->getTextSection());
    streamer_->emitValueToAlignment(llvm::Align(library_.code_alignment));
    // A linker-private symbol is visible to linkers of Mach-O files; an
    // assembler-local one would not be, and relocations need it.
    llvm::MCSymbol* const code = context_->createLinkerPrivateTempSymbol();
    streamer_->emitLabel(code);
    EmitPadded(library_.code, 0, library_.code_size);

    streamer_->switchSection(info_->getReadOnlySection());
    streamer_->emitValueToAlignment(llvm::Align(library_.data_alignment));
    llvm::MCSymbol* const table =
        context_->getOrCreateSymbol((is_elf ? "" : "_") + symbol);
    streamer_->emitSymbolAttribute(table, llvm::MCSA_Global);
    if (is_elf) {
      streamer_->emitSymbolAttribute(table, llvm::MCSA_ELF_TypeObject);
      streamer_->emitELFSize(
          table, llvm::MCConstantExpr::create(
                     static_cast<int64_t>(library_.table.size()), *context_));
    }
    streamer_->emitLabel(table);
    EmitTable(code);
    EmitPadded(library_.data, library_.table.size(), library_.data_size);
    streamer_->finish();
    return std::string(object_);
  }

 private:
  Status Start() {
    std::string error;
    const llvm::Target* const target =
        llvm::TargetRegistry::lookupTarget(triple_.str(), error);
    if (target == nullptr) return UnimplementedError(error);
    registers_.reset(target->createMCRegInfo(triple_.str()));
    assembler_.reset(
        target->createMCAsmInfo(*registers_, triple_.str(), options_));
    instructions_.reset(target->createMCInstrInfo());
    subtarget_.reset(target->createMCSubtargetInfo(triple_.str(), "", ""));
    context_ = std::make_unique<llvm::MCContext>(
        triple_, assembler_.get(), registers_.get(), subtarget_.get());
    info_.reset(target->createMCObjectFileInfo(*context_, /*PIC=*/true));
    context_->setObjectFileInfo(info_.get());
    std::unique_ptr<llvm::MCAsmBackend> backend(
        target->createMCAsmBackend(*subtarget_, *registers_, options_));
    std::unique_ptr<llvm::MCCodeEmitter> emitter(
        target->createMCCodeEmitter(*instructions_, *context_));
    if (backend == nullptr || emitter == nullptr)
      return UnimplementedError(Concat({"no assembler for ", triple_.str()}));
    std::unique_ptr<llvm::MCObjectWriter> writer =
        backend->createObjectWriter(stream_);
    streamer_.reset(target->createMCObjectStreamer(
        triple_, *context_, std::move(backend), std::move(writer),
        std::move(emitter), *subtarget_));
    const uint64_t bytes = library_.data_size + library_.code_size;
    if (triple_.isArch32Bit() && bytes > kMaxBytes32) {
      return InvalidArgumentError(
          Concat({"object file: expected at most ", kMaxBytes32,
                  " bytes of kernels and packed weights, found ", bytes}));
    }
    return OkStatus();
  }

  void EmitPadded(std::span<const vm::NativeLibrary::Piece> pieces,
                  uint64_t begin, uint64_t end) {
    static_cast<void>(vm::WritePadded(pieces, begin, end,
                                      [&](std::span<const uint8_t> bytes) {
                                        if (!bytes.empty())
                                          streamer_->emitBytes(TextOf(bytes));
                                        return OkStatus();
                                      }));
  }

  // Emits the table of the native library. Its distances to code become
  // relocations.
  void EmitTable(llvm::MCSymbol* code) {
    const std::span<const uint8_t> table = library_.table;
    uint64_t position = 0;
    for (const vm::NativeLibrary::CodeDistance& distance : library_.distances) {
      EmitBytes(table, position, distance.field);
      llvm::MCSymbol* const field = context_->createTempSymbol();
      streamer_->emitLabel(field);
      using llvm::MCBinaryExpr;
      const auto offset = static_cast<int64_t>(distance.offset);
      const llvm::MCExpr* value = MCBinaryExpr::createSub(
          MCBinaryExpr::createAdd(
              llvm::MCSymbolRefExpr::create(code, *context_),
              llvm::MCConstantExpr::create(offset, *context_), *context_),
          llvm::MCSymbolRefExpr::create(field, *context_), *context_);
      // On 32-bit targets relocations write only 32 bits; the field's other 4
      // bytes are zeros.
      const unsigned size = triple_.isArch32Bit() ? 4 : kFieldBytes;
      streamer_->emitValue(value, size);
      streamer_->emitZeros(kFieldBytes - size);
      position = distance.field + kFieldBytes;
    }
    EmitBytes(table, position, table.size());
  }

  void EmitBytes(std::span<const uint8_t> bytes, uint64_t begin, uint64_t end) {
    if (begin == end) return;
    streamer_->emitBytes(TextOf(bytes.subspan(
        static_cast<size_t>(begin), static_cast<size_t>(end - begin))));
  }

  const vm::NativeLibrary& library_;
  const llvm::Triple triple_;
  llvm::MCTargetOptions options_;
  llvm::SmallString<0> object_;
  llvm::raw_svector_ostream stream_{object_};
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> assembler_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCObjectFileInfo> info_;
  std::unique_ptr<llvm::MCStreamer> streamer_;
};

}  // namespace

StatusOr<std::string> WriteObjectFile(const vm::NativeLibrary& library,
                                      const std::string& triple,
                                      const std::string& symbol) {
  return ObjectWriter(library, triple).Write(symbol);
}

}  // namespace ember::jit::llvm_ir
