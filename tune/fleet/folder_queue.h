// A queue of trials in a folder that several machines share, such as the
// scratch file system of a Slurm cluster.
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<JobQueue> queue,
//                          OpenFolderQueue("/scratch/me/tuning", {}));
//
//   tasks/NAME                    texts of tasks
//   jobs/CHANNEL/ID.0             jobs that no worker has; the number counts
//                                 the workers that had it
//   taken/CHANNEL/ID.0            jobs of workers
//   answers/SESSION/ID            answers
//
// A job changes its state by being renamed, which is atomic, so two workers
// never take one. A worker renews the time of its file; a file that is older
// than the lease is moved back by any worker that looks for jobs, and by the
// tuner. Times are those of the file system, because clocks of machines differ.
//
// Every user who may write to the folder can send jobs and answers. A folder
// that OpenFolderQueue makes can be used by its owner alone.
#ifndef EMBER_TUNE_FLEET_FOLDER_QUEUE_H_
#define EMBER_TUNE_FLEET_FOLDER_QUEUE_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "tune/fleet/job_queue.h"

namespace ember::tune {

struct FolderQueueOptions {
  // A network file system may show a new time a minute late.
  std::chrono::milliseconds lease{90'000};
  // Milliseconds between two looks at the folder.
  std::chrono::milliseconds period{50};
};

// Opens the folder and makes it if it is missing. Errors: it cannot be made or
// written.
StatusOr<std::unique_ptr<JobQueue>> OpenFolderQueue(
    const std::string& folder, const FolderQueueOptions& options);

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_FOLDER_QUEUE_H_
