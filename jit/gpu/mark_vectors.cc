#include "jit/gpu/mark_vectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/gpu/element_sum.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/vector_access.h"
#include "jit/loops/analysis/divisibility.h"
#include "jit/loops/analysis/dot_product.h"
#include "jit/loops/analysis/facts.h"
#include "jit/loops/walk.h"
#include "tensor/builder/coefficient.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::ElementForm;
using loops::LoopKind;
using loops::NodeId;
using loops::Statement;
using loops::StorageKind;
using tensor::LinearSum;
using tensor::LinearTerm;
using tensor::Node;
using tensor::Opcode;

namespace {

// Largest number of bytes that one load or store may move on every device.
constexpr uint32_t kVectorBytes = 16;
constexpr uint32_t kBytesOfWord = 4;
// Number of elements that a vector in the workgroup's memory has, for buffers
// of ElementForm::kVectors or kWords.
constexpr uint32_t kSharedWidth = 4;

class Marker {
 public:
  Marker(const DeviceTraits& device, loops::Phase& phase, loops::LoopNest& nest)
      : device_(device),
        workgroup_(phase.workgroup),
        nest_(nest),
        facts_(nest, {.extent = kMaxExtent, .elements = kMaxElements}) {
    facts_.AssumeRange(phase.task, {0, kMaxExtent - 1});
  }

  void Visit(Block& block) {
    for (Statement& statement : block) Visit(statement);
  }

 private:
  void Visit(Statement& statement) {
    switch (statement.kind) {
      case Statement::Kind::kFor:
        return VisitLoop(statement);
      case Statement::Kind::kIf:
        statement.condition = Rewrite(statement.condition);
        return Visit(statement.body);
      case Statement::Kind::kStore:
        for (loops::Store& store : statement.stores) {
          store.vector = WidthOfStore(store);
          for (NodeId& index : store.indices) index = Rewrite(index);
          store.value = Rewrite(store.value);
        }
        return;
      case Statement::Kind::kCheck:
        statement.index = Rewrite(statement.index);
        statement.extent = Rewrite(statement.extent);
        return;
      case Statement::Kind::kFirst:
        return Visit(statement.body);
      case Statement::Kind::kPrefetch:
      case Statement::Kind::kAwait:
      case Statement::Kind::kBarrier:
      case Statement::Kind::kSlot:
        return;
    }
  }

  void VisitLoop(Statement& loop) {
    const std::optional<NodeId> outer_lanes = lanes_;
    bool is_known = false;
    switch (loop.loop) {
      case LoopKind::kSerial:
      case LoopKind::kInvocation:
      case LoopKind::kSubgroup:
        break;
      case LoopKind::kDot:
        if (MarkDot(loop)) return;
        loop.loop = LoopKind::kUnrolled;
        [[fallthrough]];
      case LoopKind::kUnrolled:
        is_known = true;
        break;
      case LoopKind::kVector:
        is_known = true;
        if (*nest_.pool.IntegerConstant(
                loops::ExtentOf(nest_.pool, loop.variable)) > 1)
          lanes_ = loop.variable;
        break;
      case LoopKind::kMatrix:
        return;  // Matrix loops stay as they are: the device's instructions
                 // access whole matrices.
    }
    if (is_known) known_.push_back(loop.variable);
    Visit(loop.body);
    if (is_known) known_.pop_back();
    lanes_ = outer_lanes;
  }

  // --- loads

  // Returns the expression with each load marked by the width of its vector.
  NodeId Rewrite(NodeId root) {
    std::unordered_map<NodeId, NodeId> rewritten;
    for (const NodeId id : loops::NodesUnder(nest_.pool, {&root, 1})) {
      const Node& node = nest_.pool[id];
      std::vector<NodeId> operands = node.operands;
      for (NodeId& operand : operands) {
        const auto found = rewritten.find(operand);
        if (found != rewritten.end()) operand = found->second;
      }
      const bool is_access =
          node.opcode == Opcode::kLoad || node.opcode == Opcode::kPad;
      const uint64_t immediate =

          is_access ? (node.immediate & ~uint64_t{0xff}) | WidthOfLoad(id, node)
                    : node.immediate;
      rewritten[id] = id;
      if (operands == node.operands && immediate == node.immediate) continue;
      rewritten[id] = nest_.pool.Intern(node.opcode, node.type, operands,
                                        immediate, node.scope, node.buffer);
      nest_.pool.Refine(rewritten[id], node.range);
    }
    return rewritten.at(root);
  }

  uint32_t WidthOfLoad(NodeId id, const Node& load) {
    const auto factor = factors_.find(id);
    if (factor != factors_.end()) return factor->second;
    const size_t rank = nest_.buffers[load.buffer].extents.size();
    const std::span<const NodeId> indices =
        std::span(load.operands).first(rank);
    const auto access = Find(load.buffer, indices);
    if (!access) return 0;
    if (load.opcode == Opcode::kLoad) return access->width;
    // A padded load is made a vector only if all elements of the vector are in
    // bounds, or none is: no index that needs a test may depend on the vector's
    // variable. A vector out of bounds is replaced by the first vector of the
    // buffer.
    const std::vector<NodeId>& extents = nest_.buffers[load.buffer].extents;
    for (size_t dim = 0; dim < rank; ++dim) {
      if (nest_.pool.IntegerConstant(extents[dim]).value_or(0) <= 0) return 0;
      if (tensor::DependsOn(nest_.pool, indices[dim], access->variable) &&
          IsTested(indices[dim], extents[dim]))
        return 0;
    }
    return access->width;
  }

  // True if code must test that the index is in bounds. An index of constants
  // and of variables of loops whose code is written out needs no test.
  bool IsTested(NodeId index, NodeId extent) const {
    const tensor::Interval inside = facts_.RangeOf(index);
    if (inside.low >= 0 && inside.high < facts_.RangeOf(extent).low)
      return false;
    return std::ranges::any_of(
        loops::NodesUnder(nest_.pool, {&index, 1}), [&](NodeId id) {
          const Opcode opcode = nest_.pool[id].opcode;
          return opcode == Opcode::kLoad || opcode == Opcode::kPad ||
                 opcode == Opcode::kParameter ||
                 (opcode == Opcode::kAxis && !IsKnown(id));
        });
  }

  // Returns the vector by which the element can be accessed; nothing if the
  // buffer has no vectors, or if the element's alignment is not proved.
  std::optional<VectorAccess> Find(uint32_t buffer,
                                   std::span<const NodeId> indices) {
    const VectorLimits limits = LimitsOf(buffer);
    if (limits.most < 2 || known_.empty()) return std::nullopt;
    return FindVector(nest_.pool, SumOf(buffer, indices), limits,
                      [&](NodeId node) { return IsKnown(node); });
  }

  LinearSum SumOf(uint32_t buffer, std::span<const NodeId> indices) {
    const std::vector<NodeId> extents = nest_.buffers[buffer].extents;
    return ElementSum(nest_.pool, extents, indices);
  }

  bool IsKnown(NodeId variable) const {
    return std::ranges::find(known_, variable) != known_.end();
  }

  // Returns the widths that the buffer's vectors may have. The buffer must end
  // at a multiple of the width, because loading a vector reads all of its
  // elements.
  VectorLimits LimitsOf(uint32_t number) const {
    const loops::BufferStorage& storage = workgroup_.storage[number];
    const loops::Buffer& buffer = nest_.buffers[number];
    const auto bytes = static_cast<uint32_t>(DTypeByteSize(buffer.type));
    if (storage.form == ElementForm::kVectors ||
        storage.form == ElementForm::kWords)
      return {.least = kSharedWidth, .most = kSharedWidth};
    if (storage.kind != StorageKind::kMemory || bytes > kBytesOfWord) return {};
    int64_t divisor = 1;
    for (const NodeId extent : buffer.extents) {
      divisor = std::min(divisor * loops::DivisorOf(nest_.pool, extent),
                         loops::kLargestDivisor);
    }
    const auto most = std::min<int64_t>(divisor, kVectorBytes / bytes);
    return {.least = std::max(2u, kBytesOfWord / bytes),
            .most = static_cast<uint32_t>(most)};
  }

  // --- dot loops

  // Marks both factors of a dot loop as words of four bytes, which the device
  // multiplies. Returns false, without a mark, if a factor is no such word or
  // the device has no dot products.
  bool MarkDot(Statement& loop) {
    if (!device_.byte_dots) return false;
    const StatusOr<loops::DotProduct> dot = loops::DotProductOf(nest_, loop);
    // Devices have dot products of four bytes only, not of pairs of 16-bit
    // numbers.
    if (!dot.ok() || dot->count != 4 || dot->is_unpacked()) return false;
    known_.push_back(loop.variable);
    const uint32_t a = WidthOfWords(nest_.pool[dot->a.load], loop.variable);
    const uint32_t b = WidthOfWords(nest_.pool[dot->b.load], loop.variable);
    const bool are_words = a != 0 && b != 0;
    if (are_words) {
      factors_ = {{dot->a.load, a}, {dot->b.load, b}};
      Visit(loop.body);
      factors_.clear();
    }
    known_.pop_back();
    return are_words;
  }

  // Returns the width, in bytes, of the vector of words that contains the word
  // of a factor; 0 if the factor is not provably a word.
  uint32_t WidthOfWords(const Node& load, NodeId variable) {
    const VectorLimits limits = LimitsOf(load.buffer);
    const loops::BufferStorage& storage = workgroup_.storage[load.buffer];
    const bool is_packed = storage.kind == StorageKind::kMemory ||
                           storage.kind == StorageKind::kSlices ||
                           storage.form == ElementForm::kWords;
    if (!is_packed || limits.most < kBytesOfWord) return 0;
    LinearSum words = SumOf(load.buffer, load.operands);
    std::erase_if(words.terms, [&](const LinearTerm& term) {
      return term.node == variable && term.coefficient == 1;
    });
    for (LinearTerm& term : words.terms) {
      if (term.coefficient % kBytesOfWord != 0) return 0;
      term.coefficient /= kBytesOfWord;
    }
    if (words.constant % kBytesOfWord != 0) return 0;
    words.constant /= kBytesOfWord;
    const auto access = FindVector(
        nest_.pool, words, {.least = 2, .most = limits.most / kBytesOfWord},
        [&](NodeId node) { return IsKnown(node); });
    return kBytesOfWord * (access ? access->width : 1);
  }

  // --- stores

  // Returns the width of the vector that the lanes store; 0 if there are no
  // lanes, if the store does not assign, or if the lanes' elements are not an
  // aligned vector that the lanes fill.
  uint32_t WidthOfStore(const loops::Store& store) {
    if (!lanes_ || store.update != tensor::Update::kAssign) return 0;
    const auto access = Find(store.buffer, store.indices);
    const bool is_vector =
        access && access->variable == *lanes_ && access->is_whole;
    return is_vector ? access->width : 0;
  }

  const DeviceTraits& device_;
  const loops::Workgroup& workgroup_;
  loops::LoopNest& nest_;
  loops::Facts facts_;
  std::vector<NodeId> known_;  // variables of the surrounding loops whose code
                               // is written out
  // Number of elements that each load of a dot loop's factors moves at once.
  std::unordered_map<NodeId, uint32_t> factors_;
  std::optional<NodeId> lanes_;  // variable of the surrounding vector loop
};

}  // namespace

Status MarkVectors(const DeviceTraits& device, loops::LoopNest& nest) {
  if (!device.marks_vectors) return OkStatus();
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases)
      Marker(device, phase, nest).Visit(phase.body);
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
