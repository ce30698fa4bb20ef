#include "hal/cuda/emulated/grid.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/concat.h"
#include "hal/cuda/emulated/fiber.h"
#include "hal/cuda/emulated/grid_statistics.h"
#include "hal/cuda/emulated/shared_races.h"
#include "hal/cuda/emulated/unordered_stores.h"
#include "hal/cuda/emulated/warp_matrices.h"
#include "hal/cuda/emulated/warp_shuffles.h"

namespace ember::hal::cuda {
namespace {

constexpr size_t kSharedAlignment = 1024;
// Of a thread: kernels have their registers there, and arrays.
constexpr size_t kStackBytes = 256 << 10;
// Of matrices that warps load.
constexpr uint32_t kRowBytes = 16;
constexpr uint32_t kRowsOfMatrix = 8;
constexpr uint32_t kWarpGroupThreads = 128;

std::string PlaceText(const std::array<uint32_t, 3>& place) {
  return Concat({"(", place[0], ", ", place[1], ", ", place[2], ")"});
}

uint32_t Volume(const std::array<uint32_t, 3>& extents) {
  return extents[0] * extents[1] * extents[2];
}

std::array<uint32_t, 3> PlaceOf(uint32_t number,
                                const std::array<uint32_t, 3>& extents) {
  return {number % extents[0], number / extents[0] % extents[1],
          number / extents[0] / extents[1]};
}

// Stacks of this thread's grids, of which one runs at a time: they are used
// again.
std::deque<Fiber>& FibersOfThread() {
  static thread_local std::deque<Fiber> fibers;
  return fibers;
}

class Runner {
 public:
  Runner(const GridLaunch& launch, const FindMemory& memory,
         GridStatistics& statistics)
      : launch_(launch),
        memory_(memory),
        statistics_(statistics),
        thread_count_(Volume(launch.threads)),
        shared_bytes_(launch.kernel.shared_bytes + launch.shared_bytes),
        races_(shared_bytes_),
        unordered_(shared_bytes_, thread_count_) {
    shared_memory_.resize(shared_bytes_ + kSharedAlignment);
    void* begin = shared_memory_.data();
    size_t room = shared_memory_.size();
    shared_ = static_cast<uint8_t*>(
        std::align(kSharedAlignment, shared_bytes_, begin, room));
    threads_.resize(thread_count_);
    // Without meetings one stack serves one thread after another.
    const size_t stacks = launch.kernel.meets ? thread_count_ : 1;
    while (fibers_.size() < stacks) fibers_.emplace_back(kStackBytes);
  }

  std::string Run() {
    const uint32_t blocks = Volume(launch_.blocks);
    for (uint32_t block = 0; block < blocks && problem_.empty(); ++block) {
      block_ = PlaceOf(block, launch_.blocks);
      // What a block finds there is nothing to rely on.
      std::memset(shared_, 0xcd, shared_bytes_);
      races_.BeginBlock();
      unordered_.BeginBlock();
      wide_products_.clear();
      launch_.kernel.meets ? RunTogether() : RunOneByOne();
    }
    if (problem_.empty()) return "";
    return Concat({"kernel ", launch_.kernel.name, ", block ",
                   PlaceText(block_), ": ", problem_});
  }

 private:
  enum class State : uint8_t { kRuns, kAtBarrier, kWithWarp, kIsDone };
  struct AsyncCopy {
    uint8_t* to = nullptr;
    const uint8_t* from = nullptr;
    uint32_t bytes = 0;
    uint32_t read = 0;
  };
  struct HeldBytes {
    uint64_t offset = 0;  // in shared memory
    uint64_t bytes = 0;
  };
  using WideFactors = std::pair<const void*, const void*>;
  struct Thread {
    GridThread seen;
    State state = State::kRuns;
    // What this thread brings to a meeting of its warp, by turns, so that who
    // is ahead does not overwrite what others are still to read.
    struct Brought {
      uint32_t value = 0;            // shuffles
      WarpOperands operands = {};    // products
      const uint8_t* row = nullptr;  // loads of matrices
    };
    std::array<Brought, 2> brought = {};
    uint32_t meetings = 0;
    uint32_t mask = 0;
    // Copies that are not done yet: those since the last commit, and the groups
    // before that, the oldest first.
    std::vector<AsyncCopy> copies;
    std::deque<std::vector<AsyncCopy>> groups;
    // What products read that are not awaited, likewise.
    std::vector<HeldBytes> held;
    std::deque<std::vector<HeldBytes>> held_groups;
    size_t wide_products = 0;  // so far
  };

  static Runner& Of(GridThread* thread) {
    return *static_cast<Runner*>(thread->runner);
  }
  uint32_t NumberOf(const GridThread& thread) const {
    return thread.thread[0] +
           launch_.threads[0] *
               (thread.thread[1] + launch_.threads[1] * thread.thread[2]);
  }
  Fiber& FiberOf(uint32_t number) {
    return fibers_[launch_.kernel.meets ? number : 0];
  }

  void StartThread(uint32_t number) {
    Thread& thread = threads_[number];
    thread = {};
    thread.seen.thread = PlaceOf(number, launch_.threads);
    thread.seen.threads = launch_.threads;
    thread.seen.block = block_;
    thread.seen.blocks = launch_.blocks;
    thread.seen.shared = shared_;
    thread.seen.functions = &kFunctions;
    thread.seen.runner = this;
    FiberOf(number).Start([this, number] {
      launch_.kernel.function(&threads_[number].seen, launch_.arguments);
    });
  }

  void RunOneByOne() {
    for (uint32_t i = 0; i < thread_count_ && problem_.empty(); ++i) {
      StartThread(i);
      fibers_[0].Resume();
    }
  }

  void RunTogether() {
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
      if (!ReleaseWarps() && !ReleaseBarrier()) return;
    }
  }

  // All that are not at the barrier by now never will be.
  bool ReleaseBarrier() {
    for (uint32_t i = 0; i < thread_count_; ++i) {
      if (threads_[i].state == State::kAtBarrier) continue;
      problem_ =
          Concat({"threads wait at a barrier, expected all of them, but ",
                  PlaceText(threads_[i].seen.thread),
                  threads_[i].state == State::kIsDone ? " has ended"
                                                      : " waits for its warp"});
      return false;
    }
    for (Thread& thread : threads_) thread.state = State::kRuns;
    races_.Barrier();
    unordered_.MeetAll();
    return true;
  }

  // Of each warp whose shuffle has all of its threads.
  bool ReleaseWarps() {
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

  // --- what kernels call ---

  static void Barrier(GridThread* thread) {
    Runner& runner = Of(thread);
    const uint32_t number = runner.NumberOf(*thread);
    if (!runner.launch_.kernel.meets)
      return runner.Fail(number, "a barrier in a kernel that has none");
    runner.threads_[number].state = State::kAtBarrier;
    runner.FiberOf(number).Pause();
  }

  // Waits for the threads of the warp that the mask names.
  void MeetWarp(uint32_t number, uint32_t mask) {
    Thread& thread = threads_[number];
    ++thread.meetings;
    thread.mask = mask;
    thread.state = State::kWithWarp;
    FiberOf(number).Pause();
  }

  // Thread 0 of a whole warp, of which `number` is one; what: for a line.
  uint32_t WholeWarpOf(uint32_t number, const char* what) {
    const uint32_t first = number - number % kWarpThreads;
    if (!launch_.kernel.meets || first + kWarpThreads > thread_count_)
      Fail(number, Concat({what, " without a whole warp"}));
    return first;
  }

  static void Multiply(GridThread* seen, uint32_t packed,
                       const uint32_t* operands, uint32_t* result) {
    Runner& runner = Of(seen);
    const uint32_t number = runner.NumberOf(*seen);
    const uint32_t first = runner.WholeWarpOf(number, "multiplies matrices");
    const WarpProduct product = WarpProduct::Unpack(packed);
    const size_t count = product.RegistersOfA() + product.RegistersOfB() +
                         product.RegistersOfSum();
    EMBER_CHECK(count <= kMostOperands)
        << "a product of " << count << " registers";
    Thread& thread = runner.threads_[number];
    const uint32_t turn = thread.meetings % 2;
    std::copy_n(operands, count, thread.brought[turn].operands.begin());
    runner.MeetWarp(number, UINT32_MAX);
    std::array<const WarpOperands*, kWarpThreads> all;
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
      all[lane] = &runner.threads_[first + lane].brought[turn].operands;
    MultiplyLane(product, all, number - first, result);
    if (number == first) ++runner.statistics_.products;
  }

  static void MultiplyWide(GridThread* seen, uint32_t packed, uint32_t columns,
                           uint32_t is_transposed, uint64_t descriptor,
                           const uint32_t* a, const void* b, uint32_t* sums) {
    Runner& runner = Of(seen);
    const uint32_t number = runner.NumberOf(*seen);
    const uint32_t first = runner.WholeWarpOf(number, "multiplies matrices");
    // Warps of a group come together; here each may at its own time.
    const uint32_t group = number - number % kWarpGroupThreads;
    runner.CheckGroup(number, nullptr, b);
    const WarpProduct product = WarpProduct::Unpack(packed);
    Thread& thread = runner.threads_[number];
    const uint32_t turn = thread.meetings % 2;
    std::copy_n(a, product.RegistersOfA(),
                thread.brought[turn].operands.begin());
    runner.MeetWarp(number, UINT32_MAX);
    std::array<const WarpOperands*, kWarpThreads> all;
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
      all[lane] = &runner.threads_[first + lane].brought[turn].operands;
    const SharedMatrix matrix =
        runner.MatrixAt(b, descriptor, is_transposed, product.b);
    runner.BeginMatrix(*seen, number, matrix, product.depth, columns);
    MultiplyWideLane(product, columns, all, matrix, runner.shared_,
                     number - first, sums);
    if (number == group) ++runner.statistics_.products;
  }

  static void MultiplyShared(GridThread* seen, uint32_t packed,
                             uint32_t columns, uint32_t is_a_transposed,
                             uint64_t a_descriptor, const void* a,
                             uint32_t is_transposed, uint64_t descriptor,
                             const void* b, uint32_t* sums) {
    Runner& runner = Of(seen);
    const uint32_t number = runner.NumberOf(*seen);
    const uint32_t first = runner.WholeWarpOf(number, "multiplies matrices");
    const uint32_t group = number - number % kWarpGroupThreads;
    runner.CheckGroup(number, a, b);
    const WarpProduct product = WarpProduct::Unpack(packed);
    runner.MeetWarp(number, UINT32_MAX);
    const SharedMatrix rows =
        runner.MatrixAt(a, a_descriptor, is_a_transposed, product.a);
    const SharedMatrix matrix =
        runner.MatrixAt(b, descriptor, is_transposed, product.b);
    constexpr uint32_t kRowsOfGroup = 64, kRowsOfWarp = 16;
    runner.BeginMatrix(*seen, number, rows, product.depth, kRowsOfGroup);
    runner.BeginMatrix(*seen, number, matrix, product.depth, columns);
    MultiplySharedLane(product, columns, rows,
                       (first - group) / kWarpThreads * kRowsOfWarp, matrix,
                       runner.shared_, number - first, sums);
    if (number == group) ++runner.statistics_.products;
  }

  // The four warps multiply by the same matrices in shared memory. Whose thread
  // comes first to a product of its group says which.
  void CheckGroup(uint32_t number, const void* a, const void* b) {
    const uint32_t group = number / kWarpGroupThreads;
    if ((group + 1) * kWarpGroupThreads > thread_count_)
      Fail(number, "multiplies matrices without a whole warpgroup");
    std::vector<WideFactors>& known = wide_products_[group];
    const size_t product = threads_[number].wide_products++;
    if (product == known.size()) known.push_back({a, b});
    if (known[product] != WideFactors{a, b})
      Fail(number, "multiplies other matrices than its warpgroup");
  }

  SharedMatrix MatrixAt(const void* begin, uint64_t descriptor,
                        uint32_t is_transposed, DType type) const {
    return {.begin = reinterpret_cast<uintptr_t>(begin) -
                     reinterpret_cast<uintptr_t>(shared_),
            .descriptor = descriptor,
            .is_transposed = is_transposed != 0,
            .element_bytes = static_cast<uint32_t>(DTypeByteSize(type))};
  }

  // Each lane looks at some of the matrix' pieces of 16 bytes, which it holds
  // until they are awaited.
  void BeginMatrix(const GridThread& seen, uint32_t number,
                   const SharedMatrix& matrix, uint32_t depth,
                   uint32_t columns) {
    if (!matrix.IsSwizzled128())
      Fail(number, "multiplies a matrix that is not swizzled by 128 bytes");
    const uint32_t in_piece = kRowBytes / matrix.element_bytes;
    const uint32_t along = (matrix.is_transposed ? columns : depth) / in_piece;
    const uint32_t across = matrix.is_transposed ? depth : columns;
    for (uint32_t i = number % kWarpThreads; i < along * across;
         i += kWarpThreads) {
      const uint32_t row = i / along, first = i % along * in_piece;
      const HeldBytes held = {matrix.is_transposed ? matrix.PlaceOf(row, first)
                                                   : matrix.PlaceOf(first, row),
                              kRowBytes};
      CheckAccess(seen, reinterpret_cast<uintptr_t>(shared_) + held.offset,
                  held.bytes, AccessKind::kLoad);
      const auto other = unordered_.Find(number, held.offset, held.bytes);
      if (other) {
        Fail(number, Concat({"multiplies what thread ",
                             PlaceText(PlaceOf(*other, launch_.threads)),
                             " stored around byte ", held.offset,
                             " of shared memory, without its fence between"}));
      }
      races_.Hold(number, held.offset, held.bytes);
      threads_[number].held.push_back(held);
    }
  }

  static void CommitProducts(GridThread* seen) {
    Thread& thread = Of(seen).threads_[Of(seen).NumberOf(*seen)];
    thread.held_groups.push_back(std::exchange(thread.held, {}));
  }

  static void AwaitProducts(GridThread* seen, uint32_t groups) {
    Runner& runner = Of(seen);
    Thread& thread = runner.threads_[runner.NumberOf(*seen)];
    for (; thread.held_groups.size() > groups; thread.held_groups.pop_front()) {
      for (const HeldBytes& held : thread.held_groups.front())
        runner.races_.Release(held.offset, held.bytes);
    }
  }

  static void OrderStores(GridThread* seen) {
    Of(seen).unordered_.Order(Of(seen).NumberOf(*seen));
  }

  static void LoadMatrices(GridThread* seen, uint32_t count,
                           uint32_t is_transposed, const void* row,
                           uint32_t* result) {
    Runner& runner = Of(seen);
    const uint32_t number = runner.NumberOf(*seen);
    const uint32_t first = runner.WholeWarpOf(number, "loads matrices");
    Thread& thread = runner.threads_[number];
    const uint32_t turn = thread.meetings % 2;
    thread.brought[turn].row = static_cast<const uint8_t*>(row);
    if (number - first < 8 * count) runner.CheckRow(*seen, number, row);
    runner.MeetWarp(number, UINT32_MAX);
    std::array<const uint8_t*, kWarpThreads> rows;
    for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
      rows[lane] = runner.threads_[first + lane].brought[turn].row;
    for (uint32_t i = 0; i < count; ++i)
      result[i] = LoadedRegister(rows, i, is_transposed != 0, number - first);
    if (number == first) runner.CountPasses(rows, count);
  }

  void CheckRow(const GridThread& thread, uint32_t number, const void* row) {
    const auto address = reinterpret_cast<uintptr_t>(row);
    const auto shared = reinterpret_cast<uintptr_t>(shared_);
    if (address < shared || address >= shared + shared_bytes_)
      Fail(number, "loads a row of a matrix from outside of shared memory");
    if (address % kRowBytes != 0)
      Fail(number, "loads a row of a matrix that is not aligned to 16 bytes");
    CheckAccess(thread, address, kRowBytes, AccessKind::kLoad);
  }

  static void CopyAsync(GridThread* seen, uint32_t bytes, void* to,
                        const void* from, uint32_t read) {
    Runner& runner = Of(seen);
    const uint32_t number = runner.NumberOf(*seen);
    const AsyncCopy copy = {.to = static_cast<uint8_t*>(to),
                            .from = static_cast<const uint8_t*>(from),
                            .bytes = bytes,
                            .read = read};
    const bool is_aligned =
        reinterpret_cast<uintptr_t>(to) % bytes == 0 &&
        (read == 0 || reinterpret_cast<uintptr_t>(from) % bytes == 0);
    if (!is_aligned || read > bytes || copy.to < runner.shared_ ||
        copy.to >= runner.shared_ + runner.shared_bytes_) {
      runner.Fail(
          number,
          Concat({"begins a copy of ", bytes,
                  " bytes, expected one to shared memory and aligned"}));
    }
    if (read != 0) Access(seen, from, read, kLoadKind);
    Access(seen, to, bytes, kStoreKind);
    runner.threads_[number].copies.push_back(copy);
    ++runner.statistics_.async_copies;
  }

  static void Perform(const AsyncCopy& copy) {
    std::copy_n(copy.from, copy.read, copy.to);
    std::fill_n(copy.to + copy.read, copy.bytes - copy.read, uint8_t{0});
  }

  static void CommitCopies(GridThread* seen) {
    Thread& thread = Of(seen).threads_[Of(seen).NumberOf(*seen)];
    thread.groups.push_back(std::exchange(thread.copies, {}));
  }

  // The end of a copy counts as a store, too: a thread that reads the bytes
  // without a barrier behind it reads too early.
  static void AwaitCopies(GridThread* seen, uint32_t groups) {
    Thread& thread = Of(seen).threads_[Of(seen).NumberOf(*seen)];
    for (; thread.groups.size() > groups; thread.groups.pop_front()) {
      for (const AsyncCopy& copy : thread.groups.front()) {
        Access(seen, copy.to, copy.bytes, kStoreKind);
        Perform(copy);
      }
    }
  }

  // 16 bytes are four banks: eight rows in different fours are one pass.
  void CountPasses(std::span<const uint8_t* const> rows, uint32_t count) {
    for (uint32_t matrix = 0; matrix < count; ++matrix) {
      std::array<uint32_t, kRowsOfMatrix> used = {};
      uint32_t passes = 0;
      for (uint32_t i = 0; i < kRowsOfMatrix; ++i) {
        const auto offset =
            static_cast<uint64_t>(rows[kRowsOfMatrix * matrix + i] - shared_);
        passes = std::max(passes, ++used[offset / kRowBytes % kRowsOfMatrix]);
      }
      ++statistics_.matrix_loads;
      statistics_.matrix_passes += passes;
    }
  }

  static uint32_t Shuffle(GridThread* seen, uint32_t mode, uint32_t mask,
                          uint32_t value, uint32_t b, uint32_t c) {
    Runner& runner = Of(seen);
    const uint32_t number = runner.NumberOf(*seen);
    if (!runner.launch_.kernel.meets)
      runner.Fail(number, "a shuffle in a kernel that has none");
    Thread& thread = runner.threads_[number];
    const uint32_t turn = thread.meetings % 2;
    thread.brought[turn].value = value;
    runner.MeetWarp(number, mask);
    const uint32_t lane = number % kWarpThreads;
    const uint32_t from =
        LaneToShuffle(static_cast<ShuffleMode>(mode), lane, b, c);
    const uint32_t other = number - lane + from;
    if (other >= runner.thread_count_ || (mask >> from & 1) == 0)
      runner.Fail(number, Concat({"shuffles with lane ", from,
                                  ", which does not take part"}));
    return runner.threads_[other].brought[turn].value;
  }

  static void Access(GridThread* thread, const void* pointer, uint64_t bytes,
                     uint32_t kind) {
    Of(thread).CheckAccess(*thread, reinterpret_cast<uintptr_t>(pointer), bytes,
                           static_cast<AccessKind>(kind));
  }

  void CheckAccess(const GridThread& thread, uintptr_t address, uint64_t bytes,
                   AccessKind kind) {
    const uint32_t number = NumberOf(thread);
    const auto shared = reinterpret_cast<uintptr_t>(shared_);
    if (address >= shared && address < shared + shared_bytes_) {
      const uint64_t offset = address - shared;
      if (bytes > shared_bytes_ - offset) {
        return Fail(number, Concat({"expected an access within ", shared_bytes_,
                                    " bytes of shared memory, found ", bytes,
                                    " at ", offset}));
      }
      if (kind != AccessKind::kLoad) unordered_.Store(number, offset, bytes);
      const std::optional<uint32_t> other =
          races_.Access(number, offset, bytes, kind);
      if (!other) return;
      return Fail(number,
                  Concat({kind == AccessKind::kLoad ? "loads" : "stores",
                          " byte ", offset, " of shared memory, which thread ",
                          PlaceText(PlaceOf(*other, launch_.threads)),
                          " accesses, too, without a barrier between"}));
    }
    if (address >= last_.begin && address < last_.end &&
        bytes <= last_.end - address)
      return;
    if (FiberOf(number).Owns(address)) return;
    const MemoryRange range = memory_(address);
    if (range.begin <= address && address < range.end &&
        bytes <= range.end - address) {
      last_ = range;
      return;
    }
    Fail(number, Concat({kind == AccessKind::kLoad ? "loads " : "stores ",
                         bytes, " bytes outside of the device's memory"}));
  }

  // Leaves the kernel for good.
  void Fail(uint32_t number, const std::string& what) {
    problem_ = Concat(
        {"thread ", PlaceText(PlaceOf(number, launch_.threads)), " ", what});
    FiberOf(number).Pause();
    EMBER_CHECK(false) << "a thread that failed goes on";
  }

  static constexpr auto kLoadKind = static_cast<uint32_t>(AccessKind::kLoad);
  static constexpr auto kStoreKind = static_cast<uint32_t>(AccessKind::kStore);
  static constexpr GridFunctions kFunctions = {
      Barrier,        Shuffle,       Multiply,     MultiplyWide, MultiplyShared,
      CommitProducts, AwaitProducts, LoadMatrices, CopyAsync,    CommitCopies,
      AwaitCopies,    Access,        OrderStores};

  const GridLaunch& launch_;
  const FindMemory& memory_;
  GridStatistics& statistics_;
  const uint32_t thread_count_;
  const uint64_t shared_bytes_;
  SharedRaces races_;
  UnorderedStores unordered_;
  std::vector<uint8_t> shared_memory_;
  uint8_t* shared_ = nullptr;
  std::vector<Thread> threads_;
  // By warpgroup: the factors in shared memory of its products.
  std::map<uint32_t, std::vector<WideFactors>> wide_products_;
  std::deque<Fiber>& fibers_ = FibersOfThread();
  std::array<uint32_t, 3> block_ = {};
  MemoryRange last_;  // of the last access
  std::string problem_;
};

constexpr GridFunctions Runner::kFunctions;

}  // namespace

std::string RunGrid(const GridLaunch& launch, const FindMemory& memory,
                    GridStatistics* statistics) {
  GridStatistics own;
  std::string problem = Runner(launch, memory, own).Run();
  AddStatistics(own, statistics);
  return problem;
}

}  // namespace ember::hal::cuda
