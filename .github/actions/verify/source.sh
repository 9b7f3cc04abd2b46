#!/usr/bin/env bash
# Says where the source of nodestorm is: that of this action, or another commit of its repository.
set -euo pipefail
root=$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)
if [[ -n "$REF" ]]; then
	root=$RUNNER_TEMP/nodestorm-source
	git init --quiet "$root"
	git -C "$root" fetch --quiet --depth 1 "$REPOSITORY" "$REF"
	git -C "$root" checkout --quiet FETCH_HEAD
fi
# Builds in the store are of one clock.
key=$(cd "$root" && find go.sum sim/time/clock/overlay -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-16)
{
	echo "root=$root"
	echo "key=$key"
} >>"$GITHUB_OUTPUT"
