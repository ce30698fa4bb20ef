// Made by coefficients.py, which says what each array is. Lowest power first.
#ifndef EMBER_JIT_MATH_COEFFICIENTS_H_
#define EMBER_JIT_MATH_COEFFICIENTS_H_

namespace ember::jit {

inline constexpr double kExpm1F32[] = {
    0x1.fffffe0000000p-2, 0x1.5554ae0000000p-3, 0x1.5557220000000p-5,
    0x1.1228d20000000p-7, 0x1.6b65500000000p-10};  // 2^-26.1
inline constexpr double kExpm1F64[] = {
    0x1.0000000000005p-1,  0x1.555555555553dp-3,  0x1.5555555552109p-5,
    0x1.1111111118209p-7,  0x1.6c16c17f3156ap-10, 0x1.a01a017989e54p-13,
    0x1.a019a6966ef8ep-16, 0x1.71de7e5652f86p-19, 0x1.28a29df94b8a6p-22,
    0x1.ae7aaebae4521p-26};  // 2^-55.5
inline constexpr double kExp2F32[] = {
    0x1.62e4300000000p-1,  0x1.ebfbe00000000p-3,
    0x1.c6af720000000p-5,  0x1.3b2a480000000p-7,
    0x1.5f0dd60000000p-10, 0x1.4424b40000000p-13};  // 2^-28.2
inline constexpr double kExp2F64[] = {
    0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a6p-3,  0x1.c6b08d704a183p-5,
    0x1.3b2ab6fb9fd45p-7,  0x1.5d87fe7888b71p-10, 0x1.4309130f89769p-13,
    0x1.ffcbfcdba74fdp-17, 0x1.62bfc604a52d1p-20, 0x1.b524226c00cd6p-24,
    0x1.e61de1ebc0bf4p-28, 0x1.eafe512fecd39p-32};  // 2^-57.5
inline constexpr double kLogF32[] = {
    0x1.5555000000000p-2,  -0x1.ffff6a0000000p-3, 0x1.99d2680000000p-3,
    -0x1.55884e0000000p-3, 0x1.1eb8de0000000p-3,  -0x1.f562840000000p-4,
    0x1.1ee68a0000000p-3,  -0x1.03037a0000000p-3};  // 2^-27.6
inline constexpr double kLogF64[] = {0x1.5555555555594p-1, 0x1.999999997f73fp-2,
                                     0x1.249249423ac79p-2, 0x1.c71c51d6d7e76p-3,
                                     0x1.746647f14b159p-3, 0x1.39a0eaea502f7p-3,
                                     0x1.2f0ccd19fb262p-3};  // 2^-59.4
inline constexpr double kLogRatioF32[] = {0x1.3333820000000p-1,
                                          0x1.b67a6a0000000p-2,
                                          0x1.67d4760000000p-2};  // 2^-36.7
inline constexpr double kLogRatioF64[] = {
    0x1.3333333333474p-1, 0x1.b6db6db6809b3p-2, 0x1.555555a3f5542p-2,
    0x1.1745aed5f9084p-2, 0x1.d8ae926446babp-3, 0x1.973bd8afa45d5p-3,
    0x1.95867e8e82bcfp-3};  // 2^-66.2
inline constexpr double kSinF32[] = {
    -0x1.5555560000000p-3, 0x1.11112a0000000p-7, -0x1.a01e480000000p-13,
    0x1.7202820000000p-19, -0x1.a3814c0000000p-26};  // 2^-30.4
inline constexpr double kSinF64[] = {
    -0x1.5555555555555p-3,  0x1.11111111110e3p-7,
    -0x1.a01a01a017aedp-13, 0x1.71de3a5477d39p-19,
    -0x1.ae64560c023ffp-26, 0x1.612440ab793abp-33,
    -0x1.ae744ca68382dp-41, 0x1.931fd965b4ed8p-49,
    -0x1.026e196c21168p-57};  // 2^-61.3
inline constexpr double kTanF32[] = {
    0x1.5555a40000000p-2, 0x1.10fd400000000p-3, 0x1.bd739c0000000p-5,
    0x1.449c880000000p-6, 0x1.d36dd80000000p-7, -0x1.f5fbc00000000p-9,
    0x1.91457c0000000p-8};  // 2^-26.2
inline constexpr double kTanF64[] = {
    0x1.55555555554f4p-2,   0x1.1111111117fcbp-3,   0x1.ba1ba1b493b46p-5,
    0x1.664f49a09dd23p-6,   0x1.226e1337938e6p-7,   0x1.d6d914db8072cp-9,
    0x1.7d5cccc6669fcp-10,  0x1.37eeb67c7a1e7p-11,  0x1.d2f8da830efcdp-13,
    0x1.1d1809afb8e74p-13,  -0x1.ad42f0ddd9523p-16, 0x1.742e9d86a992ap-14,
    -0x1.75489da22e189p-15, 0x1.5c8a5ad7cb3dcp-16};  // 2^-56.1
inline constexpr double kAsinF32[] = {
    0x1.5555340000000p-3, 0x1.33437e0000000p-4,
    0x1.6b16e60000000p-5, 0x1.1154f60000000p-5,
    0x1.20de800000000p-7, 0x1.70d6660000000p-5};  // 2^-29.4
inline constexpr double kAsinF64[] = {
    0x1.555555555551bp-3,  0x1.333333333b876p-4,  0x1.6db6db6704197p-5,
    0x1.f1c71f2b60b41p-6,  0x1.6e8b4edf3bff7p-6,  0x1.1c554e1708e95p-6,
    0x1.c8e8c25ec88d3p-7,  0x1.81127b9620324p-7,  0x1.13da4c0c110e2p-7,
    0x1.e55f5981698b3p-7,  -0x1.d0a9e89961940p-7, 0x1.c1dcbfcd2a004p-5,
    -0x1.fc42950067761p-5, 0x1.b060ad6aa38c7p-5};  // 2^-58.9
inline constexpr double kAtanF32[] = {
    -0x1.5555480000000p-2, 0x1.9991240000000p-3, -0x1.23ade60000000p-3,
    0x1.b18cce0000000p-4, -0x1.f034d00000000p-5};  // 2^-30.3
inline constexpr double kAtanF64[] = {
    -0x1.555555555553bp-2, 0x1.9999999995488p-3,  -0x1.2492492297433p-3,
    0x1.c71c70de0c092p-4,  -0x1.745cf80375187p-4, 0x1.3b110ac8087b2p-4,
    -0x1.10eb1c6dfbb52p-4, 0x1.df06c64bab935p-5,  -0x1.9cadadbd04b06p-5,
    0x1.377a721dfed12p-5,  -0x1.24a85c3ae4625p-6};  // 2^-59.3
inline constexpr double kSinhF32[] = {
    0x1.5555560000000p-3, 0x1.1110ea0000000p-7, 0x1.a01c220000000p-13,
    0x1.76771e0000000p-19};  // 2^-31.4
inline constexpr double kSinhF64[] = {
    0x1.5555555555555p-3,  0x1.111111111117dp-7,  0x1.a01a01a00d838p-13,
    0x1.71de3a60e19c6p-19, 0x1.ae644af273db6p-26, 0x1.612ae640f85abp-33,
    0x1.aaa0650fda944p-41, 0x1.43c91495282fdp-48};  // 2^-62.6
inline constexpr double kErfF32[] = {
    0x1.06eba60000000p-3, -0x1.8126f40000000p-2,
    0x1.ce1d380000000p-4, -0x1.b6b7b20000000p-6,
    0x1.4851e00000000p-8, -0x1.3ec70c0000000p-11};  // 2^-26.1
inline constexpr double kErfcF32[] = {
    -0x1.a0ccc20000000p+0, -0x1.d589e60000000p-1,
    -0x1.373d7a0000000p-3, 0x1.0f27120000000p-5,
    -0x1.31a2620000000p-8, 0x1.47286a0000000p-12};  // 2^-28.0
inline constexpr double kErfF64[] = {
    0x1.06eba8214db69p-3,   -0x1.812746b037a01p-2,  0x1.ce2f21a043a4cp-4,
    -0x1.b82ce312c3fa7p-6,  0x1.565bcd1705b84p-8,   -0x1.c02db590329afp-11,
    0x1.f9a35712997fdp-14,  -0x1.f4d6525cf97adp-17, 0x1.ba20db9c24cd9p-20,
    -0x1.61c33716befd5p-23, 0x1.0e5fffdc11399p-26,  -0x1.e14f4c86d42bep-30,
    0x1.22775967eaeb5p-32,  -0x1.0aaeda9ae27ecp-35};  // 2^-56.3
inline constexpr double kErfcF64[] = {
    0x1.6e9827d229d2dp-3,   -0x1.4e102b9cf8513p-2,
    0x1.f6ff20410593cp-3,   -0x1.336ffbef08bc0p-3,
    0x1.258b13b019ef8p-4,   -0x1.8fa58eb5c25e8p-6,
    0x1.17c838e97698fp-8,   0x1.73101dfad5ab8p-11,
    -0x1.390849a915bccp-11, 0x1.7ba1af5930cf2p-15,
    0x1.0cab9b2ba52cep-14,  -0x1.afa4e8e9825ebp-17,
    -0x1.0bb7286b96da9p-17, 0x1.1ef880b60bf25p-19,
    0x1.56f35d870f178p-20,  -0x1.517af20c8ec91p-22,
    -0x1.568ae682cb2eap-22, -0x1.16b8f49494796p-24};  // 2^-57.4
inline constexpr double kLog2PartsF32[] = {0x1.62e4000000000p-1,
                                           0x1.7f7d1c0000000p-20};
inline constexpr double kLog2PartsF64[] = {0x1.62e42fefa3800p-1,
                                           0x1.ef35793c76730p-45};
inline constexpr double kPiPartsF32[] = {
    0x1.921c000000000p+1, 0x1.daa0000000000p-14, 0x1.10b4000000000p-29,
    0x1.84698a0000000p-47};
inline constexpr double kHalfPiPartsF32[] = {
    0x1.9218000000000p+0, 0x1.ed50000000000p-14, 0x1.10a0000000000p-30,
    0x1.4611a60000000p-42};
inline constexpr double kPiPartsF64[] = {
    0x1.921fb50000000p+1, 0x1.110b460000000p-25, 0x1.1a62630000000p-53,
    0x1.8a2e03707344ap-80};
inline constexpr double kHalfPiPartsF64[] = {
    0x1.921fb50000000p+0, 0x1.110b460000000p-26, 0x1.1a62620000000p-54,
    0x1.3145c06e0e689p-78};
inline constexpr double kRatioToLog2PartsF32[] = {0x1.ec60000000000p-1,
                                                  0x1.09dc3a0000000p-13};
inline constexpr double kRatioToLog2PartsF64[] = {0x1.ec709d8000000p-1,
                                                  0x1.0e80ff5d27f05p-27};

}  // namespace ember::jit

#endif  // EMBER_JIT_MATH_COEFFICIENTS_H_
