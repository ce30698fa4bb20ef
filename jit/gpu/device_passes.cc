#include "jit/gpu/device_passes.h"

#include "base/concat.h"
#include "jit/gpu/asynchronous_copies.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/mark_combining.h"
#include "jit/gpu/place_buffers.h"
#include "jit/gpu/specialise_warps.h"

namespace ember::jit::gpu {
namespace {

constexpr DevicePass kPasses[] = {
    {"place_buffers",
     "Chooses the number of invocations of each phase, and where its buffers "
     "are.",
     PlaceBuffers},
    {"mark_combining",
     "Says how invocations combine values where all of them update one "
     "element.",
     MarkCombining},
    // The bytes that buffers share decide which barriers are needed.
    {"insert_barriers",
     "Inserts the barriers that invocations of a workgroup need.",
     InsertBarriers},
    {"specialise_warps",
     "Marks rings, copies of boxes, and what the producer of a phase executes.",
     SpecialiseWarps},
    // Barriers are planned for copies that may be asynchronous or not.
    {"asynchronous_copies",
     "Makes ordinary stores of the asynchronous ones that the device does not "
     "copy asynchronously.",
     ChooseAsynchronousCopies},
};

}  // namespace

std::span<const DevicePass> DevicePasses() { return kPasses; }

Status MakeDeviceNest(const DeviceTraits& device, loops::LoopNest& nest) {
  for (const DevicePass& pass : kPasses) {
    const Status status = pass.run(device, nest);
    if (!status.ok()) return status.WithContext(Concat({"loops @", nest.name}));
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
