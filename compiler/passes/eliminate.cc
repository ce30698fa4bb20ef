#include "compiler/passes/eliminate.h"

#include <cstring>
#include <set>
#include <span>
#include <string>
#include <unordered_map>

#include "base/hash.h"
#include "compiler/graph/builder/broadcasting.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/operators/symbols.h"

namespace ember::compiler {
namespace {

using graph::Attribute;
using graph::ConstantData;
using graph::Dim;
using graph::Graph;
using graph::Operation;

// Returns equal hashes for equal bytes. Large constants are sampled: weights of
// hundreds of megabytes are rarely equal, and SameConstants compares all bytes
// before a merge.
uint64_t SampleHash(std::span<const uint8_t> bytes) {
  constexpr size_t kBlock = 256, kBlocks = 64;
  if (bytes.size() <= kBlock * kBlocks) return HashBytes(bytes);
  uint64_t hash = 0;
  for (size_t i = 0; i < kBlocks; ++i) {
    const size_t offset = (bytes.size() - kBlock) / (kBlocks - 1) * i;
    hash = HashCombine(hash, HashBytes(bytes.subspan(offset, kBlock)));
  }
  return hash;
}

// Returns a text that is equal for operations that compute the same. For a
// constant it contains a hash of the bytes; SameConstants compares all bytes.
std::string KeyOf(const Operation& operation) {
  std::string key(operation.name());
  for (const graph::Value* operand : operation.operands()) {
    key += '|';
    key += std::to_string(reinterpret_cast<uintptr_t>(operand));
  }
  for (const auto& [name, attribute] : operation.attributes().entries()) {
    key += ';' + name + '=';
    struct Visitor {
      std::string& key;
      void operator()(int64_t value) const { key += std::to_string(value); }
      void operator()(double value) const {
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        key.append(bytes, sizeof value);
      }
      void operator()(const std::string& value) const { key += value; }
      void operator()(DType value) const { key += DTypeName(value); }
      void operator()(const std::vector<int64_t>& values) const {
        for (int64_t value : values) key += std::to_string(value) + ',';
      }
      void operator()(const graph::Shape& shape) const {
        key += graph::ShapeToString(shape);
      }
      void operator()(const ConstantData& data) const {
        key += std::to_string(data.bytes.size()) + ':' +
               std::to_string(SampleHash(data.bytes));
      }
    };
    std::visit(Visitor{key}, attribute);
  }
  return key;
}

bool SameConstants(const Operation& a, const Operation& b) {
  for (const auto& [name, attribute] : a.attributes().entries()) {
    const auto* mine = std::get_if<ConstantData>(&attribute);
    if (mine == nullptr) continue;
    const auto& theirs = b.attributes().Get<ConstantData>(name);
    if (mine->bytes.size() != theirs.bytes.size() ||
        !std::equal(mine->bytes.begin(), mine->bytes.end(),
                    theirs.bytes.begin())) {
      return false;
    }
  }
  return true;
}

}  // namespace

Status EliminateCommonSubexpressions(Graph& graph) {
  std::unordered_map<std::string, Operation*> seen;
  for (Operation* operation : graph.Operations()) {
    // Operations that the program runs may define symbols or have regions. They
    // are never merged.
    if (operation->record().trait == graph::OperatorTrait::kProgram) continue;
    auto [entry, inserted] = seen.emplace(KeyOf(*operation), operation);
    if (inserted || !SameConstants(*operation, *entry->second)) continue;
    for (size_t i = 0; i < operation->results().size(); ++i) {
      graph.ReplaceAllUses(operation->result(static_cast<int>(i)),
                           entry->second->result(static_cast<int>(i)));
    }
    graph.Erase(operation);
  }
  return OkStatus();
}

namespace {

// Removes captured values that none of the operation's regions uses any more.
void DropUnusedCaptures(Graph& graph, Operation* operation) {
  if (operation->regions().empty()) return;
  const auto inputs = operation->regions()[0]->inputs();
  const int first = graph::FirstCapturedInput(*operation);
  for (int input = static_cast<int>(inputs.size()) - 1; input >= first;
       --input) {
    bool used = false;
    for (const auto& region : operation->regions())
      used |= !region->inputs()[static_cast<size_t>(input)]->unused();
    if (used) continue;
    const int captures =
        static_cast<int>(operation->regions()[0]->inputs().size());
    graph.DropCapture(operation,
                      operation->operand_count() - (captures - input), input);
  }
}

// True if `assumed` says that the dim is 1 or another extent (graph::UnitOr):
// the expression is 1 where the dim is.
bool IsRepeated(const Dim& actual, const Dim& assumed) {
  const std::set<std::string> symbols = actual.Symbols();
  if (symbols.size() != 1) return false;
  const std::string& symbol = *symbols.begin();
  return actual == Dim::Symbol(symbol) && assumed != Dim(1) &&
         assumed.Substitute({{symbol, Dim(1)}}) == Dim(1);
}

// True if an `assume` compares dims of which one may be 1 while the other is
// not. Such dims would broadcast: values computed from broadcast dims would
// have other dims, and a caller may ask only for the dims of a result. So the
// `assume` is kept even if no operation reads its result.
bool ExcludesBroadcasting(const Operation& operation) {
  if (operation.name() != "assume") return false;
  const graph::Shape& actual = operation.operand(0)->shape();
  const graph::Shape& assumed = operation.result()->shape();
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == assumed[i]) continue;
    if (graph::MayBroadcast(actual[i], assumed[i]) ||
        IsRepeated(actual[i], assumed[i]))
      return true;
  }
  return false;
}

}  // namespace

Status EliminateDeadCode(Graph& graph) {
  std::vector<Operation*> operations = graph.Operations();
  // Symbols that occur in operations that are kept. An operation that gives one
  // of them its value is kept, too.
  std::set<std::string> symbols;
  for (auto it = operations.rbegin(); it != operations.rend(); ++it) {
    // A check (an operation with a message) is kept even if no operation reads
    // its result.
    bool used = (*it)->attributes().Find("message") != nullptr ||
                ExcludesBroadcasting(**it);
    for (const auto& result : (*it)->results()) used |= !result->unused();
    for (const std::string& symbol : graph::DefinedSymbols(**it))
      used |= symbols.contains(symbol);
    if (!used) {
      graph.Erase(*it);
      continue;
    }
    for (const auto& region : (*it)->regions())
      EMBER_RETURN_IF_ERROR(EliminateDeadCode(*region));
    DropUnusedCaptures(graph, *it);
    graph::CollectSymbols(**it, symbols);
  }
  return OkStatus();
}

}  // namespace ember::compiler
