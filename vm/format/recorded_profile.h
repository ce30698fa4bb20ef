// The text of a profile. vm-run --record writes it, and vm-prejit --profile
// reads it.
//
//   profile 1 of "0f5d92c1a4437e88" {
//     dispatch @d0_conv_maximum {
//       [16]: 12 calls, 4567890 ns
//       [1]: 3 calls, 70000 ns
//     }
//     dispatch @d3_sum { []: 15 calls, 8000 ns }
//   }
//
// Behind "of" is the module's identity (vm/format/module_identity.h), because
// dispatches of another module may have the same names. Brackets hold the
// values of the dispatch's parameters. Dispatches that did not run are left
// out. The dispatches with the longest times come first, for human readers; the
// parser accepts any order. Thread-safe.
#ifndef EMBER_VM_FORMAT_RECORDED_PROFILE_H_
#define EMBER_VM_FORMAT_RECORDED_PROFILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "vm/isa/module_definition.h"

namespace ember::vm {

// Returns the text of the profile of a module, which must be verified.
std::string PrintRecordedProfile(const ModuleDefinition& module,
                                 const std::vector<DispatchProfile>& profile);

// Parses the text of a profile. Returns the profile, sorted like
// ModuleDefinition::profile. Errors: InvalidArgument, one line with line and
// column, if the text is no profile, is of another module or version, names a
// dispatch that the module does not have, names one twice, or has a wrong
// number of parameters.
StatusOr<std::vector<DispatchProfile>> ParseRecordedProfile(
    std::string_view text, const ModuleDefinition& module);

// Sorts the dispatches, and the shapes of each dispatch, by their total time;
// the longest time comes first.
void SortByTime(std::vector<DispatchProfile>& profile);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_RECORDED_PROFILE_H_
