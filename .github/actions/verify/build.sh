#!/usr/bin/env bash
# Builds nodestorm, and puts it on the PATH of the steps that follow.
set -euo pipefail
make -C "$ROOT" build
echo "$ROOT/bin" >>"$GITHUB_PATH"
echo "NODESTORM_ROOT=$ROOT" >>"$GITHUB_ENV"
