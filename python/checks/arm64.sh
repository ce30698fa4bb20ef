#!/bin/bash
# arm64.sh ROOT WHEEL: runs the wheel for aarch64 with the python3 of a Debian root, under qemu.
#
# ROOT: what mmdebstrap has extracted; nothing is run in it but python3. The wheel has the runtime alone, so it loads a
# module of the repository, and ember.compile says what is missing.
set -euo pipefail
root="$(realpath "$1")" wheel="$(realpath "$2")"
repo="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
stat -c '%n: %s bytes' "$wheel"
python3 -m zipfile -l "$wheel" | grep -E 'lib/|abi3|dist-info'
python3 -m zipfile -e "$wheel" "$work"
for file in "$work/ember/_ember.abi3.so" "$work/ember/lib/libember.so"; do
  readelf -h "$file" | grep -E '^ +Machine: +AArch64$'
  readelf -d "$file" | grep NEEDED
done
# The packages were extracted but not installed, so no script of theirs has made the links to BLAS
# and LAPACK in the usual folder.
libraries="$root/usr/lib/aarch64-linux-gnu"
qemu-aarch64 -L "$root" -E LD_LIBRARY_PATH="$libraries/blas:$libraries/lapack" -E PYTHONHOME="$root/usr" -E PYTHONPATH="$work:$root/usr/lib/python3/dist-packages" \
  -E OPENBLAS_NUM_THREADS=1 "$root/usr/bin/python3.11" -c '
import platform, sys, time
start = time.perf_counter()
import ember, numpy
print(platform.machine(), platform.python_version(), "numpy", numpy.__version__, "ember", ember.__version__)
module = ember.load(sys.argv[1])
print(module)
x = numpy.zeros((1, 1, 28, 28), numpy.float32)
result = module(x)
assert abs(result.sum() - 1) < 1e-5, result
print("probabilities:", result.round(3))
try:
    ember.compile(b"module @m {}")
except ImportError as error:
    assert "this wheel has the runtime alone" in str(error), error
    print("compile:", error)
else:
    raise SystemExit("a compiler without a library")
' "$repo/vm/api/testdata/digits.vmfb"
echo "arm64: all steps passed"
