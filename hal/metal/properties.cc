#include "hal/metal/properties.h"

#include <algorithm>

#include "base/concat.h"

namespace ember::hal::metal {
namespace {

// Alignment of the offsets of bindings: a buffer of the device's address space
// may begin at any multiple of its elements' size, which is at most 16 bytes.
constexpr int64_t kBindingAlignment = 16;
constexpr int64_t kParameterBytes = 8;

// MSL 2.2, the version that Ember's programs need (jit/metal/language.h).
constexpr uint32_t kOldestLanguage = (2 << 16) + 2;

int64_t Bounded(uint64_t value) {
  return static_cast<int64_t>(std::min<uint64_t>(value, INT64_MAX));
}

int64_t MajorOf(uint32_t language) { return language >> 16; }
int64_t MinorOf(uint32_t language) { return language & 0xffff; }

}  // namespace

DeviceProperties::DeviceProperties(const DeviceFacts& facts,
                                   uint64_t subgroup_size)
    : name(facts.name),
      major(MajorOf(facts.language)),
      minor(MinorOf(facts.language)),
      is_unified(facts.is_unified),
      memory_bytes(Bounded(facts.memory_bytes)),
      allocation_bytes(Bounded(facts.buffer_bytes)),
      shared_bytes(Bounded(facts.threadgroup_bytes)),
      subgroup_size(Bounded(subgroup_size)) {
  std::ranges::transform(facts.threads, workgroup.begin(), Bounded);
}

std::string DeviceProperties::Target() const {
  return Concat({"metal", major, ".", minor, "+subgroup", subgroup_size,
                 "+shared", shared_bytes, "+invocations", workgroup[0]});
}

DeviceLimits DeviceProperties::Limits(bool separate_memory) const {
  DeviceLimits limits;
  limits.shares_memory = is_unified && !separate_memory;
  limits.binding_alignment = kBindingAlignment;
  limits.binding_bytes = allocation_bytes;
  // The last buffer has the parameters.
  limits.binding_count = kBufferIndices - 1;
  limits.parameter_count = static_cast<int>(kMaxSetBytes / kParameterBytes);
  return limits;
}

std::string WhatItLacks(const DeviceFacts& facts) {
  if (facts.language >= kOldestLanguage) return "";
  return Concat({"device '", facts.name, "': expected version ",
                 MajorOf(kOldestLanguage), ".", MinorOf(kOldestLanguage),
                 " or newer of the Metal Shading Language, found ",
                 MajorOf(facts.language), ".", MinorOf(facts.language),
                 "; a newer system has it"});
}

}  // namespace ember::hal::metal
