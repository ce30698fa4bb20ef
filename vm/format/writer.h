// Writes a module. The file is a small fixed header, the metadata as a
// flatbuffer, then the bytes of the constants, each 64-byte aligned and
// addressed by 64-bit offsets (vm/format/container.h).
//
//   EMBER_RETURN_IF_ERROR(WriteModule(definition, "model.vmfb"));
//
// The module is verified first (VerifyModule), so the reader accepts the file
// that is written. The same definition always gives the same bytes. Errors:
// those of VerifyModule; a file that cannot be written.
#ifndef EMBER_VM_FORMAT_WRITER_H_
#define EMBER_VM_FORMAT_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

StatusOr<std::vector<uint8_t>> SerializeModule(const ModuleDefinition& module);

// Writes the module to a file. It writes a temporary file in the same folder
// and renames that file when it is complete, so readers never see half a
// module.
Status WriteModule(const ModuleDefinition& module, const std::string& path);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_WRITER_H_
