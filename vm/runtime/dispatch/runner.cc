#include "vm/runtime/dispatch/runner.h"

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "base/concat.h"
#include "vm/isa/limits.h"
#include "vm/runtime/integer_instructions.h"

namespace ember::vm {

DispatchRunner::DispatchRunner(const DispatchContext& context)
    : context_(context),
      is_profiled_(context.options.profile || context.options.trace) {
  caches_.resize(context.module.group_count());
  size_t most_parameters = 0;
  size_t most_buffers = 0;
  for (const DispatchSite& site : context.module.sites()) {
    const Program& program = context.module.definition().programs[site.program];
    const ProgramInstruction& in = program.instructions[site.instruction];
    SiteState state;
    state.program = site.program;
    state.instruction = site.instruction;
    state.group = site.group;
    state.dispatch = site.dispatch;
    const tensor::Dispatch& dispatch = DispatchOf(state);
    state.operands = program.operands.data() + in.b;
    state.parameter_count = static_cast<uint32_t>(dispatch.parameters.size());
    state.buffer_count = in.c - state.parameter_count;
    state.input_count = dispatch.input_count();
    state.number = static_cast<uint32_t>(sites_.size());
    most_parameters = std::max<size_t>(most_parameters, state.parameter_count);
    most_buffers = std::max<size_t>(most_buffers, state.buffer_count);
    sites_.push_back(std::move(state));
    if (caches_[site.group] != nullptr) continue;
    Plan::Options plan_options;
    plan_options.budget = context.memory.pool().get();
    plan_options.allocator = context.options.allocator;
    for (const ConstantSource& source : site.inputs)
      plan_options.constant_inputs.push_back(source.constant >= 0);
    caches_[site.group] = std::make_unique<PlanCache>(
        dispatch, *context.options.interpreter, std::move(plan_options),
        std::max(1, context.options.plans_per_site));
  }
  parameters_.resize(most_parameters);
  pointers_.resize(most_buffers);
}

DispatchRunner::~DispatchRunner() = default;

Status DispatchRunner::ErrorAt(const SiteState& site,
                               std::string_view message) const {
  return InstructionError(context_.module.definition().programs[site.program],
                          site.instruction, message);
}

bool DispatchRunner::HasPlan(const SiteState& site, const int64_t* integers) {
  if (site.entry == nullptr) return false;
  const int64_t* expected = site.entry->parameters.data();
  for (uint32_t i = 0; i < site.parameter_count; ++i) {
    if (integers[site.operands[i]] != expected[i]) return false;
  }
  return true;
}

Status DispatchRunner::FindPlan(SiteState& site, const int64_t* integers) {
  for (uint32_t i = 0; i < site.parameter_count; ++i)
    parameters_[i] = integers[site.operands[i]];
  const std::span<const int64_t> parameters(parameters_.data(),
                                            site.parameter_count);
  const bool has_kernels =
      site.slot != nullptr && site.slot->kernels() != nullptr;
  EMBER_ASSIGN_OR_RETURN(
      site.entry,
      CacheOf(site).Get(parameters, context_.limits.work_left(), !has_kernels));
  return OkStatus();
}

Status DispatchRunner::Run(uint32_t number, const int64_t* integers,
                           const MemoryReference* buffers) {
  SiteState& site = sites_[number];
  const Interrupt& interrupt = *context_.runner.interrupt();
  if (interrupt.ShouldStop()) return interrupt.status();
  if (!HasPlan(site, integers)) {
    // Calls that were kept for later (side_by_side.h) are executed before a
    // plan is replaced, because one of them may refer to its parameters.
    if (keeps_calls_) EMBER_RETURN_IF_ERROR(Synchronize());
    EMBER_RETURN_IF_ERROR(FindPlan(site, integers));
  }
  const PlanEntry& entry = *site.entry;
  const uint32_t* registers = site.operands + site.parameter_count;
  const int64_t* required = entry.required_bytes.data();
  for (uint32_t i = 0; i < site.buffer_count; ++i) {
    const MemoryReference& memory = buffers[registers[i]];
    if (memory.length < required[i])
      return BufferTooSmall(site, i, memory.length);
    pointers_[i] = memory.data;
  }
  EMBER_RETURN_IF_ERROR(CheckOverlaps(site));
  if (!context_.limits.TakeWork(entry.points))
    return context_.limits.WorkError(DispatchOf(site), entry.points);
  if (context_.memory.is_tracking())
    EMBER_RETURN_IF_ERROR(TrackWrites(site, buffers));
  ++site.calls;
  return RunCall(site, buffers);
}

Status DispatchRunner::RunCall(SiteState& site,
                               const MemoryReference* buffers) {
  if (!is_profiled_) return RunPlan(site);
  const int64_t begin = context_.options.clock();
  Status status = RunPlan(site);
  NoteCall(site, 0, begin, context_.options.clock());
  return status;
}

Status DispatchRunner::RunPlan(SiteState& site) {
  PlanEntry& entry = *site.entry;
  // A plan is missing if a kernel has run all calls with these parameters, or
  // if the entry had settled on a kernel. Tier 0 runs now because the kernel
  // was withdrawn or is not used any more.
  if (entry.plan == nullptr)
    EMBER_RETURN_IF_ERROR(CacheOf(site).Restore(entry));
  return entry.plan->Run(PointersOf(site), context_.runner);
}

Status DispatchRunner::BufferTooSmall(const SiteState& site, uint32_t buffer,
                                      int64_t found) const {
  const tensor::Dispatch& dispatch = DispatchOf(site);
  return ErrorAt(
      site,
      Concat({"dispatch @", dispatch.name, ": buffer '",
              dispatch.buffers[buffer].name, "': expected at least ",
              site.entry->required_bytes[buffer], " bytes, found ", found}));
}

Status DispatchRunner::CheckOverlaps(SiteState& site) const {
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
      const tensor::Dispatch& dispatch = DispatchOf(site);
      return ErrorAt(
          site,
          Concat({"dispatch @", dispatch.name, ": expected output '",
                  dispatch.buffers[output].name, "' apart from '",
                  dispatch.buffers[other].name, "', found shared memory"}));
    }
  }
  return OkStatus();
}

// True if the input may share memory with the output. The function is called
// only for operands that do share memory, and once per pair, because a session
// of a module with thousands of operands must start quickly, too.
bool DispatchRunner::MayShare(SiteState& site, uint32_t input,
                              uint32_t output) const {
  const std::pair<uint32_t, uint32_t> pair(input, output);
  if (std::ranges::find(site.shared, pair) != site.shared.end()) return true;
  if (input >= site.input_count ||
      !MayAlias(DispatchOf(site), static_cast<int>(input),
                static_cast<int>(output))) {
    return false;
  }
  site.shared.push_back(pair);
  return true;
}

Status DispatchRunner::TrackWrites(const SiteState& site,
                                   const MemoryReference* buffers) {
  const PlanEntry& entry = *site.entry;
  const uint32_t* const registers = site.operands + site.parameter_count;
  RunMemory& memory = context_.memory;
  for (uint32_t i = 0; i < site.buffer_count; ++i) {
    if (entry.overwrites[i]) continue;
    EMBER_RETURN_IF_ERROR(
        memory.BeforeRead(buffers[registers[i]], entry.required_bytes[i]));
  }
  for (uint32_t i = site.input_count; i < site.buffer_count; ++i)
    memory.AfterWrite(buffers[registers[i]], entry.required_bytes[i]);
  return OkStatus();
}

// --- counters and times of calls

void DispatchRunner::NoteCall(SiteState& site, int tier, int64_t begin,
                              int64_t end) {
  site.total_ns += end - begin;
  if (context_.options.profile) CountShape(site, end - begin);
  site.last_tier = tier;
  ++site.entry->calls;
  if (context_.options.trace) Trace(site, begin, end);
}

void DispatchRunner::Trace(const SiteState& site, int64_t begin, int64_t end) {
  if (thread_ == 0)
    thread_ = std::hash<std::thread::id>()(std::this_thread::get_id());
  trace_.push_back({site.number, begin, end, thread_});
}

void DispatchRunner::CountShape(SiteState& site, int64_t ns) const {
  const std::vector<int64_t>& parameters = site.entry->parameters;
  auto shape = std::ranges::find(site.shapes, parameters,
                                 &DispatchProfile::Shape::parameters);
  if (shape == site.shapes.end()) {
    // No more than kMaxProfileShapes shapes are recorded: if a model has so
    // many shapes, none of them is worth a kernel of its own.
    if (site.shapes.size() >= kMaxProfileShapes) return;
    shape = site.shapes.insert(shape, {parameters, 0, 0});
  }
  ++shape->calls;
  shape->ns += ns;
}

std::vector<SiteProfile> DispatchRunner::Profile() const {
  const ModuleDefinition& definition = context_.module.definition();
  std::vector<SiteProfile> profile;
  for (const SiteState& site : sites_) {
    SiteProfile row;
    row.dispatch = DispatchOf(site).name;
    if (site.dispatch < definition.dispatch_origins.size())
      row.origin = definition.dispatch_origins[site.dispatch];
    row.program = definition.programs[site.program].name;
    row.instruction = site.instruction;
    row.calls = site.calls;
    row.total_ns = site.total_ns;
    row.tier = site.last_tier;
    row.tier_calls[1] = site.kernel_calls[0];
    row.tier_calls[2] = site.kernel_calls[1];
    row.device_calls = site.device_calls;
    row.shapes = site.shapes;
    row.tier_calls[0] = site.calls - row.tier_calls[1] - row.tier_calls[2];
    if (site.entry != nullptr) {
      row.parameters = site.entry->parameters;
      const PlanEntry& entry = *site.entry;
      if (entry.kernel != nullptr) {
        row.plan = entry.kernel->Describe();
      } else if (entry.plan != nullptr) {
        row.plan = entry.plan->Describe();
      }
    }
    profile.push_back(std::move(row));
  }
  return profile;
}

std::string_view DispatchRunner::SiteName(uint32_t site) const {
  return site < sites_.size() ? std::string_view(DispatchOf(sites_[site]).name)
                              : std::string_view();
}

void DispatchRunner::ResetProfile() {
  for (SiteState& site : sites_) {
    site.calls = 0;
    site.kernel_calls[0] = site.kernel_calls[1] = 0;
    site.device_calls = 0;
    site.total_ns = 0;
    site.shapes.clear();
  }
  trace_.clear();
}

}  // namespace ember::vm
