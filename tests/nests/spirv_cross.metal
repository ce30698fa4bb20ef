// The part of MSL that programs of spirv-cross use and that
// hal/metal/testing/shim/metal_stdlib lacks, because Ember's own programs do
// not use it. spirv_cross_test.cc inserts this text.
namespace metal {

template <typename T, int kCount>
struct vec;
template <typename T>
struct vec<T, 2> {
  T x, y;
  vec() = default;
  vec(T a, T b) : x(a), y(b) {}
  explicit vec(T a) : x(a), y(a) {}
  vec(const vec&) = default;
  vec(const volatile vec& o) : x(o.x), y(o.y) {}
  vec& operator=(const vec&) = default;
  void operator=(const vec& o) volatile { x = o.x; y = o.y; }
  T& operator[](int i) { return (&x)[i]; }
  T operator[](int i) const { return (&x)[i]; }
};
template <typename T>
struct vec<T, 3> {
  T x, y, z;
  vec() = default;
  vec(T a, T b, T c) : x(a), y(b), z(c) {}
  explicit vec(T a) : x(a), y(a), z(a) {}
  vec(const vec&) = default;
  vec(const volatile vec& o) : x(o.x), y(o.y), z(o.z) {}
  vec& operator=(const vec&) = default;
  void operator=(const vec& o) volatile { x = o.x; y = o.y; z = o.z; }
  T& operator[](int i) { return (&x)[i]; }
  T operator[](int i) const { return (&x)[i]; }
};
template <typename T>
struct vec<T, 4> {
  T x, y, z, w;
  vec() = default;
  vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  explicit vec(T a) : x(a), y(a), z(a), w(a) {}
  vec(const vec&) = default;
  vec(const volatile vec& o) : x(o.x), y(o.y), z(o.z), w(o.w) {}
  vec& operator=(const vec&) = default;
  void operator=(const vec& o) volatile { x = o.x; y = o.y; z = o.z; w = o.w; }
  T& operator[](int i) { return (&x)[i]; }
  T operator[](int i) const { return (&x)[i]; }
};
template <typename T, int kColumns, int kRows>
struct matrix;

using uint2 = vec<uint, 2>;
using uint4 = vec<uint, 4>;
using int2 = vec<int, 2>;
using int4 = vec<int, 4>;
using float2 = vec<float, 2>;
using float4 = vec<float, 4>;
using ulong2 = vec<ulong, 2>;
using ulong4 = vec<ulong, 4>;
using uchar2 = vec<uchar, 2>;
using uchar4 = vec<uchar, 4>;
using ushort2 = vec<ushort, 2>;
using ushort4 = vec<ushort, 4>;

inline bool isnan(float x) { return x != x; }
inline bool isinf(float x) { return __builtin_isinf(x); }
inline bool isunordered(float a, float b) { return isnan(a) || isnan(b); }
inline float fma(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline float abs(float x) { return __builtin_fabsf(x); }
inline float fabs(float x) { return __builtin_fabsf(x); }
inline float floor(float x) { return __builtin_floorf(x); }
inline float ceil(float x) { return __builtin_ceilf(x); }
inline float rint(float x) { return __builtin_rintf(x); }
inline float trunc(float x) { return __builtin_truncf(x); }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline float min(float a, float b) { return __builtin_fminf(a, b); }
inline float max(float a, float b) { return __builtin_fmaxf(a, b); }
template <typename T>
T min(T a, T b) {
  return a < b ? a : b;
}
template <typename T>
T max(T a, T b) {
  return a < b ? b : a;
}

struct atomic_uint {
  uint value;
};
inline bool atomic_compare_exchange_weak_explicit(atomic_uint* object,
                                                  uint* expected, uint desired,
                                                  memory_order, memory_order) {
  return __atomic_compare_exchange_n(&object->value, expected, desired, true,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// A float of 16 bits, which rounds to the nearest, ties to even.
struct half {
  ushort bits;
  half() = default;
  half(const half&) = default;
  half(const volatile half& o) : bits(o.bits) {}
  half& operator=(const half&) = default;
  void operator=(const half& o) volatile { bits = o.bits; }
  explicit half(float value) {
    const uint all = __builtin_bit_cast(uint, value);
    const uint sign = all >> 16 & 0x8000, magnitude = all & 0x7fffffff;
    if (magnitude > 0x7f800000) {
      bits = sign | 0x7e00 | (magnitude >> 13 & 0x3ff);
    } else if (magnitude >= 0x477ff000) {
      bits = sign | 0x7c00;
    } else if (magnitude < 0x38800000) {
      // The sum is a multiple of the least subnormal, which is 2^-24.
      const float sum = __builtin_bit_cast(float, magnitude) + 0.5f;
      bits = sign | (__builtin_bit_cast(uint, sum) - 0x3f000000);
    } else {
      const uint odd = magnitude >> 13 & 1;
      bits = sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13);
    }
  }
  operator float() const volatile {
    const uint sign = uint(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) {
      return __builtin_bit_cast(
          float, sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    }
    if (magnitude >= 0x400)
      return __builtin_bit_cast(float, sign | ((magnitude << 13) + 0x38000000));
    const float value = float(int(magnitude)) * 0x1p-24f;
    return sign != 0 ? -value : value;
  }
};
template <typename To>
To as_type(half value) {
  return __builtin_bit_cast(To, value.bits);
}

}  // namespace metal
