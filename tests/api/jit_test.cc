// Tests the tiers of the C API, with the JIT's library and without it.
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/api/ember.h"

namespace {

const EmberApi& Api() { return *ember_get_api(EMBER_API_VERSION); }

struct Lines {
  std::mutex mutex;
  std::vector<std::string> lines;
};

void KeepLine(void* context, EmberLogLevel level, const char* line) {
  Lines& lines = *static_cast<Lines*>(context);
  const std::lock_guard<std::mutex> lock(lines.mutex);
  lines.lines.push_back(std::to_string(level) + " " + line);
}

class JitTest : public testing::Test {
 protected:
  JitTest() {
    EXPECT_EQ(Api().module_load_file("vm/api/testdata/digits.vmfb", &module_),
              EMBER_OK)
        << Api().error_message();
    options_.struct_size = sizeof(options_);
    options_.threads = 1;
    options_.library_folder = "jit";
    options_.profile = 1;
    options_.logger = &logger_;
    for (size_t i = 0; i < image_.size(); ++i)
      image_[i] = static_cast<float>(i % 17) / 17;
  }
  ~JitTest() override { Api().module_release(module_); }

  EmberSession* Create() {
    EmberSession* session = nullptr;
    EXPECT_EQ(Api().session_create(module_, &options_, &session), EMBER_OK)
        << Api().error_message();
    return session;
  }
  std::vector<float> Run(EmberSession* session) {
    const int64_t dims[4] = {2, 1, 28, 28};
    const EmberTensor tensor = {EMBER_F32, 4, dims, image_.data(),
                                image_.size() * sizeof(float)};
    EXPECT_EQ(Api().session_set_input(session, 0, &tensor), EMBER_OK)
        << Api().error_message();
    EXPECT_EQ(Api().session_run(session), EMBER_OK) << Api().error_message();
    EmberTensor result = {};
    EXPECT_EQ(Api().session_result(session, 0, &result), EMBER_OK);
    const auto* const data = static_cast<const float*>(result.data);
    return {data, data + result.byte_size / sizeof(float)};
  }
  // Returns the number of calls of all dispatches at each tier.
  static std::vector<int64_t> TierCalls(EmberSession* session) {
    std::vector<int64_t> calls(3);
    const int32_t rows = Api().session_profile(session);
    for (int32_t i = 0; i < rows; ++i) {
      EmberProfileRow row = {};
      row.struct_size = sizeof(row);
      EXPECT_EQ(Api().session_profile_row(session, i, &row), EMBER_OK);
      for (size_t tier = 0; tier < 3; ++tier)
        calls[tier] += row.tier_calls[tier];
    }
    return calls;
  }
  void ExpectNear(const std::vector<float>& got) {
    options_.tier = EMBER_TIER_INTERPRETER;
    EmberSession* const session = Create();
    const std::vector<float> want = Run(session);
    Api().session_release(session);
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(got[i], want[i], 1e-5) << i;
  }

  EmberModule* module_ = nullptr;
  EmberSessionOptions options_ = {};
  Lines lines_;
  const EmberLogger logger_ = {sizeof(EmberLogger), &lines_, KeepLine};
  std::vector<float> image_ = std::vector<float>(2 * 28 * 28);
};

TEST_F(JitTest, TierTwo) {
  options_.tier = EMBER_TIER_OPTIMIZED;
  EmberSession* const session = Create();
  ASSERT_NE(session, nullptr);
  const std::vector<float> result = Run(session);
  const std::vector<int64_t> calls = TierCalls(session);
  EXPECT_EQ(calls[0], 0);
  EXPECT_GT(calls[2], 0);
  EmberSessionInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(Api().session_info(session, &info), EMBER_OK);
  EXPECT_EQ(info.tier, EMBER_TIER_OPTIMIZED);
  // A second session of the module must give the same results: it uses the
  // kernels that the first one has, because sessions of a module share them.
  EmberSession* const other = Create();
  EXPECT_EQ(Run(other), result);
  Api().session_release(other);
  Api().session_release(session);
  ExpectNear(result);
}

// The tier AUTO loads the compiler while the session runs, and later runs use
// its kernels.
TEST_F(JitTest, AutoComesToKernels) {
  options_.tier = EMBER_TIER_AUTO;
  EmberSession* const session = Create();
  ASSERT_NE(session, nullptr);
  std::vector<float> result;
  do {
    result = Run(session);
  } while (TierCalls(session)[2] == 0);
  Api().session_release(session);
  EXPECT_TRUE(lines_.lines.empty()) << lines_.lines[0];
  ExpectNear(result);
}

// State of the process and of this thread that the runtime must not change:
// signal handlers, affinity and the like.
struct HostState {
  HostState() {
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction action = {};
      // For signals that the C library reserves for itself, sigaction fails;
      // they are skipped.
      if (sigaction(number, nullptr, &action) == 0)
        handlers.push_back(action.sa_handler);
    }
    sched_getaffinity(0, sizeof cores, &cores);
  }
  bool operator==(const HostState& other) const {
    return handlers == other.handlers && CPU_EQUAL(&cores, &other.cores) &&
           policy == other.policy && niceness == other.niceness;
  }
  std::vector<void (*)(int)> handlers;
  cpu_set_t cores = {};
  int policy = sched_getscheduler(0);
  int niceness = getpriority(PRIO_PROCESS, 0);
};

TEST_F(JitTest, WhereItCompilesIsTheHostsChoiceAndLeavesTheHostAlone) {
  const HostState before;
  options_.tier = EMBER_TIER_AUTO;
  for (const EmberCompileIn place :
       {EMBER_COMPILE_IN_WORKER_IF_THERE, EMBER_COMPILE_IN_THREAD,
        EMBER_COMPILE_IN_WORKER}) {
    options_.compile_in = place;
    EmberSession* const session = Create();
    ASSERT_NE(session, nullptr);
    while (TierCalls(session)[2] == 0) {
      Run(session);
      EXPECT_TRUE(HostState() == before) << place;
    }
    Api().session_release(session);
    EXPECT_TRUE(HostState() == before) << place;
    // No child process may be left that the host would have to wait for.
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }
  EXPECT_TRUE(lines_.lines.empty()) << lines_.lines[0];
  options_.compile_in = 3;
  EmberSession* none = nullptr;
  EXPECT_EQ(Api().session_create(module_, &options_, &none),
            EMBER_INVALID_ARGUMENT);
  EXPECT_STREQ(Api().error_message(),
               "compile_in: expected one of EmberCompileIn, found 3");
}

TEST_F(JitTest, WithoutTheLibrary) {
  options_.library_folder = "/nonexistent";
  options_.tier = EMBER_TIER_AUTO;
  EmberSession* const session = Create();
  ASSERT_NE(session, nullptr);
  ASSERT_EQ(lines_.lines.size(), 1u);
  EXPECT_EQ(lines_.lines[0],
            "1 tier 0 only: libember_jit.so: expected it in /nonexistent, "
            "found nothing there");
  Run(session);
  Api().session_release(session);
  options_.tier = EMBER_TIER_OPTIMIZED;
  EmberSession* none = nullptr;
  EXPECT_EQ(Api().session_create(module_, &options_, &none), EMBER_NOT_FOUND);
}

TEST_F(JitTest, KernelsAreKept) {
  const std::string folder = testing::TempDir() + "/ember_kernels";
  std::filesystem::remove_all(folder);
  options_.kernel_cache_folder = folder.c_str();
  options_.tier = EMBER_TIER_OPTIMIZED;
  EmberSession* const session = Create();
  ASSERT_NE(session, nullptr);
  Run(session);
  Api().session_release(session);
  // The cache gets entries only if there is a home folder for its secret key.
  // Otherwise the library prints a warning.
  const bool has_kernels =
      std::filesystem::exists(folder) && !std::filesystem::is_empty(folder);
  EXPECT_EQ(has_kernels, lines_.lines.empty());
}

}  // namespace
