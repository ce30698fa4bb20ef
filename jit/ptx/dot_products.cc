#include "jit/ptx/dot_products.h"

#include "jit/ptx/device_functions.h"
#include "llvm/IR/Constants.h"

namespace ember::jit::ptx {

using llvm_ir::Address;
using llvm_ir::MemoryAccess;
using llvm_ir::Scopes;
using llvm_ir::Splat;

using llvm::Value;
using loops::NodeId;

namespace {

constexpr int64_t kBytesOfWord = 4;

}  // namespace

std::optional<loops::DotProduct> DotProducts::Find(
    const loops::Statement& loop) const {
  const StatusOr<loops::DotProduct> dot = loops::DotProductOf(nest_, loop);
  if (!dot.ok() || dot->count != kBytesOfWord || dot->is_unpacked())
    return std::nullopt;
  return *dot;
}

bool DotProducts::Emit(const loops::DotProduct& dot, NodeId variable) {
  if (expressions_.mask() != nullptr) return false;
  expressions_.BeginStatement();
  Scopes& scopes = expressions_.scopes();
  scopes.Enter(nullptr, variable, b_.getInt64(0));
  MemoryAccess& memory = expressions_.memory();
  // Number of lanes of the surrounding vector loop, or 0.
  const int lanes = scopes.lanes();
  Value* const a = WordsOf(dot.a.load);
  Value* const b = a == nullptr ? nullptr : WordsOf(dot.b.load);
  const Address to = memory.AddressOf(dot.store->buffer, dot.store->indices);
  const bool has_words =
      b != nullptr && (lanes == 0 || to.kind != Address::Kind::kUniform);
  if (has_words) {
    const bool a_signed = IsSigned(nest_.pool[dot.a.load].type);
    const bool b_signed = IsSigned(nest_.pool[dot.b.load].type);
    Value* sum = memory.Load(to, nullptr, nullptr);
    if (lanes == 0) {
      sum = EmitDotOfWords(b_, a_signed, b_signed, a, b, sum);
    } else {
      for (uint64_t lane = 0; lane < static_cast<uint64_t>(lanes); ++lane) {
        Value* const of_lane = EmitDotOfWords(
            b_, a_signed, b_signed, b_.CreateExtractElement(a, lane),
            b_.CreateExtractElement(b, lane),
            b_.CreateExtractElement(sum, lane));
        sum = b_.CreateInsertElement(sum, of_lane, lane);
      }
    }
    memory.Store(to, sum, nullptr);
  }
  scopes.Leave();
  return has_words;
}

Value* DotProducts::WordsOf(NodeId load) {
  const tensor::Node& node = nest_.pool[load];
  MemoryAccess& memory = expressions_.memory();
  const int lanes = expressions_.scopes().lanes();
  const Address address = memory.AddressOf(node.buffer, node.operands);
  if (address.kind == Address::Kind::kUniform) {
    Value* const word = memory.LoadAs(address, b_.getInt32Ty());
    return lanes == 0 ? word : Splat(b_, word, lanes);
  }
  if (address.kind != Address::Kind::kStrided) return nullptr;
  llvm::Type* const words =
      llvm::FixedVectorType::get(b_.getInt32Ty(), static_cast<unsigned>(lanes));
  const auto* const stride = llvm::dyn_cast<llvm::ConstantInt>(address.stride);
  if (stride != nullptr && stride->getSExtValue() == kBytesOfWord)
    return memory.LoadAs(address, words);
  Value* result = llvm::PoisonValue::get(words);
  for (uint64_t lane = 0; lane < static_cast<uint64_t>(lanes); ++lane) {
    Address of_lane = address;
    of_lane.pointer =
        b_.CreateGEP(b_.getInt8Ty(), address.pointer,
                     b_.CreateMul(address.stride, b_.getInt64(lane)));
    result = b_.CreateInsertElement(
        result, memory.LoadAs(of_lane, b_.getInt32Ty()), lane);
  }
  return result;
}

}  // namespace ember::jit::ptx
