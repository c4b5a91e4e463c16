#!/usr/bin/env bash
# The steps of a pipeline for declarations, the same for GitHub and GitLab. README.md describes the variables.
#
#   dovetail.sh install     installs the client, unless it is there
#   dovetail.sh plan        checks the declaration, and writes the plan and the reports
#   dovetail.sh comment     writes the plan into the pull request, in place of the last one
#   dovetail.sh reviewed    reads the token of the reviewed plan from the merged pull request
#   dovetail.sh apply       makes the reviewed changes, or none
#   dovetail.sh wait        waits for the owners, and writes a JUnit report
#
# Exit codes are those of the client. 5 means that the plan is not the reviewed one, and nothing was applied.
set -euo pipefail
shopt -s inherit_errexit

path=${DOVETAIL_PATH:-.}
reports=${DOVETAIL_REPORTS:-dovetail-reports}
mkdir -p "$reports"
# The reports declare nothing, also if they are below the path.
printf '*\n' >"$reports/.dovetailignore"

declared=("$path")
[[ ${DOVETAIL_WHOLE:-false} != true ]] || declared+=(--whole)

readonly MARKER='<!-- dovetail-plan -->'
readonly CHANGES=2 PLAN_CHANGED=5 STILL_WAITING=8

fail() {
    printf 'dovetail.sh: %s\n' "$*" >&2
    exit 1
}

install() {
    command -v jq >/dev/null || { apt-get update -q && apt-get install -qy --no-install-recommends jq; }
    ! command -v dovetail || return 0
    cargo install --quiet --locked --git "${DOVETAIL_SOURCE:?}" --rev "${DOVETAIL_REVISION:?}" dovetail-cli
}

plan() {
    local status=0 annotate=()
    [[ -z ${GITLAB_CI:-} ]] || annotate=(--annotate gitlab)
    rm -f "$reports/plan.md" "$reports/plan.json"
    dovetail plan "${declared[@]}" "${annotate[@]}" --sarif "$reports/problems.sarif" \
        --markdown "$reports/plan.md" --save "$reports/plan.json" || status=$?
    ((status == CHANGES)) || return "$status"
}

# Sends a request to the API of the host, and prints the response: METHOD PATH [FILE]
host() {
    local method=$1 url=$2 body=()
    (($# < 3)) || body=(--header 'Content-Type: application/json' --data-binary "@$3")
    # The configuration comes from standard input, because arguments of a process are visible to others.
    curl --silent --show-error --fail-with-body --retry 3 --request "$method" "${body[@]}" --config - "$url" <<<"$header"
}

# Sets the names of the host's API: header, repository, comments, update, own, text and number.
connect() {
    if [[ -n ${GITHUB_ACTIONS:-} ]]; then
        header="header = \"Authorization: Bearer ${GITHUB_TOKEN:?}\""
        repository=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY
        number=${DOVETAIL_PULL_REQUEST:-$(host GET "$repository/commits/$GITHUB_SHA/pulls" |
            jq --arg commit "$GITHUB_SHA" 'map(select(.merge_commit_sha == $commit))[0].number // empty')}
        comments=$repository/issues/$number/comments
        update=(PATCH "$repository/issues/comments")
        # Only a comment of the workflow itself has a reviewed plan.
        own=".user.login == \"${DOVETAIL_AUTHOR:-github-actions[bot]}\""
    elif [[ -n ${GITLAB_CI:-} ]]; then
        header="header = \"PRIVATE-TOKEN: ${DOVETAIL_GITLAB_TOKEN:?}\""
        repository=$CI_API_V4_URL/projects/$CI_PROJECT_ID
        number=${CI_MERGE_REQUEST_IID:-$(host GET "$repository/repository/commits/$CI_COMMIT_SHA/merge_requests" |
            jq --arg branch "$CI_COMMIT_BRANCH" \
                'map(select(.state == "merged" and .target_branch == $branch))[0].iid // empty')}
        comments=$repository/merge_requests/$number/notes
        update=(PUT "$comments")
        own=".author.id == $(host GET "$CI_API_V4_URL/user" | jq .id)"
    else
        fail 'must run in GitHub Actions or GitLab CI'
    fi
}

# Prints the newest comment with a plan, as JSON; nothing without one.
last_comment() {
    local page=1 found last=
    while true; do
        found=$(host GET "$comments?per_page=100&page=$page")
        last=$(jq --compact-output --arg marker "$MARKER" --argjson last "${last:-null}" \
            "[\$last, (.[] | select($own and (.body | startswith(\$marker))) | {id, body})][-1] // \$last" <<<"$found")
        [[ $(jq length <<<"$found") -eq 100 ]] || break
        page=$((page + 1))
    done
    [[ ${last:-null} == null ]] || printf '%s\n' "$last"
}

comment() {
    # Without a file the plan failed for a reason that says nothing about the declaration.
    [[ -f $reports/plan.md ]] || return 0
    connect
    jq --null-input --rawfile body "$reports/plan.md" '{$body}' >"$reports/comment.json"
    local last
    last=$(last_comment)
    if [[ -n $last ]]; then
        host "${update[0]}" "${update[1]}/$(jq .id <<<"$last")" "$reports/comment.json" >/dev/null
    else
        host POST "$comments" "$reports/comment.json" >/dev/null
    fi
}

reviewed() {
    rm -f "$reports/token"
    # A run by hand has the token of a plan that its starter has read.
    if [[ -n ${DOVETAIL_PLAN:-} ]]; then
        printf '%s\n' "$DOVETAIL_PLAN" >"$reports/token"
        return
    fi
    connect
    [[ -n $number ]] || return 0
    last_comment | jq --raw-output .body | sed -n 's/^<!-- dovetail-plan-token: \(.*\) -->$/\1/p' >"$reports/token"
}

apply() {
    local status=0 token=none
    [[ ! -s $reports/token ]] || token=$(<"$reports/token")
    rm -f "$reports/submission.json"
    dovetail apply "${declared[@]}" --auto-approve --plan "$token" --output json >"$reports/submission.json" || status=$?
    if ((status == PLAN_CHANGED)); then
        printf 'The plan is not the reviewed one. This is the plan now:\n'
        plan || true
        # The token lets a person start this job again, after a look at the new plan.
        printf 'Its token: %s\n' "$(jq --raw-output .plan "$reports/plan.json")"
        [[ -z ${GITHUB_STEP_SUMMARY:-} ]] || cat "$reports/plan.md" >>"$GITHUB_STEP_SUMMARY"
    elif ((status == 0)); then
        jq --raw-output 'if .id then "Applied as submission \(.id)." else "No changes." end' "$reports/submission.json"
    fi
    return "$status"
}

wait_for_owners() {
    local status=0 submission
    submission=$(jq '.id // empty' "$reports/submission.json")
    [[ -n $submission ]] || return 0
    dovetail wait "$submission" --for "${DOVETAIL_WAIT_FOR:-completed}" --timeout "${DOVETAIL_TIMEOUT:-600}" \
        --junit "$reports/junit.xml" || status=$?
    # Owners may need days. Their pending items are skipped cases of the report.
    ((status == STILL_WAITING)) || return "$status"
}

case ${1:-} in
install | plan | comment | reviewed | apply) "$1" ;;
wait) wait_for_owners ;;
*) fail 'must be one of install, plan, comment, reviewed, apply, wait' ;;
esac
