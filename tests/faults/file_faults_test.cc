// Makes each call on files fail once in each way: with an I/O error, for lack
// of space, interrupted, doing less than it was asked, renaming nothing, and as
// the last one before the system loses power. Each time a written file must
// have its old or its new contents, the cache must return correct entries or
// none, and everything must work when it is tried again.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/sha256.h"
#include "gtest/gtest.h"
#include "jit/cache/disk_cache.h"
#include "tests/faults/file_calls.h"
#include "vm/format/reader.h"
#include "vm/format/writer.h"
#include "vm/isa/testing/sample_modules.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;

constexpr FileFault kFaults[] = {
    FileFault::kIoError, FileFault::kNoSpace,    FileFault::kInterrupted,
    FileFault::kShort,   FileFault::kLostRename, FileFault::kPowerLoss};
constexpr const char* kFaultNames[kFileFaultCount] = {
    "none",  "I/O error",   "no space",     "interrupted",
    "short", "lost rename", "loss of power"};
// For each call, the number of simulated losses of power. Each of them damages
// files in another way.
constexpr uint64_t kPowerLosses = 5;

// A scenario that works on files in a folder of its own.
class FileScenario {
 public:
  virtual ~FileScenario() = default;
  // Makes the files that exist before the run of the scenario.
  virtual void Prepare(const std::string& folder) = 0;
  virtual Status Run(const std::string& folder) = 0;
  // Checks, in a process that has no memory in common with Run, that the files
  // are right and that Run works again. `ended` is the status that Run returned
  // after `fault`; null if Run did not return.
  virtual Status Check(const std::string& folder, FileFault fault,
                       const Status* ended) = 0;
};

// Makes a folder. It is in a memory file system if there is one: waiting for
// disks would only take time.
std::string NewFolder() {
  std::error_code error;
  const bool has_memory = fs::is_directory("/dev/shm", error) &&
                          ::access("/dev/shm", W_OK | X_OK) == 0;
  std::string folder =
      (has_memory ? fs::path("/dev/shm") : fs::temp_directory_path()) /
      "file_faultsXXXXXX";
  EMBER_CHECK(::mkdtemp(folder.data()) != nullptr) << folder;
  return folder;
}

Status Expect(bool holds, const std::string& what) {
  return holds ? OkStatus() : InternalError("expected " + what);
}

// Counts the temporary files in a folder.
int64_t Leftovers(const std::string& folder) {
  int64_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder))
    count += entry.path().string().find(".tmp.") != std::string::npos;
  return count;
}

class ReplaceFile final : public FileScenario {
 public:
  void Prepare(const std::string& folder) override {
    const Status status = WriteFileAtomically(folder + "/a", "old contents");
    EMBER_CHECK(status.ok()) << status.ToString();
  }
  Status Run(const std::string& folder) override {
    return WriteFileAtomically(folder + "/a", kNew);
  }
  Status Check(const std::string& folder, FileFault fault,
               const Status* ended) override {
    EMBER_ASSIGN_OR_RETURN(const std::string found, ReadFile(folder + "/a"));
    if (ended != nullptr && ended->ok() && fault != FileFault::kLostRename) {
      EMBER_RETURN_IF_ERROR(Expect(found == kNew, "the new contents"));
      // After a loss of power, a file that was not synchronised may be damaged.
      // After other faults it has its old or its new contents.
    } else if (fault != FileFault::kPowerLoss) {
      EMBER_RETURN_IF_ERROR(Expect(found == "old contents" || found == kNew,
                                   "the old or the new contents"));
    }
    // Only one call fails, so at most one temporary file is left: the one whose
    // removal failed.
    if (ended != nullptr)
      EMBER_RETURN_IF_ERROR(Expect(Leftovers(folder) <= 1, "nothing left"));
    EMBER_RETURN_IF_ERROR(Run(folder));
    EMBER_ASSIGN_OR_RETURN(const std::string again, ReadFile(folder + "/a"));
    return Expect(again == kNew, "the new contents, when tried again");
  }

 private:
  const std::string kNew = std::string(100'000, 'n');
};

class ReplaceModule final : public FileScenario {
 public:
  void Prepare(const std::string& folder) override {
    const Status status =
        vm::WriteModule(vm::SampleNamed("static"), folder + "/m.vmfb");
    EMBER_CHECK(status.ok()) << status.ToString();
  }
  Status Run(const std::string& folder) override {
    EMBER_RETURN_IF_ERROR(
        vm::WriteModule(vm::SampleNamed("shapes"), folder + "/m.vmfb"));
    return vm::ReadModule(folder + "/m.vmfb", {}).status();
  }
  Status Check(const std::string& folder, FileFault fault,
               const Status* ended) override {
    // Whatever the fault was, a whole module must be readable from the file.
    EMBER_ASSIGN_OR_RETURN(
        const vm::ModuleDefinition module,
        vm::ReadModule(folder + "/m.vmfb", {.verify_constants = true}));
    EMBER_RETURN_IF_ERROR(
        Expect(module.source_name == "static" || module.source_name == "shapes",
               "the old or the new module"));
    if (ended != nullptr && ended->ok() && fault != FileFault::kLostRename) {
      EMBER_RETURN_IF_ERROR(
          Expect(module.source_name == "shapes", "the new module"));
    }
    return Run(folder);
  }
};

template <bool kHasSecret>
class KernelCache final : public FileScenario {
 public:
  void Prepare(const std::string& folder) override {
    auto cache = jit::DiskCache::Open(Options(folder));
    EMBER_CHECK(cache.ok()) << cache.status().ToString();
    for (int i = 0; i < 3; ++i) (*cache)->Store(KeyOf(i), ContentsOf(i));
    // Without its secret key the cache does not trust its entries and makes a
    // new key.
    if (!kHasSecret) fs::remove(Options(folder).secret_file);
  }
  Status Run(const std::string& folder) override {
    EMBER_ASSIGN_OR_RETURN(const auto cache,
                           jit::DiskCache::Open(Options(folder)));
    // Twelve entries exceed the cache's size limit, so storing them also
    // removes old entries.
    for (int i = 0; i < 12; ++i) {
      EMBER_RETURN_IF_ERROR(CheckEntry(*cache, i));
      cache->Store(KeyOf(i), ContentsOf(i));
    }
    return OkStatus();
  }
  Status Check(const std::string& folder, FileFault, const Status*) override {
    // This cache has a larger size limit than the one that was tested, so that
    // opening it removes no entry.
    jit::CacheOptions options = Options(folder);
    options.max_bytes = 1 << 20;
    EMBER_ASSIGN_OR_RETURN(const auto cache, jit::DiskCache::Open(options));
    for (int i = 0; i < 12; ++i) EMBER_RETURN_IF_ERROR(CheckEntry(*cache, i));
    cache->Store(KeyOf(50), ContentsOf(50));
    EMBER_RETURN_IF_ERROR(Expect(cache->Load(KeyOf(50)) == ContentsOf(50),
                                 "an entry that is stored now"));
    EMBER_ASSIGN_OR_RETURN(const std::string secret,
                           ReadFile(Options(folder).secret_file));
    return Expect(secret.size() == 32 && secret != std::string(32, '\0'),
                  "a secret that nobody can guess");
  }

 private:
  static jit::CacheOptions Options(const std::string& folder) {
    jit::CacheOptions options;
    options.folder = folder + "/kernels";
    options.secret_file = folder + "/state/secret";
    options.max_bytes = 20'000;
    return options;
  }
  static Sha256Digest KeyOf(int i) { return Sha256({std::to_string(i)}); }
  static std::string ContentsOf(int i) {
    return std::string(2000, static_cast<char>('a' + i % 26));
  }
  // Loads an entry of the cache. It may be missing, but must not have other
  // contents.
  static Status CheckEntry(jit::DiskCache& cache, int i) {
    const auto found = cache.Load(KeyOf(i));
    return Expect(!found || *found == ContentsOf(i), "right contents or none");
  }
};

struct Counts {
  int64_t points = 0, status = 0, done = 0, power = 0;
};

// Tries one fault, in a folder of its own. The run is a process of its own,
// because the fault may end it. Sets `seen` to the number of calls to which the
// fault applies.
Status TryOne(FileScenario& scenario, const FileFaults& faults, Counts& counts,
              int64_t& seen) {
  const std::string folder = NewFolder();
  scenario.Prepare(folder);
  int pipe_ends[2];
  EMBER_CHECK(::pipe(pipe_ends) == 0);
  std::fflush(nullptr);
  const pid_t process = ::fork();
  EMBER_CHECK(process >= 0);
  struct End {
    int64_t seen;
    StatusCode code;
    char text[400];
  } end = {};
  if (process == 0) {
    StartFileFaults(faults);
    const Status status = scenario.Run(folder);
    const FileCallCounts calls = StopFileFaults();
    end.seen = calls.seen;
    end.code = status.code();
    std::snprintf(end.text, sizeof end.text, "%s: %s", calls.failed.c_str(),
                  std::string(status.message()).c_str());
    ::_exit(::write(pipe_ends[1], &end, sizeof end) == sizeof end ? 0 : 9);
  }
  int ended = 0;
  ::close(pipe_ends[1]);
  ::waitpid(process, &ended, 0);
  const bool came_to_its_end =
      ::read(pipe_ends[0], &end, sizeof end) == sizeof end;
  ::close(pipe_ends[0]);
  Status result;
  Status status;
  if (came_to_its_end) {
    seen = end.seen;
    if (end.code != StatusCode::kOk) status = Status(end.code, end.text);
    if (end.code == StatusCode::kInternal &&
        status.message().find("random") == std::string_view::npos)
      result = status;
    // An interrupted or short call must not become an error.
    if ((faults.fault == FileFault::kInterrupted ||
         faults.fault == FileFault::kShort) &&
        !status.ok())
      result = status;
    ++(status.ok() ? counts.done : counts.status);
  } else if (faults.fault == FileFault::kPowerLoss && WIFEXITED(ended) &&
             WEXITSTATUS(ended) == kPowerLossStatus) {
    ++counts.power;
  } else {
    result = InternalError("the process ended: " + std::to_string(ended));
  }
  ++counts.points;
  if (result.ok()) {
    result = scenario.Check(folder, faults.fault,
                            came_to_its_end ? &status : nullptr);
  }
  if (result.ok()) {
    fs::remove_all(folder);
    return OkStatus();
  }
  return result.WithContext(
      std::string(kFaultNames[static_cast<size_t>(faults.fault)]) +
      " in call " + std::to_string(faults.number) + " (" + end.text +
      "), seed " + std::to_string(faults.seed) + ", in " + folder);
}

template <typename Scenario>
void FailAllCalls(const char* name) {
  for (const FileFault fault : kFaults) {
    // Runs once without a fault, to count the calls to which the fault applies.
    int64_t calls = 0;
    Scenario without;
    Counts none;
    const Status runs = TryOne(without, {.fault = fault}, none, calls);
    ASSERT_TRUE(runs.ok() && none.done == 1) << runs.ToString();
    Counts counts;
    for (int64_t number = 1; number <= calls; ++number) {
      const uint64_t seeds = fault == FileFault::kPowerLoss ? kPowerLosses : 1;
      for (uint64_t seed = 1; seed <= seeds; ++seed) {
        Scenario scenario;
        int64_t seen = 0;
        const Status status =
            TryOne(scenario, {.fault = fault, .number = number, .seed = seed},
                   counts, seen);
        ASSERT_TRUE(status.ok()) << status.ToString();
      }
    }
    std::printf(
        "%s, %s: %lld calls; %lld ended with a status, %lld were right, %lld "
        "ended there and were right afterwards\n",
        name, kFaultNames[static_cast<size_t>(fault)],
        static_cast<long long>(counts.points),
        static_cast<long long>(counts.status),
        static_cast<long long>(counts.done),
        static_cast<long long>(counts.power));
    EXPECT_GT(counts.points, 0);
    if (fault == FileFault::kPowerLoss) {
      EXPECT_EQ(counts.power, counts.points);
    }
    if (fault == FileFault::kInterrupted || fault == FileFault::kShort) {
      EXPECT_EQ(counts.status, 0);
    }
  }
}

TEST(FileFaults, ReplaceFile) { FailAllCalls<ReplaceFile>("file"); }
TEST(FileFaults, ReplaceModule) { FailAllCalls<ReplaceModule>("module"); }
TEST(FileFaults, KernelCache) {
  FailAllCalls<KernelCache<true>>("kernel cache");
}
TEST(FileFaults, KernelCacheWithoutSecret) {
  FailAllCalls<KernelCache<false>>("kernel cache, no secret");
}

// Checks the test itself: a simulated loss of power damages files that were not
// synchronised.
TEST(FileFaults, PowerLossDoesHarm) {
  std::map<std::string, int> found;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::string folder = NewFolder();
    const auto lose = [&] {
      // The power is lost in the eighth call, which comes after all writes and
      // the rename.
      StartFileFaults(
          {.fault = FileFault::kPowerLoss, .number = 8, .seed = seed});
      static_cast<void>(WriteFileAtomically(folder + "/a", "contents"));
      while (true) static_cast<void>(ReadFile(folder + "/a"));
    };
    EXPECT_EXIT(lose(), testing::ExitedWithCode(kPowerLossStatus), "");
    ++found[*ReadFile(folder + "/a")];
    fs::remove_all(folder);
  }
  EXPECT_GT(found[""], 0);
  EXPECT_GT(found[std::string(8, '\0')], 0);
  EXPECT_GT(found["cont"], 0);
  EXPECT_GT(found["contents"], 0);
}

}  // namespace
}  // namespace ember::tests
