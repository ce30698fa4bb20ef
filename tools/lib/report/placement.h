// Describes where the dispatches of a session ran, for people: the work that a
// run on a device leaves to the host, the reason and the cost.
//
//   const Placement placement = PlacementOf(session->Profile());
//   if (placement.on_host > 0) Complain(placement.Text("vulkan"));
#ifndef EMBER_TOOLS_LIB_REPORT_PLACEMENT_H_
#define EMBER_TOOLS_LIB_REPORT_PLACEMENT_H_

#include <cstdint>
#include <span>
#include <string>

#include "hal/device.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {

// Counts, by their sites, the dispatches that ran in a session.
struct Placement {
  int64_t dispatches = 0;
  // Number of dispatches of which at least one call ran on the host.
  int64_t on_host = 0;
  int64_t calls = 0;
  int64_t device_calls = 0;

  bool is_on_device() const { return on_host == 0 && dispatches > 0; }
  // Returns a text such as "12 of 57 dispatches ran on the CPU, not on vulkan"
  // or "all 57 dispatches ran on vulkan".
  std::string Text(const std::string& device) const;
};

Placement PlacementOf(std::span<const vm::SiteProfile> sites);

// Returns a part of --explain: submissions and commands of a run, the work that
// the host did between them, the reason, and the bytes that were copied to and
// from the device. The session must have been made without profile and trace,
// which change these numbers. `tiering` is null at tier 0.
std::string PlacementText(const vm::Session& session,
                          const vm::Tiering* tiering,
                          const std::string& device);

// Returns a part of --explain: the largest memory that the device's buffers
// took, together with the memory of the session's plan and of the module's
// constants. The rest is inputs and results, packed constants and memory that
// kernels need.
std::string DeviceMemoryText(const vm::Session& session,
                             const hal::MemoryStatistics& statistics,
                             const std::string& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PLACEMENT_H_
