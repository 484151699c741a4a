#!/usr/bin/env bash
# The audit of action.yml: annotations to the log, Markdown to the summary of the job, SARIF to a file.
set -uo pipefail

words=(--format github --fail-on "$FAIL_ON")
words+=(--report "sarif=$SARIF_FILE" --report "markdown=$RUNNER_TEMP/kafka-advisor.md")
[[ -n $DIFF_BASE ]] && words+=("--diff-base=$DIFF_BASE")
[[ -n $BASELINE ]] && words+=("--baseline=$BASELINE")
# No file name is expanded, and no word is run: spaces alone divide them.
read -ra args <<<"$ARGS"
read -ra paths <<<"$PATHS"

"$RUNNER_TEMP/kafka-advisor/bin/kafka-advisor" audit "${words[@]}" ${args[@]+"${args[@]}"} -- ${paths[@]+"${paths[@]}"}
code=$?
[[ -f $RUNNER_TEMP/kafka-advisor.md ]] && cat "$RUNNER_TEMP/kafka-advisor.md" >>"$GITHUB_STEP_SUMMARY"
exit $code
