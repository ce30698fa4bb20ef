// vm-tune worker: runs trials that tuners on other machines send.
//
//   $ vm-tune worker --connect=nats://10.0.0.1:4222
#ifndef EMBER_TOOLS_LIB_TUNING_FLEET_TUNE_WORKER_H_
#define EMBER_TOOLS_LIB_TUNING_FLEET_TUNE_WORKER_H_

namespace ember::tools {

// Runs `vm-tune worker`; argv[0] is "worker". Returns the exit status.
int RunTuneWorker(int argc, char** argv);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_FLEET_TUNE_WORKER_H_
