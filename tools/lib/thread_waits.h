// How long threads that could run wait for a core, because another thread of
// this machine has it: what a program in the background costs, without what the
// rest of the world does to times.
//
//   const ThreadWaits waits;  // of the threads that exist
//   const double before = waits.milliseconds();
//
// Linux's schedstat; 0 where the kernel does not tell. What a hypervisor takes
// from the whole machine is not in it.
#ifndef EMBER_TOOLS_LIB_THREAD_WAITS_H_
#define EMBER_TOOLS_LIB_THREAD_WAITS_H_

#include <string>
#include <vector>

namespace ember::tools {

class ThreadWaits {
 public:
  ThreadWaits();
  // Since the threads began, their sum: a call that they work for is later by
  // no more than this grows.
  double milliseconds() const;

 private:
  std::vector<std::string> files_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_THREAD_WAITS_H_
