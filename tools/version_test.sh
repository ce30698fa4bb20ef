#!/bin/bash
# version_test.sh VERSION EMBER_H TOOL README...: checks that Ember has one version everywhere. The
# file packaging/VERSION has it; the C API and the tool's --version must say the same. The READMEs
# must not name the version of a package, because such text would become stale.
set -euo pipefail
version="$(cat "$1")"
header="$2" tool="$3"
shift 3
fail() {
  echo "FAILED: $*" >&2
  exit 1
}
api="$(sed -n 's/^#define EMBER_API_VERSION //p' "$header")"
[[ "$version" =~ ^0\.$api\.[0-9]+$ ]] || fail "packaging/VERSION: expected 0.$api.N, found $version"
grep -qx "#define EMBER_VERSION \"$version\"" "$header" || fail "ember.h: expected EMBER_VERSION \"$version\""
said="$("$tool" --version)"
[[ "$said" =~ ^"${tool##*/} $version (build "[0-9a-f]{12}\)$ ]] || fail "--version: expected $version and a build, found $said"
for readme in "$@"; do
  if grep -nE 'ember(-runtime)?-[0-9]+\.[0-9]+' "$readme"; then fail "$readme: expected no version of a package"; fi
done
echo "$version"
