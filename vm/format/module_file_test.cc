// Tests that modules which are written to a file are read back equal, and that
// damaged files are refused.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/hash.h"
#include "gtest/gtest.h"
#include "vm/format/container.h"
#include "vm/format/module_generated.h"
#include "vm/format/reader.h"
#include "vm/format/verifier.h"
#include "vm/format/writer.h"
#include "vm/isa/model_metadata.h"
#include "vm/isa/testing/sample_modules.h"
#include "vm/isa/text.h"

namespace ember::vm {
namespace {

std::vector<uint8_t> Serialize(const ModuleDefinition& module) {
  StatusOr<std::vector<uint8_t>> file = SerializeModule(module);
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  return file.ok() ? *std::move(file) : std::vector<uint8_t>();
}

std::string AllText(const ModuleDefinition& module) {
  return PrintModule(module, {.inline_constant_bytes = -1});
}

std::string ReadError(std::span<const uint8_t> file,
                      const ReaderOptions& options = {}) {
  const StatusOr<ModuleDefinition> module = ReadModule(file, nullptr, options);
  return module.ok() ? "OK" : module.status().ToString();
}

// Updates both hashes (of the metadata and of the header) after a file was
// changed.
void Reseal(std::vector<uint8_t>& file) {
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  header.metadata_hash =
      HashBytes(file.data() + sizeof(header), header.metadata_size);
  header.header_hash = HashOfHeader(header);
  std::memcpy(file.data(), &header, sizeof(header));
}

// Makes a module file that has no constants and whose metadata is the
// flatbuffer in a finished builder.
std::vector<uint8_t> FileOf(const flatbuffers::FlatBufferBuilder& builder) {
  ContainerHeader header;
  header.metadata_size = builder.GetSize();
  header.file_size = sizeof(header) + header.metadata_size;
  std::vector<uint8_t> file(header.file_size);
  std::memcpy(file.data(), &header, sizeof(header));
  std::memcpy(file.data() + sizeof(header), builder.GetBufferPointer(),
              header.metadata_size);
  Reseal(file);
  return file;
}

ContainerHeader HeaderOf(const std::vector<uint8_t>& file) {
  ContainerHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  return header;
}

void SetHeader(std::vector<uint8_t>& file, ContainerHeader header) {
  header.header_hash = HashOfHeader(header);
  std::memcpy(file.data(), &header, sizeof(header));
}

TEST(ModuleFileTest, SamplesRoundTripThroughMemory) {
  for (const SampleModule& sample : SampleModules()) {
    const ModuleDefinition module = ParseSample(sample.text);
    const std::vector<uint8_t> file = Serialize(module);
    const StatusOr<ModuleDefinition> again =
        ReadModule(file, nullptr, {.verify_constants = true});
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    EXPECT_EQ(AllText(*again), AllText(module));
    EXPECT_EQ(again->programs, module.programs);
    EXPECT_EQ(again->strings, module.strings);
    EXPECT_EQ(again->dispatches, module.dispatches);
    EXPECT_EQ(Serialize(*again), file)
        << "the same module gives the same bytes";
  }
}

TEST(ModuleFileTest, MapsConstantsFromTheFile) {
  const std::string path = testing::TempDir() + "/maps_constants.vmfb";
  const ModuleDefinition module = SampleNamed("static");
  ASSERT_TRUE(WriteModule(module, path).ok());
  const StatusOr<ModuleDefinition> again = ReadModule(path);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(AllText(*again), AllText(module));
  const uint8_t* first = again->constants[0].data.data();
  for (const Constant& constant : again->constants) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.data.data()) % 64, 0u);
    EXPECT_LT(constant.data.data() - first, 1000) << "all in one mapping";
    EXPECT_EQ(constant.owner.get(), again->constants[0].owner.get());
  }
  std::remove(path.c_str());
}

TEST(ModuleFileTest, ConstantsStayInGivenMemory) {
  const std::vector<uint8_t> bytes = Serialize(SampleNamed("static"));
  std::vector<uint8_t> room(bytes.size() + 64);
  uint8_t* aligned =
      room.data() + (64 - reinterpret_cast<uintptr_t>(room.data()) % 64) % 64;
  std::memcpy(aligned, bytes.data(), bytes.size());
  const StatusOr<ModuleDefinition> module =
      ReadModule({aligned, bytes.size()}, nullptr);
  ASSERT_TRUE(module.ok());
  EXPECT_GT(module->constants[0].data.data(), aligned);
  EXPECT_LT(module->constants[0].data.data(), aligned + bytes.size());
}

TEST(ModuleFileTest, WritesWhole) {
  EXPECT_EQ(
      WriteModule(SampleNamed("static"), "/nonexistent/x.vmfb").message(),
      "cannot create file '/nonexistent/x.vmfb': No such file or directory");
}

TEST(ModuleFileTest, MissingFile) {
  const StatusOr<ModuleDefinition> module = ReadModule("/nonexistent/x.vmfb");
  EXPECT_EQ(module.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(
      module.status().message(),
      "cannot open file '/nonexistent/x.vmfb': No such file or directory");
}

TEST(ModuleFileTest, ErrorsOfFilesNameThem) {
  const std::string path = testing::TempDir() + "/not_a_module.vmfb";
  std::ofstream(path) << std::string(100, 'x');
  EXPECT_EQ(
      ReadModule(path).status().message(),
      path +
          ": module file: expected it to begin with 'EMBR', found other bytes");
  std::remove(path.c_str());
}

TEST(ModuleFileTest, RefusesOtherVersions) {
  std::vector<uint8_t> file = Serialize(SampleNamed("static"));
  ContainerHeader header = HeaderOf(file);
  header.minor += 1;  // A file with a higher minor version, which has appended
                      // fields, must still be readable.
  SetHeader(file, header);
  EXPECT_EQ(ReadError(file), "OK");
  header.major = 2;
  header.minor = 1;
  SetHeader(file, header);
  EXPECT_EQ(
      ReadError(file),
      "UNIMPLEMENTED: module file: format version: expected 1.x, found 2.1");
}

TEST(ModuleFileTest, ReadsIntegerLoadsWithoutAType) {
  ModuleDefinition module = SampleNamed("shapes");
  for (ProgramInstruction& in : module.programs[0].instructions) {
    if (in.opcode == ProgramOpcode::kLoadInteger) in.c = 0;
  }
  std::vector<uint8_t> file = Serialize(module);
  ContainerHeader header = HeaderOf(file);
  header.minor = 0;
  SetHeader(file, header);
  const StatusOr<ModuleDefinition> again = ReadModule(file, nullptr);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->programs, SampleNamed("shapes").programs);
}

TEST(ModuleFileTest, TruncatedAtEveryLength) {
  for (const SampleModule& sample : SampleModules()) {
    const std::vector<uint8_t> file = Serialize(ParseSample(sample.text));
    for (size_t size = 0; size < file.size(); ++size) {
      const StatusOr<ModuleDefinition> module =
          ReadModule({file.data(), size}, nullptr);
      ASSERT_FALSE(module.ok()) << size;
      ASSERT_EQ(module.status().code(), StatusCode::kDataLoss) << size;
    }
    std::vector<uint8_t> longer = file;
    longer.push_back(0);
    EXPECT_NE(ReadError(longer), "OK");
  }
}

TEST(ModuleFileTest, TruncationSaysSizes) {
  const std::vector<uint8_t> file = Serialize(SampleNamed("static"));
  const std::span<const uint8_t> bytes(file);
  EXPECT_EQ(ReadError(bytes.first(10)),
            "DATA_LOSS: module file: expected at least 64 bytes, found 10");
  EXPECT_EQ(ReadError(bytes.first(1000)),
            "DATA_LOSS: module file: size in bytes: expected " +
                std::to_string(file.size()) + ", found 1000");
}

// The hashes cover the header and the metadata, so every flipped bit in these
// parts must be detected.
TEST(ModuleFileTest, FindsEveryFlippedBit) {
  std::vector<uint8_t> file = Serialize(SampleNamed("static"));
  const ContainerHeader header = HeaderOf(file);
  const size_t protected_size = sizeof(header) + header.metadata_size;
  for (size_t i = 0; i < protected_size; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      file[i] ^= static_cast<uint8_t>(1 << bit);
      ASSERT_NE(ReadError(file), "OK") << "byte " << i << " bit " << bit;
      file[i] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  EXPECT_EQ(ReadError(file), "OK");
}

TEST(ModuleFileTest, FindsFlippedConstantsWhenAsked) {
  std::vector<uint8_t> file = Serialize(SampleNamed("static"));
  file.back() ^= 1;
  EXPECT_EQ(ReadError(file), "OK");
  const std::string error = ReadError(file, {.verify_constants = true});
  EXPECT_EQ(error.substr(0, 52),
            "DATA_LOSS: constant 'b:0': expected bytes with hash ");
}

// The hashes are not compared in this test, so the checks that follow them must
// detect the damage.
TEST(ModuleFileTest, FlippedBytesWithoutHashes) {
  for (const SampleModule& sample : SampleModules()) {
    std::vector<uint8_t> file = Serialize(ParseSample(sample.text));
    const ReaderOptions no_hashes = {.verify_checksum = false};
    int refused = 0;
    for (size_t i = 0; i < file.size(); ++i) {
      for (uint8_t change : {0x01, 0x80, 0xff}) {
        file[i] ^= change;
        const StatusOr<ModuleDefinition> module =
            ReadModule(file, nullptr, no_hashes);
        if (module.ok()) {
          ASSERT_TRUE(VerifyModule(*module).ok());
        } else {
          ++refused;
        }
        file[i] ^= change;
      }
    }
    EXPECT_GT(refused, static_cast<int>(file.size()))
        << "at least a third of the changes";
  }
}

// Tests files whose hashes are correct but whose metadata is wrong, as an
// attacker might write them.
class LyingFileTest : public testing::Test {
 protected:
  LyingFileTest() : file_(Serialize(SampleNamed("static"))) {}
  fbs::Module* Metadata() {
    return flatbuffers::GetMutableRoot<fbs::Module>(file_.data() +
                                                    sizeof(ContainerHeader));
  }
  fbs::Constant* FirstConstant() {
    return const_cast<fbs::Constant*>(Metadata()->constants()->Get(0));
  }
  template <typename T>
  static void SetField(fbs::Constant* constant, flatbuffers::voffset_t field,
                       T value) {
    ASSERT_TRUE(reinterpret_cast<flatbuffers::Table*>(constant)->SetField<T>(
        field, value, T()));
  }
  std::string Error() {
    Reseal(file_);
    return ReadError(file_);
  }

  std::vector<uint8_t> file_;
};

TEST_F(LyingFileTest, ConstantsOutsideOfTheFile) {
  const uint64_t size = file_.size();
  const uint64_t begin =
      sizeof(ContainerHeader) + HeaderOf(file_).metadata_size;
  const std::string expected =
      "DATA_LOSS: constant 'w': expected an offset in [" +
      std::to_string(begin) + ", " + std::to_string(size) +
      "], a multiple of 64, found ";
  for (uint64_t offset : {uint64_t{0}, uint64_t{64}, (begin + 63) / 64 * 64 + 1,
                          uint64_t{1} << 40, UINT64_MAX - 63}) {
    SetField<uint64_t>(FirstConstant(), fbs::Constant::VT_OFFSET, offset);
    EXPECT_EQ(Error(), expected + std::to_string(offset));
  }
}

TEST_F(LyingFileTest, ConstantsTooLong) {
  const uint64_t room = file_.size() - FirstConstant()->offset();
  for (uint64_t bytes : {room + 1, UINT64_MAX, uint64_t{1} << 63}) {
    SetField<uint64_t>(FirstConstant(), fbs::Constant::VT_SIZE, bytes);
    EXPECT_EQ(Error(), "DATA_LOSS: constant 'w': expected at most " +
                           std::to_string(room) + " bytes, found " +
                           std::to_string(bytes));
  }
  SetField<uint64_t>(FirstConstant(), fbs::Constant::VT_SIZE, 20);
  EXPECT_EQ(Error(),
            "INVALID_ARGUMENT: constant 'w': expected 24 bytes for its type, "
            "found 20");
}

TEST_F(LyingFileTest, EnumsOutOfRange) {
  SetField<uint8_t>(FirstConstant(), fbs::Constant::VT_TYPE, 77);
  EXPECT_EQ(Error(),
            "DATA_LOSS: module file: element type: expected a number below 15, "
            "found 77");
}

std::string MetadataText(const ModuleDefinition& module) {
  std::string text;
  for (const MetadataEntry& entry : module.metadata)
    text += std::string(entry.key) + "=" + entry.value.data() + ";";
  return text;
}

TEST(ModuleFileTest, MetadataStaysInTheFile) {
  ModuleDefinition module = SampleNamed("static");
  SetMetadata("author", "somebody", module.metadata);
  SetMetadata("a", "", module.metadata);
  const std::vector<uint8_t> file = Serialize(module);
  // The copy of the file is aligned to 64 bytes, because the reader would
  // otherwise copy all of it.
  std::shared_ptr<void> aligned(
      std::aligned_alloc(64, file.size() / 64 * 64 + 64), std::free);
  std::memcpy(aligned.get(), file.data(), file.size());
  const auto* begin = static_cast<const uint8_t*>(aligned.get());
  const StatusOr<ModuleDefinition> again =
      ReadModule({begin, file.size()}, aligned);
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(MetadataText(*again), "a=;author=somebody;labels=cat\ndog;");
  for (const MetadataEntry& entry : again->metadata) {
    const auto* value = reinterpret_cast<const uint8_t*>(entry.value.data());
    EXPECT_TRUE(value > begin && value < begin + file.size());
    EXPECT_EQ(FindMetadata(again->metadata, entry.key), &entry);
  }
  EXPECT_EQ(FindMetadata(again->metadata, "b"), nullptr);
  // A module without metadata must be readable, too; its list of entries is
  // then empty.
  module.metadata.clear();
  const StatusOr<ModuleDefinition> none =
      ReadModule(Serialize(module), nullptr);
  ASSERT_TRUE(none.ok()) << none.status().ToString();
  EXPECT_TRUE(none->metadata.empty());
}

// Returns a file with these entries in the given order, without checking them,
// as an untrusted writer might do.
std::vector<uint8_t> FileWithMetadata(
    const std::vector<std::pair<std::string, std::string>>& entries) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<fbs::MetadataEntry>> offsets;
  for (const auto& [key, value] : entries) {
    const auto key_offset = builder.CreateString(key);
    offsets.push_back(fbs::CreateMetadataEntry(builder, key_offset,
                                               builder.CreateString(value)));
  }
  const auto metadata = builder.CreateVector(offsets);
  fbs::ModuleBuilder module(builder);
  module.add_metadata(metadata);
  fbs::FinishModuleBuffer(builder, module.Finish());
  return FileOf(builder);
}

TEST(ModuleFileTest, MetadataOfStrangersIsChecked) {
  const auto error =
      [](const std::vector<std::pair<std::string, std::string>>& entries) {
        return ReadError(FileWithMetadata(entries));
      };
  // The reader accepts the metadata in this case: the error is about the
  // missing programs, which are checked later.
  EXPECT_EQ(error({{"a", "1"}, {"b", "2"}}),
            "INVALID_ARGUMENT: module: expected at least one program, found "
            "none");
  const auto refused = [](const std::string& key, const std::string& expected) {
    return "INVALID_ARGUMENT: metadata '" + key + "': expected " + expected +
           ", found another";
  };
  for (const std::string& key : {std::string(), std::string(1025, 'k'),
                                 std::string("\xff"), std::string("a\0b", 3)}) {
    EXPECT_EQ(
        error({{key, "1"}}),
        refused("?", "a key of 1 to 1024 bytes in UTF-8 without a byte 0"));
  }
  for (const char* second : {"a", "b"}) {
    EXPECT_EQ(error({{"b", "1"}, {second, "2"}}),
              refused(second, "keys in ascending order, each once"));
  }
  for (const std::string& value : {std::string("\xc3"), std::string("a\0", 2),
                                   std::string((1 << 20) + 1, 'v')}) {
    EXPECT_EQ(
        error({{"a", value}}),
        refused("a",
                "a value of at most 1048576 bytes in UTF-8 without a byte 0"));
  }
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i <= 4096; ++i)
    many.emplace_back(std::to_string(10000 + i), "");
  const std::string much = "at most 4096 entries of 16777216 bytes in all";
  EXPECT_EQ(error(many), refused("14096", much));
  std::vector<std::pair<std::string, std::string>> large;
  large.reserve(16);
  for (int i = 0; i < 16; ++i)
    large.emplace_back(std::to_string(10 + i), std::string(1 << 20, 'v'));
  EXPECT_EQ(error(large), refused("25", much));
}

// A small file refers to one dispatch a thousand times. Reading it would need a
// thousand times its memory, so it must be refused.
TEST(ModuleFileTest, RefusesRepeatedParts) {
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<fbs::DispatchInstruction> instructions(1000);
  const auto name = builder.CreateString("d");
  const auto vector = builder.CreateVectorOfStructs(instructions);
  const auto dispatch = fbs::CreateDispatch(builder, name, 0, 0, 0, vector);
  const auto dispatches = builder.CreateVector(
      std::vector<flatbuffers::Offset<fbs::Dispatch>>(1000, dispatch));
  fbs::FinishModuleBuffer(builder,
                          fbs::CreateModule(builder, 0, 0, 0, dispatches));
  const std::vector<uint8_t> file = FileOf(builder);
  EXPECT_EQ(ReadError(file),
            "DATA_LOSS: module file: expected each part of the metadata once, "
            "found parts repeated");
}

TEST(VerifyModuleTest, RulesAcrossParts) {
  const auto error = [](const ModuleDefinition& module) {
    return std::string(VerifyModule(module).message());
  };
  ModuleDefinition module = SampleNamed("static");
  module.programs.clear();
  EXPECT_EQ(error(module), "module: expected at least one program, found none");
  module = SampleNamed("static");
  module.dispatches[1].name = "gemm";
  EXPECT_EQ(error(module),
            "dispatch @gemm: expected names to differ, found it twice");
  module = SampleNamed("static");
  module.dispatch_origins.pop_back();
  EXPECT_EQ(error(module),
            "module: expected an origin for each of its 2 dispatches or none, "
            "found 1");
  module = SampleNamed("static");
  module.constants[0].dims = {3, INT64_MAX};
  EXPECT_EQ(
      error(module),
      "constant 'w': expected a size below 2^63 bytes, found a larger one");
  module.constants[0].dims = {-3, -2};
  EXPECT_EQ(error(module),
            "constant 'w': expected dims of at least 0, found -3");
  module = SampleNamed("static");
  module.dispatches[0].instructions[0].type = DType::kBool;
  EXPECT_EQ(error(module).substr(0, 14), "dispatch @gemm");
  module = SampleNamed("calls");
  for (Program& program : module.programs)
    program.integer_register_count = 1 << 20;
  EXPECT_EQ(error(module),
            "module: expected at most 4194304 registers in all programs, found "
            "4194319");
  module = SampleNamed("strings");
  module.strings[3] = ", ";
  EXPECT_EQ(error(module),
            "module: expected strings to differ, found string 3 again");
  module = SampleNamed("strings");
  module.programs[0].inputs[1].type = DType::kU8;
  EXPECT_EQ(error(module),
            "program main: input 'x': expected strings to be stored as i64, "
            "found u8");
  // The writer must refuse the module for the same reason as the reader.
  EXPECT_FALSE(SerializeModule(module).ok());
}

}  // namespace
}  // namespace ember::vm
