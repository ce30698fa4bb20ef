// Tests options and queries of sessions and modules: readers, shapes, the
// caller's memory for results, allocators, threads, loggers, tiers, devices,
// profiles.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "vm/api/testing/holders.h"

namespace ember::vm {
namespace {

struct Asset {
  const std::vector<uint8_t>* bytes;
  size_t piece;
  size_t end;  // offset in bytes at which the reader reports the end of the
               // data
  int reads = 0;
};

int64_t ReadAsset(void* context, uint64_t offset, void* buffer, size_t size) {
  Asset& asset = *static_cast<Asset*>(context);
  ++asset.reads;
  size = std::min({size, asset.piece, asset.end - static_cast<size_t>(offset)});
  std::memcpy(buffer, asset.bytes->data() + offset, size);
  return static_cast<int64_t>(size);
}

TEST(ReaderTest, ReadsInPieces) {
  const LoadedModule loaded(SampleNamed("static"));
  Asset asset = {&loaded.bytes(), 100, loaded.bytes().size()};
  const EmberReader reader = {sizeof(reader), &asset, loaded.bytes().size(),
                              ReadAsset};
  EmberModule* module = nullptr;
  ASSERT_EQ(Api().module_load_reader(&reader, &module), EMBER_OK)
      << LastError();
  EXPECT_EQ(asset.reads, (loaded.bytes().size() + 99) / 100);
  EmberSession* session = nullptr;
  ASSERT_EQ(Api().session_create(module, nullptr, &session), EMBER_OK);
  Api().module_release(module);
  EXPECT_EQ(RunStatic(session), EMBER_OK) << LastError();
  EXPECT_EQ(Result(session), kZ);
  Api().session_release(session);
}

TEST(ReaderTest, SaysWhatIsMissing) {
  const LoadedModule loaded(SampleNamed("static"));
  Asset asset = {&loaded.bytes(), 100, 150};
  EmberReader reader = {sizeof(reader), &asset, 200, ReadAsset};
  EmberModule* module = nullptr;
  EXPECT_EQ(Api().module_load_reader(&reader, &module), EMBER_DATA_LOSS);
  EXPECT_EQ(LastError(),
            "module_load_reader: expected up to 50 bytes at 150, found that "
            "the reader gave 0");
  EXPECT_EQ(module, nullptr);
  // The reader reports the end of the data too early: before the size that it
  // has announced.
  asset.end = 200;
  EXPECT_EQ(Api().module_load_reader(&reader, &module), EMBER_DATA_LOSS);
  reader.size = UINT64_MAX;
  EXPECT_EQ(Api().module_load_reader(&reader, &module), EMBER_INVALID_ARGUMENT);
  reader.size = uint64_t{1} << 62;
  EXPECT_EQ(Api().module_load_reader(&reader, &module),
            EMBER_RESOURCE_EXHAUSTED);
  reader.read = nullptr;
  EXPECT_EQ(Api().module_load_reader(&reader, &module), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(Api().module_load_reader(nullptr, &module), EMBER_INVALID_ARGUMENT);
}

// A file may contain one long name and refer to it from a million dims, so it
// must not be copied for each.
TEST(ShapesTest, LongNamesOfDimsAreNotCopied) {
  const std::string name(1000, 'N');
  const LoadedModule module(
      ParseSample("module \"by hand\" from \"long\"\nprogram main<" + name +
                  ">(x: f32[$0, $0]) -> (y: f32[$0]) {\n"
                  "  i0 = input_dim x, 0\n  b0 = input x\n"
                  "  result y = b0 [i0]\n  return\n}\n"));
  const char* const dim = Api().module_input_dim(module.get(), 0, 0);
  EXPECT_EQ(dim, name);
  EXPECT_EQ(Api().module_input_dim(module.get(), 0, 1), dim);
  EXPECT_EQ(Api().module_result_dim(module.get(), 0, 0), dim);
}

TEST(ShapesTest, DimsAndResultShapes) {
  const LoadedModule module(SampleNamed("loop"));
  EXPECT_STREQ(Api().module_input_dim(module.get(), 0, 0), "N");
  EXPECT_STREQ(Api().module_input_dim(module.get(), 0, 1), "4");
  EXPECT_STREQ(Api().module_result_dim(module.get(), 0, 0), "N");
  EXPECT_EQ(Api().module_result_dim(module.get(), 0, 2), nullptr);
  EXPECT_EQ(Api().module_input_dim(module.get(), 1, 0), nullptr);
  EXPECT_EQ(Api().module_input_dim(module.get(), -1, 0), nullptr);
  const int64_t dims[] = {7, 4};
  EmberShape shape = {2, dims};
  int64_t result[2] = {};
  EXPECT_EQ(Api().module_result_shape(module.get(), &shape, 1, 0, result),
            EMBER_OK);
  EXPECT_EQ(result[0], 7);
  EXPECT_EQ(result[1], 4);
  shape.rank = 1;
  EXPECT_EQ(Api().module_result_shape(module.get(), &shape, 1, 0, result),
            EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(), "input 'x': expected Nx4xf32, found 7xf32");
  EXPECT_EQ(Api().module_result_shape(module.get(), &shape, 1, 1, result),
            EMBER_NOT_FOUND);
}

TEST(OutputTest, ResultsGoWhereTheCallerWants) {
  const LoadedModule module(SampleNamed("static"));
  const NewSession session(module, Options());
  std::vector<float> place(5, -1);
  ASSERT_EQ(Api().session_set_output(session, 0, place.data(),
                                     place.size() * sizeof(float)),
            EMBER_OK);
  ASSERT_EQ(RunStatic(session), EMBER_OK) << LastError();
  EXPECT_EQ(place, (std::vector<float>{0, 6.25f, 0, 1.75f, -1}));
  EmberTensor tensor = {};
  ASSERT_EQ(Api().session_result(session, 0, &tensor), EMBER_OK);
  EXPECT_EQ(tensor.data, place.data());
  EXPECT_EQ(tensor.byte_size, 16u);
  // Once the caller's memory for the result is removed, the session writes to
  // its own memory again.
  place.assign(5, -1);
  ASSERT_EQ(Api().session_set_output(session, 0, nullptr, 0), EMBER_OK);
  ASSERT_EQ(RunStatic(session), EMBER_OK);
  EXPECT_EQ(place[0], -1);
  EXPECT_EQ(Result(session), kZ);
}

TEST(OutputTest, RefusesWhatDoesNotFit) {
  const LoadedModule module(SampleNamed("static"));
  const NewSession session(module, Options());
  std::vector<float> place(12);
  ASSERT_EQ(Api().session_set_output(session, 0, place.data(), 12), EMBER_OK);
  EXPECT_EQ(RunStatic(session), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(),
            "place of result 'z:0': expected 16 bytes for 2x2xf32, found 12");
  // The memory of the input overlaps the caller's memory for the result, which
  // the run must refuse.
  ASSERT_EQ(Api().session_set_output(session, 0, place.data(), 48), EMBER_OK);
  ASSERT_EQ(SetX(session, place.data() + 6, {2, 3}), EMBER_OK);
  EXPECT_EQ(Api().session_run(session), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(),
            "place of result 'z:0': expected memory apart from that of input "
            "0, found shared memory");
  EXPECT_EQ(Api().session_set_output(
                session, 0, reinterpret_cast<char*>(place.data()) + 1, 16),
            EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(),
            "place of result 'z:0': expected memory that is aligned for its "
            "elements");
  EXPECT_EQ(Api().session_set_output(session, 1, place.data(), 16),
            EMBER_NOT_FOUND);
  const LoadedModule two(SampleNamed("calls"));
  const NewSession other(two, Options());
  ASSERT_EQ(Api().session_set_output(other, 0, place.data(), 24), EMBER_OK);
  EXPECT_EQ(Api().session_set_output(other, 2, place.data() + 5, 24),
            EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(),
            "place of result 'last': expected memory apart from that of "
            "result 'sum'");
}

// An allocator of the application that can be made to fail at a chosen
// allocation.
struct Heap {
  std::atomic<int64_t> live{0};
  std::atomic<int> allocations{0};
  int fails_at = -1;
};

void* HeapAllocate(void* context, size_t size, size_t alignment) {
  Heap& heap = *static_cast<Heap*>(context);
  if (heap.allocations++ == heap.fails_at) return nullptr;
  heap.live += static_cast<int64_t>(size);
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded);
  // Allocated memory has arbitrary contents here, because the session must not
  // depend on them.
  std::memset(memory, 0xa5, size);
  return memory;
}

void HeapRelease(void* context, void* memory, size_t size) {
  static_cast<Heap*>(context)->live -= static_cast<int64_t>(size);
  std::free(memory);
}

// Creates a session, runs it twice with an unaligned input, and releases it.
EmberStatus Use(const LoadedModule& module, const EmberAllocator& allocator,
                std::vector<float>* result) {
  EmberSessionOptions options = Options(2);
  options.allocator = &allocator;
  const NewSession session(module, options);
  if (session.status() != EMBER_OK) return session.status();
  alignas(64) static char memory[512];
  float x[80];
  for (int i = 0; i < 80; ++i) x[i] = static_cast<float>(i % 7) - 2;
  std::memcpy(memory + 4, x, sizeof(x));
  const auto* const data = reinterpret_cast<const float*>(memory + 4);
  EmberTensorInfo info = {};
  EXPECT_EQ(Api().module_input_info(module.get(), 0, &info), EMBER_OK);
  std::vector<int64_t> dims(info.dims, info.dims + info.rank);
  for (int64_t& dim : dims) dim = dim < 0 ? 16 : dim;
  EXPECT_EQ(SetX(session, data, dims), EMBER_OK);
  if (Api().module_input_count(module.get()) > 1) {
    static const uint8_t counts[3] = {1, 2, 3};
    static const int64_t three = 3;
    const EmberTensor n = {EMBER_U8, 1, &three, counts, 3};
    EXPECT_EQ(Api().session_set_input(session, 1, &n), EMBER_OK);
  }
  for (int run = 0; run < 2; ++run) {
    const EmberStatus status = Api().session_run(session);
    if (status != EMBER_OK) return status;
  }
  *result = Result(session);
  return EMBER_OK;
}

TEST(AllocatorTest, EachAllocationMayFail) {
  for (const char* name : {"static", "loop", "calls"}) {
    SCOPED_TRACE(name);
    const LoadedModule module(SampleNamed(name));
    Heap heap;
    const EmberAllocator allocator = {sizeof(allocator), &heap, HeapAllocate,
                                      HeapRelease};
    std::vector<float> want;
    ASSERT_EQ(Use(module, allocator, &want), EMBER_OK) << LastError();
    EXPECT_EQ(heap.live, 0);
    const int allocations = heap.allocations;
    EXPECT_GE(allocations, 2);
    for (int i = 0; i < allocations; ++i) {
      heap.allocations = 0;
      heap.fails_at = i;
      std::vector<float> result;
      EXPECT_EQ(Use(module, allocator, &result), EMBER_RESOURCE_EXHAUSTED) << i;
      EXPECT_NE(LastError().find("bytes of memory, found less"),
                std::string::npos)
          << LastError();
      EXPECT_EQ(heap.live, 0) << i;
    }
    heap.allocations = 0;
    heap.fails_at = -1;
    std::vector<float> result;
    EXPECT_EQ(Use(module, allocator, &result), EMBER_OK);
    EXPECT_EQ(result, want);
  }
}

// After a run that failed because there was no memory, the session must be able
// to run again.
TEST(AllocatorTest, ARunAfterOneWithoutMemory) {
  const LoadedModule module(SampleNamed("static"));
  Heap heap;
  const EmberAllocator allocator = {sizeof(allocator), &heap, HeapAllocate,
                                    HeapRelease};
  EmberSessionOptions options = Options();
  options.allocator = &allocator;
  const NewSession session(module, options);
  ASSERT_EQ(session.status(), EMBER_OK) << LastError();
  int failed = 0;
  for (heap.fails_at = heap.allocations;; heap.fails_at = heap.allocations) {
    const EmberStatus status = RunStatic(session);
    if (status == EMBER_OK) break;
    EXPECT_EQ(status, EMBER_RESOURCE_EXHAUSTED);
    ASSERT_LT(++failed, 100);
    heap.fails_at = heap.allocations + failed;
    if (RunStatic(session) == EMBER_OK) break;
  }
  EXPECT_GT(failed, 0);
  EXPECT_EQ(Result(session), kZ);
}

// The session must refuse memory from the application's allocator that is not
// aligned as requested.
TEST(AllocatorTest, RefusesMemoryThatIsNotAligned) {
  const LoadedModule module(SampleNamed("static"));
  Heap heap;
  const EmberAllocator allocator = {
      sizeof(allocator), &heap,
      [](void* context, size_t size, size_t alignment) -> void* {
        return static_cast<char*>(
                   HeapAllocate(context, size + alignment, alignment)) +
               alignment / 2;
      },
      [](void* context, void* memory, size_t size) {
        HeapRelease(context, static_cast<char*>(memory) - 32, size + 64);
      }};
  EmberSessionOptions options = Options();
  options.allocator = &allocator;
  const NewSession session(module, options);
  EXPECT_EQ(session.status(), EMBER_INVALID_ARGUMENT);
  EXPECT_NE(LastError().find("allocator: expected memory aligned to 64 bytes, "
                             "found an address that is not"),
            std::string::npos)
      << LastError();
  EXPECT_EQ(heap.live, 0);
}

TEST(AllocatorTest, RefusesHalfAnAllocator) {
  const LoadedModule module(SampleNamed("static"));
  EmberAllocator allocator = {sizeof(allocator), nullptr, HeapAllocate,
                              nullptr};
  EmberSessionOptions options = Options();
  options.allocator = &allocator;
  EXPECT_EQ(NewSession(module, options).status(), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(), "allocator: expected functions, found NULL");
  allocator.release = HeapRelease;
  allocator.struct_size = 8;
  EXPECT_EQ(NewSession(module, options).status(), EMBER_INVALID_ARGUMENT);
}

// A thread pool of the application. It has one thread per worker.
struct Pool {
  std::atomic<int64_t> chunks{0};
  std::atomic<int> runs{0};
};

void RunOnPool(void* context, int64_t chunk_count, EmberChunk chunk,
               void* work) {
  Pool& pool = *static_cast<Pool*>(context);
  ++pool.runs;
  pool.chunks += chunk_count;
  std::atomic<int64_t> next{0};
  std::vector<std::thread> threads;
  for (int32_t worker = 0; worker < 3; ++worker) {
    threads.emplace_back([&, worker] {
      for (int64_t i; (i = next++) < chunk_count;) chunk(work, i, worker);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadPoolTest, ChunksRunOnTheCallersThreads) {
  // The computation is so large that the session splits it into chunks.
  const LoadedModule module(ParseSample(R"(
module "by hand" from "large"
dispatch @scale(%x: f32[400000]) -> (%y: f32[400000]) {
  %y[i] = exp(%x[i] * 0.5)
}
program main(x: f32[400000]) -> (y: f32[400000]) {
  b0 = input x
  b1 = arena 1600000
  dispatch @scale(b0 -> b1)
  i0 = integer 400000
  result y = b1 [i0]
  return
}
)"));
  Pool pool;
  EmberThreadPool threads = {sizeof(threads), &pool, 3, RunOnPool};
  EmberSessionOptions options = Options();
  options.thread_pool = &threads;
  std::vector<float> x(400'000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 100) / 50;
  const NewSession session(module, options);
  ASSERT_EQ(session.status(), EMBER_OK) << LastError();
  ASSERT_EQ(SetX(session, x.data(), {400'000}), EMBER_OK);
  ASSERT_EQ(Api().session_run(session), EMBER_OK) << LastError();
  EXPECT_GE(pool.runs, 1);
  EXPECT_GT(pool.chunks, pool.runs);
  const NewSession alone(module, Options());
  ASSERT_EQ(SetX(alone, x.data(), {400'000}), EMBER_OK);
  ASSERT_EQ(Api().session_run(alone), EMBER_OK);
  EXPECT_EQ(Result(session), Result(alone));
  threads.worker_count = 0;
  EXPECT_EQ(NewSession(module, options).status(), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(), "thread_pool: expected 1 to 1024 workers, found 0");
}

struct Lines {
  std::mutex mutex;
  std::vector<std::string> lines;
};

void KeepLine(void* context, EmberLogLevel level, const char* line) {
  Lines& lines = *static_cast<Lines*>(context);
  const std::lock_guard<std::mutex> lock(lines.mutex);
  lines.lines.push_back(std::to_string(level) + " " + line);
}

TEST(LoggerTest, IsToldOfErrors) {
  const LoadedModule module(SampleNamed("static"));
  Lines lines;
  const EmberLogger logger = {sizeof(logger), &lines, KeepLine};
  EmberSessionOptions options = Options();
  options.logger = &logger;
  const NewSession session(module, options);
  EXPECT_EQ(RunStatic(session), EMBER_OK);
  EXPECT_TRUE(lines.lines.empty());
  EmberTensor tensor = {};
  EXPECT_EQ(Api().session_result(session, 3, &tensor), EMBER_NOT_FOUND);
  ASSERT_EQ(lines.lines.size(), 1u);
  EXPECT_EQ(lines.lines[0], "2 result: expected an index below 1, found 3");
}

struct Message {
  std::mutex mutex;
  std::string text;
};

// An untrusted module chooses the names of its inputs. A name with a line feed
// must not be able to add a line to the log.
TEST(LoggerTest, NamesOfAModuleAddNoLines) {
  ModuleDefinition definition = SampleNamed("static");
  definition.programs[0].inputs[0].name = "x\n2 a line of its own\x1b[2J";
  const LoadedModule module(definition);
  Lines lines;
  const EmberLogger logger = {sizeof(logger), &lines, KeepLine};
  EmberSessionOptions options = Options();
  options.logger = &logger;
  const NewSession session(module, options);
  constexpr const char* kExpected =
      "input 'x\\x0a2 a line of its own\\x1b[2J': expected 2x3xf32, found "
      "1xf32";
  ASSERT_EQ(SetX(session, kX, {1}), EMBER_OK);
  EXPECT_EQ(Api().session_run(session), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(), kExpected);
  ASSERT_EQ(lines.lines.size(), 1u);
  EXPECT_EQ(lines.lines[0], std::string("2 ") + kExpected);
  Message message;
  const auto keep = [](void* context, EmberStatus, const char* text) {
    Message& kept = *static_cast<Message*>(context);
    const std::lock_guard<std::mutex> lock(kept.mutex);
    kept.text = text;
  };
  EmberFence* fence = nullptr;
  ASSERT_EQ(Api().session_run_async(session, keep, &message, &fence), EMBER_OK);
  EXPECT_EQ(Api().fence_wait(fence, -1), EMBER_INVALID_ARGUMENT);
  Api().fence_release(fence);
  EXPECT_EQ(message.text, kExpected);
}

TEST(TierTest, WithoutJitAutoIsTheInterpreter) {
  const LoadedModule module(SampleNamed("static"));
  Lines lines;
  const EmberLogger logger = {sizeof(logger), &lines, KeepLine};
  EmberSessionOptions options = Options();
  options.logger = &logger;
  options.tier = EMBER_TIER_AUTO;
  const NewSession session(module, options);
  ASSERT_EQ(session.status(), EMBER_OK) << LastError();
  ASSERT_EQ(lines.lines.size(), 1u);
  EXPECT_EQ(lines.lines[0],
            "1 tier 0 only: kernels: expected tier 0, as this library was "
            "built without the others");
  EmberSessionInfo info = {};
  info.struct_size = sizeof(info);
  EXPECT_EQ(Api().session_info(session, &info), EMBER_OK);
  EXPECT_EQ(info.tier, EMBER_TIER_INTERPRETER);
  EXPECT_STREQ(info.device, "cpu");
  EXPECT_EQ(info.arena_bytes, 128);
  EXPECT_EQ(RunStatic(session), EMBER_OK);
  options.tier = EMBER_TIER_OPTIMIZED;
  EXPECT_EQ(NewSession(module, options).status(), EMBER_NOT_FOUND);
  options.tier = 4;
  EXPECT_EQ(NewSession(module, options).status(), EMBER_INVALID_ARGUMENT);
  options.tier = EMBER_TIER_INTERPRETER;
  options.device = "vulkan";
  EXPECT_EQ(NewSession(module, options).status(), EMBER_NOT_FOUND);
}

TEST(TierTest, DevicesAreListed) {
  EmberDeviceInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_EQ(Api().device_info(0, &info), EMBER_OK) << LastError();
  EXPECT_STREQ(info.name, "cpu");
  EXPECT_NE(info.target[0], '\0');
  EXPECT_EQ(Api().device_info(1, &info), EMBER_NOT_FOUND);
  // The library must not write fields behind the caller's struct_size.
  info.text = "mine";
  info.struct_size = offsetof(EmberDeviceInfo, text);
  ASSERT_EQ(Api().device_info(0, &info), EMBER_OK);
  EXPECT_STREQ(info.text, "mine");
}

TEST(ProfileTest, RowsAndEvents) {
  const LoadedModule module(SampleNamed("static"));
  EmberSessionOptions options = Options();
  options.trace = 1;
  const NewSession session(module, options);
  for (int run = 0; run < 3; ++run) ASSERT_EQ(RunStatic(session), EMBER_OK);
  ASSERT_EQ(Api().session_profile(session), 2);
  EmberProfileRow row = {};
  row.struct_size = sizeof(row);
  ASSERT_EQ(Api().session_profile_row(session, 0, &row), EMBER_OK);
  EXPECT_STREQ(row.dispatch, "gemm");
  EXPECT_STREQ(row.origin, "Gemm_0 + Relu_1");
  EXPECT_STREQ(row.program, "main");
  EXPECT_EQ(row.calls, 3);
  EXPECT_EQ(row.tier_calls[0], 3);
  EXPECT_GT(row.total_ns, 0);
  EXPECT_EQ(row.tier, 0);
  EXPECT_EQ(Api().session_profile_row(session, 2, &row), EMBER_NOT_FOUND);
  ASSERT_EQ(Api().session_trace(session), 6);
  EmberTraceEvent event = {};
  event.struct_size = sizeof(event);
  ASSERT_EQ(Api().session_trace_event(session, 5, &event), EMBER_OK);
  EXPECT_STREQ(event.dispatch, "bias_relu");
  EXPECT_LE(event.begin_ns, event.end_ns);
  EXPECT_EQ(Api().session_trace_event(session, 6, &event), EMBER_NOT_FOUND);
  ASSERT_EQ(Api().session_profile_reset(session), EMBER_OK);
  EXPECT_EQ(Api().session_trace(session), 0);
  const NewSession plain(module, Options());
  EXPECT_EQ(RunStatic(plain), EMBER_OK);
  EXPECT_EQ(Api().session_profile(plain), 0);
}

}  // namespace
}  // namespace ember::vm
