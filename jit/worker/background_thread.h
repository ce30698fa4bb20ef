// Lowers the priority of threads that compile, so that they hardly slow other
// threads down.
//
//   LowerPriority(kCompilingNiceness);  // first call in the thread
//
// Affects the calling thread only: the host of this library keeps the
// priorities and cores of its own threads. Works on Linux only. Elsewhere, and
// in sandboxes that refuse it, the priority stays as it is.
#ifndef EMBER_JIT_WORKER_BACKGROUND_THREAD_H_
#define EMBER_JIT_WORKER_BACKGROUND_THREAD_H_

namespace ember::jit {

// Nice value of threads that run LLVM: the lowest priority. They still make
// slow progress if other threads occupy all cores.
inline constexpr int kCompilingNiceness = 19;
// Nice value of the compile worker's process, and of the threads that prepare
// requests for it.
inline constexpr int kWorkerNiceness = 10;

// Adds to the calling thread's nice value, up to 19. The change is permanent:
// the system lets no program without privileges undo it. A thread with nice
// value 19 gets 1.5% of a core that another thread uses fully, a thread with
// nice value 10 gets 10%.
void LowerPriority(int niceness);

}  // namespace ember::jit

#endif  // EMBER_JIT_WORKER_BACKGROUND_THREAD_H_
