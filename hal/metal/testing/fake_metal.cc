#include "hal/metal/testing/fake_metal.h"

#include "hal/metal/testing/fake_functions.h"
#include "hal/metal/testing/fake_state.h"

#define EMBER_EXPORT extern "C" __attribute__((visibility("default")))

using ember::hal::metal::fake::TheState;

EMBER_EXPORT const ember::hal::metal::Functions* EmberMetalFunctions() {
  namespace fake = ember::hal::metal::fake;
  static const ember::hal::metal::Functions functions = {
#define EMBER_METAL_ROW(name, result, parameters) .name = fake::name,
      EMBER_METAL_FUNCTIONS(EMBER_METAL_ROW)
#undef EMBER_METAL_ROW
  };
  return &functions;
}
EMBER_EXPORT void EmberFakeReset() {
  EMBER_LOCK;
  auto& state = TheState();
  state.calls.clear();
  state.count_of.clear();
  state.call_count = state.faults = state.builds = 0;
  state.misuse.clear();
  state.is_read = false;
}
EMBER_EXPORT int64_t EmberFakeObjects() {
  EMBER_LOCK;
  return static_cast<int64_t>(TheState().live.size());
}
EMBER_EXPORT int64_t EmberFakeFaults() {
  EMBER_LOCK;
  return TheState().faults;
}
EMBER_EXPORT const char* EmberFakeCalls(uint64_t* bytes) {
  EMBER_LOCK;
  *bytes = TheState().calls.size();
  return TheState().calls.data();
}
EMBER_EXPORT int64_t EmberFakeBuilds() {
  EMBER_LOCK;
  return TheState().builds;
}
EMBER_EXPORT const char* EmberFakeMisuse() {
  EMBER_LOCK;
  return TheState().misuse.c_str();
}
