#include "vm/format/verifier.h"

#include <string>
#include <unordered_set>

#include "base/checked_math.h"
#include "tensor/verifier.h"
#include "vm/isa/analysis.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

StatusOr<int64_t> ByteSize(const Constant& constant) {
  std::optional<int64_t> bytes = DTypeByteSize(constant.type);
  for (int64_t dim : constant.dims) {
    if (dim < 0) {
      return InvalidArgumentError("constant '" + constant.name +
                                  "': expected dims of at least 0, found " +
                                  std::to_string(dim));
    }
    if (bytes) bytes = CheckedMultiply(*bytes, dim);
  }
  if (!bytes) {
    return InvalidArgumentError(
        "constant '" + constant.name +
        "': expected a size below 2^63 bytes, found a larger one");
  }
  return *bytes;
}

Status VerifyConstant(const Constant& constant) {
  if (constant.dims.size() > kMaxRank) {
    return InvalidArgumentError("constant '" + constant.name +
                                "': expected at most " +
                                std::to_string(kMaxRank) + " dims, found " +
                                std::to_string(constant.dims.size()));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(constant));
  if (static_cast<uint64_t>(bytes) != constant.data.size()) {
    return InvalidArgumentError(
        "constant '" + constant.name + "': expected " + std::to_string(bytes) +
        " bytes for its type, found " + std::to_string(constant.data.size()));
  }
  return OkStatus();
}

Status VerifyDispatches(const ModuleDefinition& module) {
  std::unordered_set<std::string_view> names;
  for (const tensor::Dispatch& dispatch : module.dispatches) {
    const std::string name = "dispatch @" + dispatch.name;
    if (dispatch.name.size() > kMaxTextLength) {
      return InvalidArgumentError(
          "dispatch: expected a name of at most 65536 bytes, found " +
          std::to_string(dispatch.name.size()));
    }
    if (!names.insert(dispatch.name).second) {
      return InvalidArgumentError(name +
                                  ": expected names to differ, found it twice");
    }
    for (const tensor::Buffer& buffer : dispatch.buffers) {
      if (buffer.extents.size() <= kMaxRank) continue;
      return InvalidArgumentError(name + ": buffer '" + buffer.name +
                                  "': expected at most " +
                                  std::to_string(kMaxRank) + " dims, found " +
                                  std::to_string(buffer.extents.size()));
    }
    EMBER_RETURN_IF_ERROR(tensor::Verify(dispatch));
  }
  return OkStatus();
}

// A session has the registers of every program.
Status CheckRegisterCount(const ModuleDefinition& module) {
  uint64_t registers = 0;
  for (const Program& program : module.programs) {
    registers += uint64_t{program.integer_register_count} +
                 program.buffer_register_count;
  }
  if (registers <= kMaxModuleRegisters) return OkStatus();
  return InvalidArgumentError(
      "module: expected at most " + std::to_string(kMaxModuleRegisters) +
      " registers in all programs, found " + std::to_string(registers));
}

}  // namespace

Status VerifyModule(const ModuleDefinition& module) {
  for (const Constant& constant : module.constants) {
    EMBER_RETURN_IF_ERROR(VerifyConstant(constant));
  }
  EMBER_RETURN_IF_ERROR(VerifyDispatches(module));
  const size_t origins = module.dispatch_origins.size();
  if (origins != 0 && origins != module.dispatches.size()) {
    return InvalidArgumentError("module: expected an origin for each of its " +
                                std::to_string(module.dispatches.size()) +
                                " dispatches or none, found " +
                                std::to_string(origins));
  }
  if (module.programs.empty()) {
    return InvalidArgumentError(
        "module: expected at least one program, found none");
  }
  EMBER_RETURN_IF_ERROR(CheckRegisterCount(module));
  for (uint32_t i = 0; i < module.programs.size(); ++i)
    EMBER_RETURN_IF_ERROR(VerifyProgram(module, i));
  return OkStatus();
}

}  // namespace ember::vm
