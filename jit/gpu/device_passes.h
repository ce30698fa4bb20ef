// The passes that make a device nest of a nest, in their order. Each changes a
// legalised nest and leaves one that verifies, prints and parses
// (jit/loops/loop_nest.h); doing a pass twice changes nothing. The JIT's
// pipeline runs them as passes of its own (jit/pipeline/target_passes.h).
//
//   EMBER_RETURN_IF_ERROR(MakeDeviceNest(ptx::Target::Of("sm_80"), nest));
//
// Thread-safe.
#ifndef EMBER_JIT_GPU_DEVICE_PASSES_H_
#define EMBER_JIT_GPU_DEVICE_PASSES_H_

#include <string_view>

#include "base/status.h"
#include "jit/gpu/asynchronous_copies.h"
#include "jit/gpu/combine_invocations.h"
#include "jit/gpu/device_traits.h"
#include "jit/gpu/guard_stores.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/mark_short_sums.h"
#include "jit/gpu/mark_vectors.h"
#include "jit/gpu/place_buffers.h"
#include "jit/gpu/specialise_warps.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct DevicePass {
  std::string_view name;
  std::string_view doc;
  Status (*run)(const DeviceTraits& device, loops::LoopNest& nest);
};

inline constexpr DevicePass kDevicePasses[] = {
    // combine-invocations comes before place-buffers, because the buffers that
    // it adds must be placed, too.
    {"combine-invocations",
     "writes in steps how invocations combine values where all of them update "
     "one element",
     CombineInvocations},
    {"place-buffers",
     "chooses the number of invocations of each phase, and where its buffers "
     "are",
     PlaceBuffers},
    // guard-stores comes before insert-barriers, because barriers depend on
    // which statements only one invocation runs.
    {"guard-stores",
     "says which statements only the first invocation of a task runs",
     GuardStores},
    {"specialise-warps",
     "marks rings, copies of boxes, and what the producer of a phase executes",
     SpecialiseWarps},
    // insert-barriers comes after the passes that decide which buffers share
    // bytes and what a producer executes: both change which barriers are
    // needed.
    {"insert-barriers",
     "inserts the barriers that invocations of a workgroup need",
     InsertBarriers},
    // asynchronous-copies comes last of these: planned barriers are right
    // whether a copy is asynchronous or not.
    {"asynchronous-copies",
     "makes ordinary stores of the asynchronous ones that the device does not "
     "copy asynchronously",
     ChooseAsynchronousCopies},
    {"mark-vectors",
     "says which neighbouring elements one access moves, and which dot "
     "products are of words",
     MarkVectors},
    {"mark-short-sums",
     "says which updates of short sums must round once on this device",
     MarkShortSums},
};

// Runs all passes. Errors: the reason of a pass to decline, with the nest's
// name.
Status MakeDeviceNest(const DeviceTraits& device, loops::LoopNest& nest);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_DEVICE_PASSES_H_
