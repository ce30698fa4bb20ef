// Tests kernels that the compile worker makes: what happens if the worker ends,
// gives no sign of life or loops forever, and that its host does not notice the
// worker's process. testing/faulty_worker.cc is the worker that fails.
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/worker/background_thread.h"
#include "jit/worker/client.h"
#include "jit/worker/protocol.h"
#include "jit/worker/start_process.h"

namespace ember::jit {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr char kProgram[] = "jit/worker/testing/faulty_worker";
// This environment variable names the folder of the worker's socket. If it is
// set, this process is a child of the test that only compiles one kernel.
constexpr char kFolderVariable[] = "EMBER_WORKER_TEST_FOLDER";

// Returns a nest that computes y = 2 x, for 32 elements.
loops::LoopNest Twice(const std::string& name) {
  return llvm_ir::ParseOrDie(
      "loops @" + name +
      "(%x: input f32[32], %y: output f32[32]) { phase i < 32 "
      "{ %y[i] = %x[i] * 2.0 } }");
}

bool Compiles(ObjectCompiler& compiler, const std::string& name) {
  const auto code = compiler.Compile(Twice(name), {});
  if (!code.ok()) {
    ADD_FAILURE() << code.status().ToString();
    return false;
  }
  std::vector<float> input(32, 21), output(32);
  void* const buffers[] = {input.data(), output.data()};
  vm::IndexFailure failure;
  EXPECT_EQ((*code)->phases[0](nullptr, buffers, 0, 32, &failure), 0);
  return output[31] == 42;
}

class WorkerTest : public ::testing::Test {
 protected:
  WorkerTest() {
    // The path of a Unix socket has at most 107 characters, so the folder's
    // name is short.
    char name[] = "/tmp/ember-test-XXXXXX";
    folder_ = mkdtemp(name);
    options_.program = fs::absolute(kProgram);
    options_.folder = folder_ / "s";
  }
  ~WorkerTest() override {
    for (const pid_t worker : Workers()) kill(worker, SIGKILL);
    fs::remove_all(folder_);
  }

  // Returns the process ids of the running workers of this test.
  std::vector<pid_t> Workers() const {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      const std::string line((std::istreambuf_iterator<char>(file)), {});
      if (line.find("--socket=" + options_.folder) != std::string::npos)
        found.push_back(std::stoi(entry.path().filename()));
    }
    return found;
  }
  std::unique_ptr<ObjectCompiler> NewCompiler() const {
    auto compiler = NewRemoteCompiler(options_);
    EXPECT_TRUE(compiler.ok()) << compiler.status().ToString();
    return *std::move(compiler);
  }

  fs::path folder_;
  WorkerOptions options_;
};

TEST_F(WorkerTest, GivesTheCodeThatThisProcessWouldMake) {
  const auto compiler = NewCompiler();
  EXPECT_FALSE(compiler->identity().empty());
  EXPECT_TRUE(Compiles(*compiler, "twice"));
  CompiledNest figures;
  const auto code = compiler->CompileToCode(
      Twice("twice"),
      {.keep_llvm = true, .keep_assembly = true, .keep_passes = true},
      &figures);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  ASSERT_EQ(figures.passes.size(), 4u);
  EXPECT_EQ(figures.passes[0].name, "legalise");
  EXPECT_THAT(figures.passes[0].text, HasSubstr("loops @twice("));
  EXPECT_EQ(figures.passes[1].name, "mark-shared-memory");
  EXPECT_EQ(figures.passes[2].name, "mark-integers");
  EXPECT_EQ(figures.passes[3].name, "emit");
  EXPECT_GT(figures.code_bytes, 0);
  EXPECT_THAT(figures.llvm, HasSubstr("define"));
  EXPECT_THAT(figures.assembly, HasSubstr("ret"));
  const auto here =
      (*llvm_ir::NewLlvmCompiler())->CompileToCode(Twice("twice"), {}, nullptr);
  ASSERT_TRUE(here.ok());
  EXPECT_TRUE(std::ranges::equal(code->bytes, here->bytes));
}

TEST_F(WorkerTest, MakesPtxForADeviceThatIsNotThere) {
  const auto compiler = NewCompiler();
  const auto code = compiler->CompileToCode(
      Twice("twice"),
      {.target = "sm_80+subgroup32+shared166912+invocations1024"}, nullptr);
  ASSERT_TRUE(code.ok()) << code.status().ToString();
  EXPECT_EQ(code->format, vm::KernelFormat::kPtx);
  ASSERT_EQ(code->device.size(), 1u);
  EXPECT_EQ(code->device[0].entry_point, "phase0");
  EXPECT_EQ(code->device[0].bindings.size(), 2u);
  EXPECT_THAT(std::string(code->bytes.begin(), code->bytes.end()),
              HasSubstr(".target sm_80"));
}

TEST_F(WorkerTest, ProcessesAndThreadsShareOne) {
  if (const char* const folder = std::getenv(kFolderVariable)) {
    options_.folder = folder;
    EXPECT_TRUE(Compiles(*NewCompiler(), "twice"));
    // In the folder of its parent, this process uses its parent's worker.
    options_.folder = folder_;
    return;
  }
  std::vector<std::thread> threads;
  std::atomic<int> compiled{0};
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(
        [&] { compiled += Compiles(*NewCompiler(), "twice"); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled, 8);
  const std::vector<pid_t> workers = Workers();
  EXPECT_EQ(workers.size(), 1);
  ASSERT_EQ(setenv(kFolderVariable, options_.folder.c_str(), 1), 0);
  const std::string self = fs::read_symlink("/proc/self/exe");
  EXPECT_EQ(std::system((self + " --gtest_filter='WorkerTest.Processes*'"
                                " > /dev/null")
                            .c_str()),
            0);
  unsetenv(kFolderVariable);
  EXPECT_EQ(Workers(), workers);
}

TEST_F(WorkerTest, ACrashCostsOneKernel) {
  const auto compiler = NewCompiler();
  std::thread other([&] { EXPECT_TRUE(Compiles(*compiler, "waits")); });
  const auto crashed = compiler->Compile(Twice("crashes"), {});
  ASSERT_FALSE(crashed.ok());
  EXPECT_EQ(crashed.status().code(), StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(crashed.status().message()),
              HasSubstr("compile workers ended"));
  other.join();
  EXPECT_TRUE(Compiles(*compiler, "twice"));
}

TEST_F(WorkerTest, AnEndlessLoopCostsOneKernel) {
  options_.most_time = milliseconds(500);
  const auto compiler = NewCompiler();
  const auto endless = compiler->Compile(Twice("loops"), {});
  ASSERT_FALSE(endless.ok());
  EXPECT_THAT(std::string(endless.status().message()),
              HasSubstr("took more than 500 ms"));
  EXPECT_TRUE(Compiles(*compiler, "twice"));
}

TEST_F(WorkerTest, AKilledWorkerIsReplaced) {
  const auto compiler = NewCompiler();
  for (int i = 0; i < 3; ++i) {
    const std::vector<pid_t> workers = Workers();
    ASSERT_EQ(workers.size(), 1);
    kill(workers[0], SIGKILL);
    EXPECT_TRUE(Compiles(*compiler, "twice"));
    EXPECT_NE(Workers(), workers);
  }
}

TEST_F(WorkerTest, AStoppedWorkerIsReplaced) {
  const auto compiler = NewCompiler();
  const std::vector<pid_t> workers = Workers();
  ASSERT_EQ(workers.size(), 1);
  kill(workers[0], SIGSTOP);
  EXPECT_TRUE(Compiles(*compiler, "twice"));
  EXPECT_EQ(Workers().size(), 2);
  // The first worker was stopped and has been replaced. When it continues, it
  // sees that and must not remove the socket of its successor.
  kill(workers[0], SIGCONT);
  EXPECT_TRUE(Compiles(*compiler, "twice"));
}

TEST_F(WorkerTest, OneThatNobodyNeedsEnds) {
  options_.idle = milliseconds(0);
  const auto compiler = NewCompiler();
  EXPECT_TRUE(Compiles(*compiler, "twice"));
  while (!Workers().empty()) std::this_thread::sleep_for(milliseconds(10));
  EXPECT_TRUE(Compiles(*compiler, "twice"));
}

TEST_F(WorkerTest, NobodyNeedWaitForAnAnswer) {
  options_.most_time = std::chrono::hours(1);
  const auto compiler = NewCompiler();
  std::thread stopper([&] {
    std::this_thread::sleep_for(milliseconds(50));
    compiler->Stop();
  });
  const auto code = compiler->Compile(Twice("loops"), {});
  stopper.join();
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.status().code(), StatusCode::kCancelled);
  EXPECT_EQ(compiler->Compile(Twice("twice"), {}).status().code(),
            StatusCode::kCancelled);
}

TEST_F(WorkerTest, ItsHostSeesNothingOfIt) {
  static std::atomic<int> signals{0};
  struct sigaction noting = {};
  noting.sa_handler = [](int) { ++signals; };
  struct sigaction before[NSIG] = {};
  for (int number = 1; number < NSIG; ++number)
    sigaction(number, nullptr, &before[number]);
  ASSERT_EQ(sigaction(SIGCHLD, &noting, nullptr), 0);
  sigset_t mask_before, mask_after;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_before);
  cpu_set_t cores_before, cores_after;
  sched_getaffinity(0, sizeof cores_before, &cores_before);
  const int priority = getpriority(PRIO_PROCESS, 0);
  const int policy = sched_getscheduler(0);
  {
    const auto compiler = NewCompiler();
    EXPECT_TRUE(Compiles(*compiler, "twice"));
    EXPECT_FALSE(compiler->Compile(Twice("crashes"), {}).ok());
  }
  EXPECT_EQ(signals, 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
  struct sigaction after = {};
  sigaction(SIGCHLD, &before[SIGCHLD], &after);
  EXPECT_EQ(after.sa_handler, noting.sa_handler);
  for (int number = 1; number < NSIG; ++number) {
    // The call fails for signals that the C library reserves, so they are not
    // compared.
    if (sigaction(number, nullptr, &after) != 0) continue;
    EXPECT_EQ(after.sa_handler, before[number].sa_handler) << number;
  }
  pthread_sigmask(SIG_SETMASK, nullptr, &mask_after);
  for (int number = 1; number < NSIG; ++number)
    EXPECT_EQ(sigismember(&mask_after, number),
              sigismember(&mask_before, number));
  sched_getaffinity(0, sizeof cores_after, &cores_after);
  EXPECT_TRUE(CPU_EQUAL(&cores_before, &cores_after));
  EXPECT_EQ(getpriority(PRIO_PROCESS, 0), priority);
  EXPECT_EQ(sched_getscheduler(0), policy);
  // The worker has a lower priority than its host, and a process group of its
  // own.
  for (const pid_t worker : Workers()) {
    EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(worker)),
              std::min(priority + kWorkerNiceness, 19));
    EXPECT_NE(getpgid(worker), getpgid(0));
  }
}

TEST_F(WorkerTest, WhatCannotBeStartedSaysSo) {
  options_.program = folder_ / "missing";
  EXPECT_THAT(std::string(NewRemoteCompiler(options_).status().message()),
              HasSubstr("missing: No such file"));
  std::ofstream(folder_ / "text") << "no program\n";
  options_.program = folder_ / "text";
  EXPECT_THAT(std::string(NewRemoteCompiler(options_).status().message()),
              HasSubstr("text: Permission denied"));
  options_.program = "/bin/true";
  EXPECT_THAT(
      std::string(NewRemoteCompiler(options_).status().message()),
      HasSubstr("/bin/true: expected a greeting of the compile worker"));
  options_.program = fs::absolute(kProgram);
  fs::create_directory(folder_ / "open");
  fs::permissions(folder_ / "open", fs::perms::all);
  options_.folder = folder_ / "open";
  EXPECT_FALSE(NewRemoteCompiler(options_).ok());
}

}  // namespace
}  // namespace ember::jit
