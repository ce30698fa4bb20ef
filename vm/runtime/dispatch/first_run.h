// Does work when a session is created that its first run would otherwise do: it
// takes memory that every run needs from the system, and returns it to the
// pools that will hand it out again.
//
//   tiering.set_preparation(PrepareFirstRun);  // InstallNativeKernels does so
//
// - Blocks of the pool that the entry program allocates before anything in it
//   depends on data or on an open dim. Later ones cannot be known.
// - Temporaries of the kernels that exist already and that are the same for all
//   calls (vm/runtime/memory/scratch_blocks.h).
//
// It never takes more than a run uses itself. If memory is refused, for example
// by the session's limit, it stops, and the run reports the error. For sessions
// on the host. Thread-safe if its arguments are.
#ifndef EMBER_VM_RUNTIME_DISPATCH_FIRST_RUN_H_
#define EMBER_VM_RUNTIME_DISPATCH_FIRST_RUN_H_

#include "base/parallel.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/memory_pool.h"
#include "vm/runtime/module.h"

namespace ember::vm {

// Does the work, with the session's runner and pool. It is a
// Tiering::Preparation.
void PrepareFirstRun(const Module& module, const Tiering& tiering,
                     ParallelRunner& runner, MemoryPool& pool);

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_DISPATCH_FIRST_RUN_H_
