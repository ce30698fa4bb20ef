#include "tools/lib/report/page/report_data.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shortened.h"
#include "tensor/text/text.h"
#include "tools/lib/cli/json.h"
#include "tools/lib/report/dispatch_measures.h"
#include "tools/lib/report/life_trace.h"
#include "tools/lib/report/module_graph.h"
#include "tools/lib/report/page/packed_text.h"

namespace ember::tools {
namespace {

using nlohmann::json;

// Largest length of a name, type or description in the tables. The full origin
// of a dispatch is shown with its texts.
constexpr size_t kMaxShown = 160;
// Largest length of the text of a schedule, loop nest or code.
constexpr size_t kMaxText = 60'000;

std::string Shown(std::string_view text) {
  return Shortened(std::string(text), kMaxShown);
}

// Returns the text, cut after the last whole line within kMaxText.
std::string Clipped(const std::string& text) {
  if (text.size() <= kMaxText) return text;
  const size_t end = std::min(text.rfind('\n', kMaxText), kMaxText);
  const auto left =
      std::count(text.begin() + static_cast<long>(end), text.end(), '\n');
  return text.substr(0, end) + "\n… " + std::to_string(left) +
         " more lines; vm-run --dump-kernels=DIR writes all of them\n";
}

// Prints JSON. Bytes that are not UTF-8 become U+FFFD.
std::string Dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Returns the number of bytes that the data takes in a page.
size_t BytesInPage(const json& data) { return ScriptJson(Dumped(data)).size(); }

// Removes a list of texts from the data, and the sites' references to it.
void RemoveTexts(json& data, const char* list, const char* reference) {
  if (!data.contains(list) || !data.contains("sites")) return;
  data[list] = json::array();
  for (json& site : data["sites"]) {
    if (site.is_object()) site.erase(reference);
  }
}

class DataMaker {
 public:
  explicit DataMaker(const ReportInput& input)
      : input_(input),
        module_(input.session.module()),
        profile_(input.session.Profile()) {
    for (const RunOfLife& run : input.life.runs)
      origin_ns_ = std::min(origin_ns_, run.begin_ns);
    if (input.life.load_end_ns != 0)
      origin_ns_ = std::min(origin_ns_, input.life.load_begin_ns);
  }

  json Make() {
    json data = {{"model", Shown(input_.life.model)},
                 {"inputs", input_.life.inputs},
                 {"tier", input_.tier},
                 {"device", input_.device},
                 {"threads", input_.threads},
                 {"kernels_text", input_.kernels_text},
                 {"load", Load()},
                 {"limits", Limits()}};
    AddKernels(data);
    AddSites(data);
    AddGraph(data);
    AddRuns(data);
    AddTexts(data);
    return data;
  }

 private:
  // Returns a time in microseconds since the beginning of the recorded life.
  double Time(int64_t ns) const {
    return 1e-3 * static_cast<double>(ns - origin_ns_);
  }

  json Load() const {
    const SessionLife& life = input_.life;
    if (life.load_end_ns == 0) return nullptr;
    return {{"begin", Time(life.load_begin_ns)},
            {"end", Time(life.load_end_ns)},
            {"compiled", life.is_compiled_here}};
  }

  json Limits() const {
    if (input_.limits == nullptr) return nullptr;
    json reads = json::array();
    for (const jit::MachineLimits::ReadRate& read : input_.limits->reads)
      reads.push_back({read.bytes, read.gigabytes_per_second});
    return {{"gflops", input_.limits->gflops},
            {"reads", std::move(reads)},
            {"text", input_.limits->Text()}};
  }

  void AddKernels(json& data) {
    const std::vector<std::optional<size_t>> calls =
        FirstCalls(input_.life, input_.session, input_.tiering);
    json rows = json::array();
    std::map<uint64_t, size_t> threads;
    for (size_t i = 0; i < input_.life.kernels.size(); ++i) {
      const MadeKernel& made = input_.life.kernels[i];
      const size_t thread =
          threads.emplace(made.thread, threads.size()).first->second;
      rows.push_back(
          {{"dispatch", Shown(made.dispatch)},
           {"tier", made.tier},
           {"parameters", made.parameters},
           {"requested", Time(made.requested_ns)},
           {"begin", Time(made.begin_ns)},
           {"end", Time(made.end_ns)},
           {"thread", thread},
           {"worker", made.is_in_worker},
           {"origin", made.origin},
           {"declined", Shown(made.declined)},
           {"ms",
            {made.schedule_ms, made.optimize_ms, made.codegen_ms,
             made.pack_ms}},
           {"bytes", made.code_bytes},
           {"first_call",
            calls[i] ? json(Time(input_.life.calls[*calls[i]].begin_ns))
                     : json(nullptr)}});
      MadeKernel const*& best = kernel_of_[made.slot];
      if (made.declined.empty() && (best == nullptr || made.tier >= best->tier))
        best = &made;
    }
    data["kernels"] = std::move(rows);
  }

  void AddSites(json& data) {
    // The measures do not include the warm-up runs, during which kernels were
    // still being made.
    measures_ = MeasureDispatches(input_.session, LaterCalls(), input_.tiering);
    std::map<size_t, double> first_ms;
    for (const vm::TraceEvent& call : input_.life.calls) {
      first_ms.emplace(call.site,
                       1e-6 * static_cast<double>(call.end_ns - call.begin_ns));
    }
    json rows = json::array();
    for (size_t i = 0; i < measures_.size(); ++i) {
      const DispatchMeasure& measure = measures_[i];
      const vm::SiteProfile& site = profile_[measure.site];
      row_of_site_[measure.site] = i;
      json row = {{"dispatch", Shown(site.dispatch)},
                  {"origin", Shown(site.origin)},
                  {"program", Shown(site.program)},
                  {"calls", measure.calls},
                  {"total", 1e3 * measure.total_ms},
                  {"median", 1e3 * measure.median_ms},
                  {"first", 1e3 * first_ms[measure.site]},
                  {"tier", measure.tier},
                  {"tiers", site.tier_calls},
                  {"operations", measure.work.operations},
                  {"bytes", measure.work.bytes},
                  {"computes", measure.work.text},
                  {"parameters", site.parameters},
                  {"plan", Shown(site.plan)}};
      if (input_.limits != nullptr) {
        const Roofline roof = RooflineOf(measure.work, *input_.limits);
        row["roof"] = 1e3 * roof.ms();
        row["bound"] = roof.compute_ms > roof.memory_ms ? "compute" : "memory";
      }
      rows.push_back(std::move(row));
    }
    data["sites"] = std::move(rows);
  }

  std::span<const vm::TraceEvent> LaterCalls() const {
    const std::span<const vm::TraceEvent> calls = input_.life.calls;
    const SessionLife& life = input_.life;
    if (life.runs.size() <= life.warm_up_runs) return calls;
    const int64_t begin_ns = life.runs[life.warm_up_runs].begin_ns;
    const auto later = std::ranges::lower_bound(calls, begin_ns, {},
                                                &vm::TraceEvent::begin_ns);
    return calls.subspan(static_cast<size_t>(later - calls.begin()));
  }

  void AddGraph(json& data) {
    const ModuleGraph graph = MakeModuleGraph(module_.definition());
    std::map<int64_t, size_t> row_of_instruction;
    const std::string& entry = module_.definition().programs.front().name;
    for (const auto& [site, row] : row_of_site_) {
      if (profile_[site].program == entry)
        row_of_instruction[profile_[site].instruction] = row;
    }
    json nodes = json::array(), edges = json::array(), arena = json::array();
    for (const GraphNode& node : graph.nodes) {
      static constexpr const char* kKinds[] = {"input", "dispatch", "call",
                                               "result"};
      json shown = {{"kind", kKinds[static_cast<int>(node.kind)]},
                    {"name", Shown(node.name)},
                    {"type", Shown(node.type)}};
      const auto row = row_of_instruction.find(node.instruction);
      if (node.kind == GraphNode::Kind::kDispatch) {
        // A node with a site needs no origin, because the site's row has it.
        if (row != row_of_instruction.end())
          shown["site"] = row->second;
        else
          shown["origin"] = Shown(node.origin);
      }
      nodes.push_back(std::move(shown));
    }
    // Several edges between two nodes are drawn as one line, so they become
    // one.
    std::map<std::pair<size_t, size_t>, std::string> merged;
    for (const GraphEdge& edge : graph.edges)
      merged.emplace(std::pair(edge.from, edge.to), edge.type);
    for (const auto& [ends, type] : merged)
      edges.push_back({ends.first, ends.second, Shown(type)});
    for (const ArenaRange& range : graph.arena) {
      arena.push_back(
          {range.first_node, range.last_node, range.begin, range.end});
    }
    data["nodes"] = std::move(nodes);
    data["edges"] = std::move(edges);
    data["arena"] = std::move(arena);
    data["arena_bytes"] = input_.session.memory().arena_bytes;
    int64_t constants = 0;
    for (const auto& constant : module_.definition().constants)
      constants += static_cast<int64_t>(constant.data.size());
    data["constant_bytes"] = constants;
  }

  // Adds the times of all runs, and the calls of the first and the last run.
  void AddRuns(json& data) {
    json runs = json::array(), calls = json::array();
    const std::vector<RunOfLife>& all = input_.life.runs;
    for (const RunOfLife& run : all) {
      runs.push_back({Time(run.begin_ns), Time(run.end_ns),
                      run.memory.arena_bytes, run.memory.pool_bytes,
                      run.memory.peak_bytes});
    }
    for (const vm::TraceEvent& call : input_.life.calls) {
      const auto row = row_of_site_.find(call.site);
      const bool is_shown = call.end_ns <= all.front().end_ns ||
                            call.begin_ns >= all.back().begin_ns;
      if (is_shown && row != row_of_site_.end())
        calls.push_back({row->second, Time(call.begin_ns), Time(call.end_ns)});
      if (calls.size() >= kMaxCalls) break;
    }
    data["runs"] = std::move(runs);
    data["warm_up_runs"] = input_.life.warm_up_runs;
    data["calls"] = std::move(calls);
  }

  // Adds the texts of dispatches, those of the slowest sites first, until the
  // data is as large as allowed. Sites of one group share their texts.
  void AddTexts(json& data) {
    std::vector<size_t> order;
    for (size_t i = 0; i < measures_.size(); ++i) order.push_back(i);
    std::ranges::stable_sort(order, [this](size_t a, size_t b) {
      return measures_[a].total_ms > measures_[b].total_ms;
    });
    json texts = json::array(), code = json::array();
    std::map<uint32_t, size_t> texts_of_group, code_of_group;
    const size_t used = BytesInPage(data);
    const size_t left = input_.max_bytes > used ? input_.max_bytes - used : 0;
    size_t texts_left = left / 2, code_left = left / 2;
    for (const size_t i : order) {
      const vm::DispatchSite& site = module_.sites()[measures_[i].site];
      json& row = data["sites"][i];
      if (!texts_of_group.contains(site.group)) {
        const MadeKernel* const kernel = KernelOf(site.group);
        AddPacked(Dumped(TextsOf(site, kernel)), site.group, texts,
                  texts_of_group, texts_left);
        if (kernel != nullptr && !kernel->code.empty()) {
          AddPacked(Dumped(json(Clipped(kernel->code))), site.group, code,
                    code_of_group, code_left);
        }
      }
      SetIndex(row, "text", texts_of_group, site.group);
      SetIndex(row, "code", code_of_group, site.group);
    }
    data["texts"] = std::move(texts);
    data["code"] = std::move(code);
  }

  static void SetIndex(json& row, const char* key,
                       const std::map<uint32_t, size_t>& indices,
                       uint32_t group) {
    const auto found = indices.find(group);
    if (found != indices.end()) row[key] = found->second;
  }

  static void AddPacked(const std::string& text, uint32_t group, json& list,
                        std::map<uint32_t, size_t>& indices, size_t& left) {
    std::string packed = PackedText(text);
    if (packed.size() > left) return;
    left -= packed.size();
    indices[group] = list.size();
    list.push_back(std::move(packed));
  }

  const MadeKernel* KernelOf(uint32_t group) const {
    if (input_.tiering == nullptr) return nullptr;
    const auto found = kernel_of_.find(input_.tiering->slot(group).get());
    return found == kernel_of_.end() ? nullptr : found->second;
  }

  json TextsOf(const vm::DispatchSite& site, const MadeKernel* kernel) const {
    const vm::ModuleDefinition& definition = module_.definition();
    json texts = {{"expression", Clipped(tensor::Print(
                                     definition.dispatches[site.dispatch]))}};
    if (site.dispatch < definition.dispatch_origins.size())
      texts["origin"] = Clipped(definition.dispatch_origins[site.dispatch]);
    if (kernel != nullptr) {
      texts["schedule"] = Clipped(kernel->schedule);
      texts["nest"] = Clipped(kernel->nest);
    } else if (input_.tiering != nullptr) {
      texts["reasons"] = input_.tiering->slot(site.group)->decline_reasons();
    }
    return texts;
  }

  // Largest number of calls that the timeline shows.
  static constexpr size_t kMaxCalls = 20'000;

  const ReportInput& input_;
  const vm::Module& module_;
  const std::vector<vm::SiteProfile> profile_;
  int64_t origin_ns_ = std::numeric_limits<int64_t>::max();
  std::vector<DispatchMeasure> measures_;
  // Maps each measured site to its row in the table "sites" of the page's data.
  std::map<size_t, size_t> row_of_site_;
  // The best kernel that was made for each slot; null if none was.
  std::map<const vm::KernelSlot*, const MadeKernel*> kernel_of_;
};

}  // namespace

json ReportData(const ReportInput& input) { return DataMaker(input).Make(); }

void LimitTexts(json& data, size_t max_bytes) {
  if (BytesInPage(data) > max_bytes) RemoveTexts(data, "code", "code");
  if (BytesInPage(data) > max_bytes) RemoveTexts(data, "texts", "text");
}

}  // namespace ember::tools
