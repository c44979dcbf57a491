# Steps of a run: what passed and failed, within which time, and how long each took. Sourced by `run`.

passed=0
failed=0
failures=()
seconds=()
lanes=()
interrupted=0

say() { printf '%s\n' "$@"; }
headline() { say "" "==> $*"; }

# pass NAME; fail NAME: one line for people, one for the sum.
pass() { passed=$((passed + 1)); say "passed: $1"; }
fail() { failed=$((failed + 1)); failures+=("$1"); say "FAILED: $1"; }

# took SECONDS NAME: a row of the table at the end.
took() { seconds+=("$(printf '%6d s  %s' "$1" "$2")"); say "$1 s"; }

# Every process below that one, deepest last.
descendants() {
    local child
    for child in $(cat "/proc/$1/task/"*/children 2> /dev/null); do
        say "$child"
        descendants "$child"
    done
}

# Ends a process of this run, with all that it has started.
kill_tree() {
    local tree
    mapfile -t tree < <(descendants "$1")
    kill -KILL "$1" "${tree[@]}" 2> /dev/null
    wait "$1" 2> /dev/null
}

# limited SECONDS COMMAND…: 124 when the time, or that of the whole run, is over; nothing of the command is left then.
limited() {
    local limit=$1 left=$((DEADLINE - SECONDS)) process
    shift
    ((left < limit)) && limit=$left
    "$@" &
    process=$!
    local end=$((SECONDS + limit))
    while kill -0 "$process" 2> /dev/null; do
        if ((SECONDS >= end)); then
            kill_tree "$process"
            return 124
        fi
        sleep 0.2
    done
    wait "$process"
}

# step NAME SECONDS COMMAND…: runs the command, prints its log if it fails, and counts it. STEP_LOG keeps the log.
step() {
    local name=$1 limit=$2 status start=$SECONDS
    shift 2
    STEP_LOG=$(mktemp "$WORK/step.XXXXXX")
    headline "$name"
    limited "$limit" "$@" > "$STEP_LOG" 2>&1
    status=$?
    took $((SECONDS - start)) "$name"
    if ((status == 0)); then
        pass "$name"
        return 0
    fi
    tail -n 60 "$STEP_LOG"
    ((status == 124)) && say "the time for this step was over"
    fail "$name"
    return 1
}

# shown STEP…: a step whose log is printed also if it passes.
shown() {
    step "$@" && cat "$STEP_LOG"
}

# begin_lane NAME FUNCTION: runs the steps of a function beside those that follow. What it prints and counts follows with
# `end_lane NAME`.
begin_lane() {
    (
        trap - EXIT INT TERM
        passed=0 failed=0 failures=() seconds=() flaky=() lanes=()
        "$2"
        declare -p passed failed failures seconds flaky > "$WORK/lane-$1.sum"
    ) > "$WORK/lane-$1.log" 2>&1 &
    lanes+=("$1=$!")
}

end_lane() {
    local lane rest=()
    for lane in "${lanes[@]}"; do
        if [[ ${lane%%=*} == "$1" ]]; then wait "${lane#*=}"; else rest+=("$lane"); fi
    done
    lanes=("${rest[@]}")
    cat "$WORK/lane-$1.log"
    if [[ -e $WORK/lane-$1.sum ]]; then add_lane "$WORK/lane-$1.sum"; else fail "$1: it ended early"; fi
}

# Adds what a lane has counted; its file holds declarations of the same variables.
add_lane() {
    local outer=("$passed" "$failed") outer_failures=("${failures[@]}") outer_seconds=("${seconds[@]}")
    local outer_flaky=("${flaky[@]}")
    source <(sed -E 's/^declare -[-a-zA-Z]+ //' "$1")
    passed=$((passed + outer[0]))
    failed=$((failed + outer[1]))
    failures=("${outer_failures[@]}" "${failures[@]}")
    seconds=("${outer_seconds[@]}" "${seconds[@]}")
    flaky=("${outer_flaky[@]}" "${flaky[@]}")
}

finish() {
    local process
    trap - EXIT INT TERM
    for process in $(jobs -p); do
        [[ " ${servers[*]} " == *" $process "* ]] || kill_tree "$process"
    done
    stop_servers
    rm -rf "$WORK"
    ((interrupted)) && fail "interrupted"
    ((passed + failed)) || failed=1
    report_flaky
    ((${#failures[@]})) && say "" "what failed:" "${failures[@]}"
    say "" "the steps, longest first (the whole run: $((SECONDS - BEGINNING)) s):"
    ((${#seconds[@]})) && say "${seconds[@]}" | sort -rn
    say "" "$passed passed, $failed failed"
    exit $((failed > 0))
}
