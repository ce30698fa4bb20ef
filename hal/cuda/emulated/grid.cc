#include "hal/cuda/emulated/grid.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "hal/cuda/emulated/grid_emulator.h"
#include "hal/cuda/emulated/grid_statistics.h"

namespace ember::hal::cuda {
namespace {

constexpr size_t kSharedAlignment = 1024;
// Number of bytes of a thread's stack, which holds a kernel's registers and
// arrays.
constexpr size_t kStackBytes = 256 << 10;

uint32_t Volume(const std::array<uint32_t, 3>& extents) {
  return extents[0] * extents[1] * extents[2];
}

}  // namespace

std::deque<Fiber>& FibersOfThread() {
  static thread_local std::deque<Fiber> fibers;
  return fibers;
}

GridEmulator::GridEmulator(const GridLaunch& launch, const FindMemory& memory,
                           GridStatistics& statistics)
    : launch_(launch),
      memory_(memory),
      statistics_(statistics),
      thread_count_(Volume(launch.threads)),
      shared_bytes_(launch.kernel.shared_bytes + launch.shared_bytes),
      races_(shared_bytes_, thread_count_),
      copy_barriers_(races_, shared_bytes_),
      unordered_(shared_bytes_, thread_count_) {
  shared_memory_.resize(shared_bytes_ + kSharedAlignment);
  void* begin = shared_memory_.data();
  size_t room = shared_memory_.size();
  shared_ = static_cast<uint8_t*>(
      std::align(kSharedAlignment, shared_bytes_, begin, room));
  threads_.resize(thread_count_);
  // Threads that synchronise must be able to pause, so each needs a stack. If a
  // kernel's threads never synchronise, they run one after another on a single
  // stack.
  const size_t stacks = launch.kernel.has_barriers ? thread_count_ : 1;
  while (fibers_.size() < stacks) fibers_.emplace_back(kStackBytes);
}

std::string GridEmulator::Run() {
  const uint32_t blocks = Volume(launch_.blocks);
  for (uint32_t block = 0; block < blocks && problem_.empty(); ++block) {
    block_ = PositionOf(block, launch_.blocks);
    // Shared memory is filled with arbitrary bytes, because no kernel may rely
    // on its initial contents.
    std::memset(shared_, 0xcd, shared_bytes_);
    races_.BeginBlock();
    copy_barriers_.BeginBlock();
    unordered_.BeginBlock();
    wide_products_.clear();
    launch_.kernel.has_barriers ? RunTogether() : RunOneByOne();
  }
  if (problem_.empty()) return "";
  return Concat({"kernel ", launch_.kernel.name, ", block ",
                 PositionText(block_), ": ", problem_});
}

void GridEmulator::StartThread(uint32_t number) {
  Thread& thread = threads_[number];
  thread = {};
  thread.seen.thread = PositionOf(number, launch_.threads);
  thread.seen.threads = launch_.threads;
  thread.seen.block = block_;
  thread.seen.blocks = launch_.blocks;
  thread.seen.shared = shared_;
  thread.seen.functions = &kFunctions;
  thread.seen.emulator = this;
  FiberOf(number).Start([this, number] {
    launch_.kernel.function(&threads_[number].seen, launch_.arguments);
  });
}

void GridEmulator::RunOneByOne() {
  for (uint32_t i = 0; i < thread_count_ && problem_.empty(); ++i) {
    StartThread(i);
    fibers_[0].Resume();
  }
}

void GridEmulator::RunTogether() {
  for (uint32_t i = 0; i < thread_count_; ++i) StartThread(i);
  while (problem_.empty()) {
    bool any_ran = false, all_are_done = true;
    for (uint32_t i = 0; i < thread_count_ && problem_.empty(); ++i) {
      Thread& thread = threads_[i];
      if (thread.state == State::kRuns) {
        any_ran = true;
        FiberOf(i).Resume();
        if (FiberOf(i).is_done()) thread.state = State::kIsDone;
      }
      all_are_done &= thread.state == State::kIsDone;
    }
    if (all_are_done || !problem_.empty()) return;
    if (any_ran) continue;
    if (!ReleaseWarps() && !ReleaseNumberedBarriers() && !ReleasePhases() &&
        !ReleaseBarrier()) {
      return;
    }
  }
}

bool GridEmulator::IsAtBarrierOfAll(const Thread& thread) const {
  return thread.state == State::kAtBarrier && thread.barrier_threads == 0;
}

std::string GridEmulator::WhatItDoes(const Thread& thread) const {
  switch (thread.state) {
    case State::kRuns:
      return " runs";
    case State::kAtBarrier:
      return Concat({" waits at barrier ", thread.barrier, " of ",
                     thread.barrier_threads, " threads"});
    case State::kWithWarp:
      return " waits for its warp";
    case State::kAwaitsPhase:
      return Concat({" waits for ", copy_barriers_.Lacks(thread.copy_barrier)});
    case State::kIsDone:
      return " has ended";
  }
  return "";
}

bool GridEmulator::ReleaseBarrier() {
  for (uint32_t i = 0; i < thread_count_; ++i) {
    if (IsAtBarrierOfAll(threads_[i])) continue;
    const bool any_is_there = std::ranges::any_of(
        threads_,
        [this](const Thread& thread) { return IsAtBarrierOfAll(thread); });
    // The message names a thread that is not at the barrier of all threads. If
    // no thread is at that barrier, threads that have ended are skipped, so
    // that it names one that waits.
    if (!any_is_there && threads_[i].state == State::kIsDone) continue;
    problem_ = Concat(
        {any_is_there ? "threads wait at a barrier, expected all of them, but "
                      : "no thread can continue: ",
         PositionText(threads_[i].seen.thread), WhatItDoes(threads_[i])});
    return false;
  }
  for (Thread& thread : threads_) thread.state = State::kRuns;
  races_.Barrier();
  unordered_.SynchronizeAll();
  return true;
}

bool GridEmulator::ReleaseNumberedBarriers() {
  std::map<uint32_t, std::vector<uint32_t>> waiting;
  for (uint32_t i = 0; i < thread_count_; ++i) {
    const Thread& thread = threads_[i];
    if (thread.state == State::kAtBarrier && thread.barrier_threads != 0)
      waiting[thread.barrier].push_back(i);
  }
  bool any = false;
  for (const auto& [barrier, threads] : waiting) {
    if (threads.size() < threads_[threads[0]].barrier_threads) continue;
    for (const uint32_t number : threads) {
      threads_[number].state = State::kRuns;
      unordered_.Synchronize(number);
    }
    races_.Synchronize(threads);
    any = true;
  }
  return any;
}

bool GridEmulator::ReleasePhases() {
  bool any = false;
  do {
    for (uint32_t i = 0; i < thread_count_; ++i) {
      Thread& thread = threads_[i];
      if (thread.state != State::kAwaitsPhase ||
          !copy_barriers_.IsOver(i, thread.copy_barrier, thread.parity)) {
        continue;
      }
      thread.state = State::kRuns;
      any = true;
    }
  } while (!any && copy_barriers_.EndPhases(shared_));
  return any;
}

bool GridEmulator::ReleaseWarps() {
  bool any = false;
  for (uint32_t first = 0; first < thread_count_; first += kWarpThreads) {
    const uint32_t count = std::min(kWarpThreads, thread_count_ - first);
    uint32_t there = 0;
    for (uint32_t lane = 0; lane < count; ++lane) {
      if (threads_[first + lane].state == State::kWithWarp)
        there |= uint32_t{1} << lane;
    }
    const uint32_t all =
        count == kWarpThreads ? UINT32_MAX : (uint32_t{1} << count) - 1;
    for (uint32_t lane = 0; lane < count; ++lane) {
      Thread& thread = threads_[first + lane];
      if ((there >> lane & 1) == 0) continue;
      if ((thread.mask & all & ~there) != 0) continue;
      thread.state = State::kRuns;
      any = true;
    }
  }
  return any;
}

std::string RunGrid(const GridLaunch& launch, const FindMemory& memory,
                    GridStatistics* statistics) {
  GridStatistics own;
  std::string problem = GridEmulator(launch, memory, own).Run();
  AddStatistics(own, statistics);
  return problem;
}

}  // namespace ember::hal::cuda
