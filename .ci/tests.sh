# Runs of Swift Testing: what they say is counted, and a failure that doesn't show again is flaky. Sourced by `run`.

flaky=()
# Three flaky tests in a run are a failure.
FLAKY_LIMIT=3

# clean COMMAND…: runs the command in an environment with nothing but the program paths, the home folder and the variables
# of the tests. A broken pipe ends it, as it does a program of an interactive shell.
clean() {
    local name variables=()
    for name in PATH HOME "${!TARGETKIT_@}"; do variables+=("$name=${!name}"); done
    env -i --default-signal=PIPE "${variables[@]}" "$@"
}

# swift_test EVENTS ARGUMENT…: the README's command. What it reports as events changes nothing else.
swift_test() { clean swift test --event-stream-output-path "$1" --event-stream-version 0 "${@:2}"; }

# run_tests NAME ARGUMENT…: runs tests, and counts them.
run_tests() {
    local name=$1 log events start=$SECONDS status
    shift
    log=$(mktemp "$WORK/tests.XXXXXX") events=$(mktemp "$WORK/events.XXXXXX")
    headline "$name"
    limited 1800 swift_test "$events" "$@" > "$log" 2>&1
    status=$?
    took $((SECONDS - start)) "$name"
    judge_tests "$name" "$log" "$events" "$status" "$@"
}

# judge_tests NAME LOG EVENTS STATUS ARGUMENT…: counts the tests of a run that has ended, and runs failed ones again with
# the arguments.
judge_tests() {
    local name=$1 log=$2 events=$3 status=$4 results passes failures_here skips
    shift 4
    mapfile -t results < <(python3 .ci/results.py "$events")
    read -r passes failures_here skips <<< "${results[0]:-0 0 0}"
    passed=$((passed + passes))
    say "tests: $passes passed, $failures_here failed, $skips skipped"
    results=("${results[@]:1}")
    ((${#results[@]} == 0)) || say "${results[@]}"
    if ((status == 124)); then
        fail "$name: the time for it was over"
        return
    fi
    if ! python3 .ci/results.py "$events" --ended; then
        tail -n 40 "$log"
        fail "$name: it ended with status $status and without a sum"
        return
    fi
    if ((passes + failures_here == 0)); then
        tail -n 40 "$log"
        fail "$name: no test ran"
    elif ((${#results[@]} > 0)); then
        print_failures "$log"
        judge_failures "${results[@]}" -- "$@"
    elif ((status != 0)); then
        tail -n 40 "$log"
        fail "$name: it ended with status $status"
    fi
    # What the events don't tell of a run with a flaky test: failures of XCTest, and a crash after the last test.
    if ((${#results[@]} > 0)) &&
        grep -aqE 'Executed [0-9]+ tests?, with [1-9][0-9]* failure|^error: .*unexpected signal' "$log"; then
        fail "$name: a test of XCTest failed, or the program crashed"
    fi
}

# The lines of a run that say what failed.
print_failures() {
    grep -aE '^(✘|↳|.  *↳|error:|.*: error:|Fatal error|.*[Ff]atal error:)|^. Test run with' "$1" | head -n 200
}

# judge_failures RESULT… -- ARGUMENT…: each failed test is flaky or a failure. More than can be flaky aren't run again.
judge_failures() {
    local results=() result kind test text
    while [[ $1 != -- ]]; do results+=("$1") && shift; done
    shift
    for result in "${results[@]}"; do
        IFS=$'\t' read -r kind test text <<< "$result"
        if [[ $kind == failed ]] && ((${#results[@]} < FLAKY_LIMIT)) && passes_again "$test" "$@"; then
            passed=$((passed + 1))
            flaky+=("$test")
            say "flaky: $test"
        else
            fail "$test: $text"
        fi
    done
}

# passes_again TEST ARGUMENT…: whether a test that failed passes alone, and then beside a busy loop.
passes_again() {
    local test=$1 busy status
    shift
    if python3 .ci/results.py --must-pass "$test"; then
        say "$test guards a promise, so a single failure counts"
        return 1
    fi
    say "again, alone:"
    passes_once "$test" "$@" || return
    say "again, beside a busy loop:"
    while :; do :; done &
    busy=$!
    passes_once "$test" "$@"
    status=$?
    kill "$busy" && wait "$busy" 2> /dev/null
    return "$status"
}

# passes_once TEST ARGUMENT…: without the filters of the run that failed, which would add to its own.
passes_once() {
    local test=$1 pattern log events arguments=() results
    shift
    while (($#)); do
        case $1 in
            --filter) shift ;;
            --skip-build) ;;
            *) arguments+=("$1") ;;
        esac
        shift
    done
    log=$(mktemp "$WORK/tests.XXXXXX") events=$(mktemp "$WORK/events.XXXXXX")
    # The characters of an identifier that mean something in a pattern.
    pattern=$(sed 's/[][().*+?^$|{}\\]/\\&/g' <<< "$test")
    limited 600 swift_test "$events" --skip-build "${arguments[@]}" --filter "^$pattern/" > "$log" 2>&1
    read -r -a results < <(python3 .ci/results.py "$events")
    say "    ${results[0]} passed, ${results[1]} failed"
    [[ ${results[0]} == 1 && ${results[1]} == 0 ]] && python3 .ci/results.py "$events" --ended
}

# What was flaky, with the row that Tests/FLAKY.md lacks. Called before the sum is printed.
report_flaky() {
    local test
    for test in "${flaky[@]}"; do
        say "" "flaky: $test"
        grep -qF "\`$test\`" Tests/FLAKY.md || say "add it to Tests/FLAKY.md: | \`$test\` | $(date +%F) |"
    done
    if ((${#flaky[@]} >= FLAKY_LIMIT)); then fail "${#flaky[@]} flaky tests in one run"; fi
}

# long_test NAME VARIABLE=VALUE FILTER: tests that keep one core busy for minutes; what they say is judged later.
long_test() {
    export "$2"
    swift_test "$WORK/long-$1.events" --skip-build --scratch-path "$WORK/long-build" --filter "$3" > "$WORK/long-$1.log" 2>&1
    printf '%s' "$?" > "$WORK/long-$1.status"
}

# judge_long_test LOG NAME: a failure there counts at once.
judge_long_test() {
    local log=$WORK/long-$1
    headline "$2"
    if [[ ! -e $log.status ]]; then
        fail "$2: not ended"
        return
    fi
    FLAKY_LIMIT=0 judge_tests "$2" "$log.log" "$log.events" "$(cat "$log.status")"
}
