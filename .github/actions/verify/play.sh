#!/usr/bin/env bash
# Replays, and writes the summary of the job. The exit status is an output: the action's last step has it, after the
# runs were uploaded.
set -euo pipefail

# split makes an array of the words of a text. Those in quotes stay together; nothing is expanded.
split() {
	local text
	text=$(xargs -r printf '%s\n' <<<"$2")
	mapfile -t "$1" < <([[ -z "$text" ]] || printf '%s\n' "$text")
}
split ids "$IDS"
split more "$ARGS"
split build "$BUILD_ARGS"

catalogue=()
[[ -z "$CATALOGUE" ]] || catalogue=(--catalogue "$CATALOGUE")
what=("${ids[@]}")
[[ -z "$TAGS" ]] || what+=(--tags "$TAGS")
[[ ${#what[@]} -gt 0 ]] || what=(--all)
play=(verify)
# A feature without a record is played by run alone.
[[ "${ids[*]}" != *.feature* ]] || play=(run)
[[ -z "$TARGET" ]] || play+=(--target "$TARGET")

if [[ -n "$SOURCE" ]]; then
	if [[ -z "$TARGET" ]]; then
		echo "::error::source is given without target: name what is built there, such as karpenter@pr"
		exit 2
	fi
	nodestorm target build "$TARGET" --source "$SOURCE" "${build[@]}"
fi

status=0
nodestorm "${play[@]}" "${what[@]}" "${catalogue[@]}" --out "$OUT" "${more[@]}" || status=$?
{
	case $status in
	0) echo "**As expected.**" ;;
	1) echo "**Not as expected.**" ;;
	3) echo "**Inconclusive**: nothing can be said of some runs, or nothing was run." ;;
	*) echo "**nodestorm ended with status $status**; see the log of the step." ;;
	esac
	echo
	if [[ -d "$OUT" ]]; then
		nodestorm report -o md "${catalogue[@]}" "$OUT" || true
	fi
} >>"$GITHUB_STEP_SUMMARY"
echo "status=$status" >>"$GITHUB_OUTPUT"
