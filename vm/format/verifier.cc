#include "vm/format/verifier.h"

#include <set>
#include <string>

#include "base/checked_math.h"
#include "base/concat.h"
#include "base/metadata_rules.h"
#include "tensor/verifier/verifier.h"
#include "vm/isa/analysis.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

StatusOr<int64_t> ByteSize(const Constant& constant) {
  std::optional<int64_t> bytes = DTypeByteSize(constant.type);
  for (int64_t dim : constant.dims) {
    if (dim < 0) {
      return InvalidArgumentError(
          Concat({"constant '", constant.name,
                  "': expected dims of at least 0, found ", dim}));
    }
    if (bytes) bytes = CheckedMultiply(*bytes, dim);
  }
  if (!bytes) {
    return InvalidArgumentError(
        Concat({"constant '", constant.name,
                "': expected a size below 2^63 bytes, found a larger one"}));
  }
  return *bytes;
}

Status VerifyConstant(const Constant& constant) {
  if (constant.dims.size() > kMaxRank) {
    return InvalidArgumentError(
        Concat({"constant '", constant.name, "': expected at most ", kMaxRank,
                " dims, found ", constant.dims.size()}));
  }
  EMBER_ASSIGN_OR_RETURN(const int64_t bytes, ByteSize(constant));
  if (static_cast<uint64_t>(bytes) != constant.data.size()) {
    return InvalidArgumentError(
        Concat({"constant '", constant.name, "': expected ", bytes,
                " bytes for its type, found ", constant.data.size()}));
  }
  return OkStatus();
}

Status VerifyDispatches(const ModuleDefinition& module, LoadSteps* steps) {
  std::set<std::string_view> names;
  for (const tensor::Dispatch& dispatch : module.dispatches) {
    if (steps != nullptr) EMBER_RETURN_IF_ERROR(steps->Begin(dispatch.name));
    const std::string name = Concat({"dispatch @", dispatch.name});
    if (dispatch.name.size() > kMaxTextLength) {
      return InvalidArgumentError(
          Concat({"dispatch: expected a name of at most 65536 bytes, found ",
                  dispatch.name.size()}));
    }
    if (!names.insert(dispatch.name).second) {
      return InvalidArgumentError(
          Concat({name, ": expected names to differ, found it twice"}));
    }
    for (const tensor::Buffer& buffer : dispatch.buffers) {
      if (buffer.extents.size() <= kMaxRank) continue;
      return InvalidArgumentError(
          Concat({name, ": buffer '", buffer.name, "': expected at most ",
                  kMaxRank, " dims, found ", buffer.extents.size()}));
    }
    EMBER_RETURN_IF_ERROR(tensor::Verify(dispatch));
  }
  return OkStatus();
}

// Checks that all strings are different, so that equal strings have equal
// handles.
Status VerifyStrings(const ModuleDefinition& module) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < module.strings.size(); ++i) {
    if (seen.insert(module.strings[i]).second) continue;
    return InvalidArgumentError(Concat(
        {"module: expected strings to differ, found string ", i, " again"}));
  }
  return OkStatus();
}

// Checks the targets of native sections, but not the sections' contents, which
// are verified when they are used.
Status VerifyNatives(const ModuleDefinition& module) {
  std::set<std::string_view> targets;
  for (const NativeSection& native : module.natives) {
    if (native.target.size() > kMaxTextLength) {
      return InvalidArgumentError(
          "native section: expected a target of at most 65536 bytes, found a "
          "longer one");
    }
    if (targets.insert(native.target).second) continue;
    return InvalidArgumentError(
        Concat({"native section '", native.target,
                "': expected targets to differ, found it twice"}));
  }
  return OkStatus();
}

Status VerifyProfile(const ModuleDefinition& module) {
  std::set<uint32_t> seen;
  for (const DispatchProfile& profile : module.profile) {
    if (profile.dispatch >= module.dispatches.size() ||
        !seen.insert(profile.dispatch).second) {
      return InvalidArgumentError(
          Concat({"profile: expected different dispatches below ",
                  module.dispatches.size(), ", found ", profile.dispatch}));
    }
    const tensor::Dispatch& dispatch = module.dispatches[profile.dispatch];
    const std::string what = Concat({"profile: dispatch @", dispatch.name});
    const size_t count = profile.shapes.size();
    if (count < 1 || count > kMaxProfileShapes) {
      return InvalidArgumentError(
          Concat({what, ": expected 1 to ", kMaxProfileShapes,
                  " shapes, found ", count}));
    }
    for (const DispatchProfile::Shape& shape : profile.shapes) {
      if (shape.parameters.size() != dispatch.parameters.size()) {
        return InvalidArgumentError(
            Concat({what, ": expected ", dispatch.parameters.size(),
                    " parameters, found ", shape.parameters.size()}));
      }
      if (shape.calls >= 0 && shape.ns >= 0) continue;
      return InvalidArgumentError(
          Concat({what, ": expected calls and times from 0 up, found others"}));
    }
  }
  return OkStatus();
}

// Limits the number of registers of all programs together, because a session
// has memory for the registers of every program.
Status CheckRegisterCount(const ModuleDefinition& module) {
  uint64_t registers = 0;
  for (const Program& program : module.programs) {
    registers += uint64_t{program.integer_register_count} +
                 program.buffer_register_count;
  }
  if (registers <= kMaxModuleRegisters) return OkStatus();
  return InvalidArgumentError(
      Concat({"module: expected at most ", kMaxModuleRegisters,
              " registers in all programs, found ", registers}));
}

}  // namespace

Status VerifyModule(const ModuleDefinition& module, LoadSteps* steps) {
  for (const Constant& constant : module.constants) {
    EMBER_RETURN_IF_ERROR(VerifyConstant(constant));
  }
  EMBER_RETURN_IF_ERROR(VerifyDispatches(module, steps));
  EMBER_RETURN_IF_ERROR(VerifyStrings(module));
  EMBER_RETURN_IF_ERROR(VerifyNatives(module));
  EMBER_RETURN_IF_ERROR(VerifyProfile(module));
  MetadataRules rules;
  for (const MetadataEntry& entry : module.metadata)
    EMBER_RETURN_IF_ERROR(rules.Check(entry.key, entry.value));
  const size_t origins = module.dispatch_origins.size();
  if (origins != 0 && origins != module.dispatches.size()) {
    return InvalidArgumentError(Concat(
        {"module: expected an origin for each of its ",
         module.dispatches.size(), " dispatches or none, found ", origins}));
  }
  if (module.programs.empty()) {
    return InvalidArgumentError(
        "module: expected at least one program, found none");
  }
  if (module.programs.size() > kMaxPrograms) {
    return InvalidArgumentError(
        Concat({"module: expected at most ", kMaxPrograms, " programs, found ",
                module.programs.size()}));
  }
  EMBER_RETURN_IF_ERROR(CheckRegisterCount(module));
  for (uint32_t i = 0; i < module.programs.size(); ++i) {
    if (steps != nullptr)
      EMBER_RETURN_IF_ERROR(steps->Begin(module.programs[i].name));
    EMBER_RETURN_IF_ERROR(VerifyProgram(module, i));
  }
  return OkStatus();
}

}  // namespace ember::vm
