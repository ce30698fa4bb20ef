// Tests asynchronous runs on the session's own thread, and the functions that
// stop or observe a run.
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "vm/api/testing/holders.h"

namespace ember::vm {
namespace {

// Returns a program that loops until it is stopped, for a session that sets no
// limit on steps.
ModuleDefinition Endless() {
  return ParseSample(R"(
module "by hand" from "endless"
program main(x: f32[1]) -> (y: f32[1]) {
  i0 = integer 1
L1:
  branch_if i0, L1
  b0 = input x
  result y = b0 [i0]
  return
}
)");
}

EmberSessionOptions EndlessOptions() {
  EmberSessionOptions options = Options();
  options.step_limit = -1;
  return options;
}

struct Done {
  EmberSession* session = nullptr;
  int left = 0;  // number of further runs that the callback NoteDone begins
                 // when a run has ended
  std::atomic<int> calls{0};
  EmberStatus status = EMBER_INTERNAL;
  std::string message;
  std::vector<float> result;
};

void NoteDone(void* context, EmberStatus status, const char* message) {
  Done& done = *static_cast<Done*>(context);
  done.status = status;
  done.message = message;
  if (status == EMBER_OK) done.result = Result(done.session);
  const bool goes_on = done.left-- > 0;
  ++done.calls;
  if (goes_on) {
    EXPECT_EQ(Api().session_run_async(done.session, NoteDone, context, nullptr),
              EMBER_OK)
        << LastError();
  }
}

TEST(AsyncTest, FenceAndCallback) {
  const LoadedModule module(SampleNamed("static"));
  const NewSession session(module, Options());
  ASSERT_EQ(SetX(session, kX, {2, 3}), EMBER_OK);
  Done done;
  done.session = session;
  for (int i = 0; i < 20; ++i) {
    EmberFence* fence = nullptr;
    ASSERT_EQ(Api().session_run_async(session, NoteDone, &done, &fence),
              EMBER_OK)
        << LastError();
    EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_OK);
    EXPECT_EQ(Api().fence_wait(fence, 0), EMBER_OK);
    EXPECT_EQ(Api().fence_is_signalled(fence), 1);
    Api().fence_release(fence);
    EXPECT_EQ(done.calls, i + 1);
    EXPECT_EQ(done.result, kZ);
    EXPECT_EQ(Result(session), kZ);
  }
}

TEST(AsyncTest, ACallbackMayBeginTheNextRun) {
  const LoadedModule module(SampleNamed("static"));
  Done done;
  {
    const NewSession session(module, Options());
    ASSERT_EQ(SetX(session, kX, {2, 3}), EMBER_OK);
    done.session = session;
    done.left = 50;
    ASSERT_EQ(Api().session_run_async(session, NoteDone, &done, nullptr),
              EMBER_OK);
    while (done.calls < 51) std::this_thread::yield();
  }
  EXPECT_EQ(done.status, EMBER_OK) << done.message;
}

TEST(AsyncTest, ErrorsComeThroughTheFence) {
  const LoadedModule module(SampleNamed("static"));
  const NewSession session(module, Options());
  Done done;
  done.session = session;
  EmberFence* fence = nullptr;
  ASSERT_EQ(Api().session_run_async(session, NoteDone, &done, &fence),
            EMBER_OK);
  EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_INVALID_ARGUMENT);
  const std::string message = LastError();
  EXPECT_EQ(message.substr(0, 12), "input 'x:0':");
  EXPECT_EQ(done.status, EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(done.message, message);
  Api().fence_release(fence);
}

TEST(AsyncTest, NoCancelIsLost) {
  const LoadedModule module(Endless());
  const NewSession session(module, EndlessOptions());
  const float x = 1;
  ASSERT_EQ(SetX(session, &x, {1}), EMBER_OK);
  for (int i = 0; i < 100; ++i) {
    EmberFence* fence = nullptr;
    ASSERT_EQ(Api().session_run_async(session, nullptr, nullptr, &fence),
              EMBER_OK);
    if (i % 2 == 0) {
      EXPECT_EQ(Api().fence_wait(fence, i % 4 == 0 ? 0.001 : 0),
                EMBER_NOT_READY);
    }
    Api().session_cancel(session);
    EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_CANCELLED);
    Api().fence_release(fence);
  }
}

TEST(AsyncTest, OneRunAtATime) {
  const LoadedModule module(Endless());
  const NewSession session(module, EndlessOptions());
  const float x = 1;
  ASSERT_EQ(SetX(session, &x, {1}), EMBER_OK);
  EmberFence* fence = nullptr;
  ASSERT_EQ(Api().session_run_async(session, nullptr, nullptr, &fence),
            EMBER_OK);
  EmberTensor tensor = {};
  EmberFence* other = nullptr;
  EXPECT_EQ(Api().session_run_async(session, nullptr, nullptr, &other),
            EMBER_FAILED_PRECONDITION);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(Api().session_run(session), EMBER_FAILED_PRECONDITION);
  EXPECT_EQ(LastError(), "session: expected no unfinished run, found one");
  EXPECT_EQ(SetX(session, &x, {1}), EMBER_FAILED_PRECONDITION);
  EXPECT_EQ(Api().session_result(session, 0, &tensor),
            EMBER_FAILED_PRECONDITION);
  EXPECT_EQ(Api().session_profile(session), 0);
  Api().session_cancel(session);
  EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_CANCELLED);
  Api().fence_release(fence);
}

// While a run is in progress on one thread, beginning a run on any other thread
// must fail.
TEST(AsyncTest, OneRunAtATimeOnAnyThreads) {
  const LoadedModule module(Endless());
  EmberSessionOptions options = EndlessOptions();
  options.max_seconds = 20;
  const NewSession session(module, options);
  ASSERT_EQ(SetX(session, kX, {1}), EMBER_OK);
  std::atomic<EmberStatus> status = EMBER_OK;
  std::thread other([&] { status = Api().session_run(session); });
  // session_info succeeds until the run on the other thread has begun.
  EmberSessionInfo info = {};
  info.struct_size = sizeof(info);
  while (Api().session_info(session, &info) == EMBER_OK && status == EMBER_OK)
    std::this_thread::yield();
  EXPECT_EQ(Api().session_run(session), EMBER_FAILED_PRECONDITION);
  EXPECT_EQ(LastError(), "session: expected no unfinished run, found one");
  EXPECT_EQ(Api().session_run_async(session, nullptr, nullptr, nullptr),
            EMBER_FAILED_PRECONDITION);
  Api().session_cancel(session);
  other.join();
  EXPECT_EQ(status, EMBER_CANCELLED);
  // Cancelling a run must not affect the next run.
  EXPECT_EQ(Api().session_set_max_seconds(session, 0.01), EMBER_OK);
  EXPECT_EQ(Api().session_run(session), EMBER_RESOURCE_EXHAUSTED);
}

TEST(AsyncTest, ReleaseEndsTheRun) {
  const LoadedModule module(Endless());
  for (int i = 0; i < 20; ++i) {
    EmberSession* session = nullptr;
    const EmberSessionOptions options = EndlessOptions();
    ASSERT_EQ(Api().session_create(module.get(), &options, &session), EMBER_OK);
    const float x = 1;
    ASSERT_EQ(SetX(session, &x, {1}), EMBER_OK);
    EmberFence* fence = nullptr;
    ASSERT_EQ(Api().session_run_async(session, nullptr, nullptr, &fence),
              EMBER_OK);
    if (i % 2 == 0) std::this_thread::yield();
    Api().session_release(session);
    EXPECT_EQ(Api().fence_is_signalled(fence), 1);
    EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_CANCELLED);
    Api().fence_release(fence);
  }
}

TEST(LimitsTest, DeadlineOfARun) {
  const LoadedModule module(Endless());
  const NewSession session(module, EndlessOptions());
  const float x = 1;
  ASSERT_EQ(SetX(session, &x, {1}), EMBER_OK);
  ASSERT_EQ(Api().session_set_max_seconds(session, 0.01), EMBER_OK);
  EXPECT_EQ(Api().session_run(session), EMBER_RESOURCE_EXHAUSTED);
  EXPECT_NE(LastError().find("(--max-seconds)"), std::string::npos)
      << LastError();
}

TEST(ProgressTest, CountsDispatches) {
  const LoadedModule module(SampleNamed("loop"));
  const NewSession session(module, Options());
  int64_t begun = -1;
  int64_t expected = -1;
  ASSERT_EQ(Api().session_progress(session, &begun, &expected), EMBER_OK);
  EXPECT_EQ(begun, 0);
  EXPECT_EQ(expected, 1);
  const float x[8] = {};
  ASSERT_EQ(SetX(session, x, {2, 4}), EMBER_OK);
  ASSERT_EQ(Api().session_run(session), EMBER_OK) << LastError();
  ASSERT_EQ(Api().session_progress(session, &begun, &expected), EMBER_OK);
  EXPECT_EQ(begun, 3);
  EXPECT_EQ(expected, 3);
}

// Each thread uses sessions of its own on shared modules, while other threads
// cancel and observe the runs. ThreadSanitizer checks for data races.
TEST(ThreadsTest, EightThreads) {
  const LoadedModule module(SampleNamed("static"));
  const LoadedModule endless(Endless());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        const NewSession session(module, Options(2));
        EXPECT_EQ(RunStatic(session), EMBER_OK);
        EmberFence* fence = nullptr;
        EXPECT_EQ(Api().session_run_async(session, nullptr, nullptr, &fence),
                  EMBER_OK);
        EXPECT_EQ(Api().session_progress(session, nullptr, nullptr), EMBER_OK);
        EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_OK);
        Api().fence_release(fence);
        EXPECT_EQ(Result(session), kZ);
        int64_t dims[2];
        const int64_t given[] = {2, 3};
        const EmberShape shape = {2, given};
        EXPECT_EQ(Api().module_result_shape(module.get(), &shape, 1, 0, dims),
                  EMBER_OK);
        const NewSession loop(endless, EndlessOptions());
        const float x = 1;
        EXPECT_EQ(SetX(loop, &x, {1}), EMBER_OK);
        EXPECT_EQ(Api().session_run_async(loop, nullptr, nullptr, &fence),
                  EMBER_OK);
        std::thread canceller([&] { Api().session_cancel(loop); });
        EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_CANCELLED);
        canceller.join();
        Api().fence_release(fence);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ember::vm
