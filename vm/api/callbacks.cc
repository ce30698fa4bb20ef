#include "vm/api/callbacks.h"

#include <string>

#include "base/check.h"
#include "base/one_line.h"

namespace ember::api {
namespace {

// Checks the size of a struct that the application fills. It may be larger than
// expected, because later versions append fields.
Status CheckSize(const char* what, size_t size, size_t expected) {
  if (size >= expected) return OkStatus();
  return InvalidArgumentError(
      std::string(what) + ": expected a struct_size of " +
      std::to_string(expected) + ", found " + std::to_string(size));
}

Status CheckFunction(const char* what, bool is_there) {
  if (is_there) return OkStatus();
  return InvalidArgumentError(std::string(what) +
                              ": expected functions, found NULL");
}

// Runs chunks on the threads that the application passed (EmberThreadPool).
class GivenRunner final : public ParallelRunner {
 public:
  explicit GivenRunner(const EmberThreadPool& pool) : pool_(pool) {}
  int worker_count() const override { return pool_.worker_count; }
  void Run(int64_t chunk_count, ChunkFunction function) override {
    if (chunk_count <= 0) return;
    if (chunk_count == 1) return function(0, 0);
    const Work work = {function, pool_.worker_count};
    pool_.run(pool_.context, chunk_count, RunChunk, const_cast<Work*>(&work));
  }

 private:
  struct Work {
    ChunkFunction function;
    int32_t worker_count;
  };
  static void RunChunk(void* work, int64_t chunk, int32_t worker) {
    const Work& own = *static_cast<const Work*>(work);
    EMBER_CHECK(worker >= 0 && worker < own.worker_count)
        << "EmberThreadPool::run: worker " << worker << " of "
        << own.worker_count;
    own.function(chunk, worker);
  }

  const EmberThreadPool pool_;
};

class GivenProgress final : public Progress {
 public:
  explicit GivenProgress(const EmberProgress& progress) : progress_(progress) {}
  bool Report(const ProgressEvent& event) override {
    const std::string stage(event.stage), item(event.item);
    const EmberProgressEvent told = {sizeof(told), stage.c_str(), item.c_str(),
                                     event.done, event.total};
    return progress_.report(progress_.context, &told) != 0;
  }

 private:
  const EmberProgress progress_;
};

}  // namespace

StatusOr<std::unique_ptr<Progress>> ProgressOf(const EmberProgress* given) {
  if (given == nullptr) return std::unique_ptr<Progress>();
  EMBER_RETURN_IF_ERROR(
      CheckSize("progress", given->struct_size, sizeof(EmberProgress)));
  EMBER_RETURN_IF_ERROR(CheckFunction("progress", given->report != nullptr));
  return std::unique_ptr<Progress>(std::make_unique<GivenProgress>(*given));
}

StatusOr<Logger> Logger::Of(const EmberLogger* given) {
  Logger logger;
  if (given == nullptr) return logger;
  EMBER_RETURN_IF_ERROR(
      CheckSize("logger", given->struct_size, sizeof(EmberLogger)));
  EMBER_RETURN_IF_ERROR(CheckFunction("logger", given->log != nullptr));
  logger.log_ = given->log;
  logger.context_ = given->context;
  return logger;
}

void Logger::Log(EmberLogLevel level, std::string_view line) const {
  if (log_ != nullptr) log_(context_, level, OnOneLine(line).c_str());
}

const Status& Logger::Note(const Status& status) const {
  if (!status.ok()) Log(EMBER_LOG_ERROR, status.message());
  return status;  // NOLINT(bugprone-return-const-ref-from-parameter)
}

StatusOr<HostAllocator> AllocatorOf(const EmberAllocator* given) {
  if (given == nullptr) return HostAllocator();
  EMBER_RETURN_IF_ERROR(
      CheckSize("allocator", given->struct_size, sizeof(EmberAllocator)));
  EMBER_RETURN_IF_ERROR(CheckFunction(
      "allocator", given->allocate != nullptr && given->release != nullptr));
  return HostAllocator{given->context, given->allocate, given->release};
}

StatusOr<std::unique_ptr<ParallelRunner>> RunnerOf(
    const EmberThreadPool* given) {
  constexpr int32_t kMaxWorkers = 1024;
  if (given == nullptr) return std::unique_ptr<ParallelRunner>();
  EMBER_RETURN_IF_ERROR(
      CheckSize("thread_pool", given->struct_size, sizeof(EmberThreadPool)));
  EMBER_RETURN_IF_ERROR(CheckFunction("thread_pool", given->run != nullptr));
  if (given->worker_count < 1 || given->worker_count > kMaxWorkers) {
    return InvalidArgumentError(
        "thread_pool: expected 1 to " + std::to_string(kMaxWorkers) +
        " workers, found " + std::to_string(given->worker_count));
  }
  return std::unique_ptr<ParallelRunner>(std::make_unique<GivenRunner>(*given));
}

}  // namespace ember::api
