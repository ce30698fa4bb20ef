#include "hal/cpu/device.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "gtest/gtest.h"

namespace ember::hal {
namespace {

constexpr int64_t kLargePage = int64_t{2} << 20;

std::unique_ptr<Buffer> Allocate(Device& device, int64_t size) {
  StatusOr<std::unique_ptr<Buffer>> buffer =
      device.Allocate(size, MemoryKind::kHostVisible);
  EXPECT_TRUE(buffer.ok()) << buffer.status().ToString();
  return *std::move(buffer);
}

// Returns the number of bytes of the process's address space; -1 if the system
// does not report it.
int64_t MappedBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return -1;
  long long pages = -1;
  const int read = std::fscanf(file, "%lld", &pages);
  std::fclose(file);
  return read == 1 ? pages * sysconf(_SC_PAGESIZE) : -1;
}

TEST(CpuDeviceTest, BuffersAreZeroedAndWhole) {
  const std::shared_ptr<Device> device = *CreateCpuDevice({.threads = 1});
  for (const int64_t size :
       {int64_t{0}, int64_t{1}, int64_t{4096}, kLargePage / 8 * 7 - 12289,
        kLargePage / 8 * 7 - 12288, kLargePage - 12289, kLargePage - 12288,
        kLargePage - 12287, kLargePage, kLargePage + 1, 3 * kLargePage - 5,
        3 * kLargePage + 12345}) {
    for (int again = 0; again < 2; ++again) {
      const std::unique_ptr<Buffer> buffer = Allocate(*device, size);
      auto* const bytes = static_cast<uint8_t*>(buffer->host_data());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 64, 0u);
      EXPECT_EQ(std::count(bytes, bytes + size, 0), size);
      std::fill(bytes, bytes + size, uint8_t{255});
    }
  }
}

// A large buffer must begin soon after the start of a large page but not at it:
// mapped files begin there, and tensors at equal offsets of their pages may
// evict each other from a cache.
TEST(CpuDeviceTest, LargeBuffersBeginSoonAfterALargePage) {
  const std::shared_ptr<Device> device = *CreateCpuDevice({.threads = 1});
  for (const int64_t size :
       {kLargePage / 8 * 7, kLargePage, 5 * kLargePage + 777}) {
    const std::unique_ptr<Buffer> buffer = Allocate(*device, size);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->host_data()) % kLargePage,
              3u * 4096);
  }
}

TEST(CpuDeviceTest, AllOfABufferGoesBack) {
  const std::shared_ptr<Device> device = *CreateCpuDevice({.threads = 1});
  Allocate(*device, 3 * kLargePage + 5);
  const int64_t before = MappedBytes();
  for (int i = 0; i < 100; ++i) {
    Allocate(*device, 3 * kLargePage + 5);
    Allocate(*device, 3 * kLargePage - 5);
  }
  EXPECT_LE(MappedBytes() - before, 2 * kLargePage);
}

}  // namespace
}  // namespace ember::hal
