#include "vm/web/description.h"

#include <string_view>
#include <vector>

#include "base/concat.h"
#include "base/dtype.h"
#include "vm/runtime/program/result_shapes.h"

namespace ember::web {
namespace {

// Returns the text as a JSON string with its quotes.
std::string Quoted(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      result += Concat({"\\u00", std::string_view(kDigits + (byte >> 4), 1),
                        std::string_view(kDigits + (byte & 15), 1)});
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

// Joins JSON texts with commas, in square brackets.
class List {
 public:
  explicit List(std::string_view brackets) : brackets_(brackets) {}
  void Add(std::string_view item) {
    if (!text_.empty()) text_ += ',';
    text_ += item;
  }
  void Add(std::string_view key, std::string_view value) {
    Add(Concat({Quoted(key), ":", value}));
  }
  std::string Text() const {
    return Concat({brackets_.substr(0, 1), text_, brackets_.substr(1)});
  }

 private:
  std::string_view brackets_;
  std::string text_;
};

std::string NumberText(int64_t number) { return Concat({number}); }

std::string TensorText(const vm::TensorSignature& signature,
                       const std::vector<vm::ExtentValue>& extents) {
  List dims("[]");
  for (const vm::ExtentValue& extent : extents)
    dims.Add(extent.number >= 0 ? NumberText(extent.number)
                                : Quoted(extent.text));
  List result("{}");
  result.Add("name", Quoted(signature.name));
  result.Add("type", Quoted(DTypeName(signature.type)));
  result.Add("logical", Quoted(signature.logical_type));
  result.Add("dims", dims.Text());
  return result.Text();
}

// Returns the extents of an input's dims: numbers, or the names of symbols.
std::vector<vm::ExtentValue> ExtentsOf(const vm::Program& program,
                                       const vm::TensorSignature& signature) {
  std::vector<vm::ExtentValue> extents;
  for (const int64_t dim : signature.dims) {
    if (dim >= 0) {
      extents.push_back({.number = dim, .text = {}});
      continue;
    }
    const auto symbol = static_cast<size_t>(-1 - dim);
    extents.push_back({.number = -1,
                       .text = symbol < program.symbols.size()
                                   ? program.symbols[symbol]
                                   : "?"});
  }
  return extents;
}

std::string SiteText(const vm::SiteProfile& site) {
  List text("{}");
  text.Add("name", Quoted(site.dispatch));
  text.Add("nodes", Quoted(site.origin));
  text.Add("calls", NumberText(site.calls));
  text.Add("ns", NumberText(site.total_ns));
  text.Add("tier", NumberText(site.tier));
  text.Add("plan", Quoted(site.plan));
  return text.Text();
}

}  // namespace

std::string DescribeModule(const vm::Module& module) {
  const vm::ModuleDefinition& definition = module.definition();
  List inputs("[]"), results("[]"), metadata("{}"), natives("[]");
  for (const vm::TensorSignature& input : module.inputs())
    inputs.Add(TensorText(input, ExtentsOf(module.entry(), input)));
  const vm::ResultExtents extents = DescribeResults(module);
  for (size_t i = 0; i < extents.size(); ++i)
    results.Add(TensorText(module.results()[i], extents[i]));
  for (const vm::MetadataEntry& entry : definition.metadata)
    metadata.Add(entry.key, Quoted(entry.value));
  for (const vm::NativeSection& section : definition.natives)
    natives.Add(Quoted(section.target));
  List text("{}");
  text.Add("inputs", inputs.Text());
  text.Add("results", results.Text());
  text.Add("metadata", metadata.Text());
  text.Add("natives", natives.Text());
  text.Add("dispatches",
           NumberText(static_cast<int64_t>(module.group_count())));
  text.Add("constants", NumberText(module.constant_bytes()));
  return text.Text();
}

std::string DescribeSession(const vm::Session& session,
                            const vm::NativeReport& report) {
  List refused("[]"), sites("[]"), memory("{}"), text("{}");
  for (const std::string& line : report.refused) refused.Add(Quoted(line));
  for (const vm::SiteProfile& site : session.Profile())
    sites.Add(SiteText(site));
  const vm::SessionMemory used = session.memory();
  memory.Add("arena", NumberText(used.arena_bytes));
  memory.Add("pool", NumberText(used.pool_bytes));
  memory.Add("peak", NumberText(used.peak_bytes));
  text.Add("kernels", Quoted(report.Text()));
  text.Add("kernelCount", NumberText(report.kernels));
  text.Add("refused", refused.Text());
  text.Add("memory", memory.Text());
  text.Add("dispatches", sites.Text());
  return text.Text();
}

}  // namespace ember::web
