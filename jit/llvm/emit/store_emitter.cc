#include "jit/llvm/emit/store_emitter.h"

#include "jit/llvm/emit/counted_loop.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Intrinsics.h"
#include "tensor/scalar.h"

namespace ember::jit::llvm_ir {

using llvm::Value;
using loops::Store;
using tensor::Update;

namespace {

// Returns the bits of the update's identity: a value x such that updating x
// with y gives y, for all y except NaNs.
uint64_t IdentityBits(Update update, DType type) {
  switch (update) {
    case Update::kMultiply:
      return tensor::OneBits(type);
    case Update::kMinimum:
      return tensor::LargestBits(type);
    case Update::kMaximum:
      return tensor::SmallestBits(type);
    default:
      break;
  }
  // The identity of a float sum is -0, because 0 + -0 is 0 and -0 + -0 is -0.
  return IsFloat(type) ? uint64_t{1} << (8 * DTypeByteSize(type) - 1) : 0;
}

}  // namespace

void StoreEmitter::Emit(std::span<const Store> stores) {
  expressions_.BeginStatement();
  llvm::SmallVector<Pending, 4> all;
  for (const Store& store : stores) all.push_back(Prepare(store));
  for (const Pending& pending : all) StoreNow(pending);
}

bool StoreEmitter::IsFused(const Store& store) const {
  const DType type = TypeOf(store);
  return target_.has_fma && store.update == Update::kAdd &&
         (type == DType::kF32 || type == DType::kF64) &&
         nest_.pool[store.value].opcode == tensor::Opcode::kMultiply;
}

StoreEmitter::Pending StoreEmitter::Prepare(const Store& store) {
  Pending pending;
  pending.store = &store;
  pending.address =
      expressions_.memory().AddressOf(store.buffer, store.indices);
  if (IsFused(store)) {
    const std::vector<NodeId>& factors = nest_.pool[store.value].operands;
    pending.factor = expressions_.Emit(factors[0]);
    pending.other_factor = expressions_.Emit(factors[1]);
  } else {
    pending.value = expressions_.Emit(store.value);
  }
  return pending;
}

void StoreEmitter::EmitValue(const Store& store, Value* value) {
  Pending pending;
  pending.store = &store;
  pending.address =
      expressions_.memory().AddressOf(store.buffer, store.indices);
  pending.value = value;
  StoreNow(pending);
}

void StoreEmitter::StoreNow(const Pending& pending) {
  if (pending.store->update == Update::kAssign) {
    expressions_.memory().Store(pending.address, pending.value,
                                expressions_.mask());
    return;
  }
  const bool is_in_lanes = expressions_.scopes().lanes() != 0;
  const bool is_uniform = pending.address.kind == Address::Kind::kUniform;
  if (is_in_lanes && !is_uniform && !pending.address.is_distinct) {
    UpdateLaneByLane(pending);
  } else {
    Update(pending);
  }
}

void StoreEmitter::Update(const Pending& pending) {
  MemoryAccess& memory = expressions_.memory();
  Value* const mask = expressions_.mask();
  Value* old = memory.Load(pending.address, mask, nullptr);
  const bool is_in_lanes = expressions_.scopes().lanes() != 0;
  if (is_in_lanes && !IsVector(old)) {
    old = Combine(*pending.store, old, Reduce(pending));
  } else {
    old = Combined(pending, old);
  }
  memory.Store(pending.address, old, mask);
}

Value* StoreEmitter::Combined(const Pending& pending, Value* old) {
  const int lanes = expressions_.scopes().lanes();
  const auto shaped = [&](Value* value) {
    return IsVector(old) ? Splat(b_, value, lanes) : value;
  };
  if (pending.factor == nullptr)
    return Combine(*pending.store, old, shaped(pending.value));
  return b_.CreateIntrinsic(
      llvm::Intrinsic::fma, {old->getType()},
      {shaped(pending.factor), shaped(pending.other_factor), old});
}

Value* StoreEmitter::Combine(const Store& store, Value* a, Value* b) {
  return expressions_.EmitUpdate(store.update, TypeOf(store), a, b);
}

Value* StoreEmitter::ValueOf(const Pending& pending) {
  if (pending.factor == nullptr) return pending.value;
  Value* a = pending.factor;
  Value* b = pending.other_factor;
  const int lanes = expressions_.scopes().lanes();
  if (IsVector(a)) b = Splat(b_, b, lanes);
  if (IsVector(b)) a = Splat(b_, a, lanes);
  return b_.CreateFMul(a, b);
}

llvm::Constant* StoreEmitter::Identity(const Store& store) {
  const DType type = TypeOf(store);
  llvm::Type* memory = MemoryType(b_.getContext(), type);
  llvm::Type* integer =
      b_.getIntNTy(8 * static_cast<unsigned>(DTypeByteSize(type)));
  llvm::Constant* bits =
      llvm::ConstantInt::get(integer, IdentityBits(store.update, type));
  return llvm::cast<llvm::Constant>(
      ToRegister(b_, type, b_.CreateBitCast(bits, memory)));
}

Value* StoreEmitter::Reduce(const Pending& pending) {
  const int lanes = expressions_.scopes().lanes();
  Value* value = Splat(b_, ValueOf(pending), lanes);
  if (Value* mask = expressions_.mask()) {
    value = b_.CreateSelect(mask, value,
                            Splat(b_, Identity(*pending.store), lanes));
  }
  return ReduceLanes(*pending.store, value);
}

// Combines the first half of the lanes with the second half until one lane is
// left. A last lane that has no partner is combined at the end.
Value* StoreEmitter::ReduceLanes(const Store& store, Value* lanes) {
  Value* odd = nullptr;
  int count = expressions_.scopes().lanes();
  const auto part = [&](int begin, int size) {
    llvm::SmallVector<int, 32> which;
    for (int lane = 0; lane < size; ++lane) which.push_back(begin + lane);
    return b_.CreateShuffleVector(lanes, which);
  };
  const auto element = [&](int lane) {
    return b_.CreateExtractElement(lanes, static_cast<uint64_t>(lane));
  };
  while (count > 1) {
    if (count % 2 != 0) {
      Value* last = element(count - 1);
      odd = odd == nullptr ? last : Combine(store, odd, last);
    }
    count /= 2;
    lanes = count == 1 ? Combine(store, element(0), element(1))
                       : Combine(store, part(0, count), part(count, count));
  }
  return odd == nullptr ? lanes : Combine(store, lanes, odd);
}

void StoreEmitter::UpdateLaneByLane(const Pending& pending) {
  MemoryAccess& memory = expressions_.memory();
  const int lanes = expressions_.scopes().lanes();
  Value* values = ValueOf(pending);
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, &function_);
  };
  llvm::BasicBlock* update = block("lane.update");
  llvm::BasicBlock* next = block("lane.next");
  CountedLoop loop(b_, function_, b_.getInt64(0),
                   b_.getInt64(static_cast<uint64_t>(lanes)), "lane");
  Value* const lane = loop.value();
  Value* mask = expressions_.mask();
  Value* is_on =
      mask == nullptr ? b_.getTrue() : b_.CreateExtractElement(mask, lane);
  b_.CreateCondBr(is_on, update, next);
  b_.SetInsertPoint(update);
  const Address address = memory.LaneAddress(pending.address, lane);
  Value* value =
      IsVector(values) ? b_.CreateExtractElement(values, lane) : values;
  Value* old = memory.Load(address, nullptr, nullptr);
  memory.Store(address, Combine(*pending.store, old, value), nullptr);
  b_.CreateBr(next);
  b_.SetInsertPoint(next);
  loop.Finish(block("lanes.end"));
}

}  // namespace ember::jit::llvm_ir
