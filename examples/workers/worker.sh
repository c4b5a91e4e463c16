#!/usr/bin/env bash
# Claims changes one at a time, and runs a command for each. It needs curl and jq.
#
#   export DOVETAIL_URL=https://dovetail.example.com DOVETAIL_API_KEY=...
#   worker.sh --run ./provision
#
#   --run COMMAND       the command with its arguments, separated by spaces
#   --worker NAME       name of the worker; the default is host and process
#   --lease SECONDS     time of a lease; the default is 300
#   --service ID        claims only changes of this service
#   --once              ends when no change is left
#
# The command gets the change instance as JSON on its standard input, and prints the deployed item as JSON, or nothing.
# If it fails, the end of its standard error becomes the log of the change instance. It must be safe to repeat, because
# another worker repeats it after a crash. After the signal TERM, the worker finishes its current change and ends.
#
# docs/how-to/workers.md explains claims. worker.py does the same in Python.
set -euo pipefail
shopt -s inherit_errexit

# Maximum length of a log text in bytes. The API accepts 1,024.
readonly LOG_BYTES_MAX=1000

# Pauses after an empty response or a failed request, in seconds. They double from the first to the longest.
readonly PAUSE_SECONDS=1 PAUSE_SECONDS_MAX=60

fail() {
    printf 'worker.sh: %s\n' "$*" >&2
    exit 1
}

worker=${HOSTNAME:0:50}-$$
lease=300
service=null
once=
run=()
while (($#)); do
    case $1 in
    --once) once=yes && shift && continue ;;
    --run) read -ra run <<<"${2:-}" ;;
    --worker) worker=${2:-} ;;
    --lease) lease=${2:-} ;;
    --service) service=${2:-} ;;
    *) fail "there is no option $1" ;;
    esac
    (($# > 1)) || fail "$1 must have a value"
    shift 2
done
command -v "${run[0]:-}" >/dev/null || fail '--run must be the path of a program'

api=${DOVETAIL_URL:?}/v1/orcabase/serviceowner/change_instances
authorization="header = \"Authorization: Api-Key ${DOVETAIL_API_KEY:?}\""
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

# Set by TERM, and while the worker has a change.
stopping=
busy=
trap 'stopping=yes' TERM INT

# A signal ends the pause. `sleep` has no output, because it may outlast the worker.
pause() {
    sleep "$1" >/dev/null 2>&1 &
    wait "$!" || true
}

# Sends a request until the system answers: METHOD PATH. The body is the standard input, if there is one. Sets `status`,
# and writes the file `response`.
send() {
    local seconds=$PAUSE_SECONDS after
    while true; do
        rm -f "$files/headers"
        # The key comes from standard input, because arguments of a process are visible to others.
        status=$(curl --silent --max-time 30 --config - --request "$1" --header 'Content-Type: application/json' \
            --data-binary "@$files/body" --dump-header "$files/headers" --output "$files/response" \
            --write-out '%{http_code}' "$api/$2" <<<"$authorization") || status=000
        [[ $status == 000 || $status == 429 || $status == 5?? ]] || return 0
        [[ -z $stopping || -n $busy ]] || exit 0
        after=$(sed -n 's/^retry-after: *\([0-9]\{1,5\}\).*/\1/ip' "$files/headers" 2>/dev/null) || after=
        pause "${after:-$seconds}.$((RANDOM % 1000))"
        seconds=$((2 * seconds < PAUSE_SECONDS_MAX ? 2 * seconds : PAUSE_SECONDS_MAX))
    done
}

report() { printf '%s: %s\n' "$id" "$1"; }

# Prints a member of the response, or nothing, also if a proxy has sent something else.
response() { jq -r "$1 // empty" "$files/response" 2>/dev/null || true; }

# Ends the worker if the system has refused the request.
accepted() { [[ $status == 200 ]] || fail "$status: $(response '.detail // .title')"; }

# Claims the oldest free change.
claim() {
    jq -n --arg worker "$worker" --argjson lease "$lease" --argjson service "$service" \
        '{worker: $worker, limit: 1, lease_seconds: $lease, service: $service} | del(.[] | nulls)' >"$files/body"
    send POST claim/
    accepted
}

# Extends the lease by some seconds. Zero seconds release it.
extend() {
    jq -n --arg worker "$worker" --argjson number "$number" --argjson seconds "$1" \
        '{worker: $worker, number: $number, lease_seconds: $seconds}' >"$files/body"
    send POST "$id/claim/"
}

# Extends the lease until its standard input ends: with the command, or with the worker. A refusal stops the command.
renew() {
    # It runs at the same time as the worker, so it needs files of its own.
    local command=$files/command
    files=$files/renewer
    mkdir -p "$files"
    pause() {
        local result=0
        read -rt "$1" || result=$?
        ((result > 128)) || exit 0
    }
    while true; do
        pause "$((lease / 3))"
        extend "$lease"
        [[ $status == 200 ]] || break
    done
    kill "$(<"$command")" 2>/dev/null || true
}

# Runs the command and extends the lease meanwhile. Writes the update with the result to the file `update`.
work() {
    local result=0 pipe renewer
    coproc RENEWER { renew; }
    # The shell removes these variables when the process ends.
    pipe=${RENEWER[1]} renewer=$RENEWER_PID
    (
        # Ctrl-C at the terminal must not stop the command.
        trap '' INT
        printf '%s' "$BASHPID" >"$files/command"
        exec "${run[@]}"
    ) <"$files/change" >"$files/output" 2>"$files/errors" || result=$?
    exec {pipe}>&-
    wait "$renewer" 2>/dev/null || true
    if ((result != 0)); then
        tail -c "$LOG_BYTES_MAX" "$files/errors" | jq -Rs --arg result "$result" \
            'gsub("\ufffd"; "") | sub("\\s+$"; "")
                | if . == "" then "the command ended with status \($result)" else . end
                | {state: "ERRORED", log: .}'
    elif ! jq -n --slurpfile output "$files/output" \
        '{state: "COMPLETED"} + if $output == [] then {} else {deployed_item: $output[0]} end' 2>/dev/null; then
        jq -n '{state: "ERRORED", log: "the output of the command must be JSON"}'
    fi >"$files/update"
}

# Sends the result. A refused completion becomes a failure, because a repetition would be refused again.
finish() {
    local state code
    state=$(jq -r .state "$files/update")
    jq --argjson number "$number" '. + {claim: $number}' "$files/update" >"$files/body"
    send PATCH "$id/"
    code=$(response .code)
    if [[ $status == 200 ]]; then
        report "$state"
    elif [[ $code == not_claimed ]]; then
        report 'another worker has the change'
    elif [[ $code == illegal_transition ]]; then
        report "$status: $(response '.detail // .title')"
        # The successor of a closed change waits for the release.
        extend 0
    elif [[ $state == COMPLETED ]]; then
        jq -n --arg log "$status: $(response '.detail // .title' | head -c "$LOG_BYTES_MAX")" \
            '{state: "ERRORED", log: $log}' >"$files/update"
        finish
    else
        # The lease lasts, so that workers do not repeat the work in a tight loop.
        report "$status: $(response '.detail // .title')"
    fi
}

# Processes the claimed change in the response.
process() {
    local claim
    claim=$(response '.results[0].claim') id=$(response '.results[0].id')
    number=$(jq .number <<<"$claim")
    report "claimed with number $number"
    # The list omits the declarations.
    : >"$files/body"
    send GET "$id/"
    accepted
    jq -c --argjson claim "$claim" '. + {claim: $claim}' "$files/response" >"$files/change"
    work
    finish
}

seconds=$PAUSE_SECONDS
while [[ -z $stopping ]]; do
    claim
    if [[ $(response '.results[0].id') ]]; then
        busy=yes
        process
        busy=
        seconds=$PAUSE_SECONDS
    elif [[ $once ]]; then
        break
    else
        pause "$seconds.$((RANDOM % 1000))"
        seconds=$((2 * seconds < PAUSE_SECONDS_MAX ? 2 * seconds : PAUSE_SECONDS_MAX))
    fi
done
