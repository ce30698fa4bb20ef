#include "jit/llvm/emit/memory_access.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "jit/llvm/emit/load_column.h"
#include "jit/llvm/emit/prefetch.h"
#include "jit/llvm/emit/strided_access.h"
#include "jit/loops/walk.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

namespace ember::jit::llvm_ir {

using llvm::Value;
using loops::MemoryScope;

namespace {

using Lanes = std::vector<int64_t>;

// Returns the elements of the vector if it is a constant vector of i64;
// otherwise nullopt.
std::optional<Lanes> ConstantLanes(Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::ConstantDataVector>(value);
  if (vector == nullptr) return std::nullopt;
  Lanes lanes;
  for (unsigned i = 0; i < vector->getNumElements(); ++i)
    lanes.push_back(static_cast<int64_t>(vector->getElementAsInteger(i)));
  return lanes;
}

// True if LLVM can prove that the constant and each uniform term of the index
// (LinearIndex::uniform) are not negative.
bool AreNotNegative(const LinearIndex& index) {
  const auto is_known = [](const ScopedValue& part) {
    const llvm::DataLayout layout("");
    return llvm::computeKnownBits(part.value, layout).isNonNegative();
  };
  return index.constant >= 0 && std::ranges::all_of(index.uniform, is_known);
}

constexpr uint64_t kMaxLanes = 64;
// The largest alignment in bytes that an access can use.
constexpr uint64_t kMaxAlignment = 128;

}  // namespace

MemoryAccess::MemoryAccess(const loops::LoopNest& nest, bool is_prologue,
                           KernelArguments& arguments, TargetTraits target,
                           llvm::Function& function, Scopes& scopes,
                           Builder& builder, IndexLinearizer& linearizer)
    : nest_(nest),
      is_prologue_(is_prologue),
      arguments_(arguments),
      target_(target),
      function_(function),
      scopes_(scopes),
      b_(builder),
      linearizer_(linearizer),
      pointers_(nest.buffers.size()),
      parameters_(nest.parameters.size()),
      strides_(nest.buffers.size()) {
  CreateAliasScopes();
}

// Creates the alias metadata of buffers. Each buffer has an alias scope, except
// inputs and buffers in registers, and each buffer lists the scopes of other
// buffers that it cannot alias. Inputs do not list outputs, even if they cannot
// alias (see loops::Buffer::shares): on CPUs LLVM would then hoist more loads
// out of loops than there are registers, and on GPUs such loads are marked as
// constant instead.
void MemoryAccess::CreateAliasScopes() {
  llvm::LLVMContext& context = b_.getContext();
  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain(nest_.name);
  const size_t count = nest_.buffers.size();
  alias_scopes_.assign(count, nullptr);
  no_alias_.assign(count, nullptr);
  std::vector<llvm::MDNode*> scopes(count);
  for (size_t i = 0; i < count; ++i) {
    const MemoryScope scope = nest_.buffers[i].scope;
    if (scope == MemoryScope::kInput || IsRegister(static_cast<uint32_t>(i)))
      continue;
    scopes[i] =
        metadata.createAnonymousAliasScope(domain, nest_.buffers[i].name);
    alias_scopes_[i] = llvm::MDNode::get(context, {scopes[i]});
  }
  // A kernel may join hundreds of inputs, but only few of its buffers have a
  // scope. The loop over pairs visits only these.
  std::vector<size_t> scoped;
  for (size_t i = 0; i < count; ++i) {
    if (scopes[i] != nullptr) scoped.push_back(i);
  }
  for (size_t i = 0; i < count; ++i) {
    llvm::SmallVector<llvm::Metadata*, 8> apart;
    for (const size_t j : scoped) {
      const bool is_argument_pair =
          nest_.buffers[i].scope == MemoryScope::kInput &&
          nest_.buffers[j].scope == MemoryScope::kOutput;
      if (j != i && !is_argument_pair) apart.push_back(scopes[j]);
    }
    if (!apart.empty()) no_alias_[i] = llvm::MDNode::get(context, apart);
  }
}

llvm::Instruction* MemoryAccess::Mark(llvm::Instruction* instruction,
                                      uint32_t buffer, bool is_load) {
  if (IsRegister(buffer)) return instruction;
  if (alias_scopes_[buffer] != nullptr)
    instruction->setMetadata(llvm::LLVMContext::MD_alias_scope,
                             alias_scopes_[buffer]);
  if (no_alias_[buffer] != nullptr)
    instruction->setMetadata(llvm::LLVMContext::MD_noalias, no_alias_[buffer]);
  if (!is_load || is_prologue_) return instruction;
  const bool is_packed = nest_.buffers[buffer].scope == MemoryScope::kPacked;
  if (target_.is_gpu) {
    // Assemblers of GPU code know no alias scopes. Instead they have loads of
    // memory that never changes, which may move before earlier stores.
    if (is_packed || loops::IsNeverWritten(nest_, buffer))
      MarkConstant(*instruction);
  } else if (is_packed) {
    MarkLargeConstant(*instruction, buffer);
  }
  return instruction;
}

void MemoryAccess::MarkConstant(llvm::Instruction& load) {
  load.setMetadata(llvm::LLVMContext::MD_invariant_load,
                   llvm::MDNode::get(b_.getContext(), {}));
}

void MemoryAccess::MarkLargeConstant(llvm::Instruction& load, uint32_t number) {
  const loops::Buffer& buffer = nest_.buffers[number];
  int64_t bytes = DTypeByteSize(buffer.type);
  for (tensor::NodeId extent : buffer.extents) {
    bytes *= nest_.pool.IntegerConstant(extent).value_or(0);
    if (bytes > kPrefetchDistance) break;
  }
  // The metadata of a constant load, which all of LLVM's passes keep, also
  // serves as a request for prefetches (prefetch.h).
  if (bytes > kPrefetchDistance) MarkConstant(load);
}

llvm::Align MemoryAccess::AlignmentOf(uint32_t buffer) const {
  return llvm::Align(
      static_cast<uint64_t>(DTypeByteSize(nest_.buffers[buffer].type)));
}

Value* MemoryAccess::Parameter(uint64_t number) {
  Value*& value = parameters_[number];
  if (value != nullptr) return value;
  const Scopes::At at(scopes_, 0);
  return value = arguments_.Parameter(b_, number);
}

Value* MemoryAccess::PointerOf(uint32_t number) {
  Value*& pointer = pointers_[number];
  if (pointer != nullptr) return pointer;
  const Scopes::At at(scopes_, 0);
  const loops::Buffer& buffer = nest_.buffers[number];
  if (IsRegister(number)) {
    uint64_t elements = 1;
    for (size_t dim = FirstDim(number); dim < buffer.extents.size(); ++dim)
      elements *= static_cast<uint64_t>(RegisterExtent(number, dim));
    // The array has kMaxLanes further elements, so that a vector that begins at
    // its last element is still inside of it.
    elements += kMaxLanes;
    llvm::AllocaInst* memory =
        b_.CreateAlloca(llvm::ArrayType::get(ElementOf(number), elements),
                        nullptr, buffer.name);
    memory->setAlignment(llvm::Align(64));
    return pointer = memory;
  }
  pointer = arguments_.Buffer(b_, number);
  if (Value* first = arguments_.Slice(number)) {
    for (const NodeId extent : buffer.extents)
      first =
          b_.CreateMul(first, linearizer_.Rest(linearizer_.Of(extent)).value);
    pointer = b_.CreateGEP(ElementOf(number), pointer, first);
  }
  return pointer;
}

// Returns the extent of a dim of a register buffer. That of the last dim is
// rounded up to a power of two: the last vector of a row may be masked (see
// BlockEmitter::EmitVector), and then must not overlap the next row.
int64_t MemoryAccess::RegisterExtent(uint32_t number, size_t dim) const {
  const std::vector<NodeId>& extents = nest_.buffers[number].extents;
  const int64_t extent = *nest_.pool.IntegerConstant(extents[dim]);
  if (dim + 1 < extents.size()) return extent;
  return static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(extent)));
}

// Returns the distance in elements between neighbouring indices of the dim.
Factor MemoryAccess::StrideOf(uint32_t buffer, size_t dim) {
  std::vector<Factor>& strides = strides_[buffer];
  const std::vector<NodeId>& extents = nest_.buffers[buffer].extents;
  if (strides.empty()) {
    strides.resize(extents.size());
    for (size_t i = extents.size() - 1; i-- > 0;) {
      if (IsRegister(buffer)) {
        const int64_t extent = RegisterExtent(buffer, i + 1);
        strides[i] = linearizer_.Times(strides[i + 1], extent);
        continue;
      }
      const LinearIndex extent = linearizer_.Of(extents[i + 1]);
      strides[i] = linearizer_.Times(strides[i + 1], linearizer_.Rest(extent));
    }
  }
  return strides[dim];
}

Value* MemoryAccess::Advance(Value* pointer, uint32_t buffer,
                             ScopedValue elements, int depth) {
  llvm::Type* const type = ElementOf(buffer);
  const auto make = [&] { return b_.CreateGEP(type, pointer, elements.value); };
  return scopes_.Once(depth, Made::kAdvance, pointer, elements.value, make,
                      type);
}

Address MemoryAccess::AddressOf(uint32_t buffer,
                                std::span<const NodeId> indices) {
  Address address;
  address.buffer = buffer;
  LinearIndex offset;
  int varying = 0;
  int64_t before_row = 0;
  for (size_t dim = FirstDim(buffer); dim < indices.size(); ++dim) {
    before_row = offset.constant;
    linearizer_.Add(indices[dim], StrideOf(buffer, dim), offset);
    if (!scopes_.VariesByLane(indices[dim])) continue;
    const LinearIndex index = linearizer_.Of(indices[dim]);
    address.is_distinct |= index.HasConstantStride() && !index.IsUniform();
    // If two indices vary by lane, `is_whole` is false, because only single
    // indices are analysed.
    address.is_whole = ++varying == 1 && HasAllLanes(buffer, dim, index);
  }
  linearizer_.JoinDigits(offset);
  // Terms of outer scopes are added first, so that their sums stay in these
  // scopes. The constant is added last, as machine instructions add it for
  // free.
  std::stable_sort(offset.uniform.begin(), offset.uniform.end(),
                   [](const ScopedValue& a, const ScopedValue& b) {
                     return a.depth < b.depth;
                   });
  address.pointer = PointerOf(buffer);
  int depth = 0;
  for (const ScopedValue& term : offset.uniform) {
    depth = std::max(depth, term.depth);
    address.pointer = Advance(address.pointer, buffer, term, depth);
  }
  Value* const before_constant = address.pointer;
  const auto advance = [&](int64_t elements) {
    if (elements == 0) return;
    Value* constant = b_.getInt64(static_cast<uint64_t>(elements));
    address.pointer = Advance(address.pointer, buffer, {constant, 0}, depth);
  };
  // The difference wraps modulo 2^64, as all arithmetic on addresses does. An
  // address is only used if it is in bounds.
  address.behind_row =
      static_cast<int64_t>(static_cast<uint64_t>(offset.constant) -
                           static_cast<uint64_t>(before_row));
  advance(before_row);
  address.row = address.pointer;
  advance(address.behind_row);
  if (arguments_.IsRowMajor(buffer)) {
    if (target_.is_gpu) address.alignment = FindAlignment(buffer, offset);
  } else {
    address.pointer = arguments_.AddressOf(
        b_, buffer,
        {.begin = PointerOf(buffer),
         .pointer = before_constant,
         .constant = offset.constant,
         .is_of_parts = AreNotNegative(offset),
         .lanes = offset.IsUniform() ? int64_t{1} : int64_t{scopes_.lanes()}});
  }
  if (offset.IsUniform()) return address;
  const int lanes = scopes_.lanes();
  if (!offset.irregular.empty()) {
    address.kind = Address::Kind::kIrregular;
    Value* stride = linearizer_.Stride(offset).value;
    Value* offsets =
        b_.CreateMul(Splat(b_, stride, lanes), Ramp(b_.getInt64Ty(), lanes));
    for (const ScopedValue& term : offset.irregular) {
      offsets = b_.CreateAdd(offsets, term.value);
    }
    address.offsets = offsets;
    // If the offsets are a constant vector, they may be 0, 1, 2 and so on,
    // because quotients and remainders of the lane's number can add up to the
    // number. The access is then contiguous.
    if (const std::optional<Lanes> known = ConstantLanes(offsets)) {
      address.kind = Address::Kind::kContiguous;
      for (size_t lane = 0; lane < known->size(); ++lane) {
        if ((*known)[lane] != static_cast<int64_t>(lane))
          address.kind = Address::Kind::kIrregular;
      }
    }
    return address;
  }
  address.kind = Address::Kind::kStrided;
  address.stride = linearizer_.Stride(offset).value;
  if (offset.per_lane.empty() && offset.lane_constant == 1)
    address.kind = Address::Kind::kContiguous;
  if (offset.per_lane.empty() && offset.lane_constant == -1)
    address.kind = Address::Kind::kReversed;
  if (!indices.empty()) {
    const LinearIndex last = linearizer_.Of(indices.back());
    if (last.IsUniform() && last.uniform.empty())
      address.column = last.constant;
  }
  return address;
}

// Returns the alignment in bytes of an offset in the buffer. LLVM also derives
// alignments, but gives up after a few additions.
uint64_t MemoryAccess::FindAlignment(uint32_t buffer,
                                     const LinearIndex& offset) {
  const llvm::DataLayout& layout = function_.getParent()->getDataLayout();
  const auto zeros_of = [&](Value* value) {
    return llvm::computeKnownBits(value, layout).countMinTrailingZeros();
  };
  uint64_t elements = static_cast<uint64_t>(offset.constant);
  for (const ScopedValue& term : offset.uniform)
    elements |= uint64_t{1} << std::min(zeros_of(term.value), 63u);
  const auto bytes =
      static_cast<uint64_t>(DTypeByteSize(nest_.buffers[buffer].type));
  const uint64_t pointer = uint64_t{1}
                           << std::min(zeros_of(PointerOf(buffer)), 63u);
  return std::min(llvm::MinAlign(elements * bytes, pointer), kMaxAlignment);
}

bool MemoryAccess::HasAllLanes(uint32_t buffer, size_t dim,
                               const LinearIndex& index) const {
  const std::optional<int64_t> extent =
      nest_.pool.IntegerConstant(nest_.buffers[buffer].extents[dim]);
  return extent && index.HasConstantStride() && index.uniform.empty() &&
         index.constant >= 0 && index.lane_constant == 1 &&
         index.constant <= *extent - scopes_.lanes();
}

// --- loads

Value* MemoryAccess::Load(const Address& address, Value* mask, Value* off) {
  const DType dtype = nest_.buffers[address.buffer].type;
  llvm::Type* type = ElementOf(address.buffer);
  if (address.kind != Address::Kind::kUniform) {
    type = llvm::FixedVectorType::get(type,
                                      static_cast<unsigned>(scopes_.lanes()));
  }
  if (off != nullptr) off = ToMemory(b_, dtype, off);
  return ToRegister(b_, dtype, LoadMemory(address, type, mask, off));
}

Value* MemoryAccess::LoadMemory(const Address& address, llvm::Type* type,
                                Value* mask, Value* off) {
  const uint32_t buffer = address.buffer;
  switch (address.kind) {
    case Address::Kind::kUniform:
      return Mark(
          b_.CreateAlignedLoad(type, address.pointer, AlignmentOf(buffer)),
          buffer, true);
    case Address::Kind::kContiguous:
      return LoadVector(address, type, mask, off);
    case Address::Kind::kReversed:
      return Reverse(LoadVector(Behind(address, 1 - scopes_.lanes()), type,
                                mask ? Reverse(mask) : nullptr,
                                off ? Reverse(off) : nullptr));
    default:
      if (mask == nullptr) {
        if (Value* loaded = LoadRuns(address, type)) return loaded;
      }
      if (mask == nullptr || (off == nullptr && address.is_whole)) {
        if (Value* loaded = LoadColumnOf(address, type)) return loaded;
      }
      if (Value* loaded = LoadNarrow(address, type, mask, off)) return loaded;
      return Mark(b_.CreateMaskedGather(type, LanePointers(address),
                                        AlignmentOf(buffer), mask, off),
                  buffer, true);
  }
}

// Loads lanes whose constant offsets form a few runs of neighbouring elements,
// as in transposed tiles. Each run takes one load, and a shuffle moves its
// elements to their lanes; a gather would load each lane. Returns null if there
// are too many runs.
Value* MemoryAccess::LoadRuns(const Address& address, llvm::Type* type) {
  if (address.offsets == nullptr || target_.is_gpu) return nullptr;
  const std::optional<Lanes> offsets = ConstantLanes(address.offsets);
  if (!offsets) return nullptr;
  // The runs. Key: offset of the run's first element; value: its number of
  // elements.
  std::map<int64_t, int64_t> runs;
  for (int64_t offset : std::set<int64_t>(offsets->begin(), offsets->end())) {
    if (!runs.empty() && runs.rbegin()->first + runs.rbegin()->second == offset)
      ++runs.rbegin()->second;
    else
      runs[offset] = 1;
  }
  const size_t lanes = offsets->size();
  if (runs.size() > lanes / 2) return nullptr;
  llvm::Type* const element = ElementOf(address.buffer);
  Value* result = llvm::PoisonValue::get(type);
  std::vector<int> taken(lanes, llvm::PoisonMaskElem);
  for (const auto& [first, count] : runs) {
    Value* const pointer = b_.CreateGEP(
        element, address.pointer, b_.getInt64(static_cast<uint64_t>(first)));
    Value* const run = Mark(
        b_.CreateAlignedLoad(
            llvm::FixedVectorType::get(element, static_cast<unsigned>(count)),
            pointer, AlignmentOf(address.buffer)),
        address.buffer, true);
    std::vector<int> wide(lanes, llvm::PoisonMaskElem);
    for (int64_t i = 0; i < count; ++i)
      wide[static_cast<size_t>(i)] = static_cast<int>(i);
    std::vector<int> places = taken;
    for (size_t lane = 0; lane < lanes; ++lane) {
      const int64_t index = (*offsets)[lane] - first;
      if (index < 0 || index >= count) continue;
      places[lane] = static_cast<int>(lanes) + static_cast<int>(index);
      taken[lane] = static_cast<int>(lane);
    }
    result = b_.CreateShuffleVector(result, b_.CreateShuffleVector(run, wide),
                                    places);
  }
  return result;
}

// Loads lanes that are one column of a tile, whose rows it loads (see
// jit/llvm/emit/load_column.h). The loads also read other elements of the rows,
// so the buffer must be the task's own, where no other task writes. Returns
// null if the address is not of this form.
Value* MemoryAccess::LoadColumnOf(const Address& address, llvm::Type* type) {
  const loops::Buffer& buffer = nest_.buffers[address.buffer];
  const auto* const stride =
      llvm::dyn_cast_or_null<llvm::ConstantInt>(address.stride);
  if (buffer.scope != MemoryScope::kTask || stride == nullptr ||
      address.column < 0 || target_.is_gpu)
    return nullptr;
  const std::optional<int64_t> row =
      nest_.pool.IntegerConstant(buffer.extents.back());
  const int lanes = scopes_.lanes();
  const int chunk = ColumnChunk(DTypeByteSize(buffer.type), lanes);
  if (!row || chunk < 2 || *row % chunk != 0 ||
      stride->getSExtValue() % *row != 0)
    return nullptr;
  const int64_t column = address.column % chunk;
  llvm::Type* const element = ElementOf(address.buffer);
  llvm::Type* const part =
      llvm::FixedVectorType::get(element, static_cast<unsigned>(chunk));
  return LoadColumn(b_, lanes, chunk, static_cast<int>(column), [&](int lane) {
    const int64_t offset = lane * stride->getSExtValue() - column;
    Value* const pointer = b_.CreateGEP(
        element, address.pointer, b_.getInt64(static_cast<uint64_t>(offset)));
    return Mark(
        b_.CreateAlignedLoad(part, pointer, AlignmentOf(address.buffer)),
        address.buffer, true);
  });
}

std::optional<int64_t> MemoryAccess::NarrowStride(
    const Address& address) const {
  const auto* const stride =
      llvm::dyn_cast_or_null<llvm::ConstantInt>(address.stride);
  if (address.kind != Address::Kind::kStrided || stride == nullptr ||
      target_.is_gpu || IsRegister(address.buffer) ||
      !IsNarrowStride(stride->getSExtValue(), scopes_.lanes())) {
    return std::nullopt;
  }
  return stride->getSExtValue();
}

// Loads lanes that are a few elements apart by contiguous loads
// (strided_access.h). Returns null if the lanes are not that close, or if a
// mask is needed and the machine has no masked loads of such elements.
Value* MemoryAccess::LoadNarrow(const Address& address, llvm::Type* type,
                                Value* mask, Value* off) {
  constexpr int kBytesOfMasked = 4;
  const std::optional<int64_t> stride = NarrowStride(address);
  const int bytes = DTypeByteSize(nest_.buffers[address.buffer].type);
  if (!stride ||
      (mask != nullptr && !target_.has_masks && bytes < kBytesOfMasked)) {
    return nullptr;
  }
  Value* const loaded = LoadStrided(
      b_, *stride, scopes_.lanes(), mask, [&](int64_t first, Value* of_chunk) {
        return LoadVector(Behind(address, first), type, of_chunk, nullptr);
      });
  if (mask == nullptr || off == nullptr) return loaded;
  return b_.CreateSelect(mask, loaded, Splat(b_, off, scopes_.lanes()));
}

Value* MemoryAccess::LoadVector(const Address& address, llvm::Type* type,
                                Value* mask, Value* off) {
  const uint32_t buffer = address.buffer;
  const llvm::Align alignment = AlignmentOf(address);
  if (mask == nullptr || (IsRegister(buffer) && off == nullptr)) {
    return Mark(b_.CreateAlignedLoad(type, address.pointer, alignment), buffer,
                true);
  }
  return Mark(b_.CreateMaskedLoad(type, address.pointer, alignment, mask, off),
              buffer, true);
}

Value* MemoryAccess::LoadAs(const Address& address, llvm::Type* type) {
  const uint32_t buffer = address.buffer;
  return Mark(b_.CreateAlignedLoad(type, address.pointer, AlignmentOf(buffer)),
              buffer, true);
}

void MemoryAccess::Prefetch(uint32_t buffer, Value* element) {
  // The address arithmetic is not marked inbounds, because the prefetched
  // element need not exist.
  Value* const pointer =
      b_.CreateGEP(ElementOf(buffer), PointerOf(buffer), element);
  // The prefetch is for reading, into a larger cache than the first-level one.
  // Mark adds alias metadata: without it LLVM would assume that the prefetch
  // touches other buffers, and could not keep their values in registers.
  Mark(b_.CreateIntrinsic(
           llvm::Intrinsic::prefetch, {pointer->getType()},
           {pointer, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)}),
       buffer, false);
}

// --- stores

void MemoryAccess::Store(const Address& address, Value* value, Value* mask) {
  const uint32_t buffer = address.buffer;
  value = ToMemory(b_, nest_.buffers[buffer].type, value);
  if (address.kind == Address::Kind::kUniform) {
    Mark(b_.CreateAlignedStore(LastLane(value, mask), address.pointer,
                               AlignmentOf(buffer)),
         buffer, false);
    return;
  }
  value = Splat(b_, value, scopes_.lanes());
  switch (address.kind) {
    case Address::Kind::kContiguous:
      return StoreVector(address, value, mask);
    case Address::Kind::kReversed:
      return StoreVector(Behind(address, 1 - scopes_.lanes()), Reverse(value),
                         mask ? Reverse(mask) : nullptr);
    default:
      if (StoreNarrow(address, value, mask)) return;
      // If lanes share an element, the last lane must win: a scatter stores the
      // lanes in order.
      Mark(b_.CreateMaskedScatter(value, LanePointers(address),
                                  AlignmentOf(buffer), mask),
           buffer, false);
  }
}

// Stores lanes that are a few elements apart by contiguous stores, whose masks
// leave out the elements in between. Returns false if the lanes are not that
// close, or if the machine has no mask registers.
bool MemoryAccess::StoreNarrow(const Address& address, Value* value,
                               Value* mask) {
  const std::optional<int64_t> stride = NarrowStride(address);
  if (!stride || !target_.has_masks) return false;
  StoreStrided(b_, *stride, scopes_.lanes(), value, mask,
               [&](int64_t first, Value* part, Value* of_chunk) {
                 StoreVector(Behind(address, first), part, of_chunk);
               });
  return true;
}

void MemoryAccess::StoreVector(const Address& address, Value* value,
                               Value* mask) {
  const uint32_t buffer = address.buffer;
  const llvm::Align alignment = AlignmentOf(address);
  if (mask != nullptr && IsRegister(buffer)) {
    // LLVM keeps an array in registers only if all its accesses are plain loads
    // and stores. So a masked store to such a buffer becomes a load, a
    // selection and a store.
    Value* old =
        b_.CreateAlignedLoad(value->getType(), address.pointer, alignment);
    value = b_.CreateSelect(mask, value, old);
    mask = nullptr;
  }
  llvm::Instruction* store =
      mask == nullptr ? b_.CreateAlignedStore(value, address.pointer, alignment)
                      : static_cast<llvm::Instruction*>(b_.CreateMaskedStore(
                            value, address.pointer, alignment, mask));
  Mark(store, buffer, false);
}

// --- lanes

Value* MemoryAccess::LanePointers(const Address& address) {
  const int lanes = scopes_.lanes();
  Value* offsets = address.offsets;
  if (offsets == nullptr) {
    llvm::Constant* ramp = Ramp(b_.getInt64Ty(), lanes);
    offsets = b_.CreateMul(Splat(b_, address.stride, lanes), ramp);
  }
  return b_.CreateGEP(ElementOf(address.buffer), address.pointer, offsets);
}

Address MemoryAccess::LaneAddress(const Address& address, Value* lane) {
  Address element;
  element.buffer = address.buffer;
  Value* offset = address.offsets != nullptr
                      ? b_.CreateExtractElement(address.offsets, lane)
                      : b_.CreateMul(address.stride, lane);
  element.pointer =
      b_.CreateGEP(ElementOf(address.buffer), address.pointer, offset);
  return element;
}

Value* MemoryAccess::Reverse(Value* value) {
  llvm::SmallVector<int, 64> order;
  for (int lane = scopes_.lanes(); lane-- > 0;) order.push_back(lane);
  return b_.CreateShuffleVector(value, order);
}

Address MemoryAccess::Behind(const Address& address, int64_t elements) {
  Address moved = address;
  moved.pointer =
      b_.CreateConstGEP1_64(ElementOf(address.buffer), address.pointer,
                            static_cast<uint64_t>(elements));
  moved.alignment = 1;
  return moved;
}

Value* MemoryAccess::LastLane(Value* value, Value* mask) {
  if (!IsVector(value)) return value;
  const int lanes = scopes_.lanes();
  Value* last = b_.getInt64(static_cast<uint64_t>(lanes - 1));
  if (mask != nullptr) {
    Value* bits =
        b_.CreateBitCast(mask, b_.getIntNTy(static_cast<unsigned>(lanes)));
    Value* above =
        b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits, b_.getTrue());
    last = b_.CreateSub(last, b_.CreateZExtOrTrunc(above, b_.getInt64Ty()));
  }
  return b_.CreateExtractElement(value, last);
}

}  // namespace ember::jit::llvm_ir
