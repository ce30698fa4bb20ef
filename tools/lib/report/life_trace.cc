#include "tools/lib/report/life_trace.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace ember::tools {
namespace {

constexpr double kMegabyte = 1e6;

class LifeTracer {
 public:
  LifeTracer(const SessionLife& life, const vm::Session& session,
             const vm::Tiering* tiering)
      : life_(life), session_(session), tiering_(tiering) {
    trace_.process = life.model;
  }

  ChromeTrace Make() {
    AddLoad();
    AddRuns();
    AddCalls();
    AddKernels();
    AddMemory();
    AddKernelCounters();
    return std::move(trace_);
  }

 private:
  size_t NewTrack(std::string name) {
    trace_.tracks.push_back(std::move(name));
    return trace_.tracks.size() - 1;
  }

  void AddLoad() {
    const size_t track = NewTrack("load");
    if (life_.load_end_ns == 0) return;
    trace_.slices.push_back({.name = life_.is_compiled_here
                                         ? "import and compile the model"
                                         : "load the module",
                             .begin_ns = life_.load_begin_ns,
                             .end_ns = life_.load_end_ns,
                             .track = track,
                             .details = {{"model", life_.model}}});
  }

  void AddRuns() {
    const size_t track = NewTrack("runs");
    for (size_t i = 0; i < life_.runs.size(); ++i) {
      const RunOfLife& run = life_.runs[i];
      trace_.slices.push_back({.name = "run " + std::to_string(i + 1),
                               .begin_ns = run.begin_ns,
                               .end_ns = run.end_ns,
                               .track = track,
                               .details = {{"inputs", life_.inputs}}});
    }
  }

  void AddCalls() {
    const std::vector<vm::SiteProfile> profile = session_.Profile();
    std::map<uint64_t, size_t> tracks;
    first_call_ = trace_.slices.size();
    for (const vm::TraceEvent& call : life_.calls) {
      const auto [track, is_new] = tracks.emplace(call.thread, 0);
      if (is_new) {
        track->second =
            NewTrack("dispatches, thread " + std::to_string(tracks.size()));
      }
      const vm::SiteProfile& site = profile[call.site];
      trace_.slices.push_back(
          {.name = std::string(session_.SiteName(call.site)),
           .begin_ns = call.begin_ns,
           .end_ns = call.end_ns,
           .track = track->second,
           .details = {{"nodes", std::string(site.origin)},
                       {"how (last call)", site.plan},
                       {"parameters (last call)", Joined(site.parameters)}}});
    }
  }

  static std::string Joined(const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values)
      text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
  }

  void AddKernels() {
    const std::vector<std::optional<size_t>> calls =
        FirstCalls(life_, session_, tiering_);
    std::map<uint64_t, size_t> tracks;
    for (size_t i = 0; i < life_.kernels.size(); ++i) {
      const MadeKernel& kernel = life_.kernels[i];
      const auto [track, is_new] = tracks.emplace(kernel.thread, 0);
      if (is_new) {
        const std::string number = std::to_string(tracks.size());
        track->second = NewTrack("compile, thread " + number);
        NewTrack((kernel.is_in_worker ? "compile worker, for thread "
                                      : "LLVM or driver, thread ") +
                 number);
      }
      const size_t slice = trace_.slices.size();
      AddKernel(kernel, track->second);
      if (calls[i])
        trace_.flows.push_back(
            {kernel.dispatch, slice, first_call_ + *calls[i]});
    }
  }

  void AddKernel(const MadeKernel& kernel, size_t track) {
    const double wait_ms =
        1e-6 * static_cast<double>(kernel.begin_ns - kernel.requested_ns);
    trace_.slices.push_back(
        {.name = kernel.dispatch + " tier " + std::to_string(kernel.tier),
         .begin_ns = kernel.begin_ns,
         .end_ns = kernel.end_ns,
         .track = track,
         .details = {{"origin", kernel.origin},
                     {"declined", kernel.declined},
                     {"waited ms", std::to_string(wait_ms)},
                     {"bytes of code", std::to_string(kernel.code_bytes)},
                     {"for parameters", Joined(kernel.parameters)}}});
    // The slice of a kernel has three parts, one after the other: making the
    // schedule and loop nest, making the code, and packing constants.
    const int64_t length = kernel.end_ns - kernel.begin_ns;
    const int64_t schedule =
        std::min<int64_t>(length, std::llround(1e6 * kernel.schedule_ms));
    const int64_t pack = std::min<int64_t>(length - schedule,
                                           std::llround(1e6 * kernel.pack_ms));
    const int64_t code_begin = kernel.begin_ns + schedule;
    const int64_t code_end = kernel.end_ns - pack;
    trace_.slices.push_back({.name = "schedule and loop nest",
                             .begin_ns = kernel.begin_ns,
                             .end_ns = code_begin,
                             .track = track,
                             .details = {}});
    if (kernel.optimize_ms + kernel.codegen_ms > 0) {
      trace_.slices.push_back(
          {.name = kernel.dispatch,
           .begin_ns = code_begin,
           .end_ns = code_end,
           .track = track + 1,
           .details = {
               {"passes ms", std::to_string(kernel.optimize_ms)},
               {"code generation ms", std::to_string(kernel.codegen_ms)}}});
    }
    if (pack > 0) {
      trace_.slices.push_back({.name = "pack constants",
                               .begin_ns = code_end,
                               .end_ns = kernel.end_ns,
                               .track = track,
                               .details = {}});
    }
  }

  void AddMemory() {
    for (const RunOfLife& run : life_.runs) {
      trace_.counters.push_back(
          {.name = "memory of the session, MB",
           .at_ns = run.end_ns,
           .values = {{"arena",
                       static_cast<double>(run.memory.arena_bytes) / kMegabyte},
                      {"pool", static_cast<double>(run.memory.pool_bytes) /
                                   kMegabyte}}});
    }
  }

  // Adds two counters: the number of finished kernels of each tier, and the
  // number of requests that wait for a compiling thread.
  void AddKernelCounters() {
    if (life_.kernels.empty()) return;
    std::vector<std::pair<int64_t, int>> ready, waiting;
    for (const MadeKernel& kernel : life_.kernels) {
      if (kernel.declined.empty())
        ready.emplace_back(kernel.end_ns, kernel.tier);
      waiting.emplace_back(kernel.requested_ns, 1);
      waiting.emplace_back(kernel.begin_ns, -1);
    }
    std::ranges::sort(ready);
    double tiers[2] = {0, 0};
    for (const auto& [at, tier] : ready) {
      ++tiers[tier >= 2 ? 1 : 0];
      trace_.counters.push_back(
          {.name = "kernels ready",
           .at_ns = at,
           .values = {{"tier 1", tiers[0]}, {"tier 2", tiers[1]}}});
    }
    // If a request and its begin have the same time, the request is counted
    // first, so that the counter never gets below 0.
    std::ranges::sort(waiting, [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    double count = 0;
    for (const auto& [at, change] : waiting) {
      count += change;
      trace_.counters.push_back({.name = "requests waiting for the compiler",
                                 .at_ns = at,
                                 .values = {{"requests", count}}});
    }
  }

  const SessionLife& life_;
  const vm::Session& session_;
  const vm::Tiering* const tiering_;
  ChromeTrace trace_;
  size_t first_call_ = 0;  // index in trace_.slices of the first call's slice
};

}  // namespace

ChromeTrace LifeTrace(const SessionLife& life, const vm::Session& session,
                      const vm::Tiering* tiering) {
  return LifeTracer(life, session, tiering).Make();
}

std::vector<std::optional<size_t>> FirstCalls(const SessionLife& life,
                                              const vm::Session& session,
                                              const vm::Tiering* tiering) {
  std::vector<std::optional<size_t>> found(life.kernels.size());
  if (tiering == nullptr) return found;
  // For each slot: the indices in life.calls, in order, of the calls of its
  // dispatch sites.
  std::map<const vm::KernelSlot*, std::vector<size_t>> calls;
  const std::span<const vm::DispatchSite> sites = session.module().sites();
  for (size_t i = 0; i < life.calls.size(); ++i) {
    const uint32_t group = sites[life.calls[i].site].group;
    calls[tiering->slot(group).get()].push_back(i);
  }
  for (size_t i = 0; i < life.kernels.size(); ++i) {
    const MadeKernel& kernel = life.kernels[i];
    if (!kernel.declined.empty()) continue;
    for (const size_t call : calls[kernel.slot]) {
      if (life.calls[call].begin_ns < kernel.end_ns) continue;
      found[i] = call;
      break;
    }
  }
  return found;
}

}  // namespace ember::tools
