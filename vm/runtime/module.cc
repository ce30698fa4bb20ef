#include "vm/runtime/module.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "base/checked_math.h"
#include "base/concat.h"
#include "base/rounding.h"
#include "vm/format/load_steps.h"
#include "vm/format/verifier.h"
#include "vm/isa/limits.h"

namespace ember::vm {
namespace {

// Copies a constant's bytes to aligned memory if they are at an address that is
// not aligned. Constants in a file are aligned; those from a compiler may have
// any address.
Status Align(Constant& constant) {
  const size_t size = constant.data.size();
  if (size == 0 ||
      reinterpret_cast<uintptr_t>(constant.data.data()) % kMemoryAlignment ==
          0) {
    return OkStatus();
  }
  const size_t room = RoundUp(size, kMemoryAlignment);
  std::shared_ptr<void> copy(std::aligned_alloc(kMemoryAlignment, room),
                             std::free);
  if (copy == nullptr) {
    return ResourceExhaustedError(
        Concat({"constant '", constant.name, "': expected ", room,
                " bytes of memory, found less"}));
  }
  std::memcpy(copy.get(), constant.data.data(), size);
  constant.data = {static_cast<const uint8_t*>(copy.get()), size};
  constant.owner = std::move(copy);
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<const Module>> Module::Make(
    ModuleDefinition verified, const ReaderOptions& options) {
  std::shared_ptr<Module> module(new Module());
  module->definition_ = std::move(verified);
  const uint32_t count =
      static_cast<uint32_t>(module->definition_.programs.size());
  module->arena_offsets_.resize(count);
  const ModuleDefinition& definition = module->definition_;
  const size_t total =
      (options.verify_constants ? definition.constants.size() : 0) +
      2 * definition.dispatches.size() + 2 * size_t{count};
  LoadSteps steps(options.progress, static_cast<int64_t>(total),
                  static_cast<int64_t>(total - count));
  for (uint32_t i = 0; i < count; ++i) {
    EMBER_RETURN_IF_ERROR(steps.Begin(definition.programs[i].name));
    EMBER_ASSIGN_OR_RETURN(ProgramFacts facts,
                           AnalyzeProgram(module->definition_, i));
    EMBER_RETURN_IF_ERROR(module->Add(i, std::move(facts)));
  }
  return std::shared_ptr<const Module>(std::move(module));
}

Status Module::Add(uint32_t program, ProgramFacts facts) {
  for (DispatchSite& site : facts.sites) {
    site.group += group_count_;
    sites_.push_back(std::move(site));
  }
  group_count_ += facts.group_count;
  // Callers come before the programs that they call, so the offset of the
  // caller's arena is known here. The arenas of called programs begin behind
  // the caller's arena.
  const std::optional<int64_t> end =
      CheckedAdd(arena_offsets_[program], facts.arena_bytes);
  if (!end || *end > INT64_MAX - kMemoryAlignment) {
    return ResourceExhaustedError(
        Concat({"program ", definition_.programs[program].name,
                ": expected arenas that fit 64 bits, found larger ones"}));
  }
  arena_bytes_ = std::max(arena_bytes_, *end);
  const int64_t behind = RoundUp(*end, kMemoryAlignment);
  for (const ProgramInstruction& in :
       definition_.programs[program].instructions) {
    if (in.opcode != ProgramOpcode::kCallProgram) continue;
    arena_offsets_[in.a] = std::max(arena_offsets_[in.a], behind);
  }
  return OkStatus();
}

StatusOr<std::shared_ptr<const Module>> Module::Load(
    const std::string& path, const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(ModuleDefinition definition,
                         ReadModule(path, options));
  return Make(std::move(definition), options);
}

StatusOr<std::shared_ptr<const Module>> Module::Load(
    std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
    const ReaderOptions& options) {
  EMBER_ASSIGN_OR_RETURN(ModuleDefinition definition,
                         ReadModule(bytes, std::move(owner), options));
  return Make(std::move(definition), options);
}

StatusOr<std::shared_ptr<const Module>> Module::FromDefinition(
    ModuleDefinition definition) {
  for (Constant& constant : definition.constants)
    EMBER_RETURN_IF_ERROR(Align(constant));
  EMBER_RETURN_IF_ERROR(VerifyModule(definition));
  return Make(std::move(definition), {});
}

int64_t Module::constant_bytes() const {
  int64_t bytes = 0;
  for (const Constant& constant : definition_.constants) {
    bytes += static_cast<int64_t>(constant.data.size());
  }
  return bytes;
}

std::string SignatureText(const Program& program,
                          const TensorSignature& signature) {
  // If a dim has a name of several characters, dims are separated by commas,
  // because the name would run into an 'x' between dims.
  bool has_names = false;
  for (const int64_t dim : signature.dims)
    has_names |=
        dim < 0 && program.symbols[static_cast<size_t>(-1 - dim)].size() > 1;
  std::string text = has_names ? "[" : "";
  for (size_t i = 0; i < signature.dims.size(); ++i) {
    const int64_t dim = signature.dims[i];
    if (has_names && i > 0) text += ", ";
    text += dim >= 0 ? Concat({dim})
                     : program.symbols[static_cast<size_t>(-1 - dim)];
    if (!has_names) text += "x";
  }
  if (has_names) text += "] ";
  text += DTypeName(signature.type);
  if (!signature.logical_type.empty()) text += " as " + signature.logical_type;
  return text;
}

}  // namespace ember::vm
