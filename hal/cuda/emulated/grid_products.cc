// Implements the functions that kernels call for matrix products and loads of
// matrices.
#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/check.h"
#include "hal/cuda/emulated/grid_emulator.h"
#include "hal/cuda/emulated/warp_matrices.h"

namespace ember::hal::cuda {
namespace {

// Size of a matrix that ldmatrix loads: eight rows of kRowBytes bytes.
constexpr uint32_t kRowBytes = 16;
constexpr uint32_t kRowsOfMatrix = 8;
constexpr uint32_t kWarpGroupThreads = 128;

}  // namespace

void GridEmulator::Multiply(GridThread* seen, uint32_t packed,
                            const uint32_t* operands, uint32_t* result) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const uint32_t first = emulator.WholeWarpOf(number, "multiplies matrices");
  const WarpProduct product = WarpProduct::Unpack(packed);
  const size_t count = product.RegistersOfA() + product.RegistersOfB() +
                       product.RegistersOfSum();
  EMBER_CHECK(count <= kMaxOperands)
      << "a product of " << count << " registers";
  Thread& thread = emulator.threads_[number];
  const uint32_t parity = thread.synchronizations % 2;
  std::copy_n(operands, count, thread.brought[parity].operands.begin());
  emulator.SynchronizeWarp(number, UINT32_MAX);
  std::array<const WarpOperands*, kWarpThreads> all;
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
    all[lane] = &emulator.threads_[first + lane].brought[parity].operands;
  MultiplyLane(product, all, number - first, result);
  if (number == first) ++emulator.statistics_.products;
}

void GridEmulator::MultiplyWide(GridThread* seen, uint32_t packed,
                                uint32_t columns, uint32_t is_transposed,
                                uint64_t descriptor, const uint32_t* a,
                                const void* b, uint32_t* sums) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const uint32_t first = emulator.WholeWarpOf(number, "multiplies matrices");
  // The product is computed for each warp separately: on a GPU the four warps
  // of a warpgroup synchronise for it, but here each may reach it at its own
  // time.
  const uint32_t group = number - number % kWarpGroupThreads;
  emulator.CheckGroup(number, nullptr, b);
  const WarpProduct product = WarpProduct::Unpack(packed);
  Thread& thread = emulator.threads_[number];
  const uint32_t parity = thread.synchronizations % 2;
  std::copy_n(a, product.RegistersOfA(),
              thread.brought[parity].operands.begin());
  emulator.SynchronizeWarp(number, UINT32_MAX);
  std::array<const WarpOperands*, kWarpThreads> all;
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
    all[lane] = &emulator.threads_[first + lane].brought[parity].operands;
  const SharedMatrix matrix =
      emulator.MatrixAt(b, descriptor, is_transposed, product.b);
  emulator.BeginMatrix(number, matrix, product.depth, columns);
  MultiplyWideLane(product, columns, all, matrix, emulator.shared_,
                   number - first, sums);
  if (number == group) ++emulator.statistics_.products;
}

void GridEmulator::MultiplyShared(GridThread* seen, uint32_t packed,
                                  uint32_t columns, uint32_t is_a_transposed,
                                  uint64_t a_descriptor, const void* a,
                                  uint32_t is_transposed, uint64_t descriptor,
                                  const void* b, uint32_t* sums) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const uint32_t first = emulator.WholeWarpOf(number, "multiplies matrices");
  const uint32_t group = number - number % kWarpGroupThreads;
  emulator.CheckGroup(number, a, b);
  const WarpProduct product = WarpProduct::Unpack(packed);
  emulator.SynchronizeWarp(number, UINT32_MAX);
  const SharedMatrix rows =
      emulator.MatrixAt(a, a_descriptor, is_a_transposed, product.a);
  const SharedMatrix matrix =
      emulator.MatrixAt(b, descriptor, is_transposed, product.b);
  constexpr uint32_t kRowsOfGroup = 64, kRowsOfWarp = 16;
  emulator.BeginMatrix(number, rows, product.depth, kRowsOfGroup);
  emulator.BeginMatrix(number, matrix, product.depth, columns);
  MultiplySharedLane(product, columns, rows,
                     (first - group) / kWarpThreads * kRowsOfWarp, matrix,
                     emulator.shared_, number - first, sums);
  if (number == group) ++emulator.statistics_.products;
}

void GridEmulator::CheckGroup(uint32_t number, const void* a, const void* b) {
  const uint32_t group = number / kWarpGroupThreads;
  if ((group + 1) * kWarpGroupThreads > thread_count_)
    Fail(number, "multiplies matrices without a whole warpgroup");
  std::vector<WideFactors>& known = wide_products_[group];
  const size_t product = threads_[number].wide_products++;
  if (product == known.size()) known.push_back({a, b});
  if (known[product] != WideFactors{a, b})
    Fail(number, "multiplies other matrices than its warpgroup");
}

SharedMatrix GridEmulator::MatrixAt(const void* begin, uint64_t descriptor,
                                    uint32_t is_transposed, DType type) const {
  return {.begin = reinterpret_cast<uintptr_t>(begin) -
                   reinterpret_cast<uintptr_t>(shared_),
          .descriptor = descriptor,
          .is_transposed = is_transposed != 0,
          .element_bytes = static_cast<uint32_t>(DTypeByteSize(type))};
}

void GridEmulator::BeginMatrix(uint32_t number, const SharedMatrix& matrix,
                               uint32_t depth, uint32_t columns) {
  if (!matrix.IsSwizzled128())
    Fail(number, "multiplies a matrix that is not swizzled by 128 bytes");
  const uint32_t in_piece = kRowBytes / matrix.element_bytes;
  const uint32_t along = (matrix.is_transposed ? columns : depth) / in_piece;
  const uint32_t across = matrix.is_transposed ? depth : columns;
  for (uint32_t i = number % kWarpThreads; i < along * across;
       i += kWarpThreads) {
    const uint32_t row = i / along, first = i % along * in_piece;
    const HeldBytes held = {matrix.is_transposed
                                ? matrix.PositionOf(row, first)
                                : matrix.PositionOf(first, row),
                            kRowBytes};
    CheckShared(number, held.offset, held.bytes, AccessKind::kLoad);
    const auto other = unordered_.Find(number, held.offset, held.bytes);
    if (other) {
      Fail(number, Concat({"multiplies what thread ",
                           PositionText(PositionOf(*other, launch_.threads)),
                           " stored around byte ", held.offset,
                           " of shared memory, without its fence between"}));
    }
    races_.Hold(number, held.offset, held.bytes);
    threads_[number].held.push_back(held);
  }
}

void GridEmulator::CommitProducts(GridThread* seen) {
  Thread& thread = Of(seen).threads_[Of(seen).NumberOf(*seen)];
  thread.held_groups.push_back(std::exchange(thread.held, {}));
}

void GridEmulator::AwaitProducts(GridThread* seen, uint32_t groups) {
  GridEmulator& emulator = Of(seen);
  Thread& thread = emulator.threads_[emulator.NumberOf(*seen)];
  for (; thread.held_groups.size() > groups; thread.held_groups.pop_front()) {
    // The hardware may have read the operands until now, so the bytes are
    // released and checked for races only at the wait.
    for (const HeldBytes& held : thread.held_groups.front()) {
      emulator.races_.Release(held.offset, held.bytes);
      Access(seen, emulator.shared_ + held.offset, held.bytes, kLoadKind);
    }
  }
  // On a GPU all threads of a warp wait at once. Here they must synchronise,
  // because a thread may otherwise signal a barrier before another thread of
  // its warp has reached the wait.
  if (!emulator.copy_barriers_.Any()) return;
  const uint32_t number = emulator.NumberOf(*seen);
  const uint32_t first = emulator.WholeWarpOf(number, "waits for products");
  emulator.SynchronizeWarp(number, UINT32_MAX);
  if (number != first) return;
  std::array<uint32_t, kWarpThreads> warp;
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
    warp[lane] = first + lane;
  emulator.races_.Synchronize(warp);
}

void GridEmulator::OrderStores(GridThread* seen) {
  Of(seen).unordered_.Order(Of(seen).NumberOf(*seen));
}

void GridEmulator::LoadMatrices(GridThread* seen, uint32_t count,
                                uint32_t is_transposed, const void* row,
                                uint32_t* result) {
  GridEmulator& emulator = Of(seen);
  const uint32_t number = emulator.NumberOf(*seen);
  const uint32_t first = emulator.WholeWarpOf(number, "loads matrices");
  Thread& thread = emulator.threads_[number];
  const uint32_t parity = thread.synchronizations % 2;
  thread.brought[parity].row = static_cast<const uint8_t*>(row);
  if (number - first < 8 * count) emulator.CheckRow(*seen, number, row);
  emulator.SynchronizeWarp(number, UINT32_MAX);
  std::array<const uint8_t*, kWarpThreads> rows;
  for (uint32_t lane = 0; lane < kWarpThreads; ++lane)
    rows[lane] = emulator.threads_[first + lane].brought[parity].row;
  for (uint32_t i = 0; i < count; ++i)
    result[i] = LoadedRegister(rows, i, is_transposed != 0, number - first);
  if (number == first) emulator.CountPasses(rows, count);
}

void GridEmulator::CheckRow(const GridThread& thread, uint32_t number,
                            const void* row) {
  const auto address = reinterpret_cast<uintptr_t>(row);
  const auto shared = reinterpret_cast<uintptr_t>(shared_);
  if (address < shared || address >= shared + shared_bytes_)
    Fail(number, "loads a row of a matrix from outside of shared memory");
  if (address % kRowBytes != 0)
    Fail(number, "loads a row of a matrix that is not aligned to 16 bytes");
  CheckAccess(thread, address, kRowBytes, AccessKind::kLoad);
}

void GridEmulator::CountPasses(std::span<const uint8_t* const> rows,
                               uint32_t count) {
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

}  // namespace ember::hal::cuda
