// A loaded module: verified once, immutable, shared by any number of sessions.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const Module> module,
//                          Module::Load("model.vmfb"));
//   EMBER_ASSIGN_OR_RETURN(auto session,
//                          Session::Create(module, {.device = device}));
//
// Thread-safe (nothing changes after creation).
// Errors: those of ReadModule and VerifyModule.
#ifndef EMBER_VM_RUNTIME_MODULE_H_
#define EMBER_VM_RUNTIME_MODULE_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/reader.h"
#include "vm/isa/analysis.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

class Module {
 public:
  // Maps the file and loads the module; constants are not copied.
  static StatusOr<std::shared_ptr<const Module>> Load(
      const std::string& path, const ReaderOptions& options = {});
  // Loads a module from memory. `owner` owns the memory; if it is null, the
  // memory must outlive the module.
  static StatusOr<std::shared_ptr<const Module>> Load(
      std::span<const uint8_t> bytes, std::shared_ptr<const void> owner,
      const ReaderOptions& options = {});
  // Makes a module from the compiler's output, without a file.
  static StatusOr<std::shared_ptr<const Module>> FromDefinition(
      ModuleDefinition definition);

  const ModuleDefinition& definition() const { return definition_; }
  const Program& entry() const { return definition_.programs.front(); }
  std::span<const TensorSignature> inputs() const { return entry().inputs; }
  std::span<const TensorSignature> results() const { return entry().results; }
  // The dispatch instructions of all programs, called sites. A site's number is
  // its index in this list. Group numbers are unique in the whole module.
  std::span<const DispatchSite> sites() const { return sites_; }
  uint32_t group_count() const { return group_count_; }
  // Returns for each program the offset of its arena in the session's arena.
  // Programs that never run at the same time may have the same offset.
  std::span<const int64_t> arena_offsets() const { return arena_offsets_; }
  int64_t arena_bytes() const { return arena_bytes_; }
  // Returns the total number of bytes of all constants.
  int64_t constant_bytes() const;

 private:
  Module() = default;
  static StatusOr<std::shared_ptr<const Module>> Make(
      ModuleDefinition verified, const ReaderOptions& options);
  // Adds the facts of one program to the module: its dispatch sites, its number
  // of groups of sites, and the size of its arena. The arenas of the programs
  // that it calls begin behind its arena. Make calls Add once for each program,
  // in ascending order of their numbers; a caller always has a smaller number
  // than the programs that it calls.
  Status Add(uint32_t program, ProgramFacts facts);

  ModuleDefinition definition_;
  std::vector<DispatchSite> sites_;
  uint32_t group_count_ = 0;
  std::vector<int64_t> arena_offsets_;
  int64_t arena_bytes_ = 0;
};

// Returns the text of a signature, such as "2x?x8xf32". With names of symbols
// it is, for example, "NxCx8xf32", or "[batch, 8] f32" if a name has several
// characters; with a logical type it is, for example, "3xu8 as f8e4m3fn".
std::string SignatureText(const Program& program,
                          const TensorSignature& signature);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MODULE_H_
