#include "hal/command_list.h"

#include <string>

namespace ember::hal {

Status CheckRange(std::string_view what, const BufferRange& range) {
  const std::string name(what);
  if (range.buffer == nullptr)
    return InvalidArgumentError(name + ": expected a buffer, found none");
  const int64_t size = range.buffer->size();
  if (range.offset >= 0 && range.length >= 0 && range.offset <= size &&
      range.length <= size - range.offset) {
    return OkStatus();
  }
  return InvalidArgumentError(name + ": expected a range within " +
                              std::to_string(size) + " bytes, found " +
                              std::to_string(range.length) + " at offset " +
                              std::to_string(range.offset));
}

Status CheckCopy(const BufferRange& source, const BufferRange& target) {
  EMBER_RETURN_IF_ERROR(CheckRange("source of a copy", source));
  EMBER_RETURN_IF_ERROR(CheckRange("target of a copy", target));
  if (source.length == target.length) return OkStatus();
  return InvalidArgumentError("copy: expected equal lengths, found " +
                              std::to_string(source.length) + " and " +
                              std::to_string(target.length));
}

Status CheckDispatch(const Executable& executable,
                     const DispatchArguments& arguments) {
  const std::string name = "executable '" + executable.name() + "': ";
  if (arguments.bindings.size() !=
      static_cast<size_t>(executable.binding_count())) {
    return InvalidArgumentError(
        name + "expected " + std::to_string(executable.binding_count()) +
        " bindings, found " + std::to_string(arguments.bindings.size()));
  }
  if (arguments.parameters.size() !=
      static_cast<size_t>(executable.parameter_count())) {
    return InvalidArgumentError(
        name + "expected " + std::to_string(executable.parameter_count()) +
        " parameters, found " + std::to_string(arguments.parameters.size()));
  }
  for (const BufferRange& binding : arguments.bindings) {
    EMBER_RETURN_IF_ERROR(CheckRange(name + "binding", binding));
  }
  constexpr int64_t kMaxChunks =
      int64_t{1} << 20;  // per dimension: the product cannot overflow
  for (int64_t chunks : arguments.chunks) {
    if (chunks >= 0 && chunks <= kMaxChunks) continue;
    return InvalidArgumentError(name + "expected a chunk count in [0, " +
                                std::to_string(kMaxChunks) + "], found " +
                                std::to_string(chunks));
  }
  return OkStatus();
}

}  // namespace ember::hal
