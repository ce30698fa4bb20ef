#include "tools/lib/tuning/serving/serving_tuner.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "jit/kernel/tuned_schedules.h"
#include "tools/lib/tuning/task_folder.h"

namespace ember::tools {
namespace {

namespace fs = std::filesystem;

// Owns the text of the schedules to which a kernel request refers, and keeps
// alive what the original request kept alive.
struct Owned {
  std::shared_ptr<const void> original;
  std::string text;
};

// First tier number that ServingTuner passes to KernelSlot::ClaimRequest, which
// grants each number once. The numbers 1 and 2 are used for the session's own
// kernels.
constexpr int kFirstClaim = 100;

std::string VmTunePath() {
  std::error_code error;
  return (fs::read_symlink("/proc/self/exe", error).parent_path() / "vm-tune")
      .string();
}

// Returns the last line of a text, which is the error message of vm-tune.
std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

ServingTuner::ServingTuner(std::vector<Hot> hot, const Tier& tier,
                           std::string folder)
    : hot_(std::move(hot)),
      tiering_(tier.tiering),
      jit_(tier.jit),
      folder_(std::move(folder)) {}

std::vector<ServingTuner::Hot> ServingTuner::HottestOf(
    const vm::Session& session, const Tier& tier,
    const ServingOptions& options) {
  const std::shared_ptr<const vm::Module>& module =
      tier.tiering->shared_module();
  const std::vector<vm::SiteProfile> profile = session.Profile();
  std::vector<Hot> hot;
  for (size_t i = 0; i < profile.size(); ++i) {
    const vm::SiteProfile& site = profile[i];
    if (site.calls == 0 || site.tier == 0 || site.device_calls > 0) continue;
    const size_t group = module->sites()[i].group;
    const auto found = std::ranges::find_if(hot, [&](const Hot& one) {
      return one.group == group &&
             one.task.request.parameters == site.parameters;
    });
    if (found != hot.end()) {
      found->task.calls += static_cast<double>(site.calls);
      found->ns += site.total_ns;
      continue;
    }
    vm::KernelRequest request = vm::RequestFor(module, group);
    request.target = options.target;
    request.parameters = site.parameters;
    hot.push_back(
        {.task = tune::MakeTask(request), .group = group, .ns = site.total_ns});
    hot.back().task.calls = static_cast<double>(site.calls);
  }
  std::ranges::stable_sort(hot, std::greater<>(), &Hot::ns);
  if (hot.size() > options.hottest)
    hot.erase(hot.begin() + static_cast<ptrdiff_t>(options.hottest), hot.end());
  return hot;
}

StatusOr<std::unique_ptr<ServingTuner>> ServingTuner::Start(
    const vm::Session& session, const Tier& tier,
    const ServingOptions& options) {
  if (tier.jit == nullptr || tier.tiering == nullptr)
    return FailedPreconditionError("expected a tier with kernels to tune");
  std::vector<Hot> hot = HottestOf(session, tier, options);
  if (hot.empty())
    return FailedPreconditionError("no dispatch has a kernel to tune");
  std::error_code error;
  std::string folder =
      (fs::temp_directory_path(error) / "ember-serving-XXXXXX").string();
  if (error || ::mkdtemp(folder.data()) == nullptr)
    return InternalError(Concat({"cannot make the folder '", folder, "'"}));
  std::unique_ptr<ServingTuner> tuner(
      new ServingTuner(std::move(hot), tier, folder));
  std::vector<tune::Task> tasks;
  for (const Hot& one : tuner->hot_) tasks.push_back(one.task);
  EMBER_RETURN_IF_ERROR(WriteTaskFolder(tasks, folder).status());
  EMBER_RETURN_IF_ERROR(tuner->StartProcess(options));
  tuner->thread_ = std::thread([own = tuner.get()] { own->Watch(); });
  return tuner;
}

ServingTuner::~ServingTuner() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  if (process_ > 0) {
    ::kill(process_, SIGTERM);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string ServingTuner::problem() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return problem_;
}

Status ServingTuner::StartProcess(const ServingOptions& options) {
  char share[32];
  std::snprintf(share, sizeof share, "--share=%g", options.share);
  const std::string program =
      options.program.empty() ? VmTunePath() : options.program;
  std::vector<std::string> command = {
      program,
      "--tasks=" + folder_,
      share,
      "--workers=1",
      "--batch=4",
      "--seconds=1000000000",
      "--export=" + folder_ + "/best.schedules"};
  if (!options.records.empty())
    command.push_back("--records=" + options.records);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const std::string log = folder_ + "/log";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  const int failed = ::posix_spawn(&process_, program.c_str(), &actions,
                                   nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return OkStatus();
  process_ = -1;
  return NotFoundError(
      Concat({"cannot run ", program, ": ", std::strerror(failed)}));
}

void ServingTuner::Watch() {
  constexpr std::chrono::milliseconds kPeriod{200};
  const std::string path = folder_ + "/best.schedules";
  fs::file_time_type last{};
  while (!ends_) {
    std::this_thread::sleep_for(kPeriod);
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(path, error);
    if (!error && time != last) {
      last = time;
      const StatusOr<std::string> text = ReadFile(path);
      if (text.ok()) UseSchedules(*text);
    }
    int state = 0;
    if (process_ > 0 && ::waitpid(process_, &state, WNOHANG) == process_) {
      const StatusOr<std::string> log = ReadFile(folder_ + "/log");
      std::lock_guard<std::mutex> lock(mutex_);
      problem_ = log.ok() ? LastLine(*log) : "vm-tune has ended";
      process_ = -1;
    }
  }
}

void ServingTuner::UseSchedules(const std::string& text) {
  const StatusOr<jit::TunedSchedules> schedules =
      jit::TunedSchedules::Parse(text);
  if (!schedules.ok()) return;
  for (Hot& hot : hot_) {
    const jit::TunedSchedule* const found =
        schedules->Find(hot.task.key, hot.task.request.target);
    if (found == nullptr || found->steps == hot.steps) continue;
    hot.steps = found->steps;
    Request(hot, text);
  }
}

void ServingTuner::Request(Hot& hot, const std::string& text) {
  vm::KernelRequest request =
      vm::RequestFor(tiering_->shared_module(), hot.group);
  auto owned = std::make_shared<Owned>(Owned{request.owner, text});
  request.tuned_schedules = owned->text;
  request.owner = std::move(owned);
  request.target = hot.task.request.target;
  request.parameters = hot.task.request.parameters;
  request.tier = 2;
  const std::shared_ptr<vm::KernelSlot>& slot = tiering_->slot(hot.group);
  if (!slot->ClaimRequest(kFirstClaim + requests_++, {})) return;
  jit_->RequestKernel(request, slot);
  ++kernels_;
}

}  // namespace ember::tools
