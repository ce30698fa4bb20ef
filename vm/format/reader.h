// Reads a module file. Constants are not copied: they stay in the mapped file
// or in the given bytes.
//
//   EMBER_ASSIGN_OR_RETURN(ModuleDefinition module, ReadModule("model.vmfb"));
//
// The whole result is verified: container, flatbuffer, structure, every
// dispatch and every program (VerifyModule). So an untrusted module can be run.
// Errors: NotFound (no such file), DataLoss (truncated, corrupt), Unimplemented
// (a newer format), InvalidArgument (well-formed, but against the rules),
// Cancelled (ReaderOptions::progress requested to stop). A message is one line
// with the object, what was expected and what was found.
#ifndef EMBER_VM_FORMAT_READER_H_
#define EMBER_VM_FORMAT_READER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/progress.h"
#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

struct ReaderOptions {
  // True: compares the hashes of header and metadata with the stored ones,
  // which takes little time. Only tests of the later checks use false.
  bool verify_checksum = true;
  // True: also hashes every constant's bytes and compares the hashes, which
  // reads the whole file.
  bool verify_constants = false;
  // Receives each step of the stage "load": the name of a dispatch, a program
  // or, with verify_constants, a constant. It is used during the call only, and
  // may be null.
  Progress* progress = nullptr;
};

StatusOr<ModuleDefinition> ReadModule(const std::string& path,
                                      const ReaderOptions& options = {});

// Reads a module from memory. The bytes must stay unchanged while the module
// lives; `owner`, which may be null, owns their memory; each constant keeps it
// alive. Bytes that are not 64-byte aligned are copied.
StatusOr<ModuleDefinition> ReadModule(std::span<const uint8_t> bytes,
                                      std::shared_ptr<const void> owner,
                                      const ReaderOptions& options = {});

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_READER_H_
