#include "jit/llvm/emit/dot_products.h"

#include <algorithm>
#include <vector>

#include "llvm/IR/Constants.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace ember::jit::llvm_ir {

using llvm::Value;
using loops::Statement;
using tensor::Node;

namespace {

llvm::FixedVectorType* VectorOf(llvm::Type* element, int count) {
  return llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
}

// True if all values that the block's statements assign to the buffer are in
// the range. Sets `found` to true if there is such a store.
bool StoresWithin(const loops::LoopNest& nest, const loops::Block& block,
                  uint32_t buffer, tensor::Interval range, bool& found) {
  for (const Statement& statement : block) {
    for (const loops::Store& store : statement.stores) {
      if (store.buffer != buffer) continue;
      if (store.update != tensor::Update::kAssign ||
          !nest.pool[store.value].range.Within(range)) {
        return false;
      }
      found = true;
    }
    if (!StoresWithin(nest, statement.body, buffer, range, found)) return false;
  }
  return true;
}

}  // namespace

bool DotProducts::Emit(const Statement& loop) {
  const int lanes = expressions_.scopes().lanes();
  if (expressions_.mask() != nullptr) return false;
  const StatusOr<loops::DotProduct> dot = loops::DotProductOf(nest_, loop);
  if (!dot.ok() || !HasInstruction(*dot, lanes)) return false;
  expressions_.BeginStatement();
  Scopes& scopes = expressions_.scopes();
  scopes.Enter(nullptr, loop.variable, b_.getInt64(0));
  const auto operands = AddressesOf(*dot);
  if (operands) {
    MemoryAccess& memory = expressions_.memory();
    Value* sum = memory.Load(operands->store, nullptr, nullptr);
    if (dot->count == 4)
      sum = FourProducts(*operands, sum);
    else if (operands->a_type == DType::kBF16)
      sum = BFloatProducts(*operands, sum);
    else
      sum = TwoProducts(*operands, sum);
    memory.Store(operands->store, sum, nullptr);
  }
  scopes.Leave();
  return operands.has_value();
}

bool DotProducts::HasInstruction(const loops::DotProduct& dot,
                                 int lanes) const {
  if (lanes != 4 && lanes != 8 && lanes != 16) return false;
  int bits = target_.dot_product_bits;
  if (dot.count == 2) {
    bits = nest_.pool[dot.a.load].type == DType::kBF16
               ? target_.bfloat_product_bits
               : target_.pair_product_bits;
  } else if (lanes * 32 > bits && HasSmallFactor(dot)) {
    bits = target_.small_product_bits;
  }
  return lanes * 32 <= bits;
}

bool DotProducts::HasSmallFactor(const loops::DotProduct& dot) const {
  loops::DotFactor small = dot.a, other = dot.b;
  const auto is_signed = [&](const loops::DotFactor& factor) {
    return IsSigned(nest_.pool[factor.value].type);
  };
  if (!is_signed(small)) std::swap(small, other);
  if (!is_signed(small) || is_signed(other)) return false;
  // If the unsigned factors are at most 127, the sum of two products by any
  // signed bytes fits 16 bits.
  if (nest_.pool[other.value].range.Within({0, 2 * loops::kSmallByte - 1}))
    return true;
  if (small.is_unpacked()) return false;
  const uint32_t buffer = nest_.pool[small.load].buffer;
  if (nest_.buffers[buffer].scope != loops::MemoryScope::kPacked) return false;
  bool found = false;
  for (const loops::Phase& phase : nest_.prologue) {
    if (!StoresWithin(nest_, phase.body, buffer,
                      {-loops::kSmallByte, loops::kSmallByte}, found)) {
      return false;
    }
  }
  return found;
}

bool DotProducts::IsUniform(const loops::DotFactor& factor) const {
  const std::vector<NodeId> leaves = loops::LeavesOf(nest_.pool, factor);
  return std::ranges::none_of(leaves, [&](NodeId leaf) {
    return expressions_.scopes().VariesByLane(leaf);
  });
}

std::optional<DotProducts::Operands> DotProducts::AddressesOf(
    const loops::DotProduct& dot) {
  loops::DotFactor a = dot.a, b = dot.b;
  if (expressions_.scopes().VariesByLane(a.load)) std::swap(a, b);
  // Only factor b of four products may be unpacked, and only if all lanes and
  // bytes are unpacked alike, because that is done on whole vectors of bytes.
  if (a.is_unpacked() || (b.is_unpacked() && (dot.count != 4 || !IsUniform(b))))
    return std::nullopt;
  const auto address = [&](NodeId load) {
    const Node& node = nest_.pool[load];
    return expressions_.memory().AddressOf(node.buffer, node.operands);
  };
  const loops::Store& store = *dot.store;
  Operands operands{
      nest_.pool[a.load].type,
      nest_.pool[b.load].type,
      b,
      address(a.load),
      address(b.load),
      expressions_.memory().AddressOf(store.buffer, store.indices),
      {}};
  for (const tensor::NodeId load : b.more_loads)
    operands.more_b.push_back(address(load));
  // True if the `count` elements of each lane are followed by those of the next
  // lane, so that one vector load reads all of them.
  const auto is_dense = [&](const Address& address) {
    const auto* stride =
        llvm::dyn_cast_or_null<llvm::ConstantInt>(address.stride);
    return address.kind == Address::Kind::kStrided && stride != nullptr &&
           stride->getSExtValue() == dot.count;
  };
  if (operands.a.kind != Address::Kind::kUniform || !is_dense(operands.b) ||
      !std::ranges::all_of(operands.more_b, is_dense) ||
      operands.store.kind != Address::Kind::kContiguous) {
    return std::nullopt;
  }
  return operands;
}

Value* DotProducts::LoadA(const Operands& operands, llvm::Type* element,
                          int count) {
  return expressions_.memory().LoadAs(operands.a, VectorOf(element, count));
}

Value* DotProducts::LoadB(const Address& b, llvm::Type* element, int count) {
  const int lanes = expressions_.scopes().lanes();
  return expressions_.memory().LoadAs(b, VectorOf(element, count * lanes));
}

// --- Sums of 4 products of bytes. Each lane is an i32 sum. ---

Value* DotProducts::SplatByte(int byte) {
  const uint32_t four = static_cast<uint32_t>(byte) * 0x01010101u;
  return Splat(b_, b_.getInt32(four), expressions_.scopes().lanes());
}

Value* DotProducts::ArmDot(ByteDot dot, Value* sum, Value* a, Value* b) {
  using namespace llvm::Intrinsic;  // NOLINT: the table below uses its names
  static constexpr ID kTable[3][2] = {{aarch64_neon_sdot, aarch64_sve_sdot},
                                      {aarch64_neon_udot, aarch64_sve_udot},
                                      {aarch64_neon_usdot, aarch64_sve_usdot}};
  const int lanes = expressions_.scopes().lanes();
  const bool is_scalable = lanes * 32 > 128;
  const ID id = kTable[static_cast<int>(dot)][is_scalable];
  llvm::Type* const bytes = VectorOf(b_.getInt8Ty(), 4 * lanes);
  a = b_.CreateBitCast(a, bytes);
  b = b_.CreateBitCast(b, bytes);
  if (!is_scalable)
    return b_.CreateIntrinsic(id, {sum->getType(), bytes}, {sum, a, b});
  // SVE's instructions take scalable vectors. The code runs only with one
  // vector length (sve_bits), at which a scalable vector holds all lanes.
  const auto scalable = [&](Value* value) {
    llvm::Type* const element = value->getType()->getScalarType();
    llvm::Type* const type = llvm::ScalableVectorType::get(
        element, 128 / element->getScalarSizeInBits());
    return b_.CreateInsertVector(type, llvm::PoisonValue::get(type), value,
                                 b_.getInt64(0));
  };
  Value* const whole = scalable(sum);
  Value* const result = b_.CreateIntrinsic(id, {whole->getType()},
                                           {whole, scalable(a), scalable(b)});
  return b_.CreateExtractVector(sum->getType(), result, b_.getInt64(0));
}

// Emits sum + a * b, where a has unsigned and b signed bytes.
Value* DotProducts::UnsignedBySigned(Value* sum, Value* a, Value* b) {
  if (target_.is_neon) return ArmDot(ByteDot::kUnsignedBySigned, sum, a, b);
  const int lanes = expressions_.scopes().lanes();
  if (lanes * 32 > target_.dot_product_bits) return UnsignedBySmall(sum, a, b);
  const llvm::Intrinsic::ID id =
      lanes == 16  ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
      : lanes == 8 ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                   : llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  return b_.CreateIntrinsic(id, {}, {sum, a, b});
}

// Emits sum + a * b where one factor is small, so that the sum of two products
// fits 16 bits. Two instructions do it: vpmaddubsw adds pairs of products, and
// vpmaddwd by ones adds neighbouring pairs.
Value* DotProducts::UnsignedBySmall(Value* sum, Value* a, Value* b) {
  const int lanes = expressions_.scopes().lanes();
  const llvm::Intrinsic::ID id =
      lanes == 16  ? llvm::Intrinsic::x86_avx512_pmaddubs_w_512
      : lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_ub_sw
                   : llvm::Intrinsic::x86_ssse3_pmadd_ub_sw_128;
  llvm::Type* const bytes = VectorOf(b_.getInt8Ty(), 4 * lanes);
  Value* const pairs = b_.CreateIntrinsic(
      id, {}, {b_.CreateBitCast(a, bytes), b_.CreateBitCast(b, bytes)});
  Value* const ones = llvm::ConstantInt::get(pairs->getType(), 1);
  return b_.CreateAdd(sum, PairSums(pairs, ones));
}

// Returns the four bytes of factor b for each lane as an i32, unpacked if the
// factor is.
Value* DotProducts::FourBytes(const Operands& operands) {
  llvm::Type* const words =
      VectorOf(b_.getInt32Ty(), expressions_.scopes().lanes());
  if (!operands.b_factor.is_unpacked())
    return expressions_.memory().LoadAs(operands.b, words);
  const loops::DotFactor& factor = operands.b_factor;
  std::vector<ExpressionEmitter::LeafValue> leaves = {
      {factor.load, LoadB(operands.b, b_.getInt8Ty(), 4)}};
  for (size_t i = 0; i < operands.more_b.size(); ++i) {
    leaves.push_back(
        {factor.more_loads[i], LoadB(operands.more_b[i], b_.getInt8Ty(), 4)});
  }
  return b_.CreateBitCast(expressions_.EmitFrom(leaves, factor.value), words);
}

// Returns the sum plus four products. If the machine's instruction multiplies
// factors of other signs, 128 is added to one factor or subtracted from it,
// which changes its signedness, and a correction is subtracted from the sum.
// The correction depends on the other factor only, so LLVM computes it once for
// all products of that factor.
Value* DotProducts::FourProducts(const Operands& operands, Value* sum) {
  const int lanes = expressions_.scopes().lanes();
  Value* a = Splat(
      b_, expressions_.memory().LoadAs(operands.a, b_.getInt32Ty()), lanes);
  Value* b = FourBytes(operands);
  const bool a_signed = IsSigned(operands.a_type);
  const bool b_signed = IsSigned(operands.b_type);
  Value* flip = SplatByte(0x80);
  Value* zero = llvm::Constant::getNullValue(sum->getType());
  if (target_.is_neon && a_signed == b_signed) {
    return ArmDot(a_signed ? ByteDot::kSigned : ByteDot::kUnsigned, sum, a, b);
  }
  if (target_.is_neon && !target_.has_neon_mixed_products) {
    // This machine has no product of unsigned and signed bytes. Computes a * b
    // as (u - 128) * s - -128 * s, where u is the unsigned and s the signed
    // factor.
    Value* shifted = b_.CreateXor(a_signed ? b : a, flip);
    Value* other = a_signed ? a : b;
    sum = ArmDot(ByteDot::kSigned, sum, shifted, other);
    return b_.CreateSub(sum, ArmDot(ByteDot::kSigned, zero, flip, other));
  }
  if (!a_signed && b_signed) return UnsignedBySigned(sum, a, b);
  if (a_signed && !b_signed) return UnsignedBySigned(sum, b, a);
  if (a_signed) {  // computes a * b as (a + 128) * b - 128 * b
    sum = UnsignedBySigned(sum, b_.CreateXor(a, flip), b);
    return b_.CreateSub(sum, UnsignedBySigned(zero, flip, b));
  }
  // Both factors are unsigned: computes a * b as a * (b - 128) - a * -128.
  sum = UnsignedBySigned(sum, a, b_.CreateXor(b, flip));
  return b_.CreateSub(sum, UnsignedBySigned(zero, a, flip));
}

// --- Sums of 2 products of 16-bit integers or bf16. ---

Value* DotProducts::TwoProducts(const Operands& operands, Value* sum) {
  const int lanes = expressions_.scopes().lanes();
  const auto widened = [&](Value* value, DType type) {
    const auto count =
        llvm::cast<llvm::FixedVectorType>(value->getType())->getNumElements();
    return b_.CreateIntCast(value,
                            VectorOf(b_.getInt16Ty(), static_cast<int>(count)),
                            IsSigned(type));
  };
  const auto type_of = [&](DType type) {
    return RegisterType(b_.getContext(), type);
  };
  Value* b =
      widened(LoadB(operands.b, type_of(operands.b_type), 2), operands.b_type);
  Value* pair = b_.CreateBitCast(
      widened(LoadA(operands, type_of(operands.a_type), 2), operands.a_type),
      b_.getInt32Ty());
  Value* a = b_.CreateBitCast(Splat(b_, pair, lanes), b->getType());
  return b_.CreateAdd(sum, PairSums(a, b));
}

Value* DotProducts::PairSums(Value* a, Value* b) {
  const int lanes = expressions_.scopes().lanes();
  const llvm::Intrinsic::ID id =
      lanes == 16  ? llvm::Intrinsic::x86_avx512_pmaddw_d_512
      : lanes == 8 ? llvm::Intrinsic::x86_avx2_pmadd_wd
                   : llvm::Intrinsic::x86_sse2_pmadd_wd;
  return b_.CreateIntrinsic(id, {}, {a, b});
}

Value* DotProducts::BFloatProducts(const Operands& operands, Value* sum) {
  const int lanes = expressions_.scopes().lanes();
  Value* b = LoadB(operands.b, b_.getBFloatTy(), 2);
  Value* pair = expressions_.memory().LoadAs(operands.a, b_.getInt32Ty());
  Value* a = b_.CreateBitCast(Splat(b_, pair, lanes), b->getType());
  const llvm::Intrinsic::ID id =
      lanes == 16  ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512
      : lanes == 8 ? llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256
                   : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128;
  return b_.CreateIntrinsic(id, {}, {sum, a, b});
}

}  // namespace ember::jit::llvm_ir
