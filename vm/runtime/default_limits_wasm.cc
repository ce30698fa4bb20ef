// Implements the default memory limit for WebAssembly, whose memory has at most
// 4 GiB.
#include "vm/runtime/default_limits.h"

namespace ember::vm {

int64_t DefaultMemoryLimit() { return int64_t{4} << 30; }

}  // namespace ember::vm
