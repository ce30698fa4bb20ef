// Operators that are not supported, each with the reason. An operator name that
// has no row in any family is unknown.
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

constexpr std::string_view kRandom =
    "random numbers: make them an input of the model";
constexpr std::string_view kSparse = "sparse tensors";
constexpr std::string_view kDecomposition = "decompositions of matrices";
constexpr std::string_view kTraining = "training";
constexpr std::string_view kThreads =
    "threads of the interpreter, other than calls of functions: call the "
    "function in place of torch.jit.fork";
constexpr std::string_view kPlanned = "not written yet";
constexpr std::string_view kPacked =
    "sequences of several lengths (PackedSequence): save a model that takes "
    "padded sequences";
constexpr std::string_view kOpenCount =
    "a number of results that only the run knows";
constexpr std::string_view kQuantizedLayers =
    "recurrent layers and embeddings of quantize_dynamic: leave them out of "
    "the layers that it quantizes";
constexpr std::string_view kOtherDevice =
    "weights packed for Vulkan or Metal: save the model before "
    "optimize_for_mobile, or for the backend CPU";

constexpr OperatorRow kRows[] = {
    {"_cdist_backward()", kTraining},
    {"_pack_padded_sequence()", kPacked},
    {"_pad_packed_sequence()", kPacked},
    {"bernoulli()", kRandom},
    {"ctc_loss()", kTraining},
    {"fractional_max_pool2d()", kRandom},
    {"linalg_eigh()", kDecomposition},
    {"linalg_qr()", kDecomposition},
    {"linalg_svd()", kDecomposition},
    {"mode()", kPlanned},
    {"multinomial()", kRandom},
    {"normal()", kRandom},
    {"prim::fork()", kThreads},
    {"prim::TupleIndex()", "lists of the interpreter"},
    {"quantized::embedding_4bit()", kQuantizedLayers},
    {"quantized::embedding_bag_4bit()", kQuantizedLayers},
    {"quantized::embedding_bag_byte()", kQuantizedLayers},
    {"quantized::embedding_byte()", kQuantizedLayers},
    {"quantized::quantized_gru_cell_dynamic()", kQuantizedLayers},
    {"quantized::quantized_lstm_cell_dynamic()", kQuantizedLayers},
    {"quantized_gru()", kQuantizedLayers},
    {"quantized_lstm()", kQuantizedLayers},
    {"rand()", kRandom},
    {"rand_like()", kRandom},
    {"randint()", kRandom},
    {"randn()", kRandom},
    {"randn_like()", kRandom},
    {"randperm()", kRandom},
    {"sparse_coo_tensor()", kSparse},
    {"svd()", kDecomposition},
    {"to_dense()", kSparse},
    {"to_sparse()", kSparse},
    {"uniform()", kRandom},
    {"unique_dim()", kOpenCount},
    {"metal_prepack::conv2d_run()", kOtherDevice},
    {"metal_prepack::linear_run()", kOtherDevice},
    {"vulkan_prepack::run_conv2d_context()", kOtherDevice},
    {"vulkan_prepack::run_linear_context()", kOtherDevice},
    {"vulkan_prepack::run_tconv2d_context()", kOtherDevice},
};

}  // namespace

std::span<const OperatorRow> RefusedRows() { return kRows; }

}  // namespace ember::torchscript
