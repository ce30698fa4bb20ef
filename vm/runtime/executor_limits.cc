// What keeps a run within its limits, and away from what other runs have left.
#include <algorithm>

#include "base/concat.h"
#include "vm/isa/library_functions.h"
#include "vm/runtime/dispatch_cost.h"
#include "vm/runtime/executor.h"
#include "vm/runtime/steady_clock.h"

namespace ember::vm {
namespace {

// INT64_MAX without a limit.
int64_t LimitOf(int64_t option, int64_t otherwise) {
  if (option < 0) return INT64_MAX;
  return option > 0 ? option : otherwise;
}

}  // namespace

void Executor::StartLimits() {
  work_left_ = LimitOf(options_.work_limit, kDefaultWorkLimit);
  steps_left_ = LimitOf(options_.step_limit, kDefaultStepLimit);
  int64_t deadline = 0;
  // Of what a double holds beyond int64 there is no deadline either.
  constexpr double kMostSeconds = 1e9;
  if (max_seconds_ > 0 && max_seconds_ < kMostSeconds)
    deadline = SteadyNanoseconds() + static_cast<int64_t>(max_seconds_ * 1e9);
  interrupt_.Start(deadline, max_seconds_);
  progress_.store(0, std::memory_order_relaxed);
  if (options_.begins_cancelled != nullptr && options_.begins_cancelled->load())
    interrupt_.Cancel();
  written_.Clear();
  has_gaps_ = false;
  // Until BindInputs knows better.
  tracks_writes_ = true;
}

Status Executor::StepError() const {
  if (interrupt_.ShouldStop()) return interrupt_.status();
  return ResourceExhaustedError(
      Concat({"program ", frame_->program->name, ": expected at most ",
              LimitOf(options_.step_limit, kDefaultStepLimit),
              " backward branches and calls (--max-steps), found more"}));
}

Status Executor::WorkError(const SiteState& site) const {
  return TooManyPoints(module_->definition().dispatches[site.dispatch],
                       site.entry->points, work_left_ + site.entry->points);
}

Status Executor::WorkError(std::string_view function) const {
  return ResourceExhaustedError(
      Concat({"call ", function, ": expected work of at most ",
              LimitOf(options_.work_limit, kDefaultWorkLimit),
              " points in the run (--max-work), found more"}));
}

Status Executor::CheckOverlaps(SiteState& site) {
  const int64_t* const bytes = site.entry->required_bytes.data();
  for (uint32_t output = site.input_count; output < site.buffer_count;
       ++output) {
    const auto* const begin = static_cast<const uint8_t*>(pointers_[output]);
    const uint8_t* const end = begin + bytes[output];
    for (uint32_t other = 0; other < output; ++other) {
      const auto* const data = static_cast<const uint8_t*>(pointers_[other]);
      if (data >= end || data + bytes[other] <= begin) continue;
      if (bytes[output] == 0 || bytes[other] == 0) continue;
      if (data == begin && MayShare(site, other, output)) continue;
      const tensor::Dispatch& dispatch =
          module_->definition().dispatches[site.dispatch];
      return ErrorAt(
          site.instruction,
          Concat({"dispatch @", dispatch.name, ": expected output '",
                  dispatch.buffers[output].name, "' apart from '",
                  dispatch.buffers[other].name, "', found shared memory"}));
    }
  }
  return OkStatus();
}

// Asked for what does share memory only, and once: sessions of modules with
// thousands of operands start at once, too.
bool Executor::MayShare(SiteState& site, uint32_t input,
                        uint32_t output) const {
  const std::pair<uint32_t, uint32_t> pair(input, output);
  if (std::ranges::find(site.shared, pair) != site.shared.end()) return true;
  if (input >= site.input_count ||
      !MayAlias(module_->definition().dispatches[site.dispatch],
                static_cast<int>(input), static_cast<int>(output))) {
    return false;
  }
  site.shared.push_back(pair);
  return true;
}

Status Executor::FillGaps(const MemoryReference& memory, int64_t bytes) {
  for (const std::span<uint8_t> gap : written_.TakeGaps(memory.data, bytes)) {
    has_gaps_ = true;
    HostWork uncounted;
    const HostAccess access = {
        {gap.data(), static_cast<int64_t>(gap.size()), memory.block}, true};
    if (device_ != nullptr)
      EMBER_RETURN_IF_ERROR(device_->BeginHost({&access, 1}, false, uncounted));
    std::ranges::fill(gap, uint8_t{0});
    if (device_ != nullptr)
      EMBER_RETURN_IF_ERROR(device_->EndHost({&access, 1}, uncounted));
  }
  return OkStatus();
}

Status Executor::TrackSite(const SiteState& site) {
  const PlanEntry& entry = *site.entry;
  const uint32_t* const registers = site.operands + site.parameter_count;
  for (uint32_t i = 0; i < site.buffer_count; ++i) {
    const MemoryReference& memory = buffers_[registers[i]];
    if (!entry.overwrites[i])
      EMBER_RETURN_IF_ERROR(BeforeRead(memory, entry.required_bytes[i]));
  }
  for (uint32_t i = site.input_count; i < site.buffer_count; ++i)
    AfterWrite(buffers_[registers[i]], entry.required_bytes[i]);
  return OkStatus();
}

// Where nothing but dims decides which instructions run, on which memory.
bool Executor::IsRepeatable() const {
  for (const Program& program : module_->definition().programs) {
    for (const ProgramInstruction& in : program.instructions) {
      if (in.opcode == ProgramOpcode::kBranchIf ||
          in.opcode == ProgramOpcode::kLoadInteger) {
        return false;
      }
      if (in.opcode == ProgramOpcode::kLibraryCall &&
          LibraryInfoOf(in.a).operands.find('I') != std::string_view::npos) {
        return false;
      }
    }
  }
  return true;
}

void Executor::EndTracking(bool ok) {
  if (!ok || !tracks_writes_ || has_gaps_ || !is_repeatable_) return;
  is_tidy_ = true;
  tidy_dims_ = input_dims_;
}

}  // namespace ember::vm
