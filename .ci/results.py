#!/usr/bin/env python3
"""What a run of Swift Testing says in its event stream.

    results.py EVENTS          a line `passed failed skipped`, then a line for each failed test and each that didn't end:
                               what is wrong with it (`failed`, `unfinished`), its identifier, and what it reported
    results.py EVENTS --ended  status 0 if the run has ended
    results.py --must-pass ID  status 0 if a failure of this test is never taken for chance
"""

import collections
import json
import re
import sys

# The tests of the promises: each call ends once, nothing is sent twice or with another user's credentials, storms, kills,
# several processes, and cancellation. A failure of one of them that doesn't show again is still a failure.
PROMISES = re.compile(
    r"Promise|Lifecycle|Storm|[Kk]ill|Process|Account|account|Owner|OtherUser|otherUser|SignOut|SessionIdentity"
    r"|Permutation|DidFinish|Cancel|Shutdown|Repetition|Repeat|Acceptance"
)


def events(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                # The last line of a run that was killed.
                return


def short(identifier):
    """Without the place in a file: `IntegrationTests.StormTests/storm(seed:)`."""
    return re.sub(r"/[^/]*\.swift:\d+:\d+$", "", identifier)


def main(path):
    functions, started, ended, skipped = set(), set(), set(), set()
    issues = collections.defaultdict(list)
    for event in events(path):
        payload = event["payload"]
        if event["kind"] == "test":
            if payload["kind"] == "function":
                functions.add(payload["id"])
            continue
        test = payload.get("testID")
        match payload["kind"]:
            case "testStarted":
                started.add(test)
            case "testEnded":
                ended.add(test)
            case "testSkipped":
                skipped.add(test)
            case "issueRecorded" if not payload["issue"].get("isKnown"):
                if payload["issue"].get("severity", "error") == "error":
                    issues[test].append(" ".join(message["text"] for message in payload["messages"])[:500])
    failed = {test for test in issues if test in functions}
    outside = {test for test in issues if test not in functions}
    unfinished = (started - ended) & functions
    run = ended & functions
    print(len(run - failed), len(failed | outside), len(skipped & functions))
    for kind, tests in ("failed", failed | outside), ("unfinished", unfinished - failed):
        for test in sorted(tests, key=str):
            print(kind, short(str(test)), " | ".join(issues[test][:3]).replace("\n", " "), sep="\t")


match sys.argv[1:]:
    case ["--must-pass", identifier]:
        sys.exit(0 if PROMISES.search(identifier) else 1)
    case [path, "--ended"]:
        sys.exit(0 if any(event["payload"].get("kind") == "runEnded" for event in events(path)) else 1)
    case [path]:
        main(path)
    case _:
        sys.exit(__doc__)
