#include "jit/gpu/place_buffers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/rounding.h"
#include "jit/backend/decline_reasons.h"
#include "jit/gpu/constant_elements.h"
#include "jit/gpu/insert_barriers.h"
#include "jit/gpu/invocations.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/lifetimes.h"
#include "jit/gpu/register_class.h"
#include "jit/gpu/vector_access.h"
#include "jit/loops/analysis/iterations.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/walk.h"
#include "jit/target/matrix_instructions.h"
#include "jit/target/shared_panels.h"
#include "tensor/builder/coefficient.h"
#include "tensor/builder/linear.h"

namespace ember::jit::gpu {

using loops::Block;
using loops::Buffer;
using loops::BufferStorage;
using loops::ElementForm;
using loops::IsInvocationLoop;
using loops::LoopKind;
using loops::MemoryScope;
using loops::Statement;
using loops::StorageKind;
using loops::Workgroup;
using tensor::NodeId;
using tensor::Opcode;

namespace {

// Largest number of bytes that the arrays of an invocation may have if it runs
// a task by itself.
constexpr int64_t kPrivateBytes = 1024;
// Number of invocations per workgroup if each invocation runs a task by itself:
// one or two subgroups of today's devices.
constexpr int64_t kTasksTogether = 64;
constexpr uint32_t kBytesOfWord = 4;

class BufferPlacer {
 public:
  BufferPlacer(const loops::LoopNest& nest, const loops::Phase& phase,
               const DeviceTraits& device)
      : nest_(nest),
        phase_(phase),
        device_(device),
        needs_(nest.buffers.size()),
        has_subgroups_(HasSubgroupLoop(nest)),
        largest_(InvocationsOf(nest, phase, device)),
        lifetimes_(nest, phase.body) {
    workgroup_.storage.resize(nest.buffers.size());
  }

  StatusOr<Workgroup> Run() {
    Survey(phase_.body, nullptr);
    EMBER_RETURN_IF_ERROR(matrices_);
    EMBER_RETURN_IF_ERROR(CheckPanels());
    if (largest_ > device_.invocations) {
      return Decline(DeclineReason::kDeviceLimit,
                     Concat({largest_, " invocations, where a workgroup has ",
                             device_.invocations}));
    }
    EMBER_RETURN_IF_ERROR(CheckIterations());
    ChooseMode();
    AllocateBuffers();
    EMBER_RETURN_IF_ERROR(CheckShared());
    for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
      BufferStorage& storage = workgroup_.storage[i];
      if (!storage.panels.Any() || storage.kind == StorageKind::kShared)
        continue;
      if (!row_panels_.contains(static_cast<uint32_t>(i)))
        return Lacks("panels beyond shared memory");
      storage.panels = {};
    }
    return std::move(workgroup_);
  }

 private:
  // --- Surveying the phase: numbers of iterations, and accesses to buffers.
  // ---

  // Returns an error if an invocation's loops take more iterations than the
  // device allows. If the nest has parameters, the number depends on the call,
  // and the recorder of the call checks it instead.
  Status CheckIterations() {
    const int64_t most = loops::MostIterations(nest_, phase_.body, {});
    if (most <= device_.iterations) return OkStatus();
    workgroup_.iterations = device_.iterations;
    if (!nest_.parameters.empty()) return OkStatus();
    return Decline(DeclineReason::kDeviceLimit,
                   TooManyIterations(most, device_.iterations));
  }

  void Survey(const Block& block, const Statement* invocations) {
    for (const Statement& statement : block) {
      const Statement* around = invocations;
      if (IsInvocationLoop(statement)) {
        around = &statement;
        has_invocations_ = true;
      }
      const bool is_matrix = statement.kind == Statement::Kind::kFor &&
                             statement.loop == LoopKind::kMatrix;
      // SurveyMatrix looks at a whole nest of matrix loops, so it is called for
      // the outermost one only.
      if (is_matrix && !in_matrix_ && matrices_.ok())
        matrices_ = SurveyMatrix(statement, around->variable);
      workgroup_.has_checks |= statement.kind == Statement::Kind::kCheck;
      SurveyAccesses(statement, around);
      const std::optional<NodeId> outer = lanes_;
      const bool outer_mask = may_mask_;
      if (statement.kind == Statement::Kind::kFor &&
          statement.loop == LoopKind::kVector)
        lanes_ = statement.variable;
      may_mask_ |= lanes_ && statement.kind == Statement::Kind::kIf;
      const bool was_in_matrix = std::exchange(in_matrix_, is_matrix);
      Survey(statement.body, around);
      in_matrix_ = was_in_matrix;
      lanes_ = outer;
      may_mask_ = outer_mask;
    }
  }

  // --- Subgroup loops, matrices and panels. ---

  int64_t InWholeSubgroups(int64_t invocations) const {
    const int64_t size = device_.subgroup_size;
    return RoundUp(invocations, size);
  }

  Status SurveyMatrix(const Statement& loop, NodeId subgroup) {
    EMBER_ASSIGN_OR_RETURN(const loops::MatrixOperation operation,
                           loops::MatrixOperationOf(nest_, loop, subgroup));
    BufferStorage& accumulator = workgroup_.storage[operation.accumulator];
    accumulator.kind = StorageKind::kMatrices;
    using enum loops::MatrixOperation::Kind;
    switch (operation.kind) {
      case kFill:
        return CheckHasSums(operation);
      case kStore:
        needs_[operation.destination.buffer].is_native = true;
        return CheckHasSums(operation);
      case kProduct:
        break;
    }
    needs_[operation.a.buffer].is_native = true;
    needs_[operation.b.buffer].is_native = true;
    const loops::MatrixType type = loops::TypeOf(nest_, operation);
    if (!device_.HasMatrix(type) || !device_.uses_matrices)
      return Lacks(ToText(type));
    const int64_t warps = device_.keeps_elements ? WarpsOfMatrix(type) : 1;
    if (warps == 1) {
      without_panels_.insert({operation.a.buffer, operation.b.buffer});
    } else {
      const auto panels = PanelsOfColumns(nest_, operation, subgroup, warps);
      if (!panels)
        return Lacks(
            Concat({ToText(type), " for ", warps, " with one matrix"}));
      workgroup_.storage[operation.b.buffer].panels = *panels;
      const auto rows = PanelsOfRows(nest_, operation, subgroup, warps);
      if (rows)
        row_panels_[operation.a.buffer] = *rows;
      else
        without_panels_.insert(operation.a.buffer);
    }
    const bool is_unsigned = type.a == DType::kU8 && type.b == DType::kU8;
    const auto [sign, is_new] =
        are_unsigned_.emplace(operation.accumulator, is_unsigned);
    accumulator.is_unsigned = is_unsigned;
    if (is_new || sign->second == is_unsigned) return OkStatus();
    return Decline(DeclineReason::kDeviceMatrix,
                   "sums of products of u8 and of others in one matrix");
  }

  // Gives buffers their layouts in panels. Declines the nest if wide
  // instructions read a buffer from panels and another access needs row-major
  // order. If panels are optional for a buffer (factor a of a product), such an
  // access only means that it gets none: warps then load its matrices to
  // registers.
  Status CheckPanels() {
    for (const auto& [buffer, panels] : row_panels_) {
      if (!without_panels_.contains(buffer))
        workgroup_.storage[buffer].panels = panels;
    }
    for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
      if (workgroup_.storage[i].panels.Any() &&
          without_panels_.contains(static_cast<uint32_t>(i))) {
        return Lacks("panels that are read or stored otherwise");
      }
    }
    return OkStatus();
  }

  // Checks that the device has accumulators of this shape and type. Called for
  // matrices that are only filled and stored, so that no product gives the
  // matrix type.
  Status CheckHasSums(const loops::MatrixOperation& operation) const {
    const DType type = nest_.buffers[operation.accumulator].type;
    const bool has_them =
        std::ranges::any_of(device_.matrices, [&](const auto& matrix) {
          return matrix.rows == operation.rows &&
                 matrix.columns == operation.columns && matrix.sum == type;
        });
    if (has_them && device_.uses_matrices) return OkStatus();
    return Lacks(Concat({"accumulators of ", operation.rows, "x",
                         operation.columns, ":", DTypeName(type)}));
  }

  Status Lacks(std::string_view what) const {
    return Decline(DeclineReason::kDeviceMatrix,
                   Concat({what, ", of subgroups of ", device_.subgroup_size}));
  }

  void SurveyAccesses(const Statement& statement, const Statement* around) {
    if (statement.kind == Statement::Kind::kPrefetch) return;
    for (NodeId id :
         loops::NodesUnder(nest_.pool, loops::RootsOf(nest_.pool, statement))) {
      const tensor::Node& node = nest_.pool[id];
      if (node.opcode != Opcode::kLoad && node.opcode != Opcode::kPad) continue;
      BufferStorage& storage = workgroup_.storage[node.buffer];
      storage.is_read = true;
      if (!in_matrix_) without_panels_.insert(node.buffer);
      const size_t rank = node.operands.size() - (node.opcode == Opcode::kPad);
      NoteIndices(std::span(node.operands).first(rank), around, node.buffer);
    }
    for (const loops::Store& store : statement.stores) {
      BufferStorage& storage = workgroup_.storage[store.buffer];
      storage.is_written = true;
      if (in_matrix_ || !MayStoreToPanels(nest_, store, lanes_))
        without_panels_.insert(store.buffer);
      storage.is_read |= store.update != tensor::Update::kAssign;
      NoteIndices(store.indices, around, store.buffer);
      if (around == nullptr || !StoresWords(store))
        has_bytes_.insert(store.buffer);
    }
  }

  // True if the store is of u8 or i8, and the lanes of the surrounding vector
  // loop fill whole words of four bytes.
  bool StoresWords(const loops::Store& store) const {
    const Buffer& buffer = nest_.buffers[store.buffer];
    if (!lanes_ || may_mask_ || store.update != tensor::Update::kAssign ||
        !IsOfWords(buffer)) {
      return false;
    }
    const auto last = tensor::Linearize(nest_.pool, store.indices.back(),
                                        /*by_ranges=*/false);
    if (!last) return false;
    const auto access =
        FindVector(nest_.pool, *last, {kBytesOfWord, kBytesOfWord},
                   [&](NodeId node) { return node == *lanes_; });
    return access && access->is_whole &&
           std::ranges::none_of(
               std::span(store.indices).first(store.indices.size() - 1),
               [&](NodeId id) {
                 return tensor::DependsOn(nest_.pool, id, *lanes_);
               });
  }

  // True if the elements are u8 or i8, the buffer has a constant number of
  // elements, and each of its rows is a whole number of words of four bytes.
  bool IsOfWords(const Buffer& buffer) const {
    if (buffer.type != DType::kI8 && buffer.type != DType::kU8) return false;
    return ConstantElements(nest_, buffer) > 0 && !buffer.extents.empty() &&
           *nest_.pool.IntegerConstant(buffer.extents.back()) % kBytesOfWord ==
               0;
  }

  void NoteIndices(std::span<const NodeId> indices, const Statement* around,
                   uint32_t buffer) {
    if (indices.empty()) return;
    // The invocation is the first index of every access to the buffer if it is
    // that of one access: the verifier of nests checks this.
    if (around != nullptr && indices[0] == around->variable)
      workgroup_.storage[buffer].of_invocation = true;
    if (!lanes_) return;
    const std::vector<NodeId> last =
        loops::NodesUnder(nest_.pool, indices.last(1));
    needs_[buffer].has_lanes |= std::ranges::find(last, *lanes_) != last.end();
  }

  // True if the buffer may be stored as vectors of 4 elements: its type is not
  // bool and has at most 4 bytes, and such vectors fill its rows. Other buffers
  // are stored by element: accessing one element of a vector would cost more
  // arithmetic.
  bool FillsVectors(size_t i) const {
    const Buffer& buffer = nest_.buffers[i];
    return buffer.type != DType::kBool && DTypeByteSize(buffer.type) <= 4 &&
           nest_.pool.IntegerConstant(buffer.extents.back()).value_or(1) % 4 ==
               0;
  }

  // --- Choosing the kind of storage of each buffer. ---

  int64_t RegisterBytes(size_t number) const {
    const Buffer& buffer = nest_.buffers[number];
    return ConstantElements(nest_, buffer) * BytesInRegister(buffer.type);
  }

  // Returns the number of bytes that the buffer would take in the workgroup's
  // memory.
  int64_t SharedBytes(size_t number) const {
    const Buffer& buffer = nest_.buffers[number];
    if (device_.keeps_elements) {
      const int64_t unit = device_.shared_alignment;
      const int64_t bytes =
          ConstantElements(nest_, buffer) * DTypeByteSize(buffer.type);
      return RoundUp(bytes, unit);
    }
    if (KeepsWords(number)) return ConstantElements(nest_, buffer);
    if (needs_[number].is_native)
      return ConstantElements(nest_, buffer) * DTypeByteSize(buffer.type);
    return RegisterBytes(number);
  }
  bool KeepsWords(size_t number) const {
    return !device_.keeps_elements && IsOfWords(nest_.buffers[number]) &&
           !has_bytes_.contains(static_cast<uint32_t>(number));
  }

  bool IsUsed(size_t i) const {
    return workgroup_.storage[i].is_read || workgroup_.storage[i].is_written;
  }

  void ChooseMode() {
    workgroup_.mode = Workgroup::Mode::kInvocations;
    workgroup_.invocations = std::max<int64_t>(largest_, 1);
    if (has_subgroups_)
      workgroup_.invocations = InWholeSubgroups(workgroup_.invocations);
    if (has_invocations_) return;
    int64_t bytes = 0;
    bool is_open = false;
    for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
      if (nest_.buffers[i].scope != MemoryScope::kTask || !IsUsed(i)) continue;
      bytes += RegisterBytes(i);
      is_open |= ConstantElements(nest_, nest_.buffers[i]) == 0;
    }
    const bool is_small = !is_open && bytes <= kPrivateBytes;
    if (is_small) {
      workgroup_.mode = Workgroup::Mode::kTaskEach;
      workgroup_.invocations = std::min(kTasksTogether, device_.invocations);
      if (has_subgroups_)
        workgroup_.invocations = InWholeSubgroups(workgroup_.invocations);
    } else if (!has_subgroups_) {
      workgroup_.mode = Workgroup::Mode::kAlone;
    }
  }

  // Gives buffers their storage. In a loop, two buffers that share bytes need a
  // barrier between the last read of one and the first store to the other. They
  // get separate bytes instead if as many workgroups as before then fit on a
  // processor. With matrices two workgroups are enough: schedules count on two
  // (jit/schedule/gpu/matrix_tiles.cc), and registers allow no more.
  void AllocateBuffers() {
    const Workgroup unallocated = workgroup_;
    const auto allocate = [&] {
      workgroup_ = unallocated;
      shared_.clear();
      // Buffers that must be in the workgroup's memory come first, so that they
      // find room there.
      for (const bool is_shared : {true, false}) {
        for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
          if (nest_.buffers[i].is_shared == is_shared) AllocateBuffer(i);
        }
      }
      return std::ranges::count(workgroup_.storage, StorageKind::kSlices,
                                &BufferStorage::kind);
    };
    const auto workgroups = [&] {
      const int64_t fit = device_.shared_bytes / workgroup_.shared_bytes;
      const bool has_matrices =
          std::ranges::find(workgroup_.storage, StorageKind::kMatrices,
                            &BufferStorage::kind) != workgroup_.storage.end();
      return has_matrices ? std::min<int64_t>(fit, 2) : fit;
    };
    const auto slices = allocate();
    if (!device_.keeps_elements || shared_.size() < 2 ||
        workgroup_.mode != Workgroup::Mode::kInvocations) {
      return;
    }
    const int64_t known = workgroups();
    const Block apart =
        WithBarriersOfBuffersApart(nest_, device_, workgroup_, phase_.body);
    const Lifetimes lifetimes(nest_, apart);
    apart_ = &lifetimes;
    const bool is_better = allocate() <= slices && workgroups() >= known;
    apart_ = nullptr;
    if (!is_better) allocate();
  }

  // Declines the nest if a buffer that invocations must share (is_shared) found
  // no room in the workgroup's memory.
  Status CheckShared() const {
    for (size_t i = 0; i < workgroup_.storage.size(); ++i) {
      if (nest_.buffers[i].is_shared &&
          workgroup_.storage[i].kind == StorageKind::kSlices) {
        return Decline(DeclineReason::kDeviceLimit,
                       Concat({"buffer %", nest_.buffers[i].name,
                               ", where a workgroup's memory has ",
                               device_.shared_bytes, " bytes"}));
      }
    }
    return OkStatus();
  }

  void AllocateBuffer(size_t i) {
    BufferStorage& storage = workgroup_.storage[i];
    if (!IsUsed(i) || storage.kind == StorageKind::kMatrices) return;
    storage.kind = KindOf(i);
    storage.of_invocation &= storage.kind == StorageKind::kRegisters;
    if (storage.kind != StorageKind::kShared) return;
    if (device_.keeps_elements) {
      storage.offset = FreeOffset(i);
      shared_.push_back(i);
      workgroup_.shared_bytes = std::max(workgroup_.shared_bytes, EndOf(i));
    } else {
      storage.form = FormOf(i);
      workgroup_.shared_bytes += SharedBytes(i);
    }
  }

  ElementForm FormOf(size_t i) const {
    if (KeepsWords(i)) return ElementForm::kWords;
    if (needs_[i].is_native) return ElementForm::kNative;
    return needs_[i].has_lanes && FillsVectors(i) ? ElementForm::kVectors
                                                  : ElementForm::kRegisters;
  }

  StorageKind KindOf(size_t i) const {
    switch (nest_.buffers[i].scope) {
      case MemoryScope::kInput:
      case MemoryScope::kOutput:
      case MemoryScope::kPacked:
      case MemoryScope::kCall:
        return StorageKind::kMemory;
      case MemoryScope::kRegister:
        return StorageKind::kRegisters;
      case MemoryScope::kTask:
        break;
    }
    if (workgroup_.mode == Workgroup::Mode::kTaskEach)
      return StorageKind::kPrivate;
    const int64_t bytes = SharedBytes(i);
    const int64_t begin =
        device_.keeps_elements ? FreeOffset(i) : workgroup_.shared_bytes;
    const bool fits = bytes > 0 && begin + bytes <= device_.shared_bytes;
    return fits ? StorageKind::kShared : StorageKind::kSlices;
  }

  // --- Giving buffers that are not in use together the same memory. ---

  int64_t EndOf(size_t i) const {
    return *workgroup_.storage[i].offset + SharedBytes(i);
  }

  bool MustBeApart(size_t i, size_t other) const {
    return lifetimes_.MayOverlap(i, other) ||
           (apart_ != nullptr && !apart_->HaveBarriersBetween(i, other));
  }

  // Returns the first offset in the workgroup's memory at which the buffer
  // overlaps no buffer from which it must be apart (MustBeApart).
  int64_t FreeOffset(size_t i) const {
    const int64_t bytes = SharedBytes(i);
    const int64_t unit = workgroup_.storage[i].panels.Any()
                             ? kPanelAlignment
                             : device_.shared_alignment;
    int64_t begin = 0;
    for (bool moves = true; moves;) {
      moves = false;
      for (const size_t other : shared_) {
        if (!MustBeApart(i, other) || begin >= EndOf(other) ||
            *workgroup_.storage[other].offset >= begin + bytes) {
          continue;
        }
        begin = RoundUp(EndOf(other), unit);
        moves = true;
      }
    }
    return begin;
  }

  const loops::LoopNest& nest_;
  const loops::Phase& phase_;
  const DeviceTraits& device_;
  Workgroup workgroup_;
  // Requirements that the accesses to a buffer have on the form of its
  // elements.
  struct Needs {
    bool is_native = false;  // true if matrix loops load or store the buffer
    bool has_lanes = false;  // true if lanes access neighbouring elements
  };
  std::vector<Needs> needs_;
  std::optional<NodeId> lanes_;  // variable of the vector loop around the
                                 // visited statement, if there is one
  // True inside a condition in the surrounding vector loop, which may leave out
  // some lanes.
  bool may_mask_ = false;
  // Buffers of bytes that cannot be stored by whole words, because some store
  // is of less than a word or is made by the first invocation only.
  std::set<uint32_t> has_bytes_;
  // Buffers that cannot have panels, because some access requires row-major
  // order.
  std::set<uint32_t> without_panels_;
  // For each buffer that is factor a of a product of matrices: the panels that
  // it may have. Instructions can also read it without panels.
  std::map<uint32_t, loops::Panels> row_panels_;
  bool has_invocations_ = false;
  const bool has_subgroups_;
  bool in_matrix_ = false;
  Status matrices_;
  // For each buffer of accumulators: true if it adds up products of unsigned
  // integers.
  std::map<uint32_t, bool> are_unsigned_;
  const int64_t largest_;
  const Lifetimes lifetimes_;
  // numbers of the buffers that already have an offset in the workgroup's
  // memory
  std::vector<size_t> shared_;
  // If not null: lifetimes in the body with the barriers that it needs if no
  // buffers share bytes. Two buffers then share bytes only if these barriers
  // already separate their uses.
  const Lifetimes* apart_ = nullptr;
};

}  // namespace

StatusOr<Workgroup> PlacePhase(const loops::LoopNest& nest,
                               const loops::Phase& phase,
                               const DeviceTraits& device) {
  return BufferPlacer(nest, phase, device).Run();
}

Status PlaceBuffers(const DeviceTraits& device, loops::LoopNest& nest) {
  if (loops::IsPlaced(nest)) return OkStatus();
  for (std::vector<loops::Phase>* const phases :
       {&nest.prologue, &nest.phases}) {
    for (loops::Phase& phase : *phases) {
      EMBER_ASSIGN_OR_RETURN(phase.workgroup, PlacePhase(nest, phase, device));
    }
  }
  return OkStatus();
}

}  // namespace ember::jit::gpu
