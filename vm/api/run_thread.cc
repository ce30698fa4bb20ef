#include "vm/api/run_thread.h"

#include <chrono>
#include <utility>

namespace ember::api {

void Fence::Signal(Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  status_ = std::move(status);
  is_signalled_ = true;
  changed_.notify_all();
}

const Status* Fence::Wait(double seconds) {
  // A wait of this many seconds or more has no limit, because its end would
  // exceed the range of the clock.
  constexpr double kMaxSeconds = 1e9;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto ends = [this] { return is_signalled_; };
  if (!(seconds >= 0 && seconds < kMaxSeconds)) {
    changed_.wait(lock, ends);
  } else if (!changed_.wait_for(lock, std::chrono::duration<double>(seconds),
                                ends)) {
    return nullptr;
  }
  return &status_;
}

bool Fence::is_signalled() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return is_signalled_;
}

RunThread::~RunThread() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stops_ = true;
    changed_.notify_all();
  }
  if (has_thread_) pthread_join(thread_, nullptr);
}

Status RunThread::Start(Job job, std::shared_ptr<Fence> fence) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The thread is created by pthread_create, because std::thread would end the
  // process on failure.
  if (!has_thread_ && pthread_create(&thread_, nullptr, Main, this) != 0) {
    return ResourceExhaustedError(
        "run: expected one more thread, found that the system has none");
  }
  has_thread_ = true;
  job_ = std::move(job);
  fence_ = std::move(fence);
  changed_.notify_all();
  return OkStatus();
}

void* RunThread::Main(void* self) {
  static_cast<RunThread*>(self)->Work();
  return nullptr;
}

void RunThread::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stops_ || job_ != nullptr; });
    if (job_ == nullptr) return;
    const Job job = std::exchange(job_, nullptr);
    const std::shared_ptr<Fence> fence = std::exchange(fence_, nullptr);
    lock.unlock();
    Status status = job();
    if (fence != nullptr) fence->Signal(std::move(status));
    lock.lock();
  }
}

}  // namespace ember::api
