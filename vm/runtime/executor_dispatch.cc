// How a session runs dispatches: plans, kernels, counters.
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/concat.h"
#include "vm/runtime/executor.h"

namespace ember::vm {
namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool Executor::HasPlan(const SiteState& site) const {
  if (site.entry == nullptr) return false;
  const int64_t* expected = site.entry->parameters.data();
  for (uint32_t i = 0; i < site.parameter_count; ++i) {
    if (integers_[site.operands[i]] != expected[i]) return false;
  }
  return true;
}

Status Executor::FindPlan(SiteState& site) {
  for (uint32_t i = 0; i < site.parameter_count; ++i) {
    parameters_[i] = integers_[site.operands[i]];
  }
  const std::span<const int64_t> parameters(parameters_.data(),
                                            site.parameter_count);
  EMBER_ASSIGN_OR_RETURN(
      site.entry,
      caches_[site.group]->Get(parameters, *pool_, options_.work_limit));
  return OkStatus();
}

Status Executor::RunSite(SiteState& site) {
  if (!HasPlan(site)) EMBER_RETURN_IF_ERROR(FindPlan(site));
  PlanEntry& entry = *site.entry;
  const uint32_t* registers = site.operands + site.parameter_count;
  const int64_t* required = entry.required_bytes.data();
  for (uint32_t i = 0; i < site.buffer_count; ++i) {
    const MemoryReference& memory = buffers_[registers[i]];
    if (memory.length < required[i]) return BufferTooSmall(site, i);
    pointers_[i] = memory.data;
  }
  ++site.calls;
  if (observed_) return RunObserved(site);
  return entry.plan->Run({pointers_.data(), site.buffer_count}, runner_);
}

Status Executor::BufferTooSmall(const SiteState& site, uint32_t buffer) const {
  const tensor::Dispatch& dispatch =
      module_->definition().dispatches[site.dispatch];
  const uint32_t reg = site.operands[site.parameter_count + buffer];
  return ErrorAt(site.instruction,
                 Concat({"dispatch @", dispatch.name, ": buffer '",
                         dispatch.buffers[buffer].name, "': expected at least ",
                         site.entry->required_bytes[buffer], " bytes, found ",
                         buffers_[reg].length}));
}

Status Executor::RunObserved(SiteState& site) {
  PlanEntry& entry = *site.entry;
  KernelSlot* slot = options_.tiering != nullptr
                         ? options_.tiering->slot(site.group).get()
                         : nullptr;
  if (slot != nullptr) {
    // Before the run, so that a provider which compiles at once serves it.
    RequestKernels(site);
    if (slot->kernels() != entry.seen) ChooseKernel(site);
  }
  const std::span<void* const> pointers(pointers_.data(), site.buffer_count);
  const int64_t begin = Now();
  Status status = entry.kernel != nullptr
                      ? entry.kernel->Run({entry.parameters, pointers, runner_})
                      : entry.plan->Run(pointers, runner_);
  const int64_t end = Now();
  site.total_ns += end - begin;
  site.last_tier = entry.kernel != nullptr ? entry.kernel->tier() : 0;
  ++entry.calls;
  if (slot != nullptr) {
    slot->Count(end - begin);
  }
  if (options_.trace) {
    if (thread_ == 0)
      thread_ = std::hash<std::thread::id>()(std::this_thread::get_id());
    trace_.push_back({site.number, begin, end, thread_});
  }
  return status;
}

void Executor::ChooseKernel(SiteState& site) {
  PlanEntry& entry = *site.entry;
  entry.seen = options_.tiering->slot(site.group)->kernels();
  entry.kernel = nullptr;
  for (const Kernel* kernel : entry.seen->list) {
    if (kernel->tier() > options_.tiering->options().max_tier) continue;
    if (!kernel->Accepts(entry.parameters)) continue;
    entry.kernel = kernel;
    return;
  }
}

void Executor::RequestKernels(const SiteState& site) {
  PlanEntry& entry = *site.entry;
  Tiering& tiering = *options_.tiering;
  const std::string_view target = options_.device->target();
  const Tiering::Options& options = tiering.options();
  if (entry.requested_tier < 2 && options.max_tier >= 2 &&
      entry.calls >= options.tier2_calls) {
    entry.requested_tier = 2;
    tiering.Request(site.group, 2, entry.parameters, target);
  } else if (entry.requested_tier < 1 &&
             tiering.slot(site.group)->calls() >= options.tier1_calls) {
    entry.requested_tier = 1;
    tiering.Request(site.group, 1, {}, target);
  }
}

std::vector<SiteProfile> Executor::Profile() const {
  const ModuleDefinition& definition = module_->definition();
  std::vector<SiteProfile> profile;
  for (const SiteState& site : sites_) {
    SiteProfile row;
    row.dispatch = definition.dispatches[site.dispatch].name;
    if (site.dispatch < definition.dispatch_origins.size()) {
      row.origin = definition.dispatch_origins[site.dispatch];
    }
    row.program = definition.programs[site.program].name;
    row.instruction = site.instruction;
    row.calls = site.calls;
    row.total_ns = site.total_ns;
    row.tier = site.last_tier;
    if (site.entry != nullptr) {
      const Kernel* kernel = site.entry->kernel;
      row.plan =
          kernel != nullptr ? kernel->Describe() : site.entry->plan->Describe();
    }
    profile.push_back(std::move(row));
  }
  return profile;
}

std::string_view Executor::SiteName(uint32_t site) const {
  if (site >= sites_.size()) return {};
  return module_->definition().dispatches[sites_[site].dispatch].name;
}

void Executor::ResetProfile() {
  for (SiteState& site : sites_) {
    site.calls = 0;
    site.total_ns = 0;
  }
  trace_.clear();
}

SessionMemory Executor::memory() const {
  SessionMemory memory;
  memory.arena_bytes = arena_->size();
  memory.pool_bytes = pool_->used_bytes() - memory.arena_bytes;
  memory.peak_bytes = pool_->peak_bytes();
  return memory;
}

}  // namespace ember::vm
