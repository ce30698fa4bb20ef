// Starts the workers of a fleet as a job array of Slurm. Workers and tuner
// exchange messages through a shared folder (tune/fleet/folder_queue.h).
//
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<SlurmArray> array,
//                          SlurmArray::Submit({.workers = 16}));
//   OpenQueue({.address = "folder:" + array->folder()});
//
// The array is submitted with sbatch and cancelled with scancel when the object
// is destroyed; a worker whose node is lost is queued again by Slurm. The
// folder is in the current directory unless the options name another one, and
// is removed at the end.
#ifndef EMBER_TOOLS_LIB_TUNING_FLEET_SLURM_ARRAY_H_
#define EMBER_TOOLS_LIB_TUNING_FLEET_SLURM_ARRAY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace ember::tools {

struct SlurmOptions {
  int64_t workers = 0;  // number of workers, which are the elements of the
                        // array
  std::string folder;   // the shared folder; empty: a new one in the current
                        // directory
  // Further options for sbatch, separated by spaces: "-p cpu --time=60".
  std::string sbatch;
  // Target for which the workers run trials, as a name of vm-prejit's --target.
  std::string target = "host";
};

class SlurmArray {
 public:
  // Makes the folder and submits the array. Errors: sbatch cannot be run, or
  // refuses the job; the folder cannot be made.
  static StatusOr<std::unique_ptr<SlurmArray>> Submit(
      const SlurmOptions& options);
  ~SlurmArray();
  SlurmArray(const SlurmArray&) = delete;
  SlurmArray& operator=(const SlurmArray&) = delete;

  const std::string& folder() const { return folder_; }
  const std::string& job() const { return job_; }

 private:
  SlurmArray(std::string folder, std::string job)
      : folder_(std::move(folder)), job_(std::move(job)) {}

  const std::string folder_, job_;
};

// Returns the shell script that each element of the array runs.
std::string SlurmScript(const std::string& program, const std::string& folder,
                        const std::string& target);

// Runs a program, passes it `input` on stdin, and returns its stdout. Its
// stderr is this process's. Errors: it cannot be run, or its exit status is not
// 0.
StatusOr<std::string> RunProgram(const std::vector<std::string>& command,
                                 const std::string& input);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TUNING_FLEET_SLURM_ARRAY_H_
