// Tests the progress that the C API reports while it loads a module and creates
// a session, and stops both at each step.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/api/testing/holders.h"

namespace ember::vm {
namespace {

struct Step {
  std::string stage, item;
  int64_t done, total;
};

// Receives progress and requests to stop before the step with the number
// `last`.
struct Listener {
  size_t last = SIZE_MAX;
  std::vector<Step> steps;

  EmberProgress progress() {
    return {sizeof(EmberProgress), this,
            [](void* context, const EmberProgressEvent* event) {
              auto& self = *static_cast<Listener*>(context);
              EXPECT_EQ(event->struct_size, sizeof(EmberProgressEvent));
              self.steps.push_back(
                  {event->stage, event->item, event->done, event->total});
              return int32_t{self.steps.size() <= self.last};
            }};
  }
};

EmberModuleOptions FromBytes(const std::vector<uint8_t>& bytes) {
  EmberModuleOptions options = {};
  options.struct_size = sizeof(options);
  options.data = bytes.data();
  options.data_size = bytes.size();
  return options;
}

class Load {
 public:
  explicit Load(EmberModuleOptions options, size_t last = SIZE_MAX) {
    listener_.last = last;
    const EmberProgress progress = listener_.progress();
    options.progress = &progress;
    status_ = Api().module_load(&options, &module_);
  }
  ~Load() { Api().module_release(module_); }
  EmberStatus status() const { return status_; }
  EmberModule* module() const { return module_; }
  const std::vector<Step>& steps() const { return listener_.steps; }

 private:
  Listener listener_;
  EmberStatus status_;
  EmberModule* module_ = nullptr;
};

std::vector<uint8_t> BytesOf(const char* sample) {
  return *SerializeModule(SampleNamed(sample));
}

TEST(ProgressTest, OfLoading) {
  for (const char* const sample : {"static", "loop"}) {
    const ModuleDefinition definition = SampleNamed(sample);
    const std::vector<uint8_t> bytes = BytesOf(sample);
    const Load load(FromBytes(bytes));
    ASSERT_EQ(load.status(), EMBER_OK) << LastError();
    const size_t dispatches = definition.dispatches.size();
    const size_t programs = definition.programs.size();
    ASSERT_EQ(load.steps().size(), 2 * dispatches + 2 * programs);
    for (size_t i = 0; i < load.steps().size(); ++i) {
      const Step& step = load.steps()[i];
      EXPECT_EQ(step.stage, "load");
      EXPECT_EQ(step.done, static_cast<int64_t>(i));
      EXPECT_EQ(step.total, static_cast<int64_t>(load.steps().size()));
      if (i < 2 * dispatches) {
        EXPECT_EQ(step.item, definition.dispatches[i % dispatches].name);
      }
    }
    EXPECT_EQ(load.steps().back().item, definition.programs.back().name);
  }
}

TEST(ProgressTest, LoadingIsStoppedAtAnyStep) {
  const std::vector<uint8_t> bytes = BytesOf("loop");
  const size_t count = Load(FromBytes(bytes)).steps().size();
  ASSERT_GT(count, 2u);
  for (size_t last = 0; last < count; ++last) {
    const Load load(FromBytes(bytes), last);
    EXPECT_EQ(load.status(), EMBER_CANCELLED);
    EXPECT_EQ(load.module(), nullptr);
    ASSERT_EQ(load.steps().size(), last + 1);
    EXPECT_EQ(LastError(),
              "stopped in load, before " + load.steps().back().item);
  }
  EXPECT_EQ(Load(FromBytes(bytes), count).status(), EMBER_OK);
}

struct Memory {
  std::vector<uint8_t> bytes;
  size_t most = 0;  // largest number of bytes that one call of read requested
};

EmberReader ReaderOf(Memory& memory) {
  return {sizeof(EmberReader), &memory, memory.bytes.size(),
          [](void* context, uint64_t offset, void* buffer, size_t size) {
            auto& self = *static_cast<Memory*>(context);
            self.most = std::max(self.most, size);
            std::memcpy(buffer, self.bytes.data() + offset, size);
            return static_cast<int64_t>(size);
          }};
}

TEST(ProgressTest, OfReading) {
  Memory memory = {BytesOf("static")};
  const EmberReader reader = ReaderOf(memory);
  EmberModuleOptions options = {};
  options.struct_size = sizeof(options);
  options.reader = &reader;
  const Load load(options);
  ASSERT_EQ(load.status(), EMBER_OK) << LastError();
  EXPECT_EQ(load.steps().front().stage, "read");
  EXPECT_EQ(load.steps().front().total,
            static_cast<int64_t>(memory.bytes.size()));
  EXPECT_EQ(load.steps().back().stage, "load");
}

TEST(ProgressTest, ReadingIsStopped) {
  Memory memory = {std::vector<uint8_t>((10 << 20) + 1)};
  const EmberReader reader = ReaderOf(memory);
  EmberModuleOptions options = {};
  options.struct_size = sizeof(options);
  options.reader = &reader;
  const Load load(options, 2);
  EXPECT_EQ(load.status(), EMBER_CANCELLED);
  EXPECT_EQ(LastError(), "stopped in read, before the rest of the module");
  ASSERT_EQ(load.steps().size(), 3u);
  EXPECT_EQ(load.steps().back().done, 8 << 20);
  EXPECT_EQ(memory.most, size_t{4 << 20});
}

TEST(ProgressTest, OneSourceIsExpected) {
  const std::vector<uint8_t> bytes = BytesOf("static");
  EmberModuleOptions options = FromBytes(bytes);
  options.path = "model.vmfb";
  EXPECT_EQ(Load(options).status(), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(),
            "module_load: expected one of path, data and reader, found 2");
  options = {};
  options.struct_size = sizeof(options);
  EXPECT_EQ(Load(options).status(), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(),
            "module_load: expected one of path, data and reader, found 0");
  options.path = "/nonexistent.vmfb";
  EXPECT_EQ(Load(options).status(), EMBER_NOT_FOUND);
  const EmberProgress nobody = {sizeof(nobody), nullptr, nullptr};
  options = FromBytes(bytes);
  options.progress = &nobody;
  EmberModule* module = nullptr;
  EXPECT_EQ(Api().module_load(&options, &module), EMBER_INVALID_ARGUMENT);
  EXPECT_EQ(LastError(), "progress: expected functions, found NULL");
  EXPECT_EQ(Api().module_load(nullptr, &module), EMBER_INVALID_ARGUMENT);
}

TEST(ProgressTest, ConstantsAreCompared) {
  const ModuleDefinition definition = SampleNamed("static");
  ASSERT_FALSE(definition.constants.empty());
  std::vector<uint8_t> bytes = BytesOf("static");
  EmberModuleOptions options = FromBytes(bytes);
  options.verify_constants = 1;
  const Load whole(options);
  EXPECT_EQ(whole.status(), EMBER_OK) << LastError();
  EXPECT_EQ(whole.steps().size(), definition.constants.size() +
                                      2 * definition.dispatches.size() +
                                      2 * definition.programs.size());
  EXPECT_EQ(whole.steps().back().done + 1, whole.steps().back().total);
  // The test finds the last constant's data in the file and changes a byte,
  // which is noticed only if constants are verified.
  const std::span<const uint8_t> data = definition.constants.back().data;
  const auto place =
      std::search(bytes.begin(), bytes.end(), data.begin(), data.end());
  ASSERT_NE(place, bytes.end());
  *place ^= 1;
  EXPECT_EQ(Load(FromBytes(bytes)).status(), EMBER_OK) << LastError();
  EXPECT_EQ(Load(options).status(), EMBER_DATA_LOSS);
}

// This test's module contains kernels for every kind of processor on which the
// tests run.
TEST(ProgressTest, OfKernelsInTheFile) {
  EmberModuleOptions module_options = {};
  module_options.struct_size = sizeof(module_options);
  module_options.path = "vm/api/testdata/digits_native.vmfb";
  size_t count = 1;
  for (size_t last = 0; last <= count; ++last) {
    const Load load(module_options);
    ASSERT_EQ(load.status(), EMBER_OK) << LastError();
    EmberSessionOptions options = Options();
    options.allow_native = 1;
    Listener listener;
    const EmberProgress progress = listener.progress();
    options.progress = &progress;
    if (last > 0) {
      listener.last = last - 1;
      EmberSession* stopped = nullptr;
      EXPECT_EQ(Api().session_create(load.module(), &options, &stopped),
                EMBER_CANCELLED);
      EXPECT_EQ(stopped, nullptr);
      EXPECT_EQ(LastError(),
                "stopped in kernels, before " + listener.steps.back().item);
      listener = {};
    }
    // The module must be usable after session_create was stopped.
    EmberSession* session = nullptr;
    ASSERT_EQ(Api().session_create(load.module(), &options, &session), EMBER_OK)
        << LastError();
    for (const Step& step : listener.steps) EXPECT_EQ(step.stage, "kernels");
    EXPECT_NE(std::string(Api().session_native_kernels(session))
                  .find("native kernels for 5 of 5 dispatches"),
              std::string::npos)
        << Api().session_native_kernels(session);
    count = listener.steps.size();
    EXPECT_GT(count, 5u);
    Api().session_release(session);
  }
}

}  // namespace
}  // namespace ember::vm
