// Emits MemoryAccess's loads of elements that may be outside of a buffer: on
// CPUs the address is selected, on GPUs the load is in a branch.
#include <cstdint>
#include <vector>

#include "jit/llvm/emit/memory_access.h"
#include "llvm/IR/Constants.h"

namespace ember::jit::llvm_ir {

using llvm::Value;

namespace {

// Number of bytes of the constant memory that is read instead of an element
// outside of a buffer. It is as long as several vectors.
constexpr int64_t kOutsideBytes = 512;

}  // namespace

llvm::GlobalVariable* MemoryAccess::FullOf(llvm::Constant* value) {
  llvm::GlobalVariable*& global = full_[value];
  if (global != nullptr) return global;
  const auto count = static_cast<uint64_t>(kOutsideBytes) * 8 /
                     value->getType()->getScalarSizeInBits();
  llvm::Constant* const values =
      llvm::ConstantArray::get(llvm::ArrayType::get(value->getType(), count),
                               std::vector<llvm::Constant*>(count, value));
  global = new llvm::GlobalVariable(*function_.getParent(), values->getType(),
                                    true, llvm::GlobalValue::PrivateLinkage,
                                    values, "outside");
  global->setAlignment(llvm::Align(64));
  return global;
}

Value* MemoryAccess::LoadIf(const Address& address, Value* in_bounds,
                            Value* off) {
  if (target_.is_gpu) return LoadBehindBranch(address, in_bounds, off);
  const uint32_t buffer = address.buffer;
  const DType dtype = nest_.buffers[buffer].type;
  llvm::Type* const element = ElementOf(buffer);
  const bool is_vector = address.kind == Address::Kind::kContiguous;
  const int lanes = is_vector ? scopes_.lanes() : 1;
  auto* const constant =
      IsVector(off) ? nullptr
                    : llvm::dyn_cast<llvm::Constant>(ToMemory(b_, dtype, off));
  llvm::GlobalVariable* const outside =
      FullOf(constant ? constant : llvm::Constant::getNullValue(element));
  // The select chooses the address of the row instead of the element's, so that
  // all elements of a row share one select; the element's constant distance
  // from the row is added afterwards. The constant memory must be longer than
  // that distance.
  const bool has_row =
      address.row != nullptr && address.behind_row > 0 &&
      address.behind_row <= kOutsideBytes / DTypeByteSize(dtype) - lanes;
  Value* pointer = b_.CreateSelect(
      in_bounds, has_row ? address.row : address.pointer, outside);
  if (has_row) {
    pointer =
        b_.CreateGEP(element, pointer,
                     b_.getInt64(static_cast<uint64_t>(address.behind_row)));
  }
  llvm::Type* type = element;
  if (is_vector)
    type = llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes));
  // The load may read the constant memory instead of the buffer. The buffer's
  // alias metadata is right for it, too, because no store writes to that
  // memory.
  Value* const loaded =
      ToRegister(b_, dtype,
                 Mark(b_.CreateAlignedLoad(type, pointer, AlignmentOf(buffer)),
                      buffer, true));
  if (constant != nullptr) return loaded;
  Value* const inside =
      IsVector(off) ? Splat(b_, loaded, scopes_.lanes()) : loaded;
  return b_.CreateSelect(
      in_bounds, inside,
      IsVector(inside) ? Splat(b_, off, scopes_.lanes()) : off);
}

// Loads the element in a branch that is taken only if it is in bounds. Threads
// on different paths wait for each other, but the address stays in a known
// address space, which a selected address would not be.
Value* MemoryAccess::LoadBehindBranch(const Address& address, Value* in_bounds,
                                      Value* off) {
  const auto block = [&](const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, &function_);
  };
  const bool is_vector =
      IsVector(off) || address.kind != Address::Kind::kUniform;
  if (is_vector) off = Splat(b_, off, scopes_.lanes());
  const auto* const known = llvm::dyn_cast<llvm::ConstantInt>(in_bounds);
  if (known != nullptr && known->isZero()) return off;
  llvm::BasicBlock* const inside = block("inside");
  llvm::BasicBlock* const after = block("loaded");
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  b_.CreateCondBr(in_bounds, inside, after);
  b_.SetInsertPoint(inside);
  Value* loaded = Load(address, nullptr, nullptr);
  if (is_vector) loaded = Splat(b_, loaded, scopes_.lanes());
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  llvm::PHINode* const value = b_.CreatePHI(off->getType(), 2);
  value->addIncoming(off, before);
  value->addIncoming(loaded, inside);
  return value;
}

}  // namespace ember::jit::llvm_ir
