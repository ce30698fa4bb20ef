#include "jit/gpu/testing/run_nest.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "base/rounding.h"
#include "jit/backend/describe_nest.h"
#include "jit/backend/iteration_formulas.h"
#include "jit/backend/testing/nest_layout.h"
#include "jit/gpu/device_code.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "tensor/testing/random_values.h"
#include "vm/format/kernel_image_verifier.h"
#include "vm/runtime/kernels/device_kernel.h"

namespace ember::jit::gpu {
namespace {

// Number of bytes between buffers; a multiple of every device's alignment.
constexpr int64_t kGap = 256;
constexpr uint8_t kGapByte = 0xa5;

bool IsArgument(const loops::Buffer& buffer) {
  return buffer.scope == loops::MemoryScope::kInput ||
         buffer.scope == loops::MemoryScope::kOutput;
}

// A device allocation that contains all buffers, with gaps between them.
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
    bytes += RoundUp(sizes[i], kGap) + kGap;
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

loops::LoopNest ParseOrDie(const std::string& text) {
  StatusOr<loops::LoopNest> nest = loops::Parse(text);
  EMBER_CHECK(nest.ok()) << nest.status().message() << "\n" << text;
  const Status verified = loops::Verify(*nest);
  EMBER_CHECK(verified.ok()) << verified.message() << "\n" << text;
  return *std::move(nest);
}

vm::KernelImage ImageOfNest(const loops::LoopNest& nest, DeviceCode code) {
  vm::KernelImage image = DescribeNest(nest);
  image.code = KernelCodeOf(std::move(code));
  AddIterations(nest, image);
  const Status status = vm::VerifyKernelImage(image);
  EMBER_CHECK(status.ok()) << status.message() << "\n" << loops::ToText(nest);
  return image;
}

Status RunNest(const std::shared_ptr<hal::Device>& device,
               const loops::LoopNest& nest, DeviceCode code,
               const std::vector<int64_t>& parameters, Bytes& buffers) {
  vm::DeviceKernelDefinition definition;
  definition.image = ImageOfNest(nest, std::move(code));
  definition.device = device;
  definition.prologue_parameters = parameters;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const bool is_input = nest.buffers[i].scope == loops::MemoryScope::kInput;
    definition.constants.push_back(is_input
                                       ? std::span<const uint8_t>(buffers[i])
                                       : std::span<const uint8_t>());
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::DeviceKernel> kernel,
                         vm::DeviceKernel::Create(std::move(definition)));
  std::vector<int64_t> sizes;
  for (const std::vector<uint8_t>& buffer : buffers)
    sizes.push_back(static_cast<int64_t>(buffer.size()));
  return RunKernel(*device, *kernel, parameters, tensor::Pointers(buffers),
                   sizes);
}

Status RunKernel(hal::Device& device, const vm::RecordedKernel& kernel,
                 std::span<const int64_t> parameters,
                 std::span<void* const> buffers,
                 std::span<const int64_t> bytes) {
  EMBER_ASSIGN_OR_RETURN(const DeviceBytes placed,
                         Place(device, buffers, bytes));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::CommandList> list,
                         device.CreateCommandList());
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<vm::Recording> recording,
                         kernel.Record({parameters, placed.ranges, *list}));
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<hal::Fence> fence,
                         device.Submit(*list));
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

}  // namespace ember::jit::gpu
