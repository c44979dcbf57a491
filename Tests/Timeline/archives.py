# SPDX-License-Identifier: MIT
"""Archives for the checks of the timeline page. The random numbers have a seed, so each run makes the same ones."""

import datetime
import json
import random

BEGIN = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.timezone.utc)
PATHS = ["/teas?page=1", "/teas/17", "/orders", "/account", "/images/sencha.png", "/search?q=green", "/token"]


def entry(number, start, path="/teas", status=200, source="network", **fields):
    """One entry as a HARPlugin writes it."""
    wait = fields.pop("wait", 20)
    timings = {"blocked": fields.pop("blocked", -1), "dns": -1, "connect": fields.pop("connect", -1), "send": 0,
               "wait": wait, "receive": fields.pop("receive", 5), "ssl": -1}
    failure = {"_failure": "server" if status else "timedOut"} if status == 0 or status >= 400 else {}
    attempt = fields.get("_attempt", 0)
    return {
        "startedDateTime": (BEGIN + datetime.timedelta(milliseconds=start)).isoformat(timespec="milliseconds"),
        "time": sum(time for time in timings.values() if time > 0),
        "request": {
            "method": fields.pop("method", "GET"), "url": fields.pop("base", "https://api.example") + path,
            "httpVersion": "HTTP/2", "cookies": [], "queryString": [], "headersSize": -1, "bodySize": 0,
            "headers": [{"name": "Accept", "value": "application/json"},
                        {"name": "Authorization", "value": "<redacted>"}, {"name": "X-Number", "value": str(number)}],
        },
        "response": {
            "status": status, "statusText": "", "httpVersion": "HTTP/2", "cookies": [], "redirectURL": "",
            "headersSize": -1, "bodySize": 120, "headers": [{"name": "Content-Type", "value": "application/json"}],
            "content": {"size": 120, "mimeType": "application/json",
                        "text": fields.pop("text", json.dumps({"id": number, "name": "Sencha", "tags": ["green"]}))},
        },
        "cache": {}, "timings": timings, "_id": f"run-{number}.{attempt}.0", "_call": str(number), "_attempt": attempt,
        "_hop": 0, "_target": "Shop." + (path[1:].split("?")[0].split("/")[0] or "root"), "_scope": "1",
        "_provider": "shop", "_source": source, "_isRefresh": False, "_waits": {"plugins": 0}, **failure, **fields,
    }


def archive(entries):
    return {"log": {"version": "1.2", "creator": {"name": "TargetKit", "version": "0.1.0"}, "entries": entries}}


def small():
    """Each kind of entry once, in two groups."""
    return archive([
        entry(1, 0, "/teas", connect=12, wait=40),
        entry(2, 30, "/orders", 503, method="POST"),
        entry(2, 180, "/orders", 201, method="POST", _attempt=1, _waits={"plugins": 0, "retry": 125}),
        entry(3, 210, "/token", method="POST", _isRefresh=True),
        entry(4, 215, "/account", blocked=60),
        entry(5, 300, "/images/sencha.png", source="cache", wait=0.3, receive=0),
        entry(6, 310, "/teas", source="shared", wait=60, receive=0),
        entry(7, 330, "/teas/9", source="stub", _scope="1.2", _provider="catalog"),
        entry(8, 340, "/teas/8", 0, _scope="1.2", _provider="catalog", base="https://cdn.example"),
        entry(9, 400, "/old", 302, _scope="1.2", _provider="catalog"),
        entry(9, 430, "/new", _id="run-9.0.1", _hop=1, _scope="1.2", _provider="catalog"),
        entry(10, 440, "/offline", 0, source="none", _failure="offline", wait=0, receive=0),
    ])


def large(count=5000):
    numbers = random.Random(5)
    entries, start = [], 0
    for number in range(count):
        start += numbers.expovariate(1 / 40)
        entries.append(entry(
            number, start, numbers.choice(PATHS), numbers.choice([200] * 17 + [404, 500, 503]),
            numbers.choice(["network"] * 8 + ["cache", "stub"]), wait=numbers.expovariate(1 / 90),
            receive=numbers.expovariate(1 / 30), blocked=numbers.choice([-1, -1, -1, 50]),
            _scope=numbers.choice(["1", "1.2"]), _provider=numbers.choice(["shop", "maps"]),
            text="x" * numbers.randint(10, 2000),
        ))
    return archive(entries)


MARKUP = "<img src=x onerror='window.pwned=1'><script>window.pwned=1</script></script>\"'><svg onload=window.pwned=1>"


def hostile():
    """Markup in each text, and values of other types than the format has."""
    def poisoned(value):
        if isinstance(value, dict):
            return {key + "": poisoned(item) for key, item in value.items()}
        if isinstance(value, list):
            return [poisoned(item) for item in value]
        return MARKUP if isinstance(value, str) else value

    marked = poisoned(entry(1, 0))
    link = entry(2, 0)
    link["request"]["url"] = "javascript:window.pwned=1"
    image = entry(3, 0)
    image["response"]["content"] = {"size": 3, "mimeType": "image/svg+xml", "encoding": "base64",
                                    "text": "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+"}
    shaped = entry(4, 0)
    shaped["response"]["content"] = {"size": 3, "mimeType": "image/png\" onerror=\"window.pwned=1", "encoding": "base64",
                                     "text": "\" onerror=\"window.pwned=1"}
    strange = [None, 7, "text", [], {}, {"request": None, "response": 5, "timings": "x"},
               {"request": {"headers": {"a": 1}, "url": 5}, "response": {"headers": [None, 5], "status": "200"}},
               {"timings": {"wait": -1e308, "receive": 1e308}, "time": "12", "startedDateTime": "never"},
               {"_id": {"a": 1}, "_scope": MARKUP, "_provider": ["x"], "_source": "constructor"},
               {"request": {"url": "https://[", "method": "__proto__"}, "_source": "__proto__"}]
    deep = entry(5, 0, text="[" * 50000)
    return archive([marked, link, image, shaped, deep] + strange)


ALL = {"small": small, "large": large, "hostile": hostile}
