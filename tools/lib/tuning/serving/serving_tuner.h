// Tunes the hottest dispatches of a session while it serves, in a process of
// its own (vm-tune) that takes a stated share of a core. Better kernels replace
// the session's from its next call on.
//
//   EMBER_ASSIGN_OR_RETURN(
//       std::unique_ptr<ServingTuner> tuner,
//       ServingTuner::Start(*session, tier, {.share = 0.1}));
//   ...                                     // calls of the session
//   tuner->kernels();                       // 3 were replaced so far
//
// The process gets the texts of the dispatches (tune/fleet/messages.h) in a
// temporary folder, and the calls that each had. It writes its best schedules
// to a file there, which a thread of this object reads; the JIT then makes a
// kernel with each new schedule, which is checked like any other kernel. Only
// dispatches that have a kernel on the host are tuned.
//
// What it found stays in the records (docs/tuning.md), so that the next process
// begins with it. Only one tuner at a time uses a file of records: another
// session's tuner ends, and problem() says so.
//
// The object must be destroyed before the JIT. Thread-compatible.
#ifndef EMBER_TOOLS_LIB_TUNING_SERVING_SERVING_TUNER_H_
#define EMBER_TOOLS_LIB_TUNING_SERVING_SERVING_TUNER_H_

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "jit/jit.h"
#include "tools/lib/models/tier.h"
#include "tune/task/task.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/session.h"

namespace ember::tools {

struct ServingOptions {
  double share = 0.1;   // largest share of a core that tuning may use
  size_t hottest = 8;   // number of dispatches that are tuned, those that took
                        // the most time
  std::string target;   // text of the session's target
  std::string records;  // file of the tuning records; empty: the default of
                        // vm-tune
  std::string program;  // path of vm-tune; empty: the one in this program's
                        // folder
};

class ServingTuner {
 public:
  // Starts vm-tune. Errors: it cannot be started; no dispatch of the session
  // has a kernel.
  static StatusOr<std::unique_ptr<ServingTuner>> Start(
      const vm::Session& session, const Tier& tier,
      const ServingOptions& options);
  // Ends the process vm-tune.
  ~ServingTuner();
  ServingTuner(const ServingTuner&) = delete;
  ServingTuner& operator=(const ServingTuner&) = delete;

  // Number of kernels that were requested with tuned schedules so far.
  int kernels() const { return kernels_; }
  // Reason why the process vm-tune has ended, in one line; empty while it runs.
  std::string problem() const;

 private:
  // A hot dispatch of the session, which is tuned.
  struct Hot {
    tune::Task task;
    size_t group = 0;
    int64_t ns = 0;
    std::string steps;  // schedule of its current kernel; empty: the default
                        // one
  };

  ServingTuner(std::vector<Hot> hot, const Tier& tier, std::string folder);
  static std::vector<Hot> HottestOf(const vm::Session& session,
                                    const Tier& tier,
                                    const ServingOptions& options);
  Status StartProcess(const ServingOptions& options);
  void Watch();
  // Reads vm-tune's file of schedules, and requests a kernel for each schedule
  // that is new.
  void UseSchedules(const std::string& text);
  void Request(Hot& hot, const std::string& text);

  std::vector<Hot> hot_;
  const std::shared_ptr<vm::Tiering> tiering_;
  const std::shared_ptr<jit::Jit> jit_;
  const std::string folder_;
  pid_t process_ = -1;
  int requests_ = 0;
  std::atomic<int> kernels_{0};
  std::atomic<bool> ends_{false};
  mutable std::mutex mutex_;  // guards problem_
  std::string problem_;
  std::thread thread_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_SERVING_SERVING_TUNER_H_
