#include "vm/runtime/dispatch/side_by_side.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace ember::vm {
namespace {

constexpr size_t kMaxCalls = 8;  // largest number of calls in a batch of
                                 // concurrent calls
// Largest number of buffers of a call in a batch. It is limited because each
// buffer is compared with each buffer of the other calls.
constexpr size_t kMaxBuffers = 64;
// Number of measured runs after which a batch is decided: so many with its
// calls concurrently, and so many with its calls one after another. kFewSamples
// are enough if running the calls concurrently is clearly slower.
constexpr int64_t kSamples = 8;
constexpr int64_t kFewSamples = 2;
// Limits for the time of a batch whose calls run concurrently, as percentages
// of the time when they run one after another. Above kMuchSlower few samples
// decide; at most kFaster is a gain.
constexpr int64_t kMuchSlower = 110;
constexpr int64_t kFaster = 97;
// Largest number of runs in which a batch is tried. Without this limit, trials
// might never end if the batch's calls are no longer independent.
constexpr int64_t kMaxTries = 4 * kSamples;
// Trials may take at most one part in kTriedShare of a run's time.
constexpr int64_t kTriedShare = 10;

}  // namespace

void SideBySide::Samples::Add(int64_t ns) {
  best_ns = count == 0 ? ns : std::min(best_ns, ns);
  ++count;
}

SideBySide::SideBySide(ParallelRunner& runner, size_t site_count, Clock clock)
    : runner_(runner),
      clock_(clock),
      is_seen_(site_count),
      batch_of_site_(site_count, -1),
      kept_(kMaxCalls) {}

int SideBySide::batch_count() const {
  return static_cast<int>(
      std::ranges::count(batches_, Verdict::kTogether, &Batch::verdict));
}

void SideBySide::StartRun(bool is_settled) {
  if (state_ == State::kDecided) return;
  if (state_ == State::kWaits && is_settled) state_ = State::kSees;
  if (state_ == State::kTries) ChooseTries();
  run_begin_ns_ = clock_();
}

void SideBySide::EndRun() {
  EMBER_CHECK(kept_count_ == 0);
  if (state_ == State::kDecided) return;
  run_ns_ = clock_() - run_begin_ns_;
  if (state_ == State::kSees) {
    FormBatches();
    state_ = State::kTries;
  }
  if (state_ != State::kTries) return;
  // The number of batches is read in each iteration, because Decide may add
  // batches.
  bool is_open = false;
  for (size_t i = 0; i < batches_.size(); ++i) {
    Decide(batches_[i]);
    is_open |= batches_[i].verdict == Verdict::kOpen;
  }
  if (!is_open) state_ = State::kDecided;
}

Status SideBySide::Call(size_t site, const KernelCall& call,
                        const Kernel& kernel, std::span<const int64_t> bytes,
                        size_t input_count) {
  if (call.buffers.size() > kMaxBuffers) {
    EMBER_RETURN_IF_ERROR(Synchronize());
    return RunOnHost(kernel, call);
  }
  if (state_ == State::kSees) {
    if (is_seen_[site]) {
      ++synchronizations_;
    } else {
      is_seen_[site] = true;
      KeptCall& seen = seen_.emplace_back();
      Describe(site, call, kernel, bytes, input_count, seen);
      seen.synchronizations = synchronizations_;
    }
    return RunOnHost(kernel, call);
  }
  const int batch = batch_of_site_[site];
  if (batch >= 0) {
    return CallInBatch(batches_[static_cast<size_t>(batch)], site, call, kernel,
                       bytes, input_count);
  }
  EMBER_RETURN_IF_ERROR(Synchronize());
  return RunOnHost(kernel, call);
}

Status SideBySide::CallInBatch(Batch& batch, size_t site,
                               const KernelCall& call, const Kernel& kernel,
                               std::span<const int64_t> bytes,
                               size_t input_count) {
  const bool is_timed = batch.verdict == Verdict::kOpen;
  const bool follows = batch.calls > 0 && batch.calls < batch.sites.size() &&
                       batch.sites[batch.calls] == site &&
                       batch.synchronizations == synchronizations_;
  if (!follows) {
    EMBER_RETURN_IF_ERROR(Synchronize());
    batch.calls = 0;
    if (batch.sites.front() != site) return RunOnHost(kernel, call);
    batch.synchronizations = synchronizations_;
    if (is_timed) batch.begin_ns = clock_();
  }
  if (!batch.is_together) {
    EMBER_RETURN_IF_ERROR(RunOnHost(kernel, call));
    if (++batch.calls == batch.sites.size() && is_timed)
      batch.apart.Add(clock_() - batch.begin_ns);
    return OkStatus();
  }
  // The calls of a batch are neighbours. Calls that are kept when its first
  // call arrives belong to the previous batch, and are executed before.
  KeptCall& kept = kept_[kept_count_];
  Describe(site, call, kernel, bytes, input_count, kept);
  if (ConflictsWithKept(kept)) {
    EMBER_RETURN_IF_ERROR(RunKept());
    batch.calls = 0;
    return RunOnHost(kernel, call);
  }
  ++kept_count_;
  if (++batch.calls < batch.sites.size()) return OkStatus();
  EMBER_RETURN_IF_ERROR(RunKept());
  if (is_timed) batch.together.Add(clock_() - batch.begin_ns);
  return OkStatus();
}

void SideBySide::Describe(size_t site, const KernelCall& call,
                          const Kernel& kernel, std::span<const int64_t> bytes,
                          size_t input_count, KeptCall& kept) {
  kept.site = site;
  kept.kernel = &kernel;
  kept.parameters = call.parameters;
  kept.points = call.points;
  kept.budget = call.budget;
  // The status is initialised here, because a runner that was stopped skips the
  // call and then does not set its status.
  kept.status = OkStatus();
  kept.buffers.assign(call.buffers.begin(), call.buffers.end());
  kept.ranges.clear();
  for (size_t i = 0; i < call.buffers.size(); ++i) {
    const auto* const begin = static_cast<const uint8_t*>(call.buffers[i]);
    kept.ranges.push_back({begin, begin + bytes[i]});
  }
  kept.input_count = input_count;
}

bool SideBySide::Conflict(const KeptCall& a, const KeptCall& b) {
  for (size_t i = 0; i < a.ranges.size(); ++i) {
    for (size_t j = 0; j < b.ranges.size(); ++j) {
      if (i < a.input_count && j < b.input_count) continue;
      if (a.ranges[i].begin < b.ranges[j].end &&
          b.ranges[j].begin < a.ranges[i].end) {
        return true;
      }
    }
  }
  return false;
}

bool SideBySide::ConflictsWithKept(const KeptCall& call) const {
  return std::any_of(
      kept_.begin(), kept_.begin() + static_cast<ptrdiff_t>(kept_count_),
      [&](const KeptCall& other) { return Conflict(other, call); });
}

Status SideBySide::RunKept() {
  const size_t count = std::exchange(kept_count_, 0);
  if (count == 1) {
    const KeptCall& call = kept_[0];
    return RunOnHost(*call.kernel, {call.parameters, call.buffers, runner_,
                                    call.points, call.budget});
  }
  runner_.Run(static_cast<int64_t>(count), [&](int64_t chunk, int) {
    KeptCall& call = kept_[static_cast<size_t>(chunk)];
    SerialRunner alone(runner_.interrupt());
    call.status = RunOnHost(*call.kernel, {call.parameters, call.buffers, alone,
                                           call.points, call.budget});
  });
  for (size_t i = 0; i < count; ++i) {
    if (!kept_[i].status.ok()) return std::exchange(kept_[i].status, {});
  }
  return OkStatus();
}

void SideBySide::FormBatches() {
  std::vector<bool> is_taken(batch_of_site_.size());
  for (size_t first = 0; first < seen_.size();) {
    std::vector<size_t> sites;
    size_t end = first;
    for (; end < seen_.size() && sites.size() < kMaxCalls; ++end) {
      const KeptCall& call = seen_[end];
      const auto conflicts = [&](const KeptCall& other) {
        return other.site == call.site || Conflict(other, call);
      };
      if (is_taken[call.site] ||
          call.synchronizations != seen_[first].synchronizations ||
          std::any_of(seen_.begin() + static_cast<ptrdiff_t>(first),
                      seen_.begin() + static_cast<ptrdiff_t>(end), conflicts)) {
        break;
      }
      sites.push_back(call.site);
    }
    for (size_t site : sites) is_taken[site] = true;
    AddBatch(sites);
    first = std::max(end, first + 1);
  }
  seen_ = {};
}

void SideBySide::AddBatch(std::span<const size_t> sites) {
  if (sites.size() < 2) return;
  for (size_t site : sites)
    batch_of_site_[site] = static_cast<int>(batches_.size());
  Batch& batch = batches_.emplace_back();
  batch.sites.assign(sites.begin(), sites.end());
}

void SideBySide::ChooseTries() {
  for (Batch& batch : batches_) {
    batch.calls = 0;
    if (batch.verdict == Verdict::kOpen) batch.is_together = false;
  }
  int64_t left_ns = run_ns_ / kTriedShare;
  bool has_one = false;  // In each run at least one batch is tried, even if
                         // that takes a larger share of the run.
  for (size_t i = 0; i < batches_.size(); ++i) {
    Batch& batch = batches_[next_try_ % batches_.size()];
    const bool may_try =
        batch.verdict == Verdict::kOpen && batch.apart.count > 0;
    if (may_try && batch.apart.count > batch.together.count) {
      left_ns -= batch.apart.best_ns;
      if (left_ns < 0 && has_one) return;
      has_one = batch.is_together = true;
      ++batch.tries;
    }
    ++next_try_;
  }
}

void SideBySide::Decide(Batch& batch) {
  if (batch.verdict != Verdict::kOpen) return;
  const int64_t apart = batch.apart.best_ns;
  const int64_t together = batch.together.best_ns;
  const bool is_much_slower = batch.together.count >= kFewSamples &&
                              together * 100 > apart * kMuchSlower;
  const bool is_measured =
      std::min(batch.apart.count, batch.together.count) >= kSamples;
  if (is_measured && together * 100 < apart * kFaster) {
    batch.verdict = Verdict::kTogether;
    batch.is_together = true;
    return;
  }
  if (!is_measured && !is_much_slower && batch.tries < kMaxTries) return;
  batch.verdict = Verdict::kApart;
  batch.is_together = false;
  // The list is copied, because AddBatch may move the batches in memory.
  const std::vector<size_t> sites = batch.sites;
  for (size_t site : sites) batch_of_site_[site] = -1;
  const size_t workers = static_cast<size_t>(runner_.worker_count());
  if (sites.size() <= workers || workers < 2) return;
  for (size_t first = 0; first < sites.size(); first += workers) {
    AddBatch(std::span(sites).subspan(first,
                                      std::min(workers, sites.size() - first)));
  }
}

}  // namespace ember::vm
