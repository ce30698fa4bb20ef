#include "jit/worker/background_thread.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "gtest/gtest.h"

namespace ember::jit {
namespace {

int Niceness() {
  return getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
}

TEST(BackgroundThread, PrioritiesAreBelowTheThreadsOwn) {
  const int own = Niceness();
  for (const int niceness : {0, 7, 100}) {
    int inside = -100;
    std::thread thread([&] {
      LowerPriority(niceness);
      inside = Niceness();
    });
    thread.join();
    EXPECT_EQ(inside, std::min(own + niceness, 19));
  }
  EXPECT_EQ(Niceness(), own);
}

}  // namespace
}  // namespace ember::jit
