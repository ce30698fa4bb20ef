// Kills vm-run (SIGKILL) while it writes the kernel cache, again and again.
// After each time it checks that a run with the remaining cache starts, prints
// no warning, and gives the correct results.
//
// Before each round a random part of the cache is removed, and sometimes
// damaged, or the secret with it. Half of the kills happen before or after a
// random system call on files, some a random while after a random event in the
// folders (files created, written, renamed, removed), the others at any time.
// Sometimes a second run uses the same cache meanwhile and must end well.
// Sometimes the cache's bound is so small that runs remove each other's
// entries.
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "base/file.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tests/kernel_cache/child_run.h"
#include "tools/lib/cli/flags.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Options {
  int64_t kills = 1000, seed = 0, first = 0, kernels = 24;
  std::string vm_run = "tools/vm-run";
};

struct Counts {
  int64_t kills = 0, ended_before = 0, in_a_write = 0, beside_another = 0;
  int64_t damaged = 0, without_secret = 0, small = 0;
  // Number of kernels that runs after kills loaded from the cache, and number
  // of all kernels of these runs.
  int64_t loaded = 0, kernels = 0;
};

class Killer {
 public:
  explicit Killer(const Options& options) : options_(options) {}
  Status Run();

 private:
  Status Prepare();
  Status Round(int64_t round);
  void Disturb();
  enum class Moment { kAtAFileCall, kAfterEvents, kAtAnyTime };
  Status KillOne(bool small);
  Status Await(Moment moment, FolderWatch& watch, ChildRun& run);
  Status CheckRun(const std::string& what, const ChildRun::End& end,
                  bool counts);
  std::vector<std::string> Command(std::vector<std::string> more) const;
  std::set<fs::path> Unfinished() const;
  std::vector<fs::path> Entries() const;
  int64_t Random(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool OneIn(int64_t n) { return Random(1, n) == 1; }

  const Options options_;
  std::mt19937_64 random_;
  std::string base_, folder_, secrets_, model_;
  std::string results_;  // text that a run with correct results prints
  // Milliseconds of a run with an empty cache, which compiles all kernels.
  double cold_ms_ = 0;
  Counts counts_;
};

// Returns a model with this number of dispatches. Each multiplies by another
// factor, so that all have different kernels.
std::string ModelWith(int64_t kernels) {
  onnx::ModelBuilder model(17);
  for (int64_t i = 0; i < kernels; ++i) {
    const std::string n = std::to_string(i);
    model.Input("x" + n, {5 + i});
    model.Floats("factor" + n, {}, {0.5f + 0.05f * static_cast<float>(i)});
    model.Node("Mul", {"x" + n, "factor" + n}, {"scaled" + n});
    model.Node("Tanh", {"scaled" + n}, {"y" + n});
    model.Output("y" + n);
  }
  return model.proto().SerializeAsString();
}

std::vector<std::string> Killer::Command(std::vector<std::string> more) const {
  std::vector<std::string> command = {options_.vm_run, model_, "--print=full",
                                      "--threads=1", "--seed=1"};
  command.insert(command.end(), more.begin(), more.end());
  return command;
}

Status Killer::Prepare() {
  std::string name =
      (fs::temp_directory_path() / "kill_writersXXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    return InternalError("cannot make a folder");
  base_ = name;
  folder_ = base_ + "/kernels";
  secrets_ = base_ + "/state/ember";
  model_ = base_ + "/model.onnx";
  for (const std::string& folder : {folder_, base_ + "/state", secrets_}) {
    fs::create_directory(folder);
    fs::permissions(folder, fs::perms::owner_all);
  }
  ::setenv("XDG_STATE_HOME", (base_ + "/state").c_str(), 1);
  ::unsetenv("BUILD_WORKING_DIRECTORY");
  EMBER_RETURN_IF_ERROR(
      WriteFileAtomically(model_, ModelWith(options_.kernels)));
  // The results computed with kernels and those of the interpreter, which must
  // be nearly equal.
  std::vector<std::string> outputs, expected;
  for (int64_t i = 0; i < options_.kernels; ++i) {
    const std::string file = "y" + std::to_string(i) + "=@" + base_ + "/" +
                             std::to_string(i) + ".npy";
    outputs.push_back("--output=" + file);
    expected.push_back("--expected=" + file);
  }
  outputs.push_back("--tier=0");
  EMBER_ASSIGN_OR_RETURN(
      ChildRun first, ChildRun::Start(Command(outputs), base_, "interpreter"));
  EMBER_ASSIGN_OR_RETURN(ChildRun::End end, first.Wait());
  if (end.exit_status != 0) return InternalError("tier 0: " + end.errors);
  expected.insert(expected.end(), {"--tier=2", "--no-kernel-cache"});
  const Clock::time_point start = Clock::now();
  EMBER_ASSIGN_OR_RETURN(ChildRun compiled,
                         ChildRun::Start(Command(expected), base_, "compiled"));
  EMBER_ASSIGN_OR_RETURN(end, compiled.Wait());
  if (end.exit_status != 0)
    return InternalError("tier 2 without cache: " + end.errors);
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  cold_ms_ = took.count();
  results_ = end.output.substr(0, end.output.find("y0 is as expected"));
  return OkStatus();
}

std::vector<fs::path> Killer::Entries() const {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder_))
    entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// Returns the temporary files of entries that killed writers left in the cache.
std::set<fs::path> Killer::Unfinished() const {
  std::set<fs::path> files;
  for (const std::string& folder : {folder_, secrets_}) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with("unfinished-"))
        files.insert(entry.path());
    }
  }
  return files;
}

// Removes or damages entries of the cache, so that the next run has kernels to
// write.
void Killer::Disturb() {
  const double share =
      OneIn(2) ? 1 : std::uniform_real_distribution<>(0.2, 0.9)(random_);
  for (const fs::path& entry : Entries()) {
    if (std::uniform_real_distribution<>()(random_) < share) fs::remove(entry);
  }
  if (OneIn(4)) {
    for (const fs::path& entry : Entries()) {
      const auto size = static_cast<int64_t>(fs::file_size(entry));
      if (OneIn(2) || size == 0) continue;
      if (OneIn(2)) {
        fs::resize_file(entry, static_cast<uintmax_t>(Random(0, size - 1)));
      } else {
        std::fstream file(entry, std::ios::in | std::ios::out);
        file.seekp(Random(0, size - 1));
        file.put(static_cast<char>(Random(0, 255)));
      }
      ++counts_.damaged;
    }
  }
  if (OneIn(5)) {
    fs::remove(secrets_ + "/kernel-cache.secret");
    ++counts_.without_secret;
  }
}

// Waits for the moment at which the run is killed.
Status Killer::Await(Moment moment, FolderWatch& watch, ChildRun& run) {
  int64_t most_microseconds = OneIn(2) ? 30 : 300;
  switch (moment) {
    case Moment::kAtAFileCall:
      // Writing an entry takes five calls: choosing a name, creating, writing,
      // closing and renaming the file.
      return run.GoOnUntilFileCalls(Random(1, 2 * 5 * options_.kernels + 40));
    case Moment::kAfterEvents: {
      // Writing an entry causes four events in the folder: creating, writing,
      // closing and renaming the file.
      const int64_t events = Random(1, 4 * options_.kernels);
      while (watch.Events() < events && !run.HasEnded())
        std::this_thread::yield();
      break;
    }
    case Moment::kAtAnyTime:
      most_microseconds = static_cast<int64_t>(1000 * cold_ms_);
      break;
  }
  const auto until =
      Clock::now() + std::chrono::microseconds(Random(0, most_microseconds));
  while (Clock::now() < until && !run.HasEnded()) {
  }
  return OkStatus();
}

// Starts a run and kills it. The files that the run has written are kept.
Status Killer::KillOne(bool small) {
  std::vector<std::string> flags = {"--tier=2", "--kernel-cache=" + folder_};
  if (small) flags.push_back("--kernel-cache-mb=0.03");
  const std::set<fs::path> before = Unfinished();
  const Moment moment = OneIn(2)   ? Moment::kAtAFileCall
                        : OneIn(2) ? Moment::kAfterEvents
                                   : Moment::kAtAnyTime;
  FolderWatch watch({folder_, secrets_});
  std::optional<ChildRun> other;
  if (OneIn(4)) {
    EMBER_ASSIGN_OR_RETURN(other,
                           ChildRun::Start(Command(flags), base_, "beside"));
  }
  EMBER_ASSIGN_OR_RETURN(ChildRun run,
                         ChildRun::Start(Command(flags), base_, "killed",
                                         moment == Moment::kAtAFileCall));
  EMBER_RETURN_IF_ERROR(Await(moment, watch, run));
  run.Kill();
  EMBER_ASSIGN_OR_RETURN(const ChildRun::End end, run.Wait());
  if (other) {
    EMBER_ASSIGN_OR_RETURN(const ChildRun::End beside, other->Wait());
    EMBER_RETURN_IF_ERROR(CheckRun("the run beside", beside, false));
  }
  if (!end.was_killed) {
    ++counts_.ended_before;
    return CheckRun("a run that was not killed", end, false);
  }
  ++counts_.kills;
  counts_.beside_another += other.has_value();
  counts_.in_a_write += !std::ranges::includes(before, Unfinished());
  return OkStatus();
}

Status Killer::CheckRun(const std::string& what, const ChildRun::End& end,
                        bool counts) {
  // The first line of vm-run's errors says that inputs are random; it is
  // expected and removed.
  std::string_view errors = end.errors;
  if (errors.starts_with("vm-run: random inputs (seed "))
    errors.remove_prefix(std::min(errors.find('\n'), errors.size() - 1) + 1);
  if (end.exit_status != 0 || !errors.empty()) {
    return InternalError(what + ": exit status " +
                         std::to_string(end.exit_status) + ": " + end.errors);
  }
  if (!end.output.starts_with(results_))
    return InternalError(what + ": wrong results:\n" + end.output);
  if (!counts) return OkStatus();
  const size_t line = end.output.find("Code of ");
  long long compiled = 0, loaded = 0;
  if (line == std::string::npos ||
      std::sscanf(end.output.c_str() + line,
                  "Code of %lld kernels was compiled, of %lld read", &compiled,
                  &loaded) != 2 ||
      compiled + loaded != options_.kernels)
    return InternalError(what + ": not all kernels:\n" + end.output);
  counts_.loaded += loaded;
  counts_.kernels += options_.kernels;
  return OkStatus();
}

Status Killer::Round(int64_t round) {
  random_.seed(static_cast<uint64_t>(options_.seed) * 1'000'003 +
               static_cast<uint64_t>(round));
  Disturb();
  const bool small = OneIn(5);
  counts_.small += small;
  EMBER_RETURN_IF_ERROR(KillOne(small));
  EMBER_ASSIGN_OR_RETURN(ChildRun run,
                         ChildRun::Start(Command({"--tier=2", "--profile",
                                                  "--kernel-cache=" + folder_}),
                                         base_, "after"));
  EMBER_ASSIGN_OR_RETURN(const ChildRun::End end, run.Wait());
  return CheckRun("the run after", end, true);
}

Status Killer::Run() {
  EMBER_RETURN_IF_ERROR(Prepare());
  std::printf("seed %lld, %lld kernels, a run without cache takes %.0f ms\n",
              static_cast<long long>(options_.seed),
              static_cast<long long>(options_.kernels), cold_ms_);
  int64_t round = options_.first;
  for (; counts_.kills < options_.kills; ++round) {
    if (const Status status = Round(round); !status.ok()) {
      return status.WithContext(
          "round " + std::to_string(round) + " (replay: --seed=" +
          std::to_string(options_.seed) + " --first=" + std::to_string(round) +
          " --kills=1; what it left is in " + base_ + ")");
    }
    if (round % 100 == 99) {
      std::printf("%lld kills so far\n", static_cast<long long>(counts_.kills));
      std::fflush(stdout);
    }
    // If most runs end before they can be killed, the wanted number of kills is
    // never reached, so this is an error.
    if (counts_.ended_before > 20 + 5 * counts_.kills)
      return InternalError("runs end before they can be killed");
  }
  std::printf(
      "%lld kills: %lld in the middle of a write, %lld beside another run, "
      "%lld with a cache of 30 kB; %lld runs ended before. Before them %lld "
      "entries were damaged and the secret removed %lld times.\n"
      "%lld runs after them: all right, and %lld of their %lld kernels came "
      "from the cache.\n",
      static_cast<long long>(counts_.kills),
      static_cast<long long>(counts_.in_a_write),
      static_cast<long long>(counts_.beside_another),
      static_cast<long long>(counts_.small),
      static_cast<long long>(counts_.ended_before),
      static_cast<long long>(counts_.damaged),
      static_cast<long long>(counts_.without_secret),
      static_cast<long long>(round - options_.first),
      static_cast<long long>(counts_.loaded),
      static_cast<long long>(counts_.kernels));
  fs::remove_all(base_);
  return counts_.loaded > 0 || options_.kills < 10
             ? OkStatus()
             : InternalError("no run read anything from the cache");
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  options.seed = std::random_device()() % 1'000'000;
  ember::tools::Flags flags(
      "kill_writers", "[flags]",
      "Kills vm-run while it writes the kernel cache, and checks "
      "the runs that come after.");
  flags.Add("kills", &options.kills, "N", "Kills N processes.");
  flags.Add("seed", &options.seed, "N",
            "Seeds the rounds; the default is random.");
  flags.Add("first", &options.first, "N", "Begins with round N.");
  flags.Add("kernels", &options.kernels, "N",
            "The least number of kernels of the model.");
  flags.Add("vm-run", &options.vm_run, "PATH", "Kills this tool.");
  return ember::tools::RunTool(argc, argv, flags, [&options] {
    return ember::tests::Killer(options).Run();
  });
}
