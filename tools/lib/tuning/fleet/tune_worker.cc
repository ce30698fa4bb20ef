#include "tools/lib/tuning/fleet/tune_worker.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "hal/cpu/target.h"
#include "jit/target/compile_target.h"
#include "jit/target/cpu_model.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/tuning/fleet/open_queue.h"
#include "tools/lib/tuning/measures.h"
#include "tune/fleet/fleet_worker.h"

namespace ember::tools {
namespace {

struct Options {
  QueueAddress queue;
  std::string target = "host";
  int64_t workers = 0, idle = 0;
};

volatile std::sig_atomic_t is_interrupted = 0;

void Interrupt(int) { is_interrupted = 1; }

void Declare(Options& options, Flags& flags) {
  flags.Add("connect", &options.queue.address, "ADDRESS",
            "Takes trials from nats://HOST:PORT (a NATS server with JetStream) "
            "or folder:PATH (a folder\n"
            "that the machines share).");
  AddQueueFlags(flags, &options.queue);
  flags.Add("target", &options.target, "T",
            "Takes trials for this target of vm-prejit --list-targets, which "
            "this machine must be able to run.");
  flags.Add("workers", &options.workers, "N",
            "Compiles with this number of processes, one of which measures at "
            "a time. 0: one per core that this\n"
            "program may use.");
  flags.Add("idle", &options.idle, "S",
            "Ends after this number of seconds without a trial. 0: never.");
  flags.Example("vm-tune worker --connect=nats://10.0.0.1:4222");
  flags.Example("vm-tune worker --connect=folder:/scratch/tuning --idle=600");
}

// Returns the number of cores that this process may use.
int Cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::max(CPU_COUNT(&cores), 1);
}

void Print(const std::string& line) {
  std::fprintf(stderr, "vm-tune worker: %s\n", line.c_str());
}

Status Serve(const Options& options) {
  if (options.queue.address.empty()) {
    return CommandLineError(
        "expected --connect=nats://HOST:PORT or --connect=folder:PATH (see "
        "--help)");
  }
  if (options.workers < 0 || options.idle < 0)
    return CommandLineError("--workers, --idle: expected no number below 0");
  std::string target = hal::HostTarget();
  if (options.target != "host") {
    EMBER_ASSIGN_OR_RETURN(const jit::CompileTarget found,
                           jit::FindCompileTarget(options.target));
    target = found.target;
  }
  if (const std::string missing = hal::MissingFeatures(target);
      !missing.empty()) {
    return CommandLineError(
        "--target: expected a target that this machine can "
        "run, which lacks " +
        missing);
  }
  EMBER_ASSIGN_OR_RETURN(const std::unique_ptr<tune::JobQueue> queue,
                         OpenQueue(options.queue));
  std::signal(SIGINT, Interrupt);
  std::signal(SIGTERM, Interrupt);
  const int64_t evict = jit::CpuModel::Of(target).l2_bytes;
  tune::FleetWorker worker(
      *queue,
      {.target = target,
       .workers =
           options.workers > 0 ? static_cast<int>(options.workers) : Cores(),
       .idle = std::chrono::seconds(options.idle),
       .should_stop = [] { return is_interrupted != 0; },
       .notice = Print},
      [evict](const std::vector<tune::Task>& tasks) {
        return MakeBenchServe(tasks, evict);
      });
  Print("takes trials for " + target);
  EMBER_RETURN_IF_ERROR(worker.Serve());
  Print("answered " + std::to_string(worker.answered()) + " trials");
  return OkStatus();
}

}  // namespace

int RunTuneWorker(int argc, char** argv) {
  Options options;
  Flags flags("vm-tune worker", "--connect=ADDRESS [flags]",
              "Runs the trials of tuners on other machines (vm-tune MODEL "
              "--workers=ADDRESS) until it is stopped.\n"
              "A trial has the text of a dispatch and of a schedule, which are "
              "compiled and checked here.");
  Declare(options, flags);
  return RunTool(argc, argv, flags, [&options] { return Serve(options); });
}

}  // namespace ember::tools
