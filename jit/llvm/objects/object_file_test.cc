// Tests object files with LLVM's readers. tests/native tests that linkers
// accept object files of ELF and that programs find the kernels.
#include "jit/llvm/objects/object_file.h"

#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/all_targets.h"
#include "llvm/Object/MachO.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "vm/format/native_table.h"

namespace ember::jit::llvm_ir {
namespace {

using llvm::object::ObjectFile;

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A small native library for two targets. Each has a head and code; only the
// first has weights.
class Library {
 public:
  Library() {
    std::vector<vm::NativeLibrarySection> sections = {
        {"a+x", {BytesOf(head_), BytesOf(code_), BytesOf(weights_)}, 64},
        {"b", {BytesOf(head_), BytesOf(other_code_), {}}, 4096}};
    library_ = vm::LayOutNativeLibrary({1, 2, 3}, sections);
  }
  const vm::NativeLibrary& get() const { return library_; }
  const std::string& code() const { return code_; }
  const std::string& other_code() const { return other_code_; }
  const std::string& weights() const { return weights_; }

 private:
  const std::string head_ = "the head", code_ = std::string(100, 'c'),
                    other_code_ = "code", weights_ = std::string(70, 'w');
  vm::NativeLibrary library_;
};

std::string Contents(const llvm::object::SectionRef& section) {
  auto contents = section.getContents();
  EXPECT_TRUE(static_cast<bool>(contents));
  return contents ? contents->str() : "";
}

class ObjectFileTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ObjectFileTest, HasTheSymbolAndDistancesToTheCode) {
  UseAllTargets();
  const Library library;
  const std::string triple = GetParam();
  const auto object = WriteObjectFile(library.get(), triple, "kernels");
  ASSERT_TRUE(object.ok()) << object.status().ToString();
  // The object file is copied, because LLVM's readers need aligned memory.
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(*object);
  auto file = ObjectFile::createObjectFile(buffer->getMemBufferRef());
  ASSERT_TRUE(static_cast<bool>(file)) << toString(file.takeError());
  const bool is_macho = (*file)->isMachO();
  EXPECT_EQ(is_macho, triple.find("apple") != std::string::npos);

  int symbols = 0;
  for (const llvm::object::SymbolRef& symbol : (*file)->symbols()) {
    if (cantFail(symbol.getName()) != (is_macho ? "_kernels" : "kernels"))
      continue;
    ++symbols;
    EXPECT_TRUE(cantFail(symbol.getFlags()) &
                llvm::object::SymbolRef::SF_Global);
    const auto section = cantFail(symbol.getSection());
    EXPECT_FALSE(section->isText());
    const uint64_t offset =
        cantFail(symbol.getAddress()) - section->getAddress();
    const std::string data = Contents(*section).substr(offset);
    ASSERT_GE(data.size(), library.get().data_size);
    EXPECT_EQ(std::memcmp(data.data(), vm::kNativeTableMagic, 8), 0);
    EXPECT_NE(data.find(library.weights()), std::string::npos);
    EXPECT_GE(section->getAlignment().value(), 64u);
  }
  EXPECT_EQ(symbols, 1);

  bool has_code = false;
  size_t relocations = 0;
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (section.isText()) {
      has_code = true;
      const std::string code = Contents(section);
      EXPECT_EQ(code.substr(0, 100), library.code());
      EXPECT_EQ(code.substr(4096, 4), library.other_code());
      EXPECT_GE(section.getAlignment().value(), 4096u);
    }
    for (const llvm::object::RelocationRef& relocation :
         section.relocations()) {
      static_cast<void>(relocation);
      ++relocations;
    }
  }
  EXPECT_TRUE(has_code);
  // The data has two distances to code. Each distance is one relocation in ELF
  // and two in Mach-O.
  EXPECT_EQ(relocations, is_macho ? 4u : 2u);
}

INSTANTIATE_TEST_SUITE_P(
    Platforms, ObjectFileTest,
    ::testing::Values("x86_64-linux-gnu", "aarch64-linux-gnu",
                      "armv7-linux-gnueabihf", "arm64-apple-ios13.0",
                      "arm64-apple-ios14.0-simulator", "arm64-apple-macos11.0",
                      "x86_64-apple-macos11.0"));

// A Mach-O file must name its platform: linkers refuse files without one, or
// guess it.
TEST(MachOTest, SaysWhichPlatformItIsFor) {
  UseAllTargets();
  for (const auto& [triple, platform] :
       {std::pair("arm64-apple-ios14.0-simulator", 7u),
        std::pair("arm64-apple-macos11.0", 1u)}) {
    const auto object = WriteObjectFile(Library().get(), triple, "kernels");
    ASSERT_TRUE(object.ok());
    const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(*object);
    auto file = ObjectFile::createMachOObjectFile(buffer->getMemBufferRef());
    ASSERT_TRUE(static_cast<bool>(file));
    bool is_said = false;
    for (const auto& command : (*file)->load_commands()) {
      if (command.C.cmd != llvm::MachO::LC_BUILD_VERSION) continue;
      is_said = true;
      EXPECT_EQ((*file)->getBuildVersionLoadCommand(command).platform,
                platform);
    }
    EXPECT_TRUE(is_said) << triple;
  }
}

TEST(ObjectFileErrorsTest, UnknownMachinesAreRefused) {
  const Library library;
  EXPECT_EQ(
      WriteObjectFile(library.get(), "pdp11-dec-unix", "k").status().code(),
      StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ember::jit::llvm_ir
