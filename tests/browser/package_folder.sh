#!/bin/bash
# package_folder.sh SCRIPTS WASM FOLDER: puts the JavaScript of vm/web and ember.wasm into one folder, as the
# npm package has them.
set -euo pipefail
mkdir -p "$3"
cp -L "$1"/*.js "$1"/*.d.ts "$3"
cp -L "$2" "$3/ember.wasm"
echo '{"type": "module"}' >"$3/package.json"
