// Measures how long threads that could run wait for a core because another
// thread of this machine has it. That is the cost of programs in the
// background, without other effects on times.
//
//   const ThreadWaits waits;  // of the threads that exist
//   const double before = waits.milliseconds();
//
// Reads Linux's schedstat; 0 if the kernel does not provide it. Time that a
// hypervisor takes from the whole machine is not included.
#ifndef EMBER_TOOLS_LIB_BENCHMARK_THREAD_WAITS_H_
#define EMBER_TOOLS_LIB_BENCHMARK_THREAD_WAITS_H_

#include <string>
#include <vector>

namespace ember::tools {

class ThreadWaits {
 public:
  ThreadWaits();
  // Returns the total of the milliseconds that these threads have waited for a
  // core since they began. A call that uses these threads is delayed by at most
  // as much as this total grows during the call.
  double milliseconds() const;

 private:
  std::vector<std::string> files_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_BENCHMARK_THREAD_WAITS_H_
