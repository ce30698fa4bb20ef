#include "tools/lib/tuning/fleet/slurm_array.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <vector>

#include "base/concat.h"
#include "base/file_descriptor.h"
#include "tools/lib/cli/paths.h"
#include "tune/fleet/job_id.h"

namespace ember::tools {
namespace {

// Number of seconds after which a worker without trials ends.
constexpr int kIdleSeconds = 600;

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text)
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

StatusOr<std::array<FileDescriptor, 2>> NewPipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return InternalError(Concat({"pipe: ", std::strerror(errno)}));
  return std::array<FileDescriptor, 2>{FileDescriptor(ends[0]),
                                       FileDescriptor(ends[1])};
}

StatusOr<std::string> OutputOf(const std::vector<std::string>& command,
                               pid_t process, int output) {
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = ::read(output, buffer, sizeof buffer)) > 0 ||
         (count < 0 && errno == EINTR))
    text.append(buffer, static_cast<size_t>(std::max<ssize_t>(count, 0)));
  int state = 0;
  while (::waitpid(process, &state, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(state) && WEXITSTATUS(state) == 0) return text;
  return InternalError(
      Concat({command[0], ": expected exit status 0, found ",
              WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state)}));
}

}  // namespace

StatusOr<std::string> RunProgram(const std::vector<std::string>& command,
                                 const std::string& input) {
  EMBER_ASSIGN_OR_RETURN(auto in, NewPipe());
  EMBER_ASSIGN_OR_RETURN(auto out, NewPipe());
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0].get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out[1].get(), STDOUT_FILENO);
  pid_t process = -1;
  const int failed = ::posix_spawnp(&process, arguments[0], &actions, nullptr,
                                    arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return NotFoundError(
        Concat({"cannot run ", command[0], ": ", std::strerror(failed)}));
  }
  in[0] = FileDescriptor();
  out[1] = FileDescriptor();
  // The input is a short script that fits the pipe's buffer, so the write does
  // not block. If the program ends without reading it, SIGPIPE is ignored, and
  // the program's exit status shows the failure.
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  if (::write(in[1].get(), input.data(), input.size()) < 0) errno = 0;
  ::signal(SIGPIPE, before);
  in[1] = FileDescriptor();
  return OutputOf(command, process, out[0].get());
}

std::string SlurmScript(const std::string& program, const std::string& folder,
                        const std::string& target) {
  return Concat({"#!/bin/sh\nexec ", Quoted(program),
                 " worker --connect=", Quoted("folder:" + folder),
                 " --target=", Quoted(target), " --idle=", kIdleSeconds, "\n"});
}

StatusOr<std::unique_ptr<SlurmArray>> SlurmArray::Submit(
    const SlurmOptions& options) {
  std::error_code error;
  const std::string name = options.folder.empty()
                               ? "vm-tune-jobs-" + tune::NewSession()
                               : options.folder;
  const std::string folder =
      std::filesystem::absolute(UserPath(name), error).string();
  std::filesystem::create_directories(folder, error);
  if (error) {
    return InvalidArgumentError(
        Concat({"cannot make the folder '", folder, "': ", error.message()}));
  }
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all,
                               error);
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe", error).string();
  std::vector<std::string> command = {
      "sbatch",
      "--parsable",
      "--job-name=vm-tune",
      "--requeue",
      Concat({"--array=0-", options.workers - 1}),
      Concat({"--output=", folder, "/worker-%a.log"})};
  std::istringstream words(options.sbatch);
  for (std::string word; words >> word;) command.push_back(word);
  StatusOr<std::string> job =
      RunProgram(command, SlurmScript(program, folder, options.target));
  if (!job.ok()) {
    std::filesystem::remove_all(folder, error);
    return job.status();
  }
  // The output of `sbatch --parsable` is JOB or JOB;CLUSTER.
  return std::unique_ptr<SlurmArray>(
      new SlurmArray(folder, job->substr(0, job->find_first_of(";\n"))));
}

SlurmArray::~SlurmArray() {
  // If all jobs of the array have ended already, scancel fails. That is no
  // error.
  static_cast<void>(RunProgram({"scancel", "--quiet", job_}, ""));
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
}

}  // namespace ember::tools
