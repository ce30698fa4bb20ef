#include "vm/format/reader.h"

#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "base/hash.h"
#include "vm/format/container.h"
#include "vm/format/module_generated.h"
#include "vm/format/verifier.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Absent vectors are empty ones.
template <typename T>
size_t SizeOf(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

std::string ReadString(const flatbuffers::String* text) {
  return text == nullptr ? std::string() : text->str();
}

template <typename T>
std::vector<T> ReadNumbers(const flatbuffers::Vector<T>* vector) {
  if (vector == nullptr) return {};
  return std::vector<T>(vector->begin(), vector->end());
}

std::vector<std::string> ReadStrings(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* vector) {
  std::vector<std::string> strings(SizeOf(vector));
  for (size_t i = 0; i < strings.size(); ++i) strings[i] = ReadString(vector->Get(i));
  return strings;
}

// Turns raw numbers into enums and remembers the first that is none.
class EnumReader {
 public:
  template <typename Enum>
  Enum Read(uint8_t raw, int count, const char* what) {
    if (raw < count) return static_cast<Enum>(raw);
    if (status_.ok()) {
      status_ = DataLossError(std::string("module file: ") + what + ": expected a number below " +
                              std::to_string(count) + ", found " + std::to_string(raw));
    }
    return Enum{};
  }
  DType ReadType(uint8_t raw) { return Read<DType>(raw, kDTypeCount, "element type"); }
  const Status& status() const { return status_; }

 private:
  Status status_;
};

constexpr int kBufferKindCount = static_cast<int>(tensor::BufferKind::kTemporary) + 1;
constexpr int kCombinerCount = static_cast<int>(tensor::Combiner::kFold) + 1;
constexpr int kUpdateCount = static_cast<int>(tensor::Update::kMaximum) + 1;

std::vector<tensor::Axis> ReadAxes(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::Axis>>* vector) {
  std::vector<tensor::Axis> axes(SizeOf(vector));
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = {ReadString(vector->Get(i)->name()), vector->Get(i)->extent()};
  }
  return axes;
}

tensor::Stage ReadStage(const fbs::Stage& stored, EnumReader& enums) {
  tensor::Stage stage;
  stage.spatial = ReadAxes(stored.spatial());
  stage.reduction = ReadAxes(stored.reduction());
  stage.combiner = enums.Read<tensor::Combiner>(stored.combiner(), kCombinerCount, "combiner");
  stage.begin = stored.begin();
  stage.end = stored.end();
  stage.values = ReadNumbers(stored.values());
  stage.fold.initial = ReadNumbers(stored.fold_initial());
  stage.fold.results = ReadNumbers(stored.fold_results());
  stage.stores.resize(SizeOf(stored.stores()));
  for (size_t i = 0; i < stage.stores.size(); ++i) {
    const fbs::Store& store = *stored.stores()->Get(i);
    stage.stores[i] = {store.buffer(), ReadNumbers(store.indices()),
                       enums.Read<tensor::Update>(store.update(), kUpdateCount, "update rule")};
  }
  return stage;
}

void ReadDispatchInstructions(const fbs::Dispatch& stored, EnumReader& enums,
                              tensor::Dispatch& dispatch) {
  dispatch.instructions.resize(SizeOf(stored.instructions()));
  for (size_t i = 0; i < dispatch.instructions.size(); ++i) {
    const fbs::DispatchInstruction& in = *stored.instructions()->Get(i);
    dispatch.instructions[i] = {
        enums.Read<tensor::Opcode>(in.opcode(), tensor::kOpcodeCount, "dispatch opcode"),
        enums.ReadType(in.type()), in.a(), in.b(), in.c(), in.immediate()};
  }
}

tensor::Dispatch ReadDispatch(const fbs::Dispatch& stored, EnumReader& enums) {
  tensor::Dispatch dispatch;
  dispatch.name = ReadString(stored.name());
  dispatch.parameters = ReadStrings(stored.parameters());
  dispatch.buffers.resize(SizeOf(stored.buffers()));
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    const fbs::Buffer& buffer = *stored.buffers()->Get(i);
    dispatch.buffers[i] = {
        ReadString(buffer.name()), enums.ReadType(buffer.type()),
        enums.Read<tensor::BufferKind>(buffer.kind(), kBufferKindCount, "buffer kind"),
        ReadNumbers(buffer.extents())};
  }
  ReadDispatchInstructions(stored, enums, dispatch);
  dispatch.operands = ReadNumbers(stored.operands());
  dispatch.header_end = stored.header_end();
  dispatch.stages.reserve(SizeOf(stored.stages()));
  for (size_t i = 0; i < SizeOf(stored.stages()); ++i) {
    dispatch.stages.push_back(ReadStage(*stored.stages()->Get(i), enums));
  }
  return dispatch;
}

std::vector<TensorSignature> ReadSignatures(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::Signature>>* vector, EnumReader& enums) {
  std::vector<TensorSignature> signatures(SizeOf(vector));
  for (size_t i = 0; i < signatures.size(); ++i) {
    const fbs::Signature& stored = *vector->Get(i);
    signatures[i] = {ReadString(stored.name()), enums.ReadType(stored.type()),
                     ReadNumbers(stored.dims())};
  }
  return signatures;
}

Program ReadProgram(const fbs::Program& stored, EnumReader& enums) {
  Program program;
  program.name = ReadString(stored.name());
  program.symbols = ReadStrings(stored.symbols());
  program.inputs = ReadSignatures(stored.inputs(), enums);
  program.results = ReadSignatures(stored.results(), enums);
  program.integer_register_count = stored.integer_register_count();
  program.buffer_register_count = stored.buffer_register_count();
  program.instructions.resize(SizeOf(stored.instructions()));
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const fbs::ProgramInstruction& in = *stored.instructions()->Get(i);
    program.instructions[i] = {
        enums.Read<ProgramOpcode>(in.opcode(), kProgramOpcodeCount, "program opcode"), in.a(),
        in.b(), in.c(), in.immediate()};
  }
  program.operands = ReadNumbers(stored.operands());
  program.messages = ReadStrings(stored.messages());
  return program;
}

// The bytes of a constant within the file.
StatusOr<std::span<const uint8_t>> ConstantData(const fbs::Constant& stored,
                                                const ContainerHeader& header,
                                                std::span<const uint8_t> file) {
  const std::string name = "constant '" + ReadString(stored.name()) + "'";
  const uint64_t begin = header.metadata_offset + header.metadata_size;
  if (stored.offset() % kMemoryAlignment != 0 || stored.offset() < begin ||
      stored.offset() > file.size()) {
    return DataLossError(name + ": expected an offset in [" + std::to_string(begin) + ", " +
                         std::to_string(file.size()) + "], a multiple of 64, found " +
                         std::to_string(stored.offset()));
  }
  const uint64_t room = file.size() - stored.offset();
  if (stored.size() > room) {
    return DataLossError(name + ": expected at most " + std::to_string(room) + " bytes, found " +
                         std::to_string(stored.size()));
  }
  return file.subspan(static_cast<size_t>(stored.offset()), static_cast<size_t>(stored.size()));
}

Status ReadConstants(const fbs::Module& stored, const ContainerHeader& header,
                     std::span<const uint8_t> file, const std::shared_ptr<const void>& owner,
                     const ReaderOptions& options, EnumReader& enums, ModuleDefinition& module) {
  module.constants.resize(SizeOf(stored.constants()));
  for (size_t i = 0; i < module.constants.size(); ++i) {
    const fbs::Constant& in = *stored.constants()->Get(i);
    Constant& constant = module.constants[i];
    constant.name = ReadString(in.name());
    constant.type = enums.ReadType(in.type());
    constant.dims = ReadNumbers(in.dims());
    constant.owner = owner;
    EMBER_ASSIGN_OR_RETURN(constant.data, ConstantData(in, header, file));
    if (options.verify_constants && HashBytes(constant.data) != in.hash()) {
      return DataLossError("constant '" + constant.name + "': expected bytes with hash " +
                           std::to_string(in.hash()) + ", found " +
                           std::to_string(HashBytes(constant.data)));
    }
  }
  return OkStatus();
}

Status CheckFlatbuffer(std::span<const uint8_t> metadata) {
  // Every table takes at least 4 bytes of its own; shared ones may be visited more than once.
  flatbuffers::Verifier verifier(metadata.data(), metadata.size(), /*max_depth=*/16,
                                 /*max_tables=*/static_cast<uint32_t>(metadata.size()) + 64);
  if (metadata.size() < 8 || !fbs::VerifyModuleBuffer(verifier)) {
    return DataLossError("module file: expected metadata that is a flatbuffer 'EMBR' of module.fbs, "
                         "found a malformed one");
  }
  return OkStatus();
}

// `file` is 64-byte aligned.
StatusOr<ModuleDefinition> ReadAligned(std::span<const uint8_t> file,
                                       const std::shared_ptr<const void>& owner,
                                       const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const ContainerHeader header,
                         ReadContainerHeader(file, options.verify_checksum));
  const std::span<const uint8_t> metadata =
      file.subspan(sizeof(ContainerHeader), static_cast<size_t>(header.metadata_size));
  EMBER_RETURN_IF_ERROR(CheckFlatbuffer(metadata));
  const fbs::Module& stored = *fbs::GetModule(metadata.data());
  EnumReader enums;
  ModuleDefinition module;
  module.producer = ReadString(stored.producer());
  module.source_name = ReadString(stored.source_name());
  EMBER_RETURN_IF_ERROR(ReadConstants(stored, header, file, owner, options, enums, module));
  for (size_t i = 0; i < SizeOf(stored.dispatches()); ++i) {
    const fbs::Dispatch& dispatch = *stored.dispatches()->Get(i);
    module.dispatches.push_back(ReadDispatch(dispatch, enums));
    module.dispatch_origins.push_back(ReadString(dispatch.origin()));
  }
  for (size_t i = 0; i < SizeOf(stored.programs()); ++i) {
    module.programs.push_back(ReadProgram(*stored.programs()->Get(i), enums));
  }
  EMBER_RETURN_IF_ERROR(enums.status());
  EMBER_RETURN_IF_ERROR(VerifyModule(module));
  return module;
}

}  // namespace

StatusOr<ModuleDefinition> ReadModule(const std::string& path, const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto owner = std::make_shared<MappedFile>(std::move(file));
  StatusOr<ModuleDefinition> module = ReadAligned(owner->bytes(), owner, options);
  if (!module.ok()) return module.status().WithContext(path);
  return module;
}

StatusOr<ModuleDefinition> ReadModule(std::span<const uint8_t> bytes,
                                      std::shared_ptr<const void> owner,
                                      const ReaderOptions& options) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kMemoryAlignment == 0) {
    return ReadAligned(bytes, owner, options);
  }
  const size_t room = (bytes.size() + kMemoryAlignment - 1) / kMemoryAlignment * kMemoryAlignment;
  std::shared_ptr<void> copy(std::aligned_alloc(kMemoryAlignment, room), std::free);
  if (copy == nullptr) {
    return ResourceExhaustedError("module: cannot allocate " + std::to_string(room) + " bytes");
  }
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return ReadAligned({static_cast<const uint8_t*>(copy.get()), bytes.size()}, copy, options);
}

}  // namespace ember::vm
