#include "vm/format/writer.h"

#include <cstring>
#include <string_view>

#include "base/atomic_file_writer.h"
#include "base/checked_math.h"
#include "base/hash.h"
#include "base/rounding.h"
#include "vm/format/container.h"
#include "vm/format/module_generated.h"
#include "vm/format/module_pieces.h"
#include "vm/format/native_section.h"
#include "vm/format/verifier.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

using StringVector = Offset<flatbuffers::Vector<Offset<flatbuffers::String>>>;

StringVector WriteStrings(FlatBufferBuilder& builder,
                          const std::vector<std::string>& strings) {
  std::vector<Offset<flatbuffers::String>> offsets;
  for (const std::string& text : strings)
    offsets.push_back(builder.CreateSharedString(text));
  return builder.CreateVector(offsets);
}

// Writes a table for each item to the flatbuffer, and then the vector that
// refers to these tables.
template <typename Table, typename Item, typename WriteItem>
Offset<flatbuffers::Vector<Offset<Table>>> WriteTables(
    FlatBufferBuilder& builder, const std::vector<Item>& items,
    WriteItem&& write) {
  std::vector<Offset<Table>> offsets;
  for (const Item& item : items) offsets.push_back(write(builder, item));
  return builder.CreateVector(offsets);
}

Offset<fbs::Axis> WriteAxis(FlatBufferBuilder& builder,
                            const tensor::Axis& axis) {
  return fbs::CreateAxis(builder, builder.CreateSharedString(axis.name),
                         axis.extent);
}

Offset<fbs::Buffer> WriteBuffer(FlatBufferBuilder& builder,
                                const tensor::Buffer& buffer) {
  const auto name = builder.CreateSharedString(buffer.name);
  const auto extents = builder.CreateVector(buffer.extents);
  return fbs::CreateBuffer(builder, name, static_cast<uint8_t>(buffer.type),
                           static_cast<uint8_t>(buffer.kind), extents);
}

Offset<fbs::Store> WriteStore(FlatBufferBuilder& builder,
                              const tensor::Store& store) {
  return fbs::CreateStore(builder, store.buffer,
                          builder.CreateVector(store.indices),
                          static_cast<uint8_t>(store.update));
}

Offset<fbs::Stage> WriteStage(FlatBufferBuilder& builder,
                              const tensor::Stage& stage) {
  const auto spatial =
      WriteTables<fbs::Axis>(builder, stage.spatial, WriteAxis);
  const auto reduction =
      WriteTables<fbs::Axis>(builder, stage.reduction, WriteAxis);
  const auto values = builder.CreateVector(stage.values);
  const auto initial = builder.CreateVector(stage.fold.initial);
  const auto results = builder.CreateVector(stage.fold.results);
  const auto stores =
      WriteTables<fbs::Store>(builder, stage.stores, WriteStore);
  return fbs::CreateStage(builder, spatial, reduction,
                          static_cast<uint8_t>(stage.combiner), stage.begin,
                          stage.end, values, initial, results, stores);
}

Offset<fbs::Dispatch> WriteDispatch(FlatBufferBuilder& builder,
                                    const tensor::Dispatch& dispatch,
                                    const std::string& origin) {
  const auto name = builder.CreateSharedString(dispatch.name);
  const auto origin_offset = builder.CreateSharedString(origin);
  const auto parameters = WriteStrings(builder, dispatch.parameters);
  const auto buffers =
      WriteTables<fbs::Buffer>(builder, dispatch.buffers, WriteBuffer);
  std::vector<fbs::DispatchInstruction> instructions;
  for (const tensor::Instruction& i : dispatch.instructions) {
    instructions.emplace_back(static_cast<uint8_t>(i.opcode),
                              static_cast<uint8_t>(i.type), i.a, i.b, i.c,
                              i.immediate);
  }
  const auto instruction_offset = builder.CreateVectorOfStructs(instructions);
  const auto operands = builder.CreateVector(dispatch.operands);
  const auto stages =
      WriteTables<fbs::Stage>(builder, dispatch.stages, WriteStage);
  return fbs::CreateDispatch(builder, name, origin_offset, parameters, buffers,
                             instruction_offset, operands, dispatch.header_end,
                             stages);
}

Offset<fbs::Signature> WriteSignature(FlatBufferBuilder& builder,
                                      const TensorSignature& signature) {
  const auto name = builder.CreateSharedString(signature.name);
  const auto dims = builder.CreateVector(signature.dims);
  const auto logical_type = builder.CreateSharedString(signature.logical_type);
  return fbs::CreateSignature(
      builder, name, static_cast<uint8_t>(signature.type), dims, logical_type);
}

Offset<fbs::Program> WriteProgram(FlatBufferBuilder& builder,
                                  const Program& program) {
  const auto name = builder.CreateSharedString(program.name);
  const auto symbols = WriteStrings(builder, program.symbols);
  const auto inputs =
      WriteTables<fbs::Signature>(builder, program.inputs, WriteSignature);
  const auto results =
      WriteTables<fbs::Signature>(builder, program.results, WriteSignature);
  std::vector<fbs::ProgramInstruction> instructions;
  for (const ProgramInstruction& i : program.instructions) {
    instructions.emplace_back(static_cast<uint8_t>(i.opcode), i.a, i.b, i.c,
                              i.immediate);
  }
  const auto instruction_offset = builder.CreateVectorOfStructs(instructions);
  const auto operands = builder.CreateVector(program.operands);
  const auto messages = WriteStrings(builder, program.messages);
  const auto parameters = WriteStrings(builder, program.parameters);
  return fbs::CreateProgram(builder, name, symbols, inputs, results,
                            program.integer_register_count,
                            program.buffer_register_count, instruction_offset,
                            operands, messages, parameters);
}

Offset<fbs::DispatchProfile> WriteProfile(FlatBufferBuilder& builder,
                                          const DispatchProfile& profile) {
  const auto shapes = WriteTables<fbs::ShapeProfile>(
      builder, profile.shapes,
      [](FlatBufferBuilder& to, const DispatchProfile::Shape& shape) {
        return fbs::CreateShapeProfile(to, to.CreateVector(shape.parameters),
                                       shape.calls, shape.ns);
      });
  return fbs::CreateDispatchProfile(builder, profile.dispatch, shapes);
}

Offset<fbs::MetadataEntry> WriteMetadataEntry(FlatBufferBuilder& builder,
                                              const MetadataEntry& entry) {
  const auto key = builder.CreateString(entry.key.data(), entry.key.size());
  const auto value =
      builder.CreateString(entry.value.data(), entry.value.size());
  return fbs::CreateMetadataEntry(builder, key, value);
}

// Returns the pieces of data that follow the metadata in the file: those of
// constants, then native sections.
std::vector<std::span<const uint8_t>> DataOf(const ModuleDefinition& module) {
  std::vector<std::span<const uint8_t>> data;
  for (const Constant& constant : module.constants)
    data.push_back(constant.data);
  for (const NativeSection& native : module.natives)
    data.push_back(native.data);
  return data;
}

// Writes the module's metadata as a flatbuffer. `offsets` has the offset in the
// file of each piece of data.
void WriteMetadata(FlatBufferBuilder& builder, const ModuleDefinition& module,
                   const std::vector<uint64_t>& offsets,
                   const std::vector<uint64_t>& hashes) {
  std::vector<Offset<fbs::Constant>> constants;
  for (size_t i = 0; i < module.constants.size(); ++i) {
    const Constant& constant = module.constants[i];
    const auto name = builder.CreateSharedString(constant.name);
    const auto dims = builder.CreateVector(constant.dims);
    // Default values are written, too, which flatbuffers otherwise leaves out,
    // because the size of the metadata must not depend on values.
    builder.ForceDefaults(true);
    constants.push_back(
        fbs::CreateConstant(builder, name, static_cast<uint8_t>(constant.type),
                            dims, offsets[i], constant.data.size(), hashes[i]));
    builder.ForceDefaults(false);
  }
  std::vector<Offset<fbs::Dispatch>> dispatches;
  for (size_t i = 0; i < module.dispatches.size(); ++i) {
    const bool has_origin = i < module.dispatch_origins.size();
    dispatches.push_back(
        WriteDispatch(builder, module.dispatches[i],
                      has_origin ? module.dispatch_origins[i] : std::string()));
  }
  const auto programs =
      WriteTables<fbs::Program>(builder, module.programs, WriteProgram);
  const auto strings = WriteStrings(builder, module.strings);
  std::vector<Offset<fbs::NativeSection>> natives;
  for (size_t i = 0; i < module.natives.size(); ++i) {
    const NativeSection& native = module.natives[i];
    const size_t number = module.constants.size() + i;
    const auto target = builder.CreateSharedString(native.target);
    builder.ForceDefaults(true);
    natives.push_back(fbs::CreateNativeSection(
        builder, target, offsets[number], native.data.size(), hashes[number]));
    builder.ForceDefaults(false);
  }
  const auto producer = builder.CreateSharedString(module.producer);
  const auto source_name = builder.CreateSharedString(module.source_name);
  const auto constant_vector = builder.CreateVector(constants);
  const auto dispatch_vector = builder.CreateVector(dispatches);
  // If there are no native sections, their field is left out, so that the file
  // has the same bytes as one in an older version of the format.
  const auto native_vector =
      natives.empty()
          ? Offset<flatbuffers::Vector<Offset<fbs::NativeSection>>>()
          : builder.CreateVector(natives);
  const auto profile =
      module.profile.empty()
          ? Offset<flatbuffers::Vector<Offset<fbs::DispatchProfile>>>()
          : WriteTables<fbs::DispatchProfile>(builder, module.profile,
                                              WriteProfile);
  const auto metadata =
      module.metadata.empty()
          ? Offset<flatbuffers::Vector<Offset<fbs::MetadataEntry>>>()
          : WriteTables<fbs::MetadataEntry>(builder, module.metadata,
                                            WriteMetadataEntry);
  fbs::FinishModuleBuffer(
      builder, fbs::CreateModule(builder, producer, source_name,
                                 constant_vector, dispatch_vector, programs,
                                 strings, native_vector, profile, metadata));
}

// The layout of a file: its header and metadata, and the offset of each piece
// of data.
struct Layout {
  ContainerHeader header;
  std::vector<uint8_t> metadata;
  std::vector<std::span<const uint8_t>> data;
  std::vector<uint64_t> offsets;
};

StatusOr<Layout> LayOut(const ModuleDefinition& module) {
  Layout layout;
  layout.data = DataOf(module);
  layout.offsets.assign(layout.data.size(), 0);
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < layout.data.size(); ++i) {
    const bool is_native = i >= module.constants.size();
    hashes.push_back(
        HashBytes(is_native ? HashedPart(layout.data[i]) : layout.data[i]));
  }
  // The metadata is written twice: it contains the offsets of data, and these
  // depend on the size of the metadata.
  for (int pass = 0; pass < 2; ++pass) {
    FlatBufferBuilder builder;
    WriteMetadata(builder, module, layout.offsets, hashes);
    const size_t size = builder.GetSize();
    uint64_t position =
        RoundUp(sizeof(ContainerHeader) + size, kMemoryAlignment);
    layout.header.metadata_size = size;
    layout.header.file_size = sizeof(ContainerHeader) + size;
    for (size_t i = 0; i < layout.data.size(); ++i) {
      layout.offsets[i] = position;
      layout.header.file_size = position + layout.data[i].size();
      position = RoundUp(layout.header.file_size, kMemoryAlignment);
    }
    layout.metadata.assign(builder.GetBufferPointer(),
                           builder.GetBufferPointer() + size);
  }
  layout.header.metadata_hash = HashBytes(layout.metadata);
  layout.header.header_hash = HashOfHeader(layout.header);
  return layout;
}

// Calls write(data, size) with the parts of the file in order: header,
// metadata, pieces of data, and the zeros between them.
template <typename Write>
Status WriteParts(const Layout& layout, Write&& write) {
  static constexpr uint8_t kPadding[kMemoryAlignment] = {};
  EMBER_RETURN_IF_ERROR(
      write(&layout.header, static_cast<uint64_t>(sizeof(ContainerHeader))));
  EMBER_RETURN_IF_ERROR(write(layout.metadata.data(), layout.metadata.size()));
  uint64_t position = sizeof(ContainerHeader) + layout.metadata.size();
  for (size_t i = 0; i < layout.data.size(); ++i) {
    const std::span<const uint8_t> data = layout.data[i];
    EMBER_RETURN_IF_ERROR(write(kPadding, layout.offsets[i] - position));
    EMBER_RETURN_IF_ERROR(write(data.data(), data.size()));
    position = layout.offsets[i] + data.size();
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::vector<uint8_t>> SerializeModule(const ModuleDefinition& module) {
  EMBER_RETURN_IF_ERROR(VerifyModule(module));
  EMBER_ASSIGN_OR_RETURN(const Layout layout, LayOut(module));
  std::vector<uint8_t> file;
  file.reserve(layout.header.file_size);
  EMBER_RETURN_IF_ERROR(
      WriteParts(layout, [&](const void* data, uint64_t size) {
        const uint8_t* bytes = static_cast<const uint8_t*>(data);
        if (size > 0) file.insert(file.end(), bytes, bytes + size);
        return OkStatus();
      }));
  return file;
}

Status WritePieces(
    const ModuleDefinition& module,
    const std::function<Status(std::string_view bytes,
                               const PiecePosition& position)>& write) {
  EMBER_RETURN_IF_ERROR(VerifyModule(module));
  EMBER_ASSIGN_OR_RETURN(const Layout layout, LayOut(module));
  PiecePosition position = {.total =
                                static_cast<int64_t>(layout.header.file_size)};
  return WriteParts(layout, [&](const void* data, uint64_t size) {
    std::string_view rest(static_cast<const char*>(data), size);
    while (!rest.empty()) {
      const std::string_view piece = rest.substr(0, kMaxPieceBytes);
      EMBER_RETURN_IF_ERROR(write(piece, position));
      position.done += static_cast<int64_t>(piece.size());
      rest.remove_prefix(piece.size());
    }
    return OkStatus();
  });
}

Status WriteModule(const ModuleDefinition& module, const std::string& path) {
  EMBER_RETURN_IF_ERROR(VerifyModule(module));
  EMBER_ASSIGN_OR_RETURN(const Layout layout, LayOut(module));
  EMBER_ASSIGN_OR_RETURN(AtomicFileWriter writer,
                         AtomicFileWriter::Create(path));
  EMBER_RETURN_IF_ERROR(WriteParts(layout, [&](const void* data,
                                               uint64_t size) {
    return writer.Write(std::string_view(static_cast<const char*>(data), size));
  }));
  // The file must survive a loss of power: constants are not hashed when a
  // module is loaded, so if a power loss replaced them by zeros, the module
  // would silently give wrong results.
  return writer.Commit(Durability::kSurvivesPowerLoss);
}

}  // namespace ember::vm
