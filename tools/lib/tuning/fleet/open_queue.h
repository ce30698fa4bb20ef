// Opens the queue of a fleet by its address, as a command line has it.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<tune::JobQueue> queue,
//                          OpenQueue({.address = "nats://10.0.0.1:4222"}));
//
//   nats://HOST:PORT, tls://HOST:PORT   a NATS server with JetStream
//   folder:PATH                         a folder that the machines share
//   folder:PATH,lease=SECONDS           the same; the job of a worker that was
//                                       silent for so long goes to another one
//                                       (default: 90, for network file systems)
//
// A NATS server needs libember_nats.so beside this program
// (tools/lib/tuning/nats/), which stays loaded. Errors are one line that names
// the address.
#ifndef EMBER_TOOLS_LIB_TUNING_FLEET_OPEN_QUEUE_H_
#define EMBER_TOOLS_LIB_TUNING_FLEET_OPEN_QUEUE_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tools/lib/cli/flags.h"
#include "tune/fleet/job_queue.h"

namespace ember::tools {

struct QueueAddress {
  std::string address;
  std::string credentials;  // file with the user's credentials for the NATS
                            // server; empty: none
  std::string authority;    // file with the certificates of authorities, for
                            // tls://; empty: the system's
};

// Declares the flags --credentials and --authority.
void AddQueueFlags(Flags& flags, QueueAddress* address);

// True if the text has one of the forms of an address above.
bool IsQueueAddress(std::string_view text);

StatusOr<std::unique_ptr<tune::JobQueue>> OpenQueue(
    const QueueAddress& address);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_FLEET_OPEN_QUEUE_H_
