#!/bin/bash
# test_python.sh DIR deb|wheel: tests the Python package in DIR as a user who has a model and no other part of Ember,
# on Debian 12 or 13.
#
# deb: installs python3-ember and the packages that it needs. wheel: installs the wheel into virtual environments; no
# library of Ember may be installed then. It installs packages, so it runs in a chroot: test_install.sh calls it.
set -euo pipefail
packages="$(realpath "$1")"
kind="$2"
arch="$(dpkg --print-architecture)"
repo="$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
model="$packages/digits.onnx"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cd "$work"
export DEBIAN_FRONTEND=noninteractive
TIMEFORMAT='(%R s)'

step() { printf '\n--- %s\n' "$*"; }
fail() {
  echo "FAILED: $*"
  exit 1
}
update() { apt-get -qq update >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }; }
apt_install() {
  apt-get -qq install -y --no-install-recommends "$@" >apt.log 2>&1 || { tail -n 30 apt.log && exit 1; }
}

cat >five_lines.py <<'END'
import sys
import ember, numpy
module = ember.compile(sys.argv[1])
module.save("digits.vmfb")
print("sums of rows:", ember.load("digits.vmfb")(numpy.zeros((2, 1, 28, 28), numpy.float32)).sum(axis=1).round(3))
END
cat >strings.py <<'END'
import ember
from ember.estimators.graph import Graph
graph = Graph()
x = graph.input("x", "float32", ("rows",))
graph.output("label", graph.constant(["no", "yes"]).take(x.greater(0.5).cast("int64"), 0))
print(ember.compile(graph.to_bytes("labels"))([0, 1, 0.7]).tolist())
END

# Prints the least time of ten processes that import a module, for ember and for numpy alone.
times_of_import() {
  "$1" - "$1" <<'END'
import subprocess, sys, time
for name in ("numpy", "ember"):
    times = []
    for _ in range(10):
        start = time.perf_counter()
        subprocess.run([sys.argv[1], "-c", "import " + name], check=True)
        times.append(time.perf_counter() - start)
    print("a process that imports %s: %.3f s" % (name, min(times)))
END
}

# Runs the test's scripts with the given Python and checks what they print.
use() {
  local python="$1"
  step "$kind: import, and a script of five lines"
  time "$python" -c 'import ember; print(ember.__version__, ember.__file__)'
  time "$python" five_lines.py "$model" | tee output.txt
  grep -qx 'sums of rows: \[1\. 1\.\]' output.txt || fail "the probabilities of a picture do not add up to 1"
}

test_deb() {
  step "python3-ember: apt-get install"
  time apt_install "$packages"/{libember,libember-jit,libember-compiler,python3-ember}_*_"$arch".deb
  dpkg -s libember-compiler python3-ember | grep -E '^(Package|Version|Depends|Installed-Size):'
  grep -q "code of Debian's package libflatbuffers-dev" /usr/share/doc/libember-compiler/copyright
  grep -q "code of Debian's package python3-cffi" /usr/share/doc/python3-ember/copyright
  use /usr/bin/python3

  step "python3-ember: kernels, made by libember-jit"
  /usr/bin/python3 - digits.vmfb <<'END'
import sys, ember, numpy
session = ember.Session(sys.argv[1], tier="optimized")
session(numpy.zeros((2, 1, 28, 28), numpy.float32))
print(session.info)
END

  step "python3-ember: models with strings need libre2, which libember recommends"
  if apt-get -qq --simulate install libre2-9 >/dev/null 2>&1; then
    apt_install libre2-9
    /usr/bin/python3 strings.py | grep -x "\['no', 'yes', 'yes'\]"
  else
    # The packages are linked with Debian 12's libre2, which Debian 13 lacks: a model with strings
    # must fail there with a message that names libre2.
    if /usr/bin/python3 strings.py >output.txt 2>&1; then fail "strings without libre2"; fi
    tail -n 1 output.txt | tee last.txt
    grep -q 'libre2' last.txt
  fi

  step "python3-ember: time of an import"
  times_of_import /usr/bin/python3
}

test_wheel() {
  local wheels=("$packages"/ember-*_"$(uname -m)".whl)
  [[ -f "${wheels[0]}" && ${#wheels[@]} == 1 ]] || fail "expected one wheel in $packages, found ${wheels[*]}"
  if [[ -e /usr/lib/ember ]] || ldconfig -p | grep libember; then fail "a library of Ember is installed"; fi
  apt_install python3-venv python3-numpy python3-cffi
  step "wheel: $(stat -c '%n, %s bytes' "${wheels[0]}")"
  python3 -m zipfile -l "${wheels[0]}" | grep -E 'lib/|abi3|dist-info'
  time python3 -m venv --system-site-packages venv
  time venv/bin/pip install --quiet --no-index "${wheels[0]}"
  for package in libflatbuffers-dev libre2-dev libsnappy-dev python3-cffi; do
    grep -q "code of Debian's package $package" venv/lib/python3*/site-packages/ember-*.dist-info/NOTICE ||
      fail "no licence of $package in the wheel"
  done
  use venv/bin/python
  times_of_import venv/bin/python
  venv/bin/python strings.py | grep -x "\['no', 'yes', 'yes'\]"

  step "wheel: without LLVM no kernels, and a line that says so"
  if [[ ! -e "/usr/lib/$(uname -m)-linux-gnu/libLLVM.so.19.1" ]]; then
    if venv/bin/python -W error -c 'import ember; ember.Session("digits.vmfb", tier="optimized")' >output.txt 2>&1; then
      fail "tier 2 without LLVM"
    fi
    tail -n 1 output.txt | tee last.txt
    grep -q 'libLLVM.so.19.1' last.txt
  fi

  step "wheel: a virtual environment without NumPy and cffi"
  python3 -m venv bare
  bare/bin/pip install --quiet --no-index --no-deps "${wheels[0]}"
  if bare/bin/python -c 'import ember' >output.txt 2>&1; then fail "an import without NumPy"; fi
  tail -n 1 output.txt | tee last.txt
  grep -qE 'numpy|_cffi_backend' last.txt
}

[[ -f "$model" ]] || fail "expected $model, which ./dev package --test makes"
update
case "$kind" in
  deb) test_deb ;;
  wheel) test_wheel ;;
  *) fail "usage: test_python.sh DIR deb|wheel, in the sources of $repo" ;;
esac
