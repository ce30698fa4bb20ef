// Where the dispatches of a session ran, for people: what a run on a device
// leaves to the host, why, and what that costs.
//
//   const Placement placement = PlacementOf(session->Profile());
//   if (placement.on_host > 0) Complain(placement.Text("vulkan"));
#ifndef EMBER_TOOLS_LIB_PLACEMENT_H_
#define EMBER_TOOLS_LIB_PLACEMENT_H_

#include <cstdint>
#include <span>
#include <string>

#include "hal/device.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tiering.h"

namespace ember::tools {

// Of the dispatches of a program that ran (its sites).
struct Placement {
  int64_t dispatches = 0;
  int64_t on_host = 0;  // of them, those with a call that the host ran
  int64_t calls = 0;
  int64_t device_calls = 0;

  bool is_on_device() const { return on_host == 0 && dispatches > 0; }
  // "12 of 57 dispatches ran on the CPU, not on vulkan", "all 57 dispatches ran
  // on vulkan".
  std::string Text(const std::string& device) const;
};

Placement PlacementOf(std::span<const vm::SiteProfile> sites);

// For --explain: submissions and commands of a run; what the host did between,
// the reason, and the bytes that went to and fro. The session must not have
// been made with profile or trace, which change all this. tiering: null at tier
// 0.
std::string PlacementText(const vm::Session& session,
                          const vm::Tiering* tiering,
                          const std::string& device);

// For --explain: the most memory that the device's buffers took, beside what
// the session's plan and the module's constants are. What is more than those
// are inputs and results, packed constants and what kernels need besides.
std::string DeviceMemoryText(const vm::Session& session,
                             const hal::MemoryStatistics& statistics,
                             const std::string& device);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_PLACEMENT_H_
