// Tables with the names and properties of the placeholder functions of
// device_functions.h. The code that emits calls of them and the code that
// replaces the calls share these tables.
#ifndef EMBER_JIT_PTX_DEVICE_FUNCTION_TABLES_H_
#define EMBER_JIT_PTX_DEVICE_FUNCTION_TABLES_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace ember::jit::ptx {

struct LoadMatrices {
  const char* name;
  int count;
  bool is_transposed;
  llvm::Intrinsic::ID intrinsic;
};

inline constexpr LoadMatrices kLoadMatrices[] = {
    {"ember.load_matrices.x1", 1, false,
     llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_b16},
    {"ember.load_matrices.x2", 2, false,
     llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16},
    {"ember.load_matrices.x4", 4, false,
     llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16},
    {"ember.load_matrices.x1.transposed", 1, true,
     llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x1_trans_b16},
    {"ember.load_matrices.x2.transposed", 2, true,
     llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16},
    {"ember.load_matrices.x4.transposed", 4, true,
     llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16},
};

// A row for each size of an asynchronous copy (cp.async). Copies of 16 bytes
// bypass the processor's L1 cache (cp.async.cg).
struct CopyAsync {
  const char* name;
  int bytes;
  llvm::Intrinsic::ID intrinsic;
};

inline constexpr CopyAsync kCopiesAsync[] = {
    {"ember.copy_async.4", 4,
     llvm::Intrinsic::nvvm_cp_async_ca_shared_global_4_s},
    {"ember.copy_async.8", 8,
     llvm::Intrinsic::nvvm_cp_async_ca_shared_global_8_s},
    {"ember.copy_async.16", 16,
     llvm::Intrinsic::nvvm_cp_async_cg_shared_global_16_s},
};

// A row for each signedness of dp4a, the dot product of four bytes, for which
// LLVM 19 has no intrinsics.
struct DotOfWords {
  const char* name;
  bool a_signed;
  bool b_signed;
  const char* assembly;
};

inline constexpr DotOfWords kDotsOfWords[] = {
    {"ember.dot_of_words.s8.s8", true, true, "dp4a.s32.s32 $0, $1, $2, $3;"},
    {"ember.dot_of_words.s8.u8", true, false, "dp4a.s32.u32 $0, $1, $2, $3;"},
    {"ember.dot_of_words.u8.s8", false, true, "dp4a.u32.s32 $0, $1, $2, $3;"},
    {"ember.dot_of_words.u8.u8", false, false, "dp4a.u32.u32 $0, $1, $2, $3;"},
};

inline constexpr std::string_view kMultiply = "ember.multiply.";
inline constexpr std::string_view kMultiplyWide = "ember.multiply_wide.";
inline constexpr std::string_view kTransposed = ".transposed";
inline constexpr std::string_view kSharedA = ".shared_a";
inline constexpr std::string_view kSharedATransposed = ".shared_a_transposed";
inline constexpr std::string_view kAwaitProducts = "ember.await_products.";
inline constexpr std::string_view kCommitProducts = "ember.commit_products";
inline constexpr std::string_view kAwaitGroupsBefore =
    "ember.await_groups_before";
inline constexpr std::string_view kOrderStores = "ember.order_stores";
inline constexpr std::string_view kPowerOfTwo = "ember.power_of_two";

// Returns the row of the table whose function is called; null if it is none of
// them.
template <typename Row, size_t kCount>
const Row* RowOf(const Row (&table)[kCount], const llvm::CallBase& call) {
  const llvm::Function* const function = call.getCalledFunction();
  if (function == nullptr) return nullptr;
  for (const Row& row : table) {
    if (function->getName() == row.name) return &row;
  }
  return nullptr;
}

inline llvm::Type* StructOf(const std::vector<llvm::Value*>& values) {
  std::vector<llvm::Type*> types;
  for (const llvm::Value* value : values) types.push_back(value->getType());
  return llvm::StructType::get(values[0]->getContext(), types);
}

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_DEVICE_FUNCTION_TABLES_H_
