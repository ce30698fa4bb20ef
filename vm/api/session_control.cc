// Implements asynchronous runs, and the functions that stop or observe a run.
#include <string>
#include <utility>

#include "base/one_line.h"
#include "vm/api/handles.h"

struct EmberFence {
  std::shared_ptr<ember::api::Fence> fence;
};

namespace ember::api {
namespace {

// Runs the session and then calls `done`; this happens on the session's thread.
Status RunAndTell(EmberSession& session, EmberRunDone done, void* context) {
  Status status = session.Run();
  session.EndRun();
  session.logger.Note(status);
  if (done != nullptr) {
    const std::string message = OnOneLine(status.message());
    done(context, static_cast<EmberStatus>(status.code()), message.c_str());
  }
  return status;
}

// Starts the job of a run on the session's thread. BeginRun must have succeeded
// before.
Status Start(EmberSession& session, EmberRunDone done, void* context,
             std::shared_ptr<Fence> fence) {
  const std::lock_guard<std::mutex> lock(session.mutex);
  if (session.is_closing) {
    return FailedPreconditionError(
        "session_run_async: expected a session, found its release");
  }
  if (!session.thread) session.thread.emplace();
  return session.thread->Start(
      [&session, done, context] { return RunAndTell(session, done, context); },
      std::move(fence));
}

Status RunAsync(EmberSession& session, EmberRunDone done, void* context,
                EmberFence** fence) {
  auto handle = fence == nullptr ? nullptr : std::make_unique<EmberFence>();
  if (handle != nullptr) handle->fence = std::make_shared<Fence>();
  EMBER_RETURN_IF_ERROR(session.BeginRun());
  const Status started = Start(session, done, context,
                               handle == nullptr ? nullptr : handle->fence);
  if (!started.ok()) {
    session.EndRun();
    return started;
  }
  if (fence != nullptr) *fence = handle.release();
  return OkStatus();
}

}  // namespace

EmberStatus SessionRunAsync(EmberSession* session, EmberRunDone done,
                            void* context, EmberFence** fence) {
  if (session == nullptr) return Report(NullError("session_run_async"));
  if (fence != nullptr) *fence = nullptr;
  return Report(session->logger.Note(RunAsync(*session, done, context, fence)));
}

EmberStatus FenceWait(EmberFence* fence, double seconds) {
  if (fence == nullptr) return Report(NullError("fence_wait"));
  const Status* const status = fence->fence->Wait(seconds);
  return status == nullptr ? EMBER_NOT_READY : Report(*status);
}

int32_t FenceIsSignalled(const EmberFence* fence) {
  return fence != nullptr && fence->fence->is_signalled() ? 1 : 0;
}

void FenceRelease(EmberFence* fence) { delete fence; }

void SessionCancel(EmberSession* session) {
  if (session == nullptr) return;
  const std::lock_guard<std::mutex> lock(session->mutex);
  // If the session's thread has not begun the run yet, this flag cancels it.
  if (session->is_running) session->cancels = true;
  session->session->Cancel();
}

EmberStatus SessionProgress(const EmberSession* session, int64_t* begun,
                            int64_t* expected) {
  if (session == nullptr) return Report(NullError("session_progress"));
  if (begun != nullptr) *begun = session->session->progress();
  if (expected != nullptr) *expected = session->expected_dispatches;
  return EMBER_OK;
}

EmberStatus SessionSetMaxSeconds(EmberSession* session, double seconds) {
  if (session == nullptr) return Report(NullError("session_set_max_seconds"));
  const Status idle = session->CheckIdle();
  if (idle.ok()) session->session->SetMaxSeconds(seconds);
  return Report(idle);
}

}  // namespace ember::api
