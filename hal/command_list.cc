#include "hal/command_list.h"

#include <algorithm>
#include <string>

#include "base/concat.h"

namespace ember::hal {
namespace {

Status CheckBinding(const BufferRange& binding, const DeviceLimits& limits) {
  EMBER_RETURN_IF_ERROR(CheckRange("its range", binding));
  if (binding.offset % limits.binding_alignment != 0) {
    return InvalidArgumentError(
        Concat({"expected an offset that is a multiple of ",
                limits.binding_alignment, ", found ", binding.offset}));
  }
  if (binding.length > limits.binding_bytes) {
    return ResourceExhaustedError(
        Concat({"expected at most ", limits.binding_bytes,
                " bytes on this device, found ", binding.length}));
  }
  return OkStatus();
}

}  // namespace

Status CheckRange(std::string_view what, const BufferRange& range) {
  if (range.buffer == nullptr)
    return InvalidArgumentError(
        Concat({what, ": expected a buffer, found none"}));
  const int64_t size = range.buffer->size();
  if (range.offset >= 0 && range.length >= 0 && range.offset <= size &&
      range.length <= size - range.offset) {
    return OkStatus();
  }
  return InvalidArgumentError(
      Concat({what, ": expected a range within ", size, " bytes, found ",
              range.length, " at offset ", range.offset}));
}

Status CheckCopy(const BufferRange& source, const BufferRange& target) {
  EMBER_RETURN_IF_ERROR(CheckRange("source of a copy", source));
  EMBER_RETURN_IF_ERROR(CheckRange("target of a copy", target));
  if (source.length != target.length) {
    return InvalidArgumentError(
        Concat({"copy: expected equal lengths, found ", source.length, " and ",
                target.length}));
  }
  const int64_t first = std::min(source.offset, target.offset);
  const int64_t second = std::max(source.offset, target.offset);
  if (source.buffer == target.buffer && second - first < source.length) {
    return InvalidArgumentError(
        Concat({"copy: expected ranges that do not overlap, found ",
                source.length, " bytes at offsets ", source.offset, " and ",
                target.offset, " of one buffer"}));
  }
  return OkStatus();
}

Status CheckDispatch(const Executable& executable,
                     const DispatchArguments& arguments,
                     const DeviceLimits& limits) {
  const std::string name = Concat({"executable '", executable.name(), "'"});
  if (arguments.bindings.size() !=
      static_cast<size_t>(executable.binding_count())) {
    return InvalidArgumentError(
        Concat({name, ": expected ", executable.binding_count(),
                " bindings, found ", arguments.bindings.size()}));
  }
  if (arguments.parameters.size() !=
      static_cast<size_t>(executable.parameter_count())) {
    return InvalidArgumentError(
        Concat({name, ": expected ", executable.parameter_count(),
                " parameters, found ", arguments.parameters.size()}));
  }
  if (arguments.map_extents.size() !=
      static_cast<size_t>(executable.map_dim_count())) {
    return InvalidArgumentError(Concat(
        {name, ": expected ", executable.map_dim_count(),
         " extents of tensor maps, found ", arguments.map_extents.size()}));
  }
  for (size_t i = 0; i < arguments.bindings.size(); ++i) {
    const Status status = CheckBinding(arguments.bindings[i], limits);
    if (!status.ok())
      return status.WithContext(Concat({name, ": binding ", i}));
  }
  for (size_t i = 0; i < arguments.chunks.size(); ++i) {
    const int64_t chunks = arguments.chunks[i];
    const int64_t most = std::min(limits.chunks[i], DeviceLimits::kMaxChunks);
    if (chunks >= 0 && chunks <= most) continue;
    std::string message =
        Concat({name, ": expected a chunk count in [0, ", most,
                "] for dimension ", i, ", found ", chunks});
    return chunks < 0 ? InvalidArgumentError(std::move(message))
                      : ResourceExhaustedError(std::move(message));
  }
  return OkStatus();
}

}  // namespace ember::hal
