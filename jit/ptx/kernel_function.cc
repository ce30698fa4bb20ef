#include "jit/ptx/kernel_function.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "jit/gpu/constant_elements.h"
#include "jit/ptx/phase_emitter.h"
#include "jit/target/matrix_instructions.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Metadata.h"
#include "vm/format/device_abi.h"

namespace ember::jit::ptx {

namespace {

// Alignment in bytes of each binding's memory, which devices guarantee.
constexpr uint64_t kBindingAlignment = 16;

// Returns the number of blocks that a processor must be able to hold at once,
// for kernels that multiply matrices; ptxas limits registers by it. It is two
// if shared memory allows that, since schedules plan for two
// (jit/schedule/gpu/matrix_tiles.cc); otherwise ptxas would spill a few
// registers to fit more blocks. 0 leaves the choice to ptxas: a kernel with one
// product by wgmma is planned for one block that uses all registers. Attention,
// which has two products, is planned for two blocks
// (jit/schedule/gpu/row_tile.cc) if its sums are few.
int64_t BlocksOfProcessor(const loops::LoopNest& nest,
                          const loops::Workgroup& workgroup,
                          const Target& target) {
  constexpr int64_t kMaxSumsOfTwo = 64;
  // `products`: number of accumulator buffers; `sums`: number of registers of a
  // thread that hold their elements
  int64_t products = 0, sums = 0;
  for (size_t i = 0; i < workgroup.storage.size(); ++i) {
    if (workgroup.storage[i].kind != loops::StorageKind::kMatrices) continue;
    const loops::Buffer& buffer = nest.buffers[i];
    const auto subgroups = nest.pool.IntegerConstant(buffer.extents[0]);
    ++products;
    sums += gpu::ConstantElements(nest, buffer) /
            (subgroups.value_or(1) * kWarpLanes);
  }
  if (products == 0) return 0;
  const bool has_room = 2 * workgroup.shared_bytes <= target.shared_bytes;
  if (!workgroup.HasPanels()) return has_room ? 2 : 1;
  return has_room && products > 1 && sums <= kMaxSumsOfTwo ? 2 : 0;
}

// Makes the tensor maps byval arguments, which have addresses in the kernel,
// and returns the list of their numbers for the annotation grid_constant, which
// counts from 1.
llvm::Metadata* AddBoxes(const Layout& layout, llvm::Function& function) {
  llvm::LLVMContext& context = function.getContext();
  llvm::Type* const type =
      llvm::ArrayType::get(llvm::Type::getInt8Ty(context), vm::kBoxMapBytes);
  std::vector<llvm::Metadata*> numbers;
  for (unsigned i = layout.first_box; i < function.arg_size(); ++i) {
    function.addParamAttr(i, llvm::Attribute::getWithByValType(context, type));
    function.addParamAttr(i, llvm::Attribute::getWithAlignment(
                                 context, llvm::Align(vm::kBoxMapAlignment)));
    function.getArg(i)->setName("box");
    numbers.push_back(llvm::ConstantAsMetadata::get(
        llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), i + 1)));
  }
  return llvm::MDNode::get(context, numbers);
}

}  // namespace

llvm::Function* CreateKernel(const loops::LoopNest& nest, const Layout& layout,
                             const loops::Workgroup& workgroup,
                             const std::string& name, int64_t threads,
                             const Target& target, llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  const size_t pointers = layout.bindings.size() + workgroup.has_checks;
  std::vector<llvm::Type*> types(pointers,
                                 llvm::PointerType::getUnqual(context));
  types.resize(layout.first_box, llvm::Type::getInt64Ty(context));
  types.resize(layout.first_box + layout.boxes.size(),
               llvm::PointerType::getUnqual(context));
  llvm::Function* const function = llvm::Function::Create(
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false),
      llvm::Function::ExternalLinkage, name, module);
  function->setCallingConv(llvm::CallingConv::PTX_Kernel);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (unsigned i = 0; i < pointers; ++i) {
    function->addParamAttr(i, llvm::Attribute::getWithAlignment(
                                  context, llvm::Align(kBindingAlignment)));
    function->getArg(i)->setName(
        i < layout.bindings.size()
            ? nest.buffers[layout.bindings[i].buffer].name
            : "failed_check");
  }
  for (size_t i = 0; i < nest.parameters.size(); ++i) {
    function->getArg(layout.first_parameter + static_cast<unsigned>(i))
        ->setName(nest.parameters[i]);
  }
  llvm::NamedMDNode* const annotations =
      module.getOrInsertNamedMetadata("nvvm.annotations");
  const auto number = [&](int64_t value) -> llvm::Metadata* {
    return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(
        llvm::Type::getInt32Ty(context), static_cast<uint64_t>(value)));
  };
  const auto annotate = [&](const char* key, llvm::Metadata* value) {
    annotations->addOperand(
        llvm::MDNode::get(context, {llvm::ConstantAsMetadata::get(function),
                                    llvm::MDString::get(context, key), value}));
  };
  annotate("kernel", number(1));
  annotate("maxntidx", number(threads));
  const int64_t blocks = BlocksOfProcessor(nest, workgroup, target);
  if (blocks > 0) annotate("minctasm", number(blocks));
  if (!layout.boxes.empty())
    annotate("grid_constant", AddBoxes(layout, *function));
  return function;
}

llvm::GlobalVariable* SharedOf(llvm::Module& module, int64_t alignment) {
  if (llvm::GlobalVariable* known = module.getNamedGlobal(kSharedName))
    return known;
  auto* const shared = new llvm::GlobalVariable(
      module,
      llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), 0),
      /*isConstant=*/false, llvm::GlobalValue::ExternalLinkage, nullptr,
      kSharedName, nullptr, llvm::GlobalValue::NotThreadLocal,
      /*AddressSpace=*/3);
  shared->setAlignment(llvm::Align(static_cast<uint64_t>(alignment)));
  return shared;
}

}  // namespace ember::jit::ptx
