// Operators that are not supported, each with the reason. Names without a row
// are unknown.
#include "frontends/torchscript/operator_table.h"

namespace ember::torchscript {
namespace {

constexpr std::string_view kComplex = "complex numbers";
constexpr std::string_view kQuantized = "quantized tensors";
constexpr std::string_view kRandom = "random numbers";
constexpr std::string_view kSparse = "sparse tensors";
constexpr std::string_view kDecomposition = "decompositions of matrices";
constexpr std::string_view kTraining = "training";
constexpr std::string_view kThreads = "threads of the interpreter";
constexpr std::string_view kPlanned = "not written yet";

constexpr OperatorRow kRows[] = {
    {"_cdist_backward()", kTraining},
    {"_fft_c2c()", kComplex},
    {"_fft_c2r()", kComplex},
    {"_fft_r2c()", kComplex},
    {"_grid_sampler_2d_cpu_fallback()", kPlanned},
    {"_pack_padded_sequence()", "sequences of several lengths"},
    {"_pad_packed_sequence()", "sequences of several lengths"},
    {"_unique2()", "a number of results that only the run knows"},
    {"affine_grid_generator()", kPlanned},
    {"as_strided()", "strides of memory"},
    {"bernoulli()", kRandom},
    {"binary_cross_entropy()", kTraining},
    {"binary_cross_entropy_with_logits()", kTraining},
    {"bincount()", "a number of results that only the run knows"},
    {"cholesky()", kDecomposition},
    {"col2im()", kPlanned},
    {"complex()", kComplex},
    {"conj()", kComplex},
    {"cross_entropy_loss()", kTraining},
    {"ctc_loss()", kTraining},
    {"cummax()", kPlanned},
    {"cummin()", kPlanned},
    {"dequantize()", kQuantized},
    {"digamma()", kPlanned},
    {"embedding_bag()", kPlanned},
    {"erfinv()", kPlanned},
    {"fake_quantize_per_channel_affine()", kQuantized},
    {"fake_quantize_per_tensor_affine()", kQuantized},
    {"fft_fft()", kComplex},
    {"fft_ifft()", kComplex},
    {"fft_irfft()", kComplex},
    {"fft_irfft2()", kComplex},
    {"fft_rfft()", kComplex},
    {"fft_rfft2()", kComplex},
    {"fractional_max_pool2d()", kRandom},
    {"grid_sampler()", kPlanned},
    {"grid_sampler_2d()", kPlanned},
    {"grid_sampler_3d()", kPlanned},
    {"histc()", kPlanned},
    {"imag()", kComplex},
    {"inverse()", kDecomposition},
    {"istft()", kComplex},
    {"kl_div()", kTraining},
    {"l1_loss()", kTraining},
    {"lgamma()", kPlanned},
    {"linalg_cholesky()", kDecomposition},
    {"linalg_det()", kDecomposition},
    {"linalg_eigh()", kDecomposition},
    {"linalg_inv()", kDecomposition},
    {"linalg_qr()", kDecomposition},
    {"linalg_solve()", kDecomposition},
    {"linalg_svd()", kDecomposition},
    {"lp_pool1d()", kPlanned},
    {"lp_pool2d()", kPlanned},
    {"masked_scatter()", kPlanned},
    {"max_unpool2d()", kPlanned},
    {"mode()", kPlanned},
    {"mse_loss()", kTraining},
    {"multinomial()", kRandom},
    {"nll_loss()", kTraining},
    {"normal()", kRandom},
    {"polar()", kComplex},
    {"prim::fork()", kThreads},
    {"prim::TupleIndex()", "lists of the interpreter"},
    {"quantile()", kPlanned},
    {"quantize_per_channel()", kQuantized},
    {"quantize_per_tensor()", kQuantized},
    {"quantized::add()", kQuantized},
    {"quantized::cat()", kQuantized},
    {"quantized::conv1d()", kQuantized},
    {"quantized::conv2d()", kQuantized},
    {"quantized::conv2d_relu()", kQuantized},
    {"quantized::linear()", kQuantized},
    {"quantized::linear_dynamic()", kQuantized},
    {"quantized::linear_relu()", kQuantized},
    {"quantized::mul()", kQuantized},
    {"rand()", kRandom},
    {"rand_like()", kRandom},
    {"randint()", kRandom},
    {"randn()", kRandom},
    {"randn_like()", kRandom},
    {"randperm()", kRandom},
    {"real()", kComplex},
    {"smooth_l1_loss()", kTraining},
    {"sparse_coo_tensor()", kSparse},
    {"stft()", kComplex},
    {"svd()", kDecomposition},
    {"to_dense()", kSparse},
    {"to_sparse()", kSparse},
    {"torchvision::ps_roi_align()", kPlanned},
    {"torchvision::roi_align()", kPlanned},
    {"torchvision::roi_pool()", kPlanned},
    {"uniform()", kRandom},
    {"unique_consecutive()", "a number of results that only the run knows"},
    {"unique_dim()", "a number of results that only the run knows"},
    {"view_as_complex()", kComplex},
    {"view_as_real()", kComplex},
    {"wait()", kThreads},
};

}  // namespace

std::span<const OperatorRow> RefusedRows() { return kRows; }

}  // namespace ember::torchscript
