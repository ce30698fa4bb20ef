// Prints the table of --profile: the dispatches of a session, ordered by the
// time that they took.
//
//   std::fputs(ProfileText(session->Profile(), 40).c_str(), stdout);
#ifndef EMBER_TOOLS_LIB_REPORT_PROFILE_H_
#define EMBER_TOOLS_LIB_REPORT_PROFILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "vm/runtime/session.h"

namespace ember::tools {

// Returns a table of at most `rows` dispatches, and a line with the total.
// Sites that run the same dispatch share a row. `device` is the session's
// device, which adds a column that says where dispatches ran; empty: the host.
std::string ProfileText(std::span<const vm::SiteProfile> sites, size_t rows,
                        const std::string& device = "");

// Returns all dispatches as a JSON list of objects: dispatch, nodes, calls,
// total_ms, share (0 to 1), the number of calls in each tier, how they ran,
// and, on a device, where.
std::string ProfileJson(std::span<const vm::SiteProfile> sites,
                        const std::string& device = "");

// Returns the place where a site ran: "vulkan" or "cpu", or the share of calls
// on the device: "vulkan 75%".
std::string WhereText(const vm::SiteProfile& site, const std::string& device);

// Returns the share of calls in each tier, such as "tier 0 100%".
std::string TierMix(std::span<const vm::SiteProfile> sites);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PROFILE_H_
