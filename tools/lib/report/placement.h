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

// Numbers of dispatches (sites) that were called and of their calls: in all,
// and those on the host or on the device.
struct Placement {
  int64_t dispatches = 0;
  // Number of dispatches that ran on the host in at least one call.
  int64_t on_host = 0;
  int64_t calls = 0;
  int64_t device_calls = 0;

  bool is_on_device() const { return on_host == 0 && dispatches > 0; }
  // Returns a text such as "12 of 57 dispatches ran on the CPU, not on vulkan"
  // or "all 57 dispatches ran on vulkan".
  std::string Text(const std::string& device) const;
};

Placement PlacementOf(std::span<const vm::SiteProfile> sites);

// Returns a section of --explain about a run on a device: its submissions and
// commands, the work that the host did between them with the reason, and the
// bytes that were copied to and from the device. The session must not have been
// made with profile or trace, which change these numbers. `tiering` is null at
// tier 0.
std::string PlacementText(const vm::Session& session,
                          const vm::Tiering* tiering,
                          const std::string& device);

// Returns a section of --explain about memory: the largest total size of the
// device's buffers, and how much of it was the session's planned memory and the
// module's constants. The rest is inputs, results, packed constants and memory
// that kernels need.
std::string DeviceMemoryText(const vm::Session& session,
                             const hal::MemoryStatistics& statistics,
                             const std::string& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_REPORT_PLACEMENT_H_
