#include "vm/runtime/program/result_buffers.h"

#include <cstring>
#include <utility>

#include "base/concat.h"

namespace ember::vm {
namespace {

bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto* const first = static_cast<const uint8_t*>(a);
  const auto* const second = static_cast<const uint8_t*>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + b_bytes &&
         second < first + a_bytes;
}

}  // namespace

Status ResultBuffers::Set(std::vector<ResultBuffer> buffers) {
  const std::span<const TensorSignature> results = module_.results();
  if (!buffers.empty() && buffers.size() != results.size()) {
    return InvalidArgumentError(Concat({"places: expected ", results.size(),
                                        " or none, found ", buffers.size()}));
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    const ResultBuffer& buffer = buffers[i];
    if (buffer.data == nullptr) continue;
    const auto error = [&](std::string_view what) {
      return InvalidArgumentError(
          Concat({"place of result '", results[i].name, "': ", what}));
    };
    if (results[i].logical_type == kStringType)
      return error("expected a result with elements in memory, found strings");
    const auto alignment =
        static_cast<uintptr_t>(DTypeByteSize(results[i].type));
    if (reinterpret_cast<uintptr_t>(buffer.data) % alignment != 0)
      return error("expected memory that is aligned for its elements");
    for (size_t other = 0; other < i; ++other) {
      if (Overlap(buffer.data, buffer.byte_size, buffers[other].data,
                  buffers[other].byte_size)) {
        return error(Concat({"expected memory apart from that of result '",
                             results[other].name, "'"}));
      }
    }
  }
  buffers_ = std::move(buffers);
  return OkStatus();
}

void ResultBuffers::AllowOverwriting(const std::vector<bool>& inputs) {
  in_place_ = FindInPlaceAllocations(module_);
  std::erase_if(in_place_, [&](const InPlaceAllocation& allocation) {
    return allocation.input >= inputs.size() || !inputs[allocation.input];
  });
}

Status ResultBuffers::Check(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].data == nullptr) continue;
    for (size_t input = 0; input < inputs.size(); ++input) {
      if (inputs[input].strings != nullptr ||
          !Overlap(buffers_[i].data, buffers_[i].byte_size, inputs[input].data,
                   inputs[input].byte_size)) {
        continue;
      }
      return InvalidArgumentError(
          Concat({"place of result '", module_.results()[i].name,
                  "': expected memory apart from that of input ", input,
                  ", found shared memory"}));
    }
  }
  return OkStatus();
}

Status ResultBuffers::Put(size_t index, const void* data,
                          Tensor& result) const {
  const ResultBuffer& buffer = buffers_[index];
  if (result.byte_size > buffer.byte_size) {
    return InvalidArgumentError(
        Concat({"place of result '", module_.results()[index].name,
                "': expected ", result.byte_size, " bytes for ",
                TensorTypeText(result.type, result.dims), ", found ",
                buffer.byte_size}));
  }
  if (result.byte_size > 0) {
    std::memcpy(buffer.data, data, static_cast<size_t>(result.byte_size));
  }
  result.data = buffer.data;
  result.memory.reset();
  result.strings.reset();
  return OkStatus();
}

}  // namespace ember::vm
