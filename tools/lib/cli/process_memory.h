// Measures the memory of this process.
//
//   const int64_t before = WritableBytes();
//   … import a model
//   if (WritableBytes() - before > limit) return ResourceExhaustedError(…);
//
// Thread-safe.
#ifndef EMBER_TOOLS_LIB_CLI_PROCESS_MEMORY_H_
#define EMBER_TOOLS_LIB_CLI_PROCESS_MEMORY_H_

#include <cstdint>

namespace ember::tools {

// Returns the bytes of private writable memory of this process, as RLIMIT_DATA
// counts them: memory that was allocated counts before it is written. Returns
// 0 if /proc does not say.
int64_t WritableBytes();

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_CLI_PROCESS_MEMORY_H_
