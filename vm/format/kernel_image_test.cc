// Tests images as text and as bytes, and the errors of the verifier. The cases
// are written as text.
#include "vm/format/kernel_image.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "vm/format/kernel_image_bytes.h"
#include "vm/format/kernel_image_text.h"
#include "vm/format/kernel_image_verifier.h"
#include "vm/format/native_kernels.h"
#include "vm/format/native_kernels_format.h"

namespace ember::vm {
namespace {

using ::testing::HasSubstr;

constexpr const char* kImage =
    R"(kernel "scale \"rows\"" for "x86_64-linux+avx2" {
  tier 2
  error_growth 6.25
  parameters 2
  %0: i64 = parameter 0
  %1: i64 = constant -64
  %2: i64 = * %0 %1
  %3: bool = < %0 %2
  %4: i64 = select %3 %0 %1
  %5: u8 = constant 255
  %6: i64 = neg %4
  input "x": f32[%0, %4] align 4 overwritten
  input "w": bf16[] align 2
  output "y": f32[%2] align 64
  packed "w_packed": bf16[%6]
  call "partial": f64[%0]
  task "row": i8[%0, %0, %0]
  register "acc": f32[%1]
  prologue tasks %1
  phase tasks %0
  phase tasks %2
  code machine-code align 4096 entries 0 5 33 {
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
    "ff80"
  }
}
)";

constexpr const char* kShaped = R"(kernel "f" for "armv7-linux" {
  tier 1
  shape [8, -1]
  %0: i64 = constant 1
  output "y": u8[%0]
  phase tasks %0
  code machine-code align 16 entries 0 {
    "c3"
  }
}
)";

constexpr const char* kPartlyOpen = R"(kernel "f" for "armv7-linux" {
  tier 2
  parameters 2
  shape [8, open]
  %0: i64 = parameter 1
  output "y": u8[%0]
  phase tasks %0
  code machine-code align 16 entries 0 {
    "c3"
  }
}
)";

constexpr const char* kOfDevice =
    R"(kernel "rows" for "vulkan1.3+subgroup32+shared32768" {
  tier 2
  parameters 1
  %0: i64 = parameter 0
  %1: i64 = constant 16
  %2: i64 = * %0 %1
  input "x": f32[%0] align 4
  output "y": f32[%0] align 4
  packed "p": f32[%1]
  task "t": f32[%2]
  register "r": f32[%1]
  prologue tasks %1 iterations %1
  phase tasks %0 iterations %2
  code spirv align 4 entries {
    device "prologue0" tasks 64 bindings 0 2
    device "phase0" workgroup 128 shared 1024 iterations 65535 checks bindings 0 1 2 3 sliced
    "03022307"
  }
}
)";

// The text of an image for CUDA's devices, whose phases have tensor maps.
constexpr const char* kOfCuda =
    R"(kernel "copy" for "sm_90a+subgroup32+shared232448" {
  tier 2
  parameters 1
  %0: i64 = parameter 0
  %1: i64 = constant 64
  %2: i64 = constant 9
  input "x": bf16[%0, %1] align 16
  input "z": bf16[%0, %2, %1] align 16
  output "y": f32[%1] align 16
  task "t": f32[%1]
  phase tasks %0
  phase tasks %1
  code ptx align 1 entries {
    device "phase0" workgroup 128 workgroups 132 bindings 0 2 1 boxes 0 [8, 64] swizzled 1 [256] 0 [1, 8] 2 [8, 3, 64] order [1, 0, 2] swizzled
    device "phase1" bindings 3 sliced 2
    "2e76"
  }
}
)";

KernelImage ParseOrDie(std::string_view text) {
  auto image = ParseKernelImage(text);
  EXPECT_TRUE(image.ok()) << image.status().ToString() << "\n" << text;
  return image.ok() ? *std::move(image) : KernelImage{};
}

std::span<const uint8_t> BytesOf(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST(KernelImageTest, TextParsesBack) {
  for (const char* text : {kImage, kShaped, kPartlyOpen, kOfDevice, kOfCuda}) {
    const KernelImage image = ParseOrDie(text);
    EXPECT_EQ(PrintKernelImage(image), text);
    EXPECT_EQ(ParseOrDie(PrintKernelImage(image)), image);
  }
  const DevicePhase phase = ParseOrDie(kOfCuda).code.device[0];
  EXPECT_EQ(phase.most_workgroups, 132u);
  EXPECT_EQ(
      phase.boxes,
      (std::vector<BoxMap>{{.binding = 0, .box = {8, 64}, .is_swizzled = true},
                           {.binding = 1, .box = {256}},
                           {.binding = 0, .box = {1, 8}},
                           {.binding = 2,
                            .box = {8, 3, 64},
                            .order = {1, 0, 2},
                            .is_swizzled = true}}));
  EXPECT_THAT(PrintKernelImage(ParseOrDie(kImage), false),
              HasSubstr("// 34 bytes"));
}

TEST(KernelImageTest, BytesReadBack) {
  for (const char* text : {kImage, kShaped, kPartlyOpen, kOfDevice, kOfCuda}) {
    const KernelImage image = ParseOrDie(text);
    ByteWriter writer;
    WriteKernelImage(image, writer);
    const std::string bytes = std::move(writer).Take();
    ByteReader reader(BytesOf(bytes));
    const auto read = ReadKernelImage(reader, nullptr);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(reader.at_end());
    EXPECT_EQ(*read, image);
    // Reading must refuse the bytes if they are truncated at any position.
    for (size_t size = 0; size < bytes.size(); ++size) {
      ByteReader part(BytesOf(bytes).first(size));
      EXPECT_EQ(ReadKernelImage(part, nullptr).status().code(),
                StatusCode::kDataLoss)
          << size;
    }
  }
}

// Returns the error of parsing the text of an image in which the first `from`
// is replaced by `to`.
std::string ErrorWith(std::string_view from, std::string_view to,
                      std::string text = kImage) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  return std::string(ParseKernelImage(text).status().message());
}

TEST(KernelImageTest, VerifierRefuses) {
  const std::string who = "kernel of @scale \"rows\": ";
  EXPECT_EQ(ErrorWith("tier 2", "tier 3"),
            who + "tier: expected 1 or 2, found 3");
  EXPECT_THAT(ErrorWith("error_growth 6.25", "error_growth 0.5"),
              HasSubstr("expected a number from 1 up"));
  EXPECT_THAT(ErrorWith("parameters 2", "parameters 0"),
              HasSubstr("formula 0: expected an i64 parameter below 0"));
  EXPECT_THAT(ErrorWith("parameters 2", "parameters 2 shape [1]"),
              HasSubstr("parameters: expected none"));
  EXPECT_THAT(ErrorWith("parameters 2", "parameters 2 shape [open]"),
              HasSubstr("parameters: expected as many as the shape has"));
  EXPECT_THAT(ErrorWith("* %0 %1", "* %0 %2"),
              HasSubstr("formula 2: expected an earlier formula, found 2"));
  EXPECT_THAT(ErrorWith("* %0 %1", "* %0 %4000000000"),
              HasSubstr("formula 2: expected an earlier formula"));
  EXPECT_THAT(ErrorWith("select %3 %0 %1", "select %0 %0 %1"),
              HasSubstr("formula 4: expected operands that 'select' takes"));
  EXPECT_THAT(ErrorWith("i64 = neg %4", "i32 = neg %4"),
              HasSubstr("formula 6"));
  EXPECT_THAT(ErrorWith("u8 = constant 255", "u8 = constant 256"),
              HasSubstr("formula 5: expected bits of u8"));
  EXPECT_THAT(ErrorWith("neg %4", "load"),
              HasSubstr("formula 6: expected arithmetic, found 'load'"));
  EXPECT_THAT(ErrorWith("f32[%2]", "f32[%5]"),
              HasSubstr("buffer 'y': expected the number of an i64 formula"));
  EXPECT_THAT(ErrorWith("f32[%2]", "f32[%7]"),
              HasSubstr("buffer 'y': expected the number of an i64 formula"));
  EXPECT_THAT(ErrorWith("align 64", "align 128"),
              HasSubstr("buffer 'y': expected an alignment"));
  EXPECT_THAT(ErrorWith("align 64", "align 3"),
              HasSubstr("buffer 'y': expected an alignment"));
  EXPECT_THAT(ErrorWith("bf16[%6]", "bf16[%6] align 64"),
              HasSubstr("buffer 'w_packed': expected an alignment of 1"));
  EXPECT_THAT(ErrorWith("f32[%2] align 64", "f32[%2] overwritten"),
              HasSubstr("buffer 'y': expected an input"));
  EXPECT_THAT(ErrorWith("packed", "input"),
              HasSubstr("expected inputs, then outputs, then all others"));
  EXPECT_THAT(ErrorWith("phase tasks %0", "phase tasks %3"),
              HasSubstr("tasks of a phase: expected the number of an i64"));
  EXPECT_THAT(ErrorWith("entries 0 5 33", "entries 0 5"),
              HasSubstr("an entry for each of 3 phases, found 2"));
  EXPECT_THAT(ErrorWith("entries 0 5 33", "entries 0 5 34"),
              HasSubstr("expected entries below 34 bytes, found 34"));
  EXPECT_THAT(ErrorWith("align 4096", "align 131072"),
              HasSubstr("code: expected an alignment"));
  EXPECT_THAT(ErrorWith("align 4096", "align 24"),
              HasSubstr("code: expected an alignment"));
}

TEST(KernelImageTest, VerifierRefusesOfDevices) {
  const auto error = [](std::string_view from, std::string_view to) {
    return ErrorWith(from, to, kOfDevice);
  };
  const std::string who = "kernel of @rows: ";
  EXPECT_EQ(error("bindings 0 1 2 3 sliced", "bindings 5"),
            who + "phase 1: expected a buffer below 5, found 5");
  // Three wrong bindings must be refused: a task's buffer that is not sliced, a
  // sliced buffer that is no task's, and a buffer in registers.
  for (const char* bindings :
       {"bindings 3", "bindings 0 sliced", "bindings 4"}) {
    EXPECT_THAT(error("bindings 0 1 2 3 sliced", bindings),
                HasSubstr(who + "phase 1: buffer '"));
  }
  EXPECT_THAT(error("bindings 0 2\n", "bindings 1\n"),
              HasSubstr(who + "phase 0: buffer 'y': expected "));
  EXPECT_EQ(error("workgroup 128", "workgroup 0"),
            who + "phase 1: expected 1 to 65536 invocations, found 0");
  EXPECT_EQ(error("tasks 64 ", "tasks 65537 "),
            who +
                "phase 0: expected 1 to 65536 tasks of a workgroup, found "
                "65537");
  EXPECT_EQ(error("shared 1024", "shared 4294967295"),
            who +
                "phase 1: expected at most 1 GiB of a workgroup's memory, "
                "found 4294967295");
  EXPECT_EQ(error("iterations 65535", "iterations -1"),
            who + "phase 1: expected iterations from 0 up, found -1");
  EXPECT_EQ(error("\"prologue0\"", "\"\""),
            who +
                "phase 0: expected an entry point of 1 to 65536 bytes, found "
                "0");
  EXPECT_EQ(error(" iterations %1", ""),
            who +
                "iterations: expected one for each phase of a device, or "
                "none, found 1");
  EXPECT_EQ(error(" iterations %2", " iterations %7"),
            who +
                "iterations of a phase: expected the number of an i64 "
                "formula, found 7");
  EXPECT_EQ(error("entries {", "entries 0 {"),
            who +
                "code: expected offsets of entries for machine code, "
                "names for other code, found both");
  EXPECT_EQ(error("phase tasks %0 iterations %2\n",
                  "phase tasks %0 iterations %2\n  phase tasks %0 iterations "
                  "%2\n"),
            who + "code: expected an entry for each of 3 phases, found 2");
  EXPECT_THAT(ErrorWith("code machine-code align 4096 entries 0 5 33 {",
                        "code ptx align 1 entries {"),
              HasSubstr("expected an entry for each of 3 phases, found 0"));
}

TEST(KernelImageTest, VerifierRefusesTensorMaps) {
  const auto error = [](std::string_view from, std::string_view to) {
    return ErrorWith(from, to, kOfCuda);
  };
  const std::string who = "kernel of @copy: phase 0: ";
  EXPECT_EQ(error("boxes 0 [", "boxes 3 ["),
            who + "tensor map: expected a binding below 3, found 3");
  EXPECT_EQ(error("sliced 2\n", "sliced 2 boxes 0 [4]\n"),
            "kernel of @copy: phase 1: tensor map: expected a binding without "
            "slices, found 0");
  EXPECT_EQ(error("[8, 64]", "[1, 1, 1, 1, 1, 1]"),
            who + "tensor map: expected a box of 1 to 5 dims, found 6");
  for (const char* box : {"[0, 64]", "[257, 64]"}) {
    EXPECT_THAT(error("[8, 64]", box),
                HasSubstr(who + "tensor map: expected a box of 1 to 256 "
                                "elements in each dim, found "));
  }
  EXPECT_EQ(
      error("[8, 64]", "[64]"),
      who + "tensor map of buffer 'x': expected a box of 2 dims, found 1");
  EXPECT_EQ(error("[8, 64]", "[8, 60]"),
            who +
                "tensor map of buffer 'x': expected rows of a multiple of 16 "
                "bytes, found 120");
  EXPECT_EQ(error("[8, 64]", "[8, 72]"),
            who +
                "tensor map of buffer 'x': expected at most 128 bytes in a "
                "row that is swizzled, found 144");
  EXPECT_EQ(error("1 [256]", "1 [256] swizzled"),
            who +
                "tensor map of buffer 'y': expected at most 128 bytes in a "
                "row that is swizzled, found 1024");
  EXPECT_EQ(error("order [1, 0, 2]", "order [0, 1]"),
            who + "tensor map: expected an order of 3 dims, found 2");
  for (const char* order : {"order [1, 1, 2]", "order [3, 1, 2]"}) {
    EXPECT_THAT(error("order [1, 0, 2]", order),
                HasSubstr(who + "tensor map: expected an order with each dim "
                                "once, found "));
  }
  EXPECT_EQ(error("order [1, 0, 2]", "order [1, 2, 0]"),
            who + "tensor map: expected the last dim innermost, found 0");
  EXPECT_EQ(error("code ptx", "code spirv"),
            who + "expected at most 0 tensor maps in spirv, found 4");
  std::string many = "boxes";
  for (int i = 0; i < 13; ++i) many += " 0 [1, 8]";
  EXPECT_EQ(error("boxes", many),
            who + "expected at most 16 tensor maps in ptx, found 17");
  EXPECT_EQ(error("workgroups 132", "workgroups 65537"),
            who + "expected at most 65536 workgroups of a launch, found 65537");
  EXPECT_EQ(error("\"phase1\"", "\"phase1\" workgroups 9"),
            "kernel of @copy: phase 1: expected any number of workgroups, as "
            "it has slices, found 9");
}

// The image is changed directly, because the text form cannot express a tensor
// map without dims.
TEST(KernelImageTest, VerifierRefusesMapsOfNoDims) {
  KernelImage image = ParseOrDie(kOfCuda);
  image.code.device[0].boxes[1].box.clear();
  EXPECT_THAT(std::string(VerifyKernelImage(image).message()),
              HasSubstr("expected a box of 1 to 5 dims, found 0"));
}

// Code of the emulated grid is only valid in this process, so it must not be
// written to files.
TEST(KernelImageTest, FilesHaveNoEmulatedGrid) {
  std::string text = kOfDevice;
  text.replace(text.find("spirv"), 5, "emulated-grid");
  ByteWriter writer;
  WriteKernelImage(ParseOrDie(text), writer);
  const std::string bytes = std::move(writer).Take();
  ByteReader reader(BytesOf(bytes));
  EXPECT_EQ(ReadKernelImage(reader, nullptr).status().message(),
            "code: expected a format that files have, found emulated-grid");
}

TEST(KernelImageTest, ParserRefuses) {
  EXPECT_EQ(ErrorWith("kernel \"", "kernels \""),
            "1:1: expected 'kernel', found 'kernels'");
  EXPECT_THAT(ErrorWith("%1: i64", "%9: i64"), HasSubstr("expected %1"));
  EXPECT_THAT(ErrorWith("i64 = neg", "i65 = neg"),
              HasSubstr("expected an element type"));
  EXPECT_THAT(ErrorWith("= neg", "= negate"), HasSubstr("an operation"));
  EXPECT_THAT(ErrorWith("machine-code", "punched-cards"),
              HasSubstr("expected a format of code"));
  EXPECT_THAT(ErrorWith("ff80", "ff8"), HasSubstr("hexadecimal"));
  EXPECT_THAT(ErrorWith("ff80", "fg80"), HasSubstr("hexadecimal"));
  EXPECT_THAT(ErrorWith("tier 2", "tier 4294967297"), HasSubstr("32 bits"));
  EXPECT_THAT(ErrorWith("  phase tasks %2\n",
                        "  phase tasks %2\n  prologue tasks %2\n"),
              HasSubstr("the prologue before other phases"));
  EXPECT_THAT(ErrorWith("tier 2", "level 2"), HasSubstr("expected tier, "));
}

// Images are changed directly, because the parser of the text form never makes
// numbers outside of an enum.
TEST(KernelImageTest, VerifierRefusesNumbersOfNoTable) {
  const KernelImage good = ParseOrDie(kImage);
  KernelImage bad = good;
  bad.formulas[2].opcode = static_cast<tensor::Opcode>(250);
  EXPECT_THAT(std::string(VerifyKernelImage(bad).message()),
              HasSubstr("formula 2: expected an operation"));
  bad = good;
  bad.formulas[6].b = 1;
  EXPECT_THAT(std::string(VerifyKernelImage(bad).message()),
              HasSubstr("operand that it has not"));
  bad = good;
  bad.buffers[1].type = static_cast<DType>(99);
  EXPECT_THAT(std::string(VerifyKernelImage(bad).message()),
              HasSubstr("buffer 'w': expected an element type"));
  bad = good;
  bad.buffers[1].scope = static_cast<KernelScope>(99);
  EXPECT_THAT(std::string(VerifyKernelImage(bad).message()),
              HasSubstr("buffer 'w': expected a scope"));
  bad = good;
  bad.prologue_count = 4;
  EXPECT_THAT(std::string(VerifyKernelImage(bad).message()),
              HasSubstr("prologue: expected no more phases than there are"));
  bad = good;
  bad.code.format = static_cast<KernelFormat>(9);
  EXPECT_THAT(std::string(VerifyKernelImage(bad).message()),
              HasSubstr("code: expected a format"));
}

std::vector<NativeKernel> SomeKernels() {
  std::vector<NativeKernel> kernels(4);
  kernels[0] = {7, {{-1, 0}, {2, 64}}, ParseOrDie(kImage), {}, nullptr};
  kernels[1] = {0, {}, ParseOrDie(kShaped), {}, nullptr};
  kernels[2] = {1, {}, ParseOrDie(kShaped), {}, nullptr};
  kernels[3] = {2, {}, ParseOrDie(kOfCuda), {}, nullptr};
  return kernels;
}

std::string SectionBytes(const std::vector<NativeKernel>& kernels) {
  return JoinNativeSection(WriteNativeKernels(kernels).parts());
}

// A section in memory that is aligned to 64 bytes, as in a file. No other bytes
// follow the section, so that the sanitizers detect reads behind its end.
class InMemory {
 public:
  explicit InMemory(const std::string& bytes)
      : size_(bytes.size()),
        memory_(static_cast<uint8_t*>(
                    std::aligned_alloc(64, (bytes.size() + 63) / 64 * 64)),
                std::free) {
    std::copy(bytes.begin(), bytes.end(), memory_.get());
  }
  StatusOr<std::vector<NativeKernel>> Read() const {
    const auto parts = SplitNativeSection({memory_.get(), size_});
    if (!parts.ok()) return parts.status();
    return ReadNativeKernels(*parts, memory_);
  }

 private:
  size_t size_;
  std::shared_ptr<uint8_t> memory_;
};

TEST(NativeKernelsTest, BytesReadBackAndShareCode) {
  const std::vector<NativeKernel> kernels = SomeKernels();
  const auto read = InMemory(SectionBytes(kernels)).Read();
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ((*read)[i].dispatch, kernels[i].dispatch);
    EXPECT_EQ((*read)[i].constants, kernels[i].constants);
    EXPECT_EQ((*read)[i].image, kernels[i].image);
  }
  EXPECT_EQ((*read)[1].image.code.bytes.data(),
            (*read)[2].image.code.bytes.data());
}

// Reads the kernels of a section after changing it to the format of an older
// version, in which some bytes at the end of each device phase are missing.
// `bytes` is the number of bytes of the kernels' code.
StatusOr<std::vector<NativeKernel>> ReadOlder(
    uint32_t version, const std::vector<NativeKernel>& kernels,
    const std::function<size_t(const DevicePhase&)>& new_bytes,
    NativeBytes& bytes) {
  bytes = WriteNativeKernels(kernels);
  const KernelCode& code = kernels[0].image.code;
  for (const DevicePhase& phase : code.device) {
    ByteWriter writer;
    WriteDevicePhases({.format = code.format, .device = {phase}}, writer);
    const std::string written =
        std::move(writer).Take().substr(sizeof(uint32_t));
    const size_t at = bytes.head.find(written), left_out = new_bytes(phase);
    if (at == std::string::npos) return DataLossError("no such phase");
    bytes.head.erase(at + written.size() - left_out, left_out);
  }
  ByteWriter header;
  header.Number(kNativeMagic);
  header.Number(version);
  header.Number(uint64_t{bytes.head.size()});
  std::string head = std::move(header).Take();
  head += bytes.head.substr(head.size());
  return ReadNativeKernels({BytesOf(head), BytesOf(bytes.code), {}}, nullptr);
}

void ExpectReadsOlder(
    uint32_t version, std::string_view text,
    const std::function<size_t(const DevicePhase&)>& new_bytes) {
  std::vector<NativeKernel> kernels(2);
  kernels[0].image = ParseOrDie(text);
  kernels[1].image = ParseOrDie(kShaped);
  NativeBytes bytes;
  const auto read = ReadOlder(version, kernels, new_bytes, bytes);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 2u);
  for (size_t i = 0; i < kernels.size(); ++i)
    EXPECT_EQ((*read)[i].image, kernels[i].image);
  EXPECT_FALSE(ReadOlder(version + 1, kernels, new_bytes, bytes).ok());
}

// A phase in version 3 of the format ends with its iterations, because that
// version has no tensor maps.
TEST(NativeKernelsTest, VersionThreeReadsBack) {
  ExpectReadsOlder(3, kOfDevice, [](const DevicePhase&) { return 8; });
}

// A tensor map in version 4 of the format ends with its box, because that
// version has no order of dims.
TEST(NativeKernelsTest, VersionFourReadsBack) {
  std::string text = kOfCuda;
  const size_t at = text.find("boxes"), end = text.find('\n', at);
  text.replace(at, end - at, "boxes 1 [256]");
  ExpectReadsOlder(4, text, [](const DevicePhase& phase) {
    return sizeof(uint32_t) * phase.boxes.size();
  });
}

TEST(NativeKernelsTest, CutOffIsRefused) {
  const std::string bytes = SectionBytes(SomeKernels());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(InMemory(bytes.substr(0, size)).Read().ok()) << size;
  EXPECT_FALSE(InMemory(bytes + "x").Read().ok());
}

// Returns three kernels, each with one packed buffer of three bf16. The first
// two have the packed bytes a, the last one has b.
std::vector<NativeKernel> PackedKernels(std::span<const uint8_t> a,
                                        std::span<const uint8_t> b) {
  std::vector<NativeKernel> kernels(3);
  for (NativeKernel& kernel : kernels) {
    kernel.image = ParseOrDie(kImage);
    kernel.packed = {a};
  }
  kernels[2].packed = {b};
  return kernels;
}

TEST(NativeKernelsTest, PackedConstantsAreInPlaceAndShared) {
  const std::vector<uint8_t> a = {1, 2, 3, 4, 5, 6}, b = {6, 5, 4, 3, 2, 1};
  const std::string bytes = SectionBytes(PackedKernels(a, b));
  const auto read = InMemory(bytes).Read();
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  for (const NativeKernel& kernel : *read) {
    ASSERT_EQ(kernel.packed.size(), 1u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(kernel.packed[0].data()) % 64, 0u);
  }
  EXPECT_TRUE(std::ranges::equal((*read)[0].packed[0], a));
  EXPECT_TRUE(std::ranges::equal((*read)[2].packed[0], b));
  EXPECT_EQ((*read)[0].packed[0].data(), (*read)[1].packed[0].data());
  // Packed constants are at the end of a section, and HashedPart does not
  // include them.
  const std::span<const uint8_t> hashed = HashedPart(BytesOf(bytes));
  EXPECT_EQ(bytes.size() - (hashed.size() + 63) / 64 * 64, 64 + b.size());
  const std::string none = SectionBytes(SomeKernels());
  EXPECT_EQ(HashedPart(BytesOf(none)).size(), none.size());
}

TEST(NativeKernelsTest, PackedConstantsThatDoNotFitAreRefused) {
  const std::vector<uint8_t> a = {1, 2, 3, 4, 5, 6};
  std::vector<NativeKernel> kernels = PackedKernels(a, a);
  kernels[1].packed.emplace_back(a);
  EXPECT_THAT(
      std::string(InMemory(SectionBytes(kernels)).Read().status().message()),
      HasSubstr("expected packed constants for 1 buffers, found 2"));
  // A file must not contain packed constants whose type has invalid bit
  // patterns (bool), because their bytes are not checked.
  kernels = PackedKernels(a, a);
  for (KernelBuffer& buffer : kernels[2].image.buffers) {
    if (buffer.scope == KernelScope::kPacked) buffer.type = DType::kBool;
  }
  EXPECT_FALSE(MayBePackedBefore(kernels[2].image));
  EXPECT_THAT(
      std::string(InMemory(SectionBytes(kernels)).Read().status().message()),
      HasSubstr("expected constants to pack, found packed ones"));
}

// Changes each byte of a section, one after another, and then many bytes at
// once. Reading must either refuse the result or return valid kernels. The
// sanitizers check that no other memory is accessed; reading must also not
// allocate more than the bytes justify.
TEST(NativeKernelsTest, EachByteMutated) {
  const std::vector<uint8_t> packed = {1, 2, 3, 4, 5, 6};
  std::vector<NativeKernel> kernels = SomeKernels();
  kernels[0].packed = {packed};
  const std::string good = SectionBytes(kernels);
  int accepted = 0;
  const auto check = [&](const std::string& bytes) {
    const auto read = InMemory(bytes).Read();
    if (!read.ok()) return;
    ++accepted;
    for (const NativeKernel& kernel : *read)
      EXPECT_TRUE(VerifyKernelImage(kernel.image).ok());
  };
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      check(bad);
    }
  }
  // Some changes must be accepted, because bytes of code and of names may have
  // any value.
  EXPECT_GT(accepted, 0);
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string bad = good;
    for (int i = 0; i < 4; ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    check(bad);
  }
}

}  // namespace
}  // namespace ember::vm
