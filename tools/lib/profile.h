// What --profile prints: the dispatches of a session by the time they took.
//
//   std::fputs(ProfileText(session->Profile(), 40).c_str(), stdout);
#ifndef EMBER_TOOLS_LIB_PROFILE_H_
#define EMBER_TOOLS_LIB_PROFILE_H_

#include <cstdint>
#include <span>
#include <string>

#include "vm/runtime/session.h"

namespace ember::tools {

// A table of at most `rows` dispatches and a line with the total. Sites that
// run the same dispatch are one row. device: of the session if it is not the
// host, for a column that tells where they ran; else empty.
std::string ProfileText(std::span<const vm::SiteProfile> sites, size_t rows,
                        const std::string& device = "");

// "vulkan", "cpu", or how often on the device: "vulkan 75%".
std::string WhereText(const vm::SiteProfile& site, const std::string& device);

// How many calls ran in which tier: "tier 0 100%".
std::string TierMix(std::span<const vm::SiteProfile> sites);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PROFILE_H_
