#include "jit/spirv/testing.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/file.h"
#include "gtest/gtest.h"
#include "hal/vulkan/testing/test_device.h"
#include "hal/vulkan/vulkan_device.h"
#include "jit/kernel/device_kernel.h"
#include "jit/kernel/nest_layout.h"
#include "jit/loops/evaluator.h"
#include "jit/loops/matrix_operation.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/tools.h"
#include "tensor/random_values.h"

namespace ember::jit::spirv {
namespace {

// Between buffers; a multiple of every device's alignment.
constexpr int64_t kGap = 256;
constexpr uint8_t kGapByte = 0xa5;

int64_t RoundUp(int64_t bytes) { return (bytes + kGap - 1) / kGap * kGap; }

bool IsArgument(const loops::Buffer& buffer) {
  return buffer.scope == loops::Scope::kInput ||
         buffer.scope == loops::Scope::kOutput;
}

// All buffers in one memory, with gaps.
struct DeviceBytes {
  std::unique_ptr<hal::Buffer> memory;
  std::vector<hal::BufferRange> ranges;

  uint8_t* at(size_t i) const {
    return static_cast<uint8_t*>(memory->host_data()) + ranges[i].offset;
  }
};

StatusOr<DeviceBytes> Place(hal::Device& device, std::span<void* const> buffers,
                            std::span<const int64_t> sizes) {
  DeviceBytes placed;
  int64_t bytes = kGap;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto same =
        std::find(buffers.begin(), buffers.begin() + static_cast<ptrdiff_t>(i),
                  buffers[i]);
    const auto first = static_cast<size_t>(same - buffers.begin());
    if (first < i && sizes[i] > 0) {
      placed.ranges.push_back(placed.ranges[first]);
      continue;
    }
    placed.ranges.push_back({nullptr, bytes, sizes[i]});
    bytes += RoundUp(sizes[i]) + kGap;
  }
  EMBER_ASSIGN_OR_RETURN(placed.memory,
                         device.Allocate(bytes, hal::MemoryKind::kHostVisible));
  std::memset(placed.memory->host_data(), kGapByte, static_cast<size_t>(bytes));
  for (size_t i = 0; i < buffers.size(); ++i) {
    placed.ranges[i].buffer = placed.memory.get();
    if (sizes[i] > 0)
      std::memcpy(placed.at(i), buffers[i], static_cast<size_t>(sizes[i]));
  }
  return placed;
}

Status CheckGaps(const DeviceBytes& placed) {
  const auto* const memory =
      static_cast<const uint8_t*>(placed.memory->host_data());
  std::vector<bool> is_gap(static_cast<size_t>(placed.memory->size()), true);
  for (const hal::BufferRange& range : placed.ranges) {
    for (int64_t i = 0; i < range.length; ++i)
      is_gap[static_cast<size_t>(range.offset + i)] = false;
  }
  for (size_t i = 0; i < is_gap.size(); ++i) {
    if (is_gap[i] && memory[i] != kGapByte)
      return InternalError(Concat({"byte ", i, " outside of buffers changed"}));
  }
  return OkStatus();
}

}  // namespace

std::shared_ptr<hal::Device> TestDevice() {
  static const std::shared_ptr<hal::Device>& device =
      *new std::shared_ptr<hal::Device>([] {
        auto made = hal::CreateVulkanDevice(0, {});
        EMBER_CHECK(made.ok() || hal::vulkan::MaySkip(made.status()))
            << made.status().ToString();
        return made.ok() ? *std::move(made) : nullptr;
      }());
  return device;
}

std::string TestTarget() {
  std::string target(TestDevice()->target());
  target.resize(std::min(target.size(), target.find("+iterations")));
  const char* const without = std::getenv("EMBER_TEST_WITHOUT");
  return without == nullptr ? target : Without(std::move(target), without);
}

std::string Without(std::string target, std::string_view feature) {
  const std::string row = Concat({"+", feature});
  const size_t at = target.find(row);
  if (at == std::string::npos) return target;
  const size_t end = at + row.size();
  if (end == target.size() || target[end] == '+') target.erase(at, row.size());
  return target;
}

Status Validate(std::span<const uint32_t> words) {
  const Status status = ValidateModule(words);
  const char* const newer = std::getenv("EMBER_SPIRV_VAL");
  if (status.code() != StatusCode::kUnimplemented || newer == nullptr)
    return status;
  const std::string file = testing::TempDir() + "/module.spv";
  const std::string log = file + ".log";
  const auto bytes = std::as_bytes(words);
  EMBER_RETURN_IF_ERROR(WriteFileAtomically(
      file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  const std::string command =
      Concat({newer, " --target-env vulkan1.2 ", file, " >", log, " 2>&1"});
  if (std::system(command.c_str()) == 0) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const std::string said, ReadFile(log));
  return InternalError(Concat({command, ": ", said}));
}

std::string WhyNoMatrices() {
  if (TestDevice() == nullptr) return kNoDevice;
  const Target target = Target::Of(TestTarget());
  if (target.matrices.empty()) {
    return Concat({"no products of matrices: ", TestTarget(),
                   " (./dev lavapipe has a device with them)"});
  }
  const loops::MatrixType& type = target.matrices[0];
  const std::string size = Concat({type.rows, ", ", type.columns, "]"});
  const std::string loops =
      Concat({"matrix m < ", type.rows, " { matrix n < ", type.columns, " { "});
  const std::string sum(DTypeName(type.sum));
  const auto code =
      EmitModule(ParseOrDie(Concat({"loops @probe(%y: output ", sum, "[", size,
                                    ") { register %s: ", sum, "[1, ", size,
                                    " phase t < 1 { subgroup g < 1 { ", loops,
                                    "%s[g, m, n] = 0:", sum, " } } ", loops,
                                    "%y[m, n] = %s[g, m, n] } } } } }"})),
                 target);
  EMBER_CHECK(code.ok()) << code.status().ToString();
  const Status valid = Validate(code->words);
  if (valid.code() == StatusCode::kUnimplemented)
    return std::string(valid.message());
  EMBER_CHECK(valid.ok()) << valid.ToString();
  return "";
}

bool KeepsSubnormals() {
  static const bool keeps = [] {
    const loops::LoopNest nest = ParseOrDie(
        "loops @sums(%x: input f32[1], %y: input f64[1], %a: output f32[1], "
        "%b: output f64[1]) {\n"
        "  phase i < 1 { %a[i] = %x[i] + %x[i] %b[i] = %y[i] + %y[i] }\n}");
    Bytes buffers = {{1, 0, 0, 0}, {1, 0, 0, 0, 0, 0, 0, 0}, {}, {}};
    buffers[2] = std::vector<uint8_t>(4);
    buffers[3] = std::vector<uint8_t>(8);
    const Status status = RunOnDevice(nest, {}, buffers);
    EMBER_CHECK(status.ok()) << status.ToString();
    return buffers[2][0] == 2 && buffers[3][0] == 2;
  }();
  return keeps;
}

loops::LoopNest ParseOrDie(const std::string& text) {
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EMBER_CHECK(nest.ok()) << nest.status().message() << "\n" << text;
  const Status verified = loops::Verify(*nest);
  EMBER_CHECK(verified.ok()) << verified.message() << "\n" << text;
  return *std::move(nest);
}

PhaseCode FirstPhase(const std::string& text, const char* target) {
  const auto code = EmitModule(ParseOrDie(text), Target::Of(target));
  EXPECT_TRUE(code.ok()) << code.status().ToString();
  if (!code.ok()) return {};
  const Status valid = ValidateModule(code->words);
  EXPECT_TRUE(valid.ok()) << valid.ToString() << DisassembleModule(code->words);
  return code->phases[0];
}

StatusOr<ModuleCode> Emit(const loops::LoopNest& nest,
                          const std::string& target) {
  const std::string wanted = target.empty() ? TestTarget() : target;
  EMBER_ASSIGN_OR_RETURN(ModuleCode code, EmitModule(nest, Target::Of(wanted)));
  if (Status status = Validate(code.words); !status.ok())
    return status.WithContext(DisassembleModule(code.words));
  return code;
}

Status RunOnDevice(const loops::LoopNest& nest,
                   const std::vector<int64_t>& parameters, Bytes& buffers,
                   const std::string& target) {
  const std::shared_ptr<hal::Device> device = TestDevice();
  DeviceKernelDefinition definition;
  definition.nest = nest;
  definition.device = device;
  definition.prologue_parameters = parameters;
  EMBER_ASSIGN_OR_RETURN(definition.code, Emit(nest, target));
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool is_input = nest.buffers[i].scope == loops::Scope::kInput;
    definition.constants.push_back(is_input
                                       ? std::span<const uint8_t>(buffers[i])
                                       : std::span<const uint8_t>());
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<DeviceKernel> kernel,
                         DeviceKernel::Create(std::move(definition)));
  std::vector<int64_t> sizes;
  for (const std::vector<uint8_t>& buffer : buffers)
    sizes.push_back(static_cast<int64_t>(buffer.size()));
  return RunKernel(*kernel, parameters, tensor::Pointers(buffers), sizes);
}

Status RunKernel(const vm::Kernel& kernel, std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes) {
  const std::shared_ptr<hal::Device> device = TestDevice();
  EMBER_ASSIGN_OR_RETURN(const DeviceBytes placed,
                         Place(*device, buffers, bytes));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::CommandList> list,
                         device->CreateCommandList());
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Recording> recording,
                         kernel.Record({parameters, placed.ranges, *list}));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::Fence> fence,
                         device->Submit(*list));
  EMBER_RETURN_IF_ERROR(fence->Wait());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (bytes[i] > 0)
      std::memcpy(buffers[i], placed.at(i), static_cast<size_t>(bytes[i]));
  }
  EMBER_RETURN_IF_ERROR(CheckGaps(placed));
  return recording->Outcome();
}

Bytes SmallContents(const loops::LoopNest& nest,
                    const std::vector<int64_t>& parameters) {
  const NestHeader header(nest);
  const auto layout = header.LayoutFor(parameters);
  EMBER_CHECK(layout.ok()) << layout.status().message();
  std::mt19937_64 random(11);
  Bytes contents;
  for (size_t i = 0; i < nest.buffers.size(); ++i) {
    const loops::Buffer& buffer = nest.buffers[i];
    if (!IsArgument(buffer)) break;
    contents.push_back(tensor::RandomElements(
        random, buffer.type, layout->bytes[i] / DTypeByteSize(buffer.type)));
  }
  return contents;
}

void ExpectAsEvaluated(const std::string& text,
                       const std::vector<int64_t>& parameters, double tolerance,
                       const std::string& target) {
  SCOPED_TRACE(text);
  const loops::LoopNest nest = ParseOrDie(text);
  Bytes expected = SmallContents(nest, parameters);
  Bytes actual = expected;
  const Status wanted =
      loops::Evaluate(nest, parameters, tensor::Pointers(expected));
  const Status status = RunOnDevice(nest, parameters, actual, target);
  ASSERT_EQ(wanted.ok(), status.ok())
      << wanted.ToString() << " / " << status.ToString();
  if (!wanted.ok()) {
    // Which check failed first may differ.
    EXPECT_EQ(status.code(), wanted.code()) << status.ToString();
    return;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(tensor::FirstDifferentElement(nest.buffers[i].type, expected[i],
                                            actual[i], tolerance, tolerance),
              "")
        << "%" << nest.buffers[i].name;
  }
}

}  // namespace ember::jit::spirv
