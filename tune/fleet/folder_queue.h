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
// A job changes its state when its file is renamed, which is atomic, so two
// workers never take the same job. While a worker runs a job, it renews the
// time of the job's file in taken/. If that time is older than the lease, the
// worker counts as lost: any worker that looks for jobs, or the tuner, moves
// the file back to jobs/. Times are those of the file system, because clocks of
// machines differ.
//
// Every user who may write to the folder can send jobs and answers. If
// OpenFolderQueue makes the folder, only the user who runs the program may use
// it.
#ifndef EMBER_TUNE_FLEET_FOLDER_QUEUE_H_
#define EMBER_TUNE_FLEET_FOLDER_QUEUE_H_

#include <chrono>
#include <memory>
#include <string>

#include "base/status.h"
#include "tune/fleet/job_queue.h"

namespace ember::tune {

struct FolderQueueOptions {
  // Milliseconds without a renewal after which a worker counts as lost. The
  // value is large, because a network file system may show a renewed time a
  // minute late.
  std::chrono::milliseconds lease{90'000};
  // Milliseconds between two checks of the folder for new jobs or answers.
  std::chrono::milliseconds period{50};
};

// Opens the folder and makes it if it is missing. Returns an error if it cannot
// be made or written.
StatusOr<std::unique_ptr<JobQueue>> OpenFolderQueue(
    const std::string& folder, const FolderQueueOptions& options);

}  // namespace ember::tune

#endif  // EMBER_TUNE_FLEET_FOLDER_QUEUE_H_
