// Tests that a process whose kernels come from the compile worker has no LLVM
// in memory.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "vm/api/ember.h"

namespace {

const EmberApi& Api() { return *ember_get_api(EMBER_API_VERSION); }

// The memory of this process and the libraries that are loaded in it, read from
// /proc/self/smaps.
struct Memory {
  Memory() {
    std::ifstream maps("/proc/self/smaps");
    for (std::string line; std::getline(maps, line);) {
      has_llvm |= line.find("libLLVM") != std::string::npos ||
                  line.find("libember_llvm") != std::string::npos;
      has_jit |= line.find("libember_jit") != std::string::npos;
      long long kilobytes = 0;
      if (std::sscanf(line.c_str(), "Size: %lld", &kilobytes) == 1)
        mapped += kilobytes;
      if (std::sscanf(line.c_str(), "Private_Dirty: %lld", &kilobytes) == 1)
        dirty += kilobytes;
    }
  }
  void Print(const char* when) const {
    std::printf("%s: %lld kB mapped, %lld kB dirty\n", when, mapped, dirty);
  }
  bool has_llvm = false;
  bool has_jit = false;
  long long mapped = 0;
  long long dirty = 0;
};

class WorkerMemoryTest : public testing::Test {
 protected:
  // Creates and runs new sessions until a kernel has run in one of them.
  static void RunUntilThereAreKernels(EmberCompileIn place) {
    EmberModule* module = nullptr;
    ASSERT_EQ(Api().module_load_file("vm/api/testdata/digits.vmfb", &module),
              EMBER_OK)
        << Api().error_message();
    EmberSessionOptions options = {};
    options.struct_size = sizeof(options);
    options.threads = 1;
    options.library_folder = "jit";
    options.profile = 1;
    options.tier = EMBER_TIER_AUTO;
    options.compile_in = place;
    EmberSession* session = nullptr;
    ASSERT_EQ(Api().session_create(module, &options, &session), EMBER_OK)
        << Api().error_message();
    const std::vector<float> image(2 * 28 * 28, 0.5f);
    const int64_t dims[4] = {2, 1, 28, 28};
    const EmberTensor tensor = {EMBER_F32, 4, dims, image.data(),
                                image.size() * sizeof(float)};
    ASSERT_EQ(Api().session_set_input(session, 0, &tensor), EMBER_OK);
    while (!HasKernelCalls(session)) {
      ASSERT_EQ(Api().session_run(session), EMBER_OK) << Api().error_message();
    }
    Api().session_release(session);
    Api().module_release(module);
  }

  static bool HasKernelCalls(EmberSession* session) {
    const int32_t rows = Api().session_profile(session);
    for (int32_t i = 0; i < rows; ++i) {
      EmberProfileRow row = {};
      row.struct_size = sizeof(row);
      EXPECT_EQ(Api().session_profile_row(session, i, &row), EMBER_OK);
      if (row.tier_calls[2] > 0) return true;
    }
    return false;
  }
};

TEST_F(WorkerMemoryTest, KernelsOfTheWorkerComeWithoutLlvm) {
  const Memory before;
  EXPECT_FALSE(before.has_llvm);
  RunUntilThereAreKernels(EMBER_COMPILE_IN_WORKER);
  const Memory by_worker;
  EXPECT_TRUE(by_worker.has_jit);
  EXPECT_FALSE(by_worker.has_llvm);
  // This shows that the test can find LLVM at all: it is in memory if this
  // process compiles kernels itself.
  RunUntilThereAreKernels(EMBER_COMPILE_IN_THREAD);
  const Memory by_thread;
  EXPECT_TRUE(by_thread.has_llvm);
  before.Print("before");
  by_worker.Print("kernels of the worker");
  by_thread.Print("kernels of a thread");
}

}  // namespace
