// The metadata of a module: texts by their keys.
//
//   SetMetadata("author", "somebody", module.metadata);
//   if (const MetadataEntry* entry = FindMetadata(module.metadata, "author"))
//     Show(entry->value);
//
// What is set is not checked; VerifyModule does that. Thread-compatible.
#ifndef EMBER_VM_FORMAT_MODEL_METADATA_H_
#define EMBER_VM_FORMAT_MODEL_METADATA_H_

#include <span>
#include <string_view>
#include <vector>

#include "vm/format/module_definition.h"

namespace ember::vm {

// Null: none of this key.
const MetadataEntry* FindMetadata(std::span<const MetadataEntry> entries,
                                  std::string_view key);

// Copies both. A value that was there before is replaced.
void SetMetadata(std::string_view key, std::string_view value,
                 std::vector<MetadataEntry>& entries);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_MODEL_METADATA_H_
