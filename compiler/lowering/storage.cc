#include "compiler/lowering/storage.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "compiler/graph/operators.h"
#include "compiler/lowering/group_builder.h"
#include "compiler/passes/constant_value.h"
#include "compiler/passes/index_comparisons.h"
#include "compiler/passes/narrow_products.h"

namespace ember::compiler {
namespace {

using graph::Dim;
using graph::Operation;
using graph::OperatorTrait;
using graph::Reading;
using graph::Value;

// Largest number of operations of an inlined expression: longer ones save
// little, and every executor holds all values of an expression at once, in
// registers or strips.
constexpr int kMaxInlinedOperations = 24;

// True for an operation that only changes indices (a view), so inlining it
// costs nothing. A gather is none, because it also loads its indices.
bool IsView(const Operation& operation) {
  return operation.record().trait == OperatorTrait::kView &&
         operation.record().reading != Reading::kByData;
}

bool IsElement(const Operation& operation) {
  return operation.record().definition.element != nullptr;
}

// True if the operation may read elements of this operand more than once: in
// windows of several elements, in a contraction, which reads them again for
// each block, in a pad, whose mode may repeat elements, or at indices that
// another operand gives.
bool ReadsRepeatedly(const Operation& user, int operand) {
  if (user.record().trait == OperatorTrait::kContraction) return true;
  const Reading reading = user.record().reading;
  if (reading == Reading::kWindows) {
    for (int64_t extent :
         user.attributes().Get<std::vector<int64_t>>("window")) {
      if (extent > 1) return true;
    }
    return false;
  }
  if (reading == Reading::kByData) return operand == 0;
  // A padded read counts as repeated, because the inlined expression is
  // evaluated also for positions in the padding.
  return reading == Reading::kPadded;
}

// True for a pad with a constant whose only readers are convolutions that have
// no padding of their own. Such a pad is inlined: the convolutions read through
// it as they would through their own padding.
bool PadsForConvolutions(const Operation& pad) {
  const bool is_constant =
      pad.record().reading == Reading::kPadded &&
      pad.attributes().Get<std::string>("mode") == "constant" &&
      (pad.operand_count() == 1 || UniformConstant(pad.operand(1)).has_value());
  if (!is_constant || pad.result()->is_graph_output()) return false;
  const auto is_zero = [](const Dim& dim) { return dim == Dim(0); };
  const auto reads_plainly = [&](const Operation* user) {
    if (user->record().reading != Reading::kConvolved ||
        user->operand(1) == pad.result())
      return false;
    const auto& attributes = user->attributes();
    return std::ranges::all_of(attributes.Get<graph::Shape>("low"), is_zero) &&
           std::ranges::all_of(attributes.Get<graph::Shape>("high"), is_zero);
  };
  return std::ranges::all_of(pad.result()->users(), [&](const Operation* user) {
    return WidensForProducts(*user)
               ? std::ranges::all_of(user->result()->users(), reads_plainly)
               : reads_plainly(user);
  });
}

// True for a transpose that makes the elements contiguous over which windows of
// convolutions sum. Each element is read again for every few results, by every
// row of the windows that contain it. Storing the transpose costs two more
// accesses and one pass. That is cheaper if an element is read often and there
// are enough channels to read contiguously.
//
// A window of one point is a matrix product: its operand may have either
// layout, and schedules pack it where that helps.
bool GathersChannels(const Operation& transpose) {
  if (transpose.record().reading != Reading::kPermuted) return false;
  // Approximate number of results that an executor computes together from one
  // element that it has loaded.
  constexpr int64_t kResultsTogether = 16;
  constexpr int64_t kReads = 4;
  // Smallest number of channels that are worth being contiguous: about the
  // number of elements in a cache line.
  constexpr int64_t kChannels = 32;
  const Value* result = transpose.result();
  const int64_t last = static_cast<int64_t>(result->rank()) - 1;
  if (last < 0 ||
      transpose.attributes().Get<std::vector<int64_t>>("permutation").back() ==
          last ||
      EstimateElements({result->shape().back()}) < kChannels) {
    return false;
  }
  return std::ranges::any_of(result->users(), [&](const Operation* user) {
    if (user->record().reading != Reading::kConvolved ||
        user->operand(0) != result ||
        user->attributes().Get<int64_t>("groups") != 1) {
      return false;
    }
    const graph::Shape& weights = user->operand(1)->shape();
    const bool is_of_points =
        std::all_of(weights.begin(), weights.end() - 2,
                    [](const Dim& extent) { return extent == Dim(1); });
    return !is_of_points &&
           EstimateElements({weights.back()}) >= kReads * kResultsTogether;
  });
}

// True if a few cheap operations compute the value from constants and one value
// that takes less memory, as dequantization does. Reading the narrow value
// again then costs less than storing the result.
bool IsOfNarrowValue(const Operation& operation) {
  constexpr int kOperations = 4;
  const Value* result = operation.result();
  const Value* value = result;
  for (int i = 0; i < kOperations; ++i) {
    const Operation* producer = value->producer();
    if (producer == nullptr) return false;
    if (!producer->record().is_affine) return false;
    const Value* whole = nullptr;
    for (const Value* operand : producer->operands()) {
      if (ConstantOf(operand) != nullptr) continue;
      if (whole != nullptr || operand->shape() != result->shape()) return false;
      whole = operand;
    }
    if (whole == nullptr) return false;
    if (DTypeByteSize(whole->dtype()) < DTypeByteSize(result->dtype()))
      return true;
    value = whole;
  }
  return false;
}

// True if the reshape only adds or removes dims of extent 1, so that index
// expressions stay simple when it is inlined.
bool ChangesOnlyUnitDims(const Operation& reshape) {
  // An `assume` counts as such a reshape: it replaces dims by others that are
  // equal, and keeps all of them.
  if (reshape.record().reading != Reading::kReshaped) return true;
  graph::Shape from, to;
  for (const Dim& dim : reshape.operand(0)->shape()) {
    if (dim != Dim(1)) from.push_back(dim);
  }
  for (const Dim& dim : reshape.result()->shape()) {
    if (dim != Dim(1)) to.push_back(dim);
  }
  return from == to;
}

// Returns true if the transpose changes the order of elements. A transpose that
// moves only dims of extent 1 does not.
bool MovesElements(const Operation& transpose) {
  if (transpose.record().reading != Reading::kPermuted) return false;
  const graph::Shape& shape = transpose.operand(0)->shape();
  int64_t last = -1;
  for (int64_t dim :
       transpose.attributes().Get<std::vector<int64_t>>("permutation")) {
    if (shape[static_cast<size_t>(dim)] == Dim(1)) continue;
    if (dim < last) return true;
    last = dim;
  }
  return false;
}

// True if the transposed elements are read only by convolutions of narrow
// integers, perhaps after padding. The dot-product instructions of these
// convolutions need several adjacent elements.
bool IsReadByNarrowConvolutions(const Value* transposed) {
  if (!IsInteger(transposed->dtype()) || transposed->is_graph_output() ||
      transposed->users().empty()) {
    return false;
  }
  return std::ranges::all_of(transposed->users(), [](const Operation* user) {
    if (user->record().reading == Reading::kPadded)
      return IsReadByNarrowConvolutions(user->result());
    return WidensForProducts(*user) &&
           std::ranges::all_of(
               user->result()->users(), [](const Operation* product) {
                 return product->record().reading == Reading::kConvolved;
               });
  });
}

// Finds a better value to store than `value` itself. It applies if elementwise
// operations compute `value` from a contraction's result and its only reader
// reads it in another order. The value to store is the intermediate value that
// takes the least memory, and of equal ones the last: the operations up to it
// are computed together with the contraction, whose results then need no
// memory. Null for other values.
struct BehindContraction {
  const Value* narrowest = nullptr;
  // Result of the contraction from which the value is computed.
  const Value* product = nullptr;

  // Finds the value to store among `value` and the values from which it is
  // computed. `before` is the narrowest value found so far, on the way from the
  // reader back to `value`.
  static BehindContraction Find(const Value* value,
                                const Value* before = nullptr) {
    if (value->producer() == nullptr || value->users().size() != 1 ||
        value->is_graph_output()) {
      return {};
    }
    const Operation& producer = *value->producer();
    if (producer.record().trait == OperatorTrait::kContraction)
      return {before, value};
    if (producer.record().trait != OperatorTrait::kElementwise) return {};
    if (before == nullptr ||
        DTypeByteSize(value->dtype()) < DTypeByteSize(before->dtype())) {
      before = value;
    }
    for (const Value* operand : producer.operands()) {
      if (operand->shape() != value->shape()) continue;
      if (const BehindContraction found = Find(operand, before);
          found.narrowest != nullptr)
        return found;
    }
    return {};
  }

  bool IsNarrower() const {
    return DTypeByteSize(narrowest->dtype()) < DTypeByteSize(product->dtype());
  }
};

class StorageChooser {
 public:
  explicit StorageChooser(const graph::Graph& graph) : graph_(graph) {}

  std::set<const Value*> Run() {
    // Users are visited before producers, so that a value's decision can use
    // those of its users.
    std::vector<Operation*> operations = graph_.Operations();
    for (auto it = operations.rbegin(); it != operations.rend(); ++it)
      Choose(**it);
    LimitExpressions(operations);
    return std::move(stored_);
  }

 private:
  void Choose(const Operation& operation) {
    if (ConstantOf(operation.result()) != nullptr) return;
    if (IsElement(operation))
      uses_.emplace(operation.result(), UsesOf(operation.result()));
    if (operation.record().trait == OperatorTrait::kProgram) {
      // The operands of an operation that the program runs must be stored,
      // because the program passes memory to it and cannot pass expressions.
      for (const Value* operand : operation.operands()) forced_.insert(operand);
      if (SharesMemory(operation)) return;
      for (const auto& result : operation.results())
        stored_.insert(result.get());
      return;
    }
    if (SharesMemory(operation)) {
      // A reshape shares its operand's memory, so if the reshape needs memory,
      // its operand must be stored.
      const Value* result = operation.result();
      const bool needed = result->is_graph_output() ||
                          forced_.contains(result) ||
                          !ChangesOnlyUnitDims(operation);
      if (needed) forced_.insert(operation.operand(0));
      return;
    }
    bool store = !IsElement(operation);
    for (const auto& result : operation.results()) {
      store |= result->is_graph_output() || forced_.contains(result.get());
    }
    if (!store && operation.operand_count() > 0) {
      // A pad is stored if its elements are read repeatedly: inlined into a
      // window, its bounds would be tested again for each read element.
      if (operation.record().reading == Reading::kPadded)
        store = uses_.at(operation.result()).repeated &&
                !PadsForConvolutions(operation);
      else if (IsView(operation))
        store = GathersChannels(operation) ||
                (MovesElements(operation) &&
                 IsReadByNarrowConvolutions(operation.result()));
      else
        store = WouldRepeatWork(operation);
    }
    // A reduction computes its operand's elements as it reads them. For a
    // reduction, an intermediate value is stored only if it is narrower than
    // the contraction's results.
    const bool moves = MovesElements(operation);
    if (moves || operation.record().trait == OperatorTrait::kReduction) {
      const auto behind = BehindContraction::Find(operation.operand(0));
      if (behind.narrowest != nullptr && (moves || behind.IsNarrower()))
        forced_.insert(behind.narrowest);
    }
    if (!store) return;
    for (const auto& result : operation.results()) stored_.insert(result.get());
  }

  struct Uses {
    // Number of stored operations that read the value, directly or through
    // inlined operations; 2 means 2 or more.
    int count = 0;
    // True if one of these operations reads an element more than once.
    bool repeated = false;
    // Largest number of elements that one of these operations reads.
    int64_t reads = 0;
  };

  Uses UsesOf(const Value* value) {
    Uses uses;
    const std::set<const Operation*> users(value->users().begin(),
                                           value->users().end());
    for (const Operation* user : users) {
      // An operation that has the value as several operands counts as one use,
      // because its inlined expression computes the value once.
      Uses by_user;
      for (int i = 0; i < user->operand_count(); ++i) {
        if (user->operand(i) != value) continue;
        const Uses use = UseBy(*user, i);
        by_user = {std::max(by_user.count, use.count),
                   by_user.repeated || use.repeated,
                   std::max(by_user.reads, use.reads)};
      }
      uses = {std::min(2, uses.count + by_user.count),
              uses.repeated || by_user.repeated,
              std::max(uses.reads, by_user.reads)};
    }
    return uses;
  }

  Uses UseBy(const Operation& user, int operand) {
    if (ReadsRepeatedly(user, operand)) return {1, true, 0};
    int64_t reads = EstimateElements(user.result()->shape());
    if (user.record().trait == OperatorTrait::kReduction ||
        user.record().reading == Reading::kJoined) {
      reads = EstimateElements(user.operand(operand)->shape());
    }
    const bool inlined = IsElement(user) && !stored_.contains(user.result());
    if (!inlined) return {1, false, reads};
    Uses uses = uses_.at(user.result());
    uses.reads = std::max(uses.reads, reads);
    return uses;
  }

  bool WouldRepeatWork(const Operation& operation) {
    const Value* result = operation.result();
    // A cast to a wider type is always inlined: reading the narrow value again
    // costs less than storing the wide one.
    if (WidensNumbers(operation)) return false;
    if (IsOfIndices(operation)) return false;
    const int64_t elements = EstimateElements(result->shape());
    // A value of one element is inlined, because it costs little to compute: at
    // most once for each row of its reader.
    if (elements == 1) return false;
    const Uses& uses = uses_.at(result);
    if (!uses.repeated && uses.reads <= elements && IsOfNarrowValue(operation))
      return false;
    return uses.count > 1 || uses.repeated || uses.reads > elements;
  }

  // Limits the size of inlined expressions: if an expression would have more
  // than kMaxInlinedOperations operations, its value is stored.
  void LimitExpressions(const std::vector<Operation*>& operations) {
    std::map<const Value*, int> sizes;
    for (const Operation* operation : operations) {
      if (!IsElement(*operation) || SharesMemory(*operation)) continue;
      int size = IsView(*operation) ? 0 : 1;
      for (const Value* operand : operation->operands()) {
        const Value* source = operand;
        while (source->producer() != nullptr &&
               SharesMemory(*source->producer())) {
          source = source->producer()->operand(0);
        }
        if (!stored_.contains(source)) size += sizes[source];
      }
      if (size > kMaxInlinedOperations) {
        stored_.insert(operation->result());
      }
      sizes[operation->result()] = size > kMaxInlinedOperations ? 0 : size;
    }
  }

  const graph::Graph& graph_;
  std::set<const Value*> stored_;
  std::set<const Value*> forced_;
  // The uses of each result that might be inlined instead of stored.
  std::map<const Value*, Uses> uses_;
};

}  // namespace

int64_t EstimateElements(const graph::Shape& shape, int64_t symbol_extent) {
  constexpr int64_t kLarge = int64_t{1} << 40;
  int64_t elements = 1;
  for (const Dim& dim : shape) {
    int64_t extent = symbol_extent;
    if (dim.is_constant()) {
      extent = dim.constant();
    } else {
      std::map<std::string, int64_t> bindings;
      for (const std::string& symbol : dim.Symbols())
        bindings[symbol] = symbol_extent;
      if (StatusOr<int64_t> value = dim.Evaluate(bindings); value.ok())
        extent = *value;
    }
    elements = std::min(
        kLarge, elements * std::min(kLarge, std::max<int64_t>(extent, 0)));
    if (elements >= kLarge) return kLarge;
  }
  return elements;
}

std::set<const Value*> ChooseStorage(const graph::Graph& graph) {
  return StorageChooser(graph).Run();
}

}  // namespace ember::compiler
