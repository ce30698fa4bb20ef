// On Apple's systems this file is compiled as Objective-C++ (BUILD), because
// Bazel's cc_library takes no files with the ending mm.
#if defined(__APPLE__)
#include "hal/metal/api/metal.mm"
#else

#include "hal/metal/api/system.h"

namespace ember::hal::metal {

const Functions* SystemFunctions() { return nullptr; }

}  // namespace ember::hal::metal

#endif
