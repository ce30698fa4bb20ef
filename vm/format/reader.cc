#include "vm/format/reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/concat.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/metadata_rules.h"
#include "base/rounding.h"
#include "vm/format/container.h"
#include "vm/format/load_steps.h"
#include "vm/format/module_generated.h"
#include "vm/format/verifier.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Returns the number of elements of a vector of the flatbuffer; 0 if the vector
// is absent.
template <typename T>
size_t SizeOf(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

// Reads values from the flatbuffer: copies strings and vectors, and converts
// raw numbers. It keeps the first error; values read after an error are empty.
// The total size of all copies is limited, because a flatbuffer may refer to
// one vector many times, so that the copies would need far more memory than the
// file.
class ValueReader {
 public:
  explicit ValueReader(uint64_t metadata_size)
      : vector_bytes_left_(metadata_size),
        string_bytes_left_(64 * metadata_size) {}

  std::string String(const flatbuffers::String* text) {
    if (text == nullptr || !Take(string_bytes_left_, text->size())) return {};
    return text->str();
  }

  template <typename T>
  std::vector<T> Numbers(const flatbuffers::Vector<T>* vector) {
    return Elements<T>(vector);
  }

  template <typename Struct>
  std::vector<Struct> Structs(
      const flatbuffers::Vector<const Struct*>* vector) {
    return Elements<Struct>(vector);
  }

  std::vector<std::string> Strings(
      const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>*
          vector) {
    std::vector<std::string> strings;
    if (vector == nullptr ||
        !Take(vector_bytes_left_, uint64_t{vector->size()} * 4))
      return strings;
    strings.resize(vector->size());
    for (size_t i = 0; i < strings.size(); ++i)
      strings[i] = String(vector->Get(i));
    return strings;
  }

  template <typename Enum>
  Enum Read(uint8_t raw, int count, const char* what) {
    return static_cast<Enum>(CheckEnum(raw, count, what));
  }
  DType ReadType(uint8_t raw) {
    return Read<DType>(raw, kDTypeCount, "element type");
  }
  const Status& status() const { return status_; }

 private:
  // The elements are copied as bytes, because the flatbuffers verifier does not
  // check that elements of 8 bytes are aligned.
  template <typename T, typename Vector>
  std::vector<T> Elements(const Vector* vector) {
    if (vector == nullptr ||
        !Take(vector_bytes_left_, uint64_t{vector->size()} * sizeof(T))) {
      return {};
    }
    std::vector<T> elements(vector->size());
    if (!elements.empty()) {
      std::memcpy(static_cast<void*>(elements.data()), vector->Data(),
                  elements.size() * sizeof(T));
    }
    return elements;
  }

  uint8_t CheckEnum(uint8_t raw, int count, const char* what) {
    if (raw < count) return raw;
    if (status_.ok()) {
      status_ = DataLossError(
          Concat({"module file: ", what, ": expected a number below ", count,
                  ", found ", raw}));
    }
    return 0;
  }

  bool Take(uint64_t& left, uint64_t bytes) {
    if (bytes <= left) {
      left -= bytes;
      return true;
    }
    if (status_.ok()) {
      status_ = DataLossError(
          "module file: expected each part of the metadata once, found parts "
          "repeated");
    }
    return false;
  }

  uint64_t vector_bytes_left_;
  uint64_t string_bytes_left_;
  Status status_;
};

constexpr int kBufferKindCount =
    static_cast<int>(tensor::BufferKind::kTemporary) + 1;
constexpr int kCombinerCount = static_cast<int>(tensor::Combiner::kFold) + 1;
constexpr int kUpdateCount = static_cast<int>(tensor::Update::kMaximum) + 1;

std::vector<tensor::Axis> ReadAxes(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::Axis>>* vector,
    ValueReader& values) {
  std::vector<tensor::Axis> axes(SizeOf(vector));
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = {values.String(vector->Get(i)->name()), vector->Get(i)->extent()};
  }
  return axes;
}

tensor::Stage ReadStage(const fbs::Stage& stored, ValueReader& values) {
  tensor::Stage stage;
  stage.spatial = ReadAxes(stored.spatial(), values);
  stage.reduction = ReadAxes(stored.reduction(), values);
  stage.combiner = values.Read<tensor::Combiner>(stored.combiner(),
                                                 kCombinerCount, "combiner");
  stage.begin = stored.begin();
  stage.end = stored.end();
  stage.values = values.Numbers(stored.values());
  stage.fold.initial = values.Numbers(stored.fold_initial());
  stage.fold.results = values.Numbers(stored.fold_results());
  stage.stores.resize(SizeOf(stored.stores()));
  for (size_t i = 0; i < stage.stores.size(); ++i) {
    const fbs::Store& store = *stored.stores()->Get(i);
    stage.stores[i] = {store.buffer(), values.Numbers(store.indices()),
                       values.Read<tensor::Update>(store.update(), kUpdateCount,
                                                   "update rule")};
  }
  return stage;
}

void ReadDispatchInstructions(const fbs::Dispatch& stored, ValueReader& values,
                              tensor::Dispatch& dispatch) {
  const std::vector<fbs::DispatchInstruction> instructions =
      values.Structs(stored.instructions());
  dispatch.instructions.reserve(instructions.size());
  for (const fbs::DispatchInstruction& in : instructions) {
    dispatch.instructions.push_back(
        {values.Read<tensor::Opcode>(in.opcode(), tensor::kOpcodeCount,
                                     "dispatch opcode"),
         values.ReadType(in.type()), in.a(), in.b(), in.c(), in.immediate()});
  }
}

tensor::Dispatch ReadDispatch(const fbs::Dispatch& stored,
                              ValueReader& values) {
  tensor::Dispatch dispatch;
  dispatch.name = values.String(stored.name());
  dispatch.parameters = values.Strings(stored.parameters());
  dispatch.buffers.resize(SizeOf(stored.buffers()));
  for (size_t i = 0; i < dispatch.buffers.size(); ++i) {
    const fbs::Buffer& buffer = *stored.buffers()->Get(i);
    dispatch.buffers[i] = {values.String(buffer.name()),
                           values.ReadType(buffer.type()),
                           values.Read<tensor::BufferKind>(
                               buffer.kind(), kBufferKindCount, "buffer kind"),
                           values.Numbers(buffer.extents())};
  }
  ReadDispatchInstructions(stored, values, dispatch);
  dispatch.operands = values.Numbers(stored.operands());
  dispatch.header_end = stored.header_end();
  dispatch.stages.reserve(SizeOf(stored.stages()));
  for (size_t i = 0; i < SizeOf(stored.stages()); ++i) {
    dispatch.stages.push_back(ReadStage(*stored.stages()->Get(i), values));
  }
  return dispatch;
}

std::vector<TensorSignature> ReadSignatures(
    const flatbuffers::Vector<flatbuffers::Offset<fbs::Signature>>* vector,
    ValueReader& values) {
  std::vector<TensorSignature> signatures(SizeOf(vector));
  for (size_t i = 0; i < signatures.size(); ++i) {
    const fbs::Signature& stored = *vector->Get(i);
    signatures[i] = {
        values.String(stored.name()), values.ReadType(stored.type()),
        values.Numbers(stored.dims()), values.String(stored.logical_type())};
  }
  return signatures;
}

// Reads one program. `minor` is the minor version of the file's format, on
// which the instruction load_integer depends: before version 1.1 it had no
// type.
Program ReadProgram(const fbs::Program& stored, uint16_t minor,
                    ValueReader& values) {
  Program program;
  program.name = values.String(stored.name());
  program.symbols = values.Strings(stored.symbols());
  program.inputs = ReadSignatures(stored.inputs(), values);
  program.results = ReadSignatures(stored.results(), values);
  program.integer_register_count = stored.integer_register_count();
  program.buffer_register_count = stored.buffer_register_count();
  const std::vector<fbs::ProgramInstruction> instructions =
      values.Structs(stored.instructions());
  program.instructions.reserve(instructions.size());
  for (const fbs::ProgramInstruction& in : instructions) {
    program.instructions.push_back(
        {values.Read<ProgramOpcode>(in.opcode(), kProgramOpcodeCount,
                                    "program opcode"),
         in.a(), in.b(), in.c(), in.immediate()});
    ProgramInstruction& read = program.instructions.back();
    if (minor < 1 && read.opcode == ProgramOpcode::kLoadInteger)
      read.c = static_cast<uint32_t>(DType::kI64);
  }
  program.operands = values.Numbers(stored.operands());
  program.messages = values.Strings(stored.messages());
  program.parameters = values.Strings(stored.parameters());
  return program;
}

// Checks the range of a constant or a native section in the file, and returns
// its bytes.
StatusOr<std::span<const uint8_t>> DataOf(std::string_view kind,
                                          const std::string& name,
                                          uint64_t offset, uint64_t size,
                                          const ContainerHeader& header,
                                          std::span<const uint8_t> file) {
  const uint64_t begin = header.metadata_offset + header.metadata_size;
  if (offset % kMemoryAlignment != 0 || offset < begin ||
      offset > file.size()) {
    return DataLossError(
        Concat({kind, " '", name, "': expected an offset in [", begin, ", ",
                file.size(), "], a multiple of 64, found ", offset}));
  }
  const uint64_t room = file.size() - offset;
  if (size > room) {
    return DataLossError(Concat({kind, " '", name, "': expected at most ", room,
                                 " bytes, found ", size}));
  }
  return file.subspan(static_cast<size_t>(offset), static_cast<size_t>(size));
}

Status ReadConstants(const fbs::Module& stored, const ContainerHeader& header,
                     std::span<const uint8_t> file,
                     const std::shared_ptr<const void>& owner,
                     const ReaderOptions& options, LoadSteps& steps,
                     ValueReader& values, ModuleDefinition& module) {
  module.constants.resize(SizeOf(stored.constants()));
  for (size_t i = 0; i < module.constants.size(); ++i) {
    const fbs::Constant& in = *stored.constants()->Get(i);
    Constant& constant = module.constants[i];
    constant.name = values.String(in.name());
    constant.type = values.ReadType(in.type());
    constant.dims = values.Numbers(in.dims());
    constant.owner = owner;
    constant.hash = in.hash();
    EMBER_ASSIGN_OR_RETURN(
        constant.data, DataOf("constant", constant.name, in.offset(), in.size(),
                              header, file));
    if (!options.verify_constants) continue;
    EMBER_RETURN_IF_ERROR(steps.Begin(constant.name));
    if (HashBytes(constant.data) != in.hash()) {
      return DataLossError(
          Concat({"constant '", constant.name, "': expected bytes with hash ",
                  in.hash(), ", found ", HashBytes(constant.data)}));
    }
  }
  return OkStatus();
}

Status ReadNatives(const fbs::Module& stored, const ContainerHeader& header,
                   std::span<const uint8_t> file,
                   const std::shared_ptr<const void>& owner,
                   ValueReader& values, ModuleDefinition& module) {
  module.natives.resize(SizeOf(stored.natives()));
  for (size_t i = 0; i < module.natives.size(); ++i) {
    const fbs::NativeSection& in = *stored.natives()->Get(i);
    NativeSection& native = module.natives[i];
    native.target = values.String(in.target());
    native.hash = in.hash();
    native.owner = owner;
    EMBER_ASSIGN_OR_RETURN(native.data,
                           DataOf("native section", native.target, in.offset(),
                                  in.size(), header, file));
  }
  return OkStatus();
}

void ReadProfile(const fbs::Module& stored, ValueReader& values,
                 ModuleDefinition& module) {
  for (size_t i = 0; i < SizeOf(stored.profile()); ++i) {
    const fbs::DispatchProfile& in = *stored.profile()->Get(i);
    DispatchProfile& profile = module.profile.emplace_back();
    profile.dispatch = in.dispatch();
    for (size_t j = 0; j < SizeOf(in.shapes()); ++j) {
      const fbs::ShapeProfile& shape = *in.shapes()->Get(j);
      profile.shapes.push_back(
          {values.Numbers(shape.parameters()), shape.calls(), shape.ns()});
    }
  }
}

// Reads the model's metadata without copying the texts. The flatbuffers
// verifier has checked that a zero byte follows each text.
void ReadMetadata(const fbs::Module& stored,
                  const std::shared_ptr<const void>& owner,
                  ModuleDefinition& module) {
  // One entry more than the allowed number is read, if there are more, so that
  // the verifier reports the error.
  const size_t count =
      std::min(SizeOf(stored.metadata()), kMaxMetadataEntries + 1);
  module.metadata.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const fbs::MetadataEntry& in =
        *stored.metadata()->Get(static_cast<flatbuffers::uoffset_t>(i));
    module.metadata[i] = {in.key()->string_view(), in.value()->string_view(),
                          owner};
  }
}

Status CheckFlatbuffer(std::span<const uint8_t> metadata) {
  // The largest number of tables follows from the size: each takes at least 8
  // bytes, 4 for itself and 4 for the offset that refers to it.
  flatbuffers::Verifier verifier(
      metadata.data(), metadata.size(), /*max_depth=*/16,
      /*max_tables=*/static_cast<uint32_t>(metadata.size() / 8) + 64);
  if (metadata.size() < 8 || !fbs::VerifyModuleBuffer(verifier)) {
    return DataLossError(
        "module file: expected metadata that is a flatbuffer 'EMBR' of "
        "module.fbs, "
        "found a malformed one");
  }
  return OkStatus();
}

// Reads a module from the bytes of a file, which must be 64-byte aligned.
StatusOr<ModuleDefinition> ReadAligned(std::span<const uint8_t> file,
                                       const std::shared_ptr<const void>& owner,
                                       const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const ContainerHeader header,
                         ReadContainerHeader(file, options.verify_checksum));
  const std::span<const uint8_t> metadata = file.subspan(
      sizeof(ContainerHeader), static_cast<size_t>(header.metadata_size));
  EMBER_RETURN_IF_ERROR(CheckFlatbuffer(metadata));
  const fbs::Module& stored = *fbs::GetModule(metadata.data());
  ValueReader values(header.metadata_size);
  ModuleDefinition module;
  module.producer = values.String(stored.producer());
  module.source_name = values.String(stored.source_name());
  const auto constants = static_cast<int64_t>(SizeOf(stored.constants()));
  const auto dispatches = static_cast<int64_t>(SizeOf(stored.dispatches()));
  const auto programs = static_cast<int64_t>(SizeOf(stored.programs()));
  LoadSteps steps(options.progress, (options.verify_constants ? constants : 0) +
                                        2 * dispatches + 2 * programs);
  EMBER_RETURN_IF_ERROR(ReadConstants(stored, header, file, owner, options,
                                      steps, values, module));
  for (size_t i = 0; i < SizeOf(stored.dispatches()); ++i) {
    const fbs::Dispatch& dispatch = *stored.dispatches()->Get(i);
    EMBER_RETURN_IF_ERROR(steps.Begin(
        dispatch.name() == nullptr ? "" : dispatch.name()->string_view()));
    module.dispatches.push_back(ReadDispatch(dispatch, values));
    module.dispatch_origins.push_back(values.String(dispatch.origin()));
  }
  for (size_t i = 0; i < SizeOf(stored.programs()); ++i) {
    module.programs.push_back(
        ReadProgram(*stored.programs()->Get(i), header.minor, values));
  }
  module.strings = values.Strings(stored.strings());
  EMBER_RETURN_IF_ERROR(
      ReadNatives(stored, header, file, owner, values, module));
  ReadProfile(stored, values, module);
  ReadMetadata(stored, owner, module);
  EMBER_RETURN_IF_ERROR(values.status());
  if (header.signature_offset != 0) {
    const uint8_t* const at = file.data() + header.signature_offset;
    ModuleSignature& signature = module.signature;
    signature.is_present = true;
    std::memcpy(signature.key.data(), at, signature.key.size());
    std::memcpy(signature.signature.data(), at + signature.key.size(),
                signature.signature.size());
    signature.owner = owner;
    signature.head = file.first(sizeof(ContainerHeader) + metadata.size());
  }
  EMBER_RETURN_IF_ERROR(VerifyModule(module, &steps));
  return module;
}

}  // namespace

StatusOr<ModuleDefinition> ReadModule(const std::string& path,
                                      const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(MappedFile file, MappedFile::Open(path));
  auto owner = std::make_shared<MappedFile>(std::move(file));
  StatusOr<ModuleDefinition> module =
      ReadAligned(owner->bytes(), owner, options);
  if (!module.ok()) return module.status().WithContext(path);
  return module;
}

StatusOr<ModuleDefinition> ReadModule(std::span<const uint8_t> bytes,
                                      // The parameter is passed by value,
                                      // because callers move their owner into
                                      // it.
                                      // NOLINTNEXTLINE(performance-*)
                                      std::shared_ptr<const void> owner,
                                      const ReaderOptions& options) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kMemoryAlignment == 0) {
    return ReadAligned(bytes, owner, options);
  }
  const size_t room = RoundUp(bytes.size(), kMemoryAlignment);
  std::shared_ptr<void> copy(std::aligned_alloc(kMemoryAlignment, room),
                             std::free);
  if (copy == nullptr) {
    return ResourceExhaustedError(
        Concat({"module: cannot allocate ", room, " bytes"}));
  }
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  return ReadAligned({static_cast<const uint8_t*>(copy.get()), bytes.size()},
                     copy, options);
}

}  // namespace ember::vm
