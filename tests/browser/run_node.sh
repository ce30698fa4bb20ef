#!/bin/bash
# run_node.sh TEST.mjs EMBER.wasm: runs a test with node's test runner. EMBER_PACKAGE is the folder with the
# JavaScript and the runtime.
set -euo pipefail
if ! command -v node >/dev/null; then
  echo "SKIPPED: node is missing (apt install nodejs)"
  exit 0
fi
if (($(node -p 'process.versions.node.split(".")[0]') < 18)); then
  echo "SKIPPED: expected node 18 or later, found $(node --version)"
  exit 0
fi
export EMBER_PACKAGE="$TEST_TMPDIR/package"
bash tests/browser/package_folder.sh vm/web "$2" "$EMBER_PACKAGE"
size="$(stat -Lc %s "$2")"
echo "size: $size bytes, $(gzip -9 -c "$2" | wc -c) with gzip"
node --test "$1"
