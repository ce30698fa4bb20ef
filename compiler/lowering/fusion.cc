#include "compiler/lowering/fusion.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "compiler/graph/operators.h"
#include "compiler/graph/operators/symbols.h"
#include "compiler/lowering/group_builder.h"
#include "compiler/lowering/stage_summary.h"
#include "compiler/lowering/storage.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/narrow_products.h"

namespace ember::compiler {
namespace {

using graph::Operation;
using graph::OperatorTrait;
using graph::Shape;
using graph::Value;

// Largest number of operations of a group: every executor compiles or plans a
// dispatch as a whole, and binds all of its buffers at once.
constexpr size_t kMaxOperations = 24;
// Smallest number of rows for which a group that reads rows is formed.
// Executors compute rows in parallel, and each of a group's temporaries holds
// one row per thread. With fewer rows most threads would have no work, and the
// temporaries would take a large part of the memory that fusion saves.
constexpr int64_t kMinimumRows = 8;
// Largest ratio of a row's number of elements to the group's guaranteed number
// of rows. Longer rows need more rows: one long row is work that threads would
// share if its stages were separate dispatches.
constexpr int64_t kElementsOfRowPerRow = 8 * 1024;
// Number of elements whose computation takes about as long as starting one more
// dispatch, on any executor: a call and a synchronisation of threads.
constexpr int64_t kSmallWork = 32 * 1024;
// Largest number of columns of a contraction that joins a group of rows, for
// each row that reads the same elements of its other operand. The contraction
// reads that operand again for every few rows. With at most so many columns the
// operand is hardly larger than all rows together.
constexpr int64_t kColumnsPerRow = 16;

bool IsWindowed(const Operation& operation) {
  return operation.record().trait == OperatorTrait::kContraction ||
         operation.record().reading == graph::Reading::kWindows;
}

class GroupFormer {
 public:
  GroupFormer(const graph::Graph& graph, const FusionOptions& options)
      : graph_(graph), options_(options) {}

  FusionPlan Run() {
    FusionPlan plan;
    plan.graph = &graph_;
    plan.stored = ChooseStorage(graph_);
    data_dependent_ = graph::SymbolsDefinedIn(graph_);
    for (const Operation* operation : graph_.Operations()) {
      if (operation->record().trait == OperatorTrait::kProgram) {
        PlaceProgramOperation(*operation);
        for (const auto& region : operation->regions())
          plan.regions.push_back(GroupFormer(*region, options_).Run());
        continue;
      }
      if (!plan.stored.contains(operation->result())) continue;
      Place(*operation, Summarize(*operation, plan.stored), plan.stored);
    }
    if (options_.join_groups) {
      JoinLookups(plan.stored);
      JoinConstants(plan.stored);
    }
    for (int group : ExecutionOrder()) {
      if (!groups_[group].operations.empty())
        plan.groups.push_back({groups_[group].operations});
    }
    return plan;
  }

 private:
  struct Group {
    std::vector<const Operation*> operations;
    // Number of leading dims (the "rows") along which all members of the group
    // read each other's results at their own index.
    int depth = 0;
    // Shape of the result of the group's first member. Its first `depth` dims
    // are the rows.
    Shape shape;
    bool windowed = false;
    // True if one of the group's operations is a product of rows
    // (IsProductOfRows).
    bool has_product_of_rows = false;
    bool closed = false;  // True if no further operation may join the group.
    // Numbers of the groups that must run before this group.
    std::set<int> producers;
  };

  void PlaceProgramOperation(const Operation& operation) {
    Group group;
    group.operations = {&operation};
    group.closed = true;
    for (const Value* operand : operation.operands()) {
      if (const auto home = home_.find(StorageRoot(operand));
          home != home_.end())
        group.producers.insert(home->second);
    }
    AddSymbolProducers(operation, group.producers);
    groups_.push_back(std::move(group));
    for (const auto& result : operation.results()) {
      // Values that share their operand's memory get no entry in home_ (the
      // group that computes a value), because the operand's entry is used for
      // them.
      if (!SharesMemory(operation)) home_[result.get()] = last_group();
    }
    for (const std::string& symbol : graph::DefinedSymbols(operation))
      symbol_home_[symbol] = last_group();
  }

  // Adds to `producers` the numbers of the groups that compute symbols which
  // the operation uses in its dims or attributes.
  void AddSymbolProducers(const Operation& operation,
                          std::set<int>& producers) const {
    if (data_dependent_.empty()) return;
    std::set<std::string> symbols;
    graph::CollectSymbols(operation, symbols);
    for (const std::string& symbol : symbols) {
      if (const auto home = symbol_home_.find(symbol);
          home != symbol_home_.end())
        producers.insert(home->second);
    }
  }

  // Adds the producers of symbols (see above) for the operation and for all
  // operations that are inlined into it. `seen` holds the operations that were
  // visited.
  void AddSymbolProducers(const Operation& operation,
                          const std::set<const Value*>& stored,
                          std::set<const Operation*>& seen,
                          std::set<int>& producers) const {
    if (data_dependent_.empty() || !seen.insert(&operation).second) return;
    AddSymbolProducers(operation, producers);
    for (const Value* operand : operation.operands()) {
      if (operand->producer() != nullptr && !stored.contains(operand))
        AddSymbolProducers(*operand->producer(), stored, seen, producers);
    }
  }

  void Place(const Operation& operation, const StageSummary& summary,
             const std::set<const Value*>& stored) {
    std::set<int> producers;
    std::set<const Operation*> seen;
    AddSymbolProducers(operation, stored, seen, producers);
    for (const auto& [value, depth] : summary.read_depth) {
      if (const auto home = home_.find(value); home != home_.end())
        producers.insert(home->second);
    }
    // The operation may be able to join several groups that produce its
    // operands. It joins the latest of them, because that group's results are
    // most likely still in the cache.
    for (auto it = producers.rbegin();
         options_.join_groups && it != producers.rend(); ++it) {
      if (const int depth = JoinDepth(operation, summary, *it, producers);
          depth >= 0) {
        return Join(operation, *it, depth, producers);
      }
    }
    Group group;
    group.operations = {&operation};
    group.shape = operation.result()->shape();
    group.depth =
        std::min<int>(summary.write_depth, operation.result()->rank());
    group.windowed = IsWindowed(operation);
    group.producers = std::move(producers);
    groups_.push_back(std::move(group));
    for (const auto& result : operation.results())
      home_[result.get()] = last_group();
  }

  int last_group() const { return static_cast<int>(groups_.size()) - 1; }

  // Returns the number of leading dims that are rows after the operation has
  // joined the candidate group. Returns -1 if the operation must not join.
  int JoinDepth(const Operation& operation, const StageSummary& summary,
                int candidate, const std::set<int>& producers) {
    const Group& group = groups_[candidate];
    if (group.closed) return -1;
    if (group.operations.size() >= kMaxOperations) return -1;
    int depth = std::min(group.depth, summary.write_depth);
    for (const auto& [value, read_depth] : summary.read_depth) {
      const auto home = home_.find(value);
      if (home != home_.end() && home->second == candidate)
        depth = std::min(depth, read_depth);
    }
    const Shape& shape = operation.result()->shape();
    depth = std::min<int>(depth, static_cast<int>(shape.size()));
    for (int i = 0; i < depth; ++i) {
      if (shape[i] != group.shape[i]) depth = i;
    }
    if (IsWindowed(operation) &&
        !IsProductOfRows(operation, summary, candidate, depth)) {
      return -1;
    }
    if (!IsProfitable(operation, group, depth)) return -1;
    for (int producer : producers) {
      if (producer != candidate && DependsOn(producer, candidate)) return -1;
    }
    return depth;
  }

  // True if the value is a constant, or if operations compute it from constants
  // alone, as they do weights that are packed in bytes. Looks at a limited
  // number of operations.
  static bool IsComputedFromConstants(const Value* value) {
    constexpr size_t kMax = 64;
    std::set<const Value*> seen;
    std::vector<const Value*> next = {value};
    while (!next.empty() && seen.size() < kMax) {
      const Value* current = next.back();
      next.pop_back();
      if (ConstantOf(current) != nullptr || !seen.insert(current).second)
        continue;
      const Operation* producer = current->producer();
      if (producer == nullptr ||
          producer->record().trait == OperatorTrait::kProgram) {
        return false;
      }
      next.insert(next.end(), producer->operands().begin(),
                  producer->operands().end());
    }
    return next.empty();
  }

  // True if the operation is a product that combines a row of the group, at its
  // own row index, with an operand that is small enough to be read again for
  // every few rows:
  //
  //   %p[b, i, k] = %e[b, i, k] / %total[b, i]         // rows (b, i)
  //   %y[b, i, j] = sum(k < 128) %p[b, i, k] * %v[b, k, j]
  //
  // The group already needed whole rows, so nothing is lost: a product after
  // elementwise operations has its own tiles. Constant operands are packed
  // once, for tiles of all rows.
  bool IsProductOfRows(const Operation& operation, const StageSummary& summary,
                       int candidate, int depth) const {
    if (operation.record().trait != OperatorTrait::kContraction) return false;
    const Shape& shape = operation.result()->shape();
    const int rank = static_cast<int>(shape.size());
    if (depth < 1 || depth != groups_[candidate].depth || depth + 1 != rank)
      return false;
    // A product with fewer rows than this for each matrix of the other operand
    // (as in one step of a decoder) stays a dispatch of its own, because tiling
    // its columns is better.
    if (EstimateElements({shape[depth - 1]}) < kMinimumRows) return false;
    const Value* rows = nullptr;
    for (const auto& [value, read_depth] : summary.read_depth) {
      const auto home = home_.find(value);
      if (home == home_.end() || home->second != candidate) {
        if (IsComputedFromConstants(value)) return false;
        continue;
      }
      if (rows != nullptr) return false;
      rows = value;
    }
    if (rows == nullptr || static_cast<int>(rows->rank()) != rank) return false;
    return EstimateElements({shape.back()}) <=
           kColumnsPerRow * RowsPerOperand(shape, summary, candidate, depth);
  }

  // Returns the number of rows that read the same elements of the product's
  // other operand; if that operand has no memory of its own, a very large
  // number.
  int64_t RowsPerOperand(const Shape& shape, const StageSummary& summary,
                         int candidate, int depth) const {
    int64_t least = std::numeric_limits<int32_t>::max();
    for (const auto& [value, read_depth] : summary.read_depth) {
      const auto home = home_.find(value);
      if (home != home_.end() && home->second == candidate) continue;
      const auto begin = shape.begin() + std::min(read_depth, depth - 1);
      least = std::min(least,
                       EstimateElements(Shape(begin, shape.begin() + depth)));
    }
    return least;
  }

  static int64_t RowElements(const Operation& operation, int depth) {
    int64_t elements = 0;
    for (const auto& result : operation.results()) {
      const Shape& shape = result->shape();
      const auto begin = shape.begin() + std::min<size_t>(depth, shape.size());
      elements += EstimateElements(Shape(begin, shape.end()));
    }
    return elements;
  }

  static bool IsProfitable(const Operation& operation, const Group& group,
                           int depth) {
    const Shape row_dims(group.shape.begin(), group.shape.begin() + depth);
    const int64_t rows = EstimateElements(row_dims);
    const int64_t sure_rows =
        std::max(kMinimumRows, EstimateElements(row_dims, /*symbol_extent=*/1));
    int64_t row_elements = RowElements(operation, depth);
    int64_t work = EstimateElements(operation.result()->shape());
    for (const Operation* member : group.operations) {
      row_elements += RowElements(*member, depth);
      work += EstimateElements(member->result()->shape());
    }
    // If all dims of the operation's result and of the group's results are
    // rows, the operation may join: the work can still be split along any dim,
    // so no parallelism is lost.
    if (depth == static_cast<int>(group.shape.size()) &&
        depth == static_cast<int>(operation.result()->rank()) &&
        depth == group.depth) {
      return true;
    }
    if (work <= kSmallWork && !group.windowed) return true;
    return depth > 0 && rows >= kMinimumRows &&
           row_elements <= kElementsOfRowPerRow * sure_rows;
  }

  bool DependsOn(int group, int on) const {
    std::set<int> seen;
    std::vector<int> stack = {group};
    while (!stack.empty()) {
      const int current = stack.back();
      stack.pop_back();
      if (current == on) return true;
      if (!seen.insert(current).second) continue;
      for (int producer : groups_[current].producers) stack.push_back(producer);
    }
    return false;
  }

  // Moves gathers from a cache (attention whose keys and values are stored in
  // blocks) into the dispatch that reads them, if only its products of rows
  // read them. An executor may then copy a slice from the cache when it is
  // needed, or compute the whole gather first, as a separate dispatch would.
  void JoinLookups(std::set<const Value*>& stored) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      const int lookup = static_cast<int>(i);
      const int reader = OnlyReaderOf(lookup);
      if (reader < 0 || !IsLookup(groups_[i]) ||
          !groups_[reader].has_product_of_rows) {
        continue;
      }
      JoinBefore(lookup, reader, stored);
    }
  }

  // Moves operations that compute weights from constants (numbers of few bits
  // with their scales) into the dispatch of the contraction that reads the
  // weights. A kernel then computes the weights once, when the kernel is made,
  // in the layout that it reads.
  void JoinConstants(std::set<const Value*>& stored) {
    for (size_t i = 0; i < groups_.size(); ++i) {
      const int weights = static_cast<int>(i);
      if (!IsOfConstants(groups_[i], stored)) continue;
      const int reader = OnlyReaderOf(weights);
      if (reader >= 0) JoinBefore(weights, reader, stored);
    }
  }

  // Moves the operations of group `number` to the beginning of group `reader`.
  // Does nothing if group `reader` would get too many operations, or if another
  // group must run between the two groups.
  void JoinBefore(int number, int reader, std::set<const Value*>& stored) {
    Group& group = groups_[reader];
    std::vector<const Operation*>& first = groups_[number].operations;
    if (group.closed || DependsOn(number, reader) ||
        group.operations.size() + first.size() > kMaxOperations) {
      return;
    }
    for (const Operation*& operation : first)
      operation = AsRead(*operation, stored);
    group.operations.insert(group.operations.begin(), first.begin(),
                            first.end());
    first.clear();
    group.producers.erase(number);
    group.producers.merge(groups_[number].producers);
  }

  // True if the group computes its results from constants alone, with constant
  // dims, and only contractions read the results.
  static bool IsOfConstants(const Group& group,
                            const std::set<const Value*>& stored) {
    return !group.closed && !group.operations.empty() &&
           std::ranges::all_of(
               group.operations, [&](const Operation* operation) {
                 std::set<const Operation*> seen;
                 std::set<const Value*> seen_values;
                 return CanBeReadElsewhere(*operation) &&
                        IsOfConstants(group, *operation, stored, seen) &&
                        graph::IsConstant(operation->result()->shape()) &&
                        IsReadByContractionsBut(group, *operation->result(),
                                                seen_values);
               });
  }

  // True if every operation that reads the value, directly or through other
  // operations of one result, is a contraction or belongs to the group. `seen`
  // holds the values that were visited.
  static bool IsReadByContractionsBut(const Group& group, const Value& value,
                                      std::set<const Value*>& seen) {
    if (!seen.insert(&value).second) return true;
    return std::ranges::all_of(value.users(), [&](const Operation* user) {
      if (std::ranges::count(group.operations, user) > 0) return true;
      if (user->record().trait == OperatorTrait::kContraction) return true;
      return user->results().size() == 1 &&
             IsReadByContractionsBut(group, *user->result(), seen);
    });
  }

  // True if the operation, and the operations that are inlined into it, read
  // only constants and results of the group's operations.
  static bool IsOfConstants(const Group& group, const Operation& operation,
                            const std::set<const Value*>& stored,
                            std::set<const Operation*>& seen) {
    if (!seen.insert(&operation).second) return true;
    return std::ranges::all_of(operation.operands(), [&](const Value* value) {
      const Value* const root = StorageRoot(value);
      if (ConstantOf(root) != nullptr) return true;
      const Operation* const producer = root->producer();
      if (producer == nullptr) return false;
      if (stored.contains(root))
        return std::ranges::count(group.operations, producer) > 0;
      return producer->record().trait != OperatorTrait::kProgram &&
             IsOfConstants(group, *producer, stored, seen);
    });
  }

  // False if AsRead would return a reshape instead of an operation that has no
  // definition by element (such as a concatenation), because the reshape could
  // not compute the operation's elements then.
  static bool CanBeReadElsewhere(const Operation& operation) {
    return operation.record().definition.element != nullptr ||
           operation.results().size() != 1 ||
           operation.result()->users().size() != 1 ||
           !SharesMemory(*operation.result()->users()[0]);
  }

  // Returns the operation. If only a reshape reads its result, returns that
  // reshape and stores its result instead: a dispatch's temporary must have the
  // dims with which it is read.
  static const Operation* AsRead(const Operation& operation,
                                 std::set<const Value*>& stored) {
    const Operation* read = &operation;
    while (read->results().size() == 1 && read->result()->users().size() == 1 &&
           SharesMemory(*read->result()->users()[0])) {
      read = read->result()->users()[0];
    }
    if (read == &operation) return read;
    stored.erase(operation.result());
    stored.insert(read->result());
    return read;
  }

  static bool IsGather(const Operation& operation) {
    return operation.record().reading == graph::Reading::kByData &&
           operation.record().definition.element != nullptr;
  }

  // True if all operations of the group are gathers whose results only
  // contractions read, or compute operands of these gathers only.
  static bool IsLookup(const Group& group) {
    return std::ranges::all_of(
        group.operations, [&](const Operation* operation) {
          return IsGather(*operation)
                     ? IsReadByContractions(*operation->result())
                     : std::ranges::all_of(operation->result()->users(),
                                           [](const Operation* user) {
                                             return IsGather(*user);
                                           });
        });
  }

  // True if only contractions read the value, directly or after it was
  // transposed, reshaped or cast to a wider type.
  static bool IsReadByContractions(const Value& value) {
    return std::ranges::all_of(value.users(), [](const Operation* user) {
      const graph::OperatorRecord& record = user->record();
      if (record.trait == OperatorTrait::kContraction) return true;
      return (SharesMemory(*user) || WidensNumbers(*user) ||
              record.reading == graph::Reading::kPermuted) &&
             IsReadByContractions(*user->result());
    });
  }

  // Returns the number of the only group that reads results of `group`; -1 if
  // there are several readers or none, or if the caller needs a result of
  // `group`.
  int OnlyReaderOf(int group) const {
    int reader = -1;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].producers.contains(group)) continue;
      if (reader >= 0) return -1;
      reader = static_cast<int>(i);
    }
    for (const Operation* operation : groups_[group].operations) {
      for (const auto& result : operation->results()) {
        if (IsNeededByCaller(result.get())) return -1;
      }
    }
    return reader;
  }

  // True if the value is a result of the graph, or if a result of the graph
  // uses the value's memory (as a reshape does).
  static bool IsNeededByCaller(const Value* value) {
    return value->is_graph_output() ||
           std::ranges::any_of(value->users(), [](const Operation* user) {
             return SharesMemory(*user) && IsNeededByCaller(user->result());
           });
  }

  void Join(const Operation& operation, int index, int depth,
            std::set<int> producers) {
    Group& group = groups_[index];
    // The only contraction that can join a group is a product of rows, because
    // JoinDepth refuses all others.
    group.has_product_of_rows |= IsWindowed(operation);
    group.operations.push_back(&operation);
    group.depth = depth;
    producers.erase(index);
    group.producers.merge(producers);
    for (const auto& result : operation.results()) home_[result.get()] = index;
  }

  // Returns the groups with producers before users, otherwise in the order in
  // which they were begun.
  std::vector<int> ExecutionOrder() const {
    std::vector<int> order;
    std::vector<bool> done(groups_.size());
    const std::function<void(int)> visit = [&](int group) {
      if (done[group]) return;
      done[group] = true;
      for (int producer : groups_[group].producers) visit(producer);
      order.push_back(group);
    };
    for (int group = 0; group < static_cast<int>(groups_.size()); ++group)
      visit(group);
    return order;
  }

  const graph::Graph& graph_;
  const FusionOptions& options_;
  std::vector<Group> groups_;
  std::map<const Value*, int> home_;
  // Symbols whose values are computed by operations of this graph, so that dims
  // depend on data.
  std::set<std::string> data_dependent_;
  std::map<std::string, int> symbol_home_;
};

}  // namespace

StatusOr<FusionPlan> FormDispatches(const graph::Graph& graph,
                                    const FusionOptions& options) {
  return GroupFormer(graph, options).Run();
}

}  // namespace ember::compiler
