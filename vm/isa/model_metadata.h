// The metadata of a module: texts by their keys.
//
//   SetMetadata("author", "Ada", module.metadata);
//   if (const MetadataEntry* entry = FindMetadata(module.metadata, "author"))
//     Show(entry->value);
//
// SetMetadata does not check the texts; VerifyModule does. Thread-compatible.
#ifndef EMBER_VM_ISA_MODEL_METADATA_H_
#define EMBER_VM_ISA_MODEL_METADATA_H_

#include <span>
#include <string_view>
#include <vector>

#include "vm/isa/module_definition.h"

namespace ember::vm {

// The key of schedules that tuning found for the module's dispatches, as text
// (jit/kernel/tuned_schedules.h). They change how fast the module runs, never
// its results.
inline constexpr std::string_view kTunedSchedulesKey = "ember.schedules";

// Returns the entry with this key, or null if there is none.
const MetadataEntry* FindMetadata(std::span<const MetadataEntry> entries,
                                  std::string_view key);

// Sets the text of a key to a copy of `value`. If the key exists already, its
// text is replaced.
void SetMetadata(std::string_view key, std::string_view value,
                 std::vector<MetadataEntry>& entries);

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_MODEL_METADATA_H_
