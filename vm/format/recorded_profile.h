// The text of a profile: what vm-run --record writes, and vm-prejit --profile
// reads.
//
//   profile 1 of "0f5d92c1a4437e88" {
//     dispatch @d0_conv_maximum {
//       [16]: 12 calls, 4567890 ns
//       [1]: 3 calls, 70000 ns
//     }
//     dispatch @d3_sum { []: 15 calls, 8000 ns }
//   }
//
// Behind "of" is the module's identity (vm/format/module_identity.h):
// dispatches of another module may have the same names. In brackets are the
// values of the dispatch's parameters. A dispatch that did not run is not
// there. The hottest come first, which is for people: the order does not count.
// Thread-safe.
#ifndef EMBER_VM_FORMAT_RECORDED_PROFILE_H_
#define EMBER_VM_FORMAT_RECORDED_PROFILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "vm/format/module_definition.h"

namespace ember::vm {

// profile: as of a verified module.
std::string PrintRecordedProfile(const ModuleDefinition& module,
                                 const std::vector<DispatchProfile>& profile);

// Sorted as ModuleDefinition::profile is. Errors, one line: InvalidArgument
// with line and column for what is no profile, one of another module or
// version, names a dispatch that the module does not have, or twice, or gives
// other numbers than it takes.
StatusOr<std::vector<DispatchProfile>> ParseRecordedProfile(
    std::string_view text, const ModuleDefinition& module);

// Dispatches, and shapes of each, by the time that they took, the longest
// first.
void SortByTime(std::vector<DispatchProfile>& profile);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_RECORDED_PROFILE_H_
