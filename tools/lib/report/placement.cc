#include "tools/lib/report/placement.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "tools/lib/report/table.h"
#include "vm/isa/instruction_table.h"
#include "vm/isa/library_functions.h"

namespace ember::tools {
namespace {

// Returns a text for people that names an instruction, such as "dispatch
// @conv", "call top_k" or "load_integer".
std::string NameOf(const vm::ModuleDefinition& module,
                   const vm::ProgramInstruction& instruction) {
  const std::string text(vm::InfoOf(instruction.opcode).text);
  if (instruction.opcode == vm::ProgramOpcode::kDispatch)
    return text + " @" + module.dispatches[instruction.a].name;
  if (instruction.opcode == vm::ProgramOpcode::kLibraryCall) {
    return text + " " + std::string(vm::LibraryInfoOf(instruction.a).text);
  }
  return text;
}

// Returns the reason why a dispatch ran on the host although the session has a
// device.
std::string ReasonOf(const vm::HostWork& work, const vm::Tiering* tiering,
                     const vm::DispatchSite* site) {
  if (!work.reason.empty()) return work.reason;
  if (site == nullptr) return "the program runs it";
  if (tiering == nullptr) return "tier 0";
  std::string text;
  for (const std::string& reason :
       tiering->slot(site->group)->decline_reasons()) {
    if (text.find(reason) == std::string::npos)
      text += (text.empty() ? "" : "; ") + reason;
  }
  return text.empty() ? "no kernel yet" : text;
}

}  // namespace

std::string Placement::Text(const std::string& device) const {
  if (on_host == 0)
    return "all " + std::to_string(dispatches) + " dispatches ran on " + device;
  return std::to_string(on_host) + " of " + std::to_string(dispatches) +
         " dispatches ran on the CPU, not on " + device;
}

Placement PlacementOf(std::span<const vm::SiteProfile> sites) {
  Placement placement;
  for (const vm::SiteProfile& site : sites) {
    if (site.calls == 0) continue;
    ++placement.dispatches;
    placement.on_host += site.device_calls < site.calls;
    placement.calls += site.calls;
    placement.device_calls += site.device_calls;
  }
  return placement;
}

std::string PlacementText(const vm::Session& session,
                          const vm::Tiering* tiering,
                          const std::string& device) {
  const vm::DeviceReport report = session.device_report();
  const vm::Module& module = session.module();
  const double runs =
      static_cast<double>(std::max<int64_t>(report.work.runs, 1));
  std::map<std::pair<uint32_t, uint32_t>, const vm::DispatchSite*> sites;
  for (const vm::DispatchSite& site : module.sites())
    sites[{site.program, site.instruction}] = &site;
  Table table({"on the CPU", "program", "calls a run", "waits a run",
               "bytes copied a run", "why"});
  for (const vm::HostInstruction& host : report.host) {
    const vm::Program& program = module.definition().programs[host.program];
    const auto site = sites.find({host.program, host.instruction});
    const auto per_run = [&](int64_t count) {
      return Cell(static_cast<double>(count) / runs, 1);
    };
    table.AddRow(
        {NameOf(module.definition(), program.instructions[host.instruction]),
         program.name, per_run(host.work.calls), per_run(host.work.waits),
         per_run(host.work.copied_bytes),
         ReasonOf(host.work, tiering,
                  site == sites.end() ? nullptr : site->second)});
  }
  std::string text = PlacementOf(session.Profile()).Text(device) + ".\n";
  char line[256];
  std::snprintf(
      line, sizeof line,
      "A run is %.1f submissions of %.1f commands and %.1f barriers in all, of "
      "which %.1f commands were recorded anew; the CPU works %.3f ms before "
      "submissions.\n",
      static_cast<double>(report.work.submissions) / runs,
      static_cast<double>(report.work.commands) / runs,
      static_cast<double>(report.work.barriers) / runs,
      static_cast<double>(report.work.recorded) / runs,
      1e-6 * static_cast<double>(report.work.host_ns) / runs);
  text += line;
  if (!report.host.empty()) text += table.Print(TableFormat::kMarkdown);
  return text;
}

std::string DeviceMemoryText(const vm::Session& session,
                             const hal::MemoryStatistics& statistics,
                             const std::string& device) {
  int64_t constants = 0;
  for (const vm::Constant& constant : session.module().definition().constants)
    constants += static_cast<int64_t>(constant.data.size());
  const vm::SessionMemory memory = session.memory();
  const auto megabytes = [](int64_t bytes) {
    return 1e-6 * static_cast<double>(bytes);
  };
  char line[256];
  std::snprintf(line, sizeof line,
                "Buffers of %s took %.3f MB at most, %.3f of them where the "
                "host sees them; the plan: %.3f MB of arena, %.3f of pool, "
                "%.3f of constants.\n",
                device.c_str(), megabytes(statistics.peak_bytes),
                megabytes(statistics.peak_bytes - statistics.hidden_peak_bytes),
                megabytes(memory.arena_bytes), megabytes(memory.pool_bytes),
                megabytes(constants));
  return line;
}

}  // namespace ember::tools
