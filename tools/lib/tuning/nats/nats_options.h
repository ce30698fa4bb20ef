// Declares the interface of libember_nats.so, a queue of trials on a NATS
// server with JetStream. vm-tune loads the library if the user gives a nats://
// address. It is the only part of the tools that needs libnats (Debian's
// libnats-dev).
//
//   $ nats-server -js
//   $ vm-tune worker --connect=nats://HOST:4222     # on each board
//   $ vm-tune model.vmfb --workers=nats://HOST:4222
//
//   stream       subjects                      kind
//   EMBER_TASKS  ember.tune.tasks.NAME         the last message of each
//   EMBER_JOBS   ember.tune.jobs.CHANNEL.SESSION   a work queue; a consumer per
//                                              channel, acknowledged jobs
//   EMBER_ANSWERS ember.tune.answers.SESSION   a consumer per session
//
// Tuner and workers connect outward, and reconnect for as long as it takes. A
// job whose worker is lost is delivered again after 10 seconds. Streams that an
// administrator has made (with replicas, say) are used as they are.
#ifndef EMBER_TOOLS_LIB_TUNING_NATS_NATS_OPTIONS_H_
#define EMBER_TOOLS_LIB_TUNING_NATS_NATS_OPTIONS_H_

#include <memory>
#include <string>

#include "tune/fleet/job_queue.h"

namespace ember::tools {

struct NatsOptions {
  std::string url;          // address of the server:
                            // nats://USER:PASSWORD@HOST:PORT or tls://…
  std::string credentials;  // file that `nsc generate creds` has written;
                            // empty: none
  std::string authority;    // file with certificates of authorities, for tls;
                            // empty: the system's
};

// Type of the library's function EmberOpenNats, which opens a queue. If the
// server cannot be used, it returns false and sets `error` to one line.
using OpenNatsFunction = bool (*)(const NatsOptions* options,
                                  std::unique_ptr<tune::JobQueue>* queue,
                                  std::string* error);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_NATS_NATS_OPTIONS_H_
