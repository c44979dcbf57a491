// SPDX-License-Identifier: MIT
import TargetKit

extension CacheCase {
    /// RFC 9111 §4.2, §5.1, §5.2.2 and §5.3.
    static let freshness: [CacheCase] = [
        CacheCase("4.2", "fresh until the lifetime ends", ["Cache-Control": "max-age=60"], after: 59, .cached(age: 59)),
        CacheCase("4.2", "not fresh when the age is the lifetime", ["Cache-Control": "max-age=60"], after: 60, .loaded),
        CacheCase(
            "4.2.1",
            "max-age overrides Expires",
            ["Cache-Control": "max-age=60", "Expires": "{10}"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase(
            "4.2.1",
            "max-age overrides an Expires in the future",
            ["Cache-Control": "max-age=10", "Expires": "{600}"],
            after: 30,
            .loaded
        ),
        CacheCase(
            "4.2.1",
            "Expires is relative to Date",
            ["Expires": "{160}", "Date": "{100}"],
            after: 59,
            .cached(age: 59)
        ),
        CacheCase(
            "4.2.1",
            "Expires is relative to Date, and reached",
            ["Expires": "{160}", "Date": "{100}"],
            after: 60,
            .loaded
        ),
        CacheCase(
            "4.2.1",
            "without Date, Expires is relative to the arrival",
            ["Expires": "{60}", "Date": ""],
            after: 59,
            .cached(age: 59)
        ),
        CacheCase(
            "4.2.1",
            "two max-age with the same value",
            ["Cache-Control": "max-age=60, max-age=60"],
            after: 1,
            .cached(age: 1)
        ),
        CacheCase(
            "4.2.1",
            "two max-age with different values",
            ["Cache-Control": "max-age=60, max-age=600"],
            after: 1,
            .loaded
        ),
        CacheCase("4.2.1", "two Expires with different values", ["Expires": "{60}"], after: 1, .loaded) {
            $0.first.add("Expires", value: "{600}")
        },
        CacheCase("4.2.1", "s-maxage is ignored", ["Cache-Control": "s-maxage=600, max-age=10"], after: 30, .loaded),
        CacheCase(
            "4.2.1",
            "s-maxage=0 is ignored",
            ["Cache-Control": "s-maxage=0, max-age=60"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase("4.2.1", "s-maxage alone is no lifetime", ["Cache-Control": "s-maxage=600"], after: 1, .loaded),
        CacheCase(
            "4.2.1",
            "a max-age that is not a number",
            ["Cache-Control": "max-age=soon", "Expires": "{600}"],
            after: 1,
            .loaded
        ),
        CacheCase("4.2.1", "a negative max-age", ["Cache-Control": "max-age=-1"], after: 1, .loaded),
        CacheCase("4.2.1", "a max-age with a fraction", ["Cache-Control": "max-age=60.5"], after: 1, .loaded),
        CacheCase("4.2.1", "a max-age without a value", ["Cache-Control": "max-age"], after: 1, .loaded),
        CacheCase("4.2.1", "an empty max-age", ["Cache-Control": "max-age=, public"], after: 1, .loaded),
        CacheCase("4.2.1", "max-age=0", ["Cache-Control": "max-age=0"], .loaded),
        CacheCase(
            "1.2.2",
            "a max-age of more than 2³¹",
            ["Cache-Control": "max-age=99999999999999999999"],
            after: 1e9,
            .cached(age: 1_000_000_000)
        ),
        CacheCase("5.2", "a quoted max-age", ["Cache-Control": "max-age=\"60\""], after: 1, .cached(age: 1)),
        CacheCase(
            "5.2",
            "directives that are not known",
            ["Cache-Control": "a=1, max-age=60, b"],
            after: 1,
            .cached(age: 1)
        ),
        CacheCase("5.2", "empty parts", ["Cache-Control": ", ,max-age=60,,"], after: 1, .cached(age: 1)),
        CacheCase("5.2", "white space", ["Cache-Control": "  max-age=60\t,\tpublic "], after: 1, .cached(age: 1)),
        CacheCase("5.2", "a quoted string without its end", ["Cache-Control": "x=\"a, max-age=60"], after: 1, .loaded),
        CacheCase(
            "5.2",
            "an escaped quote",
            ["Cache-Control": "x=\"\\\", max-age=9\", max-age=60"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase(
            "5.2",
            "a directive that begins with another one's name",
            ["Cache-Control": "max-age-x=1, max-age=60"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase("5.3", "Expires in the past", ["Expires": "{-10}"], .loaded),
        CacheCase("5.3", "Expires: 0", ["Expires": "0"], .loaded),
        CacheCase("5.3", "an Expires that is not a date", ["Expires": "in a minute"], .loaded),
        CacheCase(
            "5.3",
            "an Expires that is not a date, beside max-age",
            ["Expires": "0", "Cache-Control": "max-age=60"],
            after: 1,
            .cached(age: 1)
        ),
        CacheCase(
            "5.3",
            "an Expires in the format of RFC 850",
            ["Expires": "Friday, 15-Jan-27 08:01:00 GMT"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase("5.3", "an Expires in another time zone", ["Expires": "Fri, 15 Jan 2027 08:01:00 EST"], .loaded),
        CacheCase(
            "5.3",
            "an Expires in the format of asctime",
            ["Expires": "Fri Jan 15 08:01:00 2027"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase(
            "4.2",
            "an Expires in another letter case",
            ["Expires": "fri, 15 JAN 2027 08:01:00 gmt"],
            after: 30,
            .cached(age: 30)
        ),
        CacheCase(
            "4.2.3",
            "the age of the response counts",
            ["Cache-Control": "max-age=60", "Age": "50"],
            after: 9,
            .cached(age: 59)
        ),
        CacheCase(
            "4.2.3",
            "the age of the response ends its lifetime",
            ["Cache-Control": "max-age=60", "Age": "50"],
            after: 10,
            .loaded
        ),
        CacheCase(
            "4.2.3",
            "a Date in the past counts",
            ["Cache-Control": "max-age=60", "Date": "{-50}"],
            after: 9,
            .cached(age: 59)
        ),
        CacheCase(
            "4.2.3",
            "a Date in the past ends its lifetime",
            ["Cache-Control": "max-age=60", "Date": "{-50}"],
            after: 10,
            .loaded
        ),
        CacheCase(
            "4.2.3",
            "a Date in the future does not count",
            ["Cache-Control": "max-age=60", "Date": "{100}"],
            after: 59,
            .cached(age: 59)
        ),
        CacheCase(
            "4.2.3",
            "the greater of Age and Date",
            ["Cache-Control": "max-age=60", "Age": "20", "Date": "{-30}"],
            after: 29,
            .cached(age: 59)
        ),
        CacheCase(
            "4.2.3",
            "the time that the response took counts with Age",
            ["Cache-Control": "max-age=60", "Age": "10", "Date": ""],
            after: 29,
            .cached(age: 59)
        ) {
            $0.delay = 20
        },
        CacheCase(
            "4.2.3",
            "the time that the response took counts without Age",
            ["Cache-Control": "max-age=60", "Date": ""],
            after: 40,
            .loaded
        ) {
            $0.delay = 20
        },
        CacheCase("4.2.3", "a clock that was set back", ["Cache-Control": "max-age=60"], after: -3600, .loaded),
        CacheCase(
            "5.1",
            "an Age that is not a number",
            ["Cache-Control": "max-age=60", "Age": "old"],
            after: 1,
            .cached(age: 1)
        ),
        CacheCase("5.1", "a negative Age", ["Cache-Control": "max-age=60", "Age": "-5"], after: 1, .cached(age: 1)),
        CacheCase(
            "5.1",
            "the first of two Age fields",
            ["Cache-Control": "max-age=60", "Age": "10"],
            after: 1,
            .cached(age: 11)
        ) {
            $0.first.add("Age", value: "59")
        },
        CacheCase(
            "5.1",
            "an Age of more than 2³¹",
            ["Cache-Control": "max-age=60", "Age": "99999999999999999999"],
            .loaded
        ),
        CacheCase("4.2.2", "no heuristics by default", ["Last-Modified": "{-1000}"], after: 1, .validated) {
            $0.second = 304
        },
        CacheCase(
            "4.2.2",
            "a tenth of the time since the change",
            ["Last-Modified": "{-1000}"],
            after: 99,
            .cached(age: 99)
        ) { $0.usesHeuristics = true },
        CacheCase("4.2.2", "after that tenth", ["Last-Modified": "{-1000}"], after: 100, .validated) {
            ($0.usesHeuristics, $0.second) = (true, 304)
        },
        CacheCase(
            "4.2.2",
            "no heuristics with max-age",
            ["Last-Modified": "{-1000}", "Cache-Control": "max-age=10"],
            after: 50,
            .validated
        ) {
            ($0.usesHeuristics, $0.second) = (true, 304)
        },
        CacheCase(
            "4.2.2",
            "no heuristics with Expires",
            ["Last-Modified": "{-1000}", "Expires": "{10}"],
            after: 50,
            .validated
        ) {
            ($0.usesHeuristics, $0.second) = (true, 304)
        },
        CacheCase("4.2.2", "no heuristics without Last-Modified", ["ETag": "\"1\""], after: 1, .validated) {
            ($0.usesHeuristics, $0.second) = (true, 304)
        },
        CacheCase("4.2.2", "heuristics for 404", ["Last-Modified": "{-1000}"], after: 50, .cached(age: 50)) {
            ($0.usesHeuristics, $0.status) = (true, 404)
        },
        CacheCase("4.2.2", "heuristics for 301", ["Last-Modified": "{-1000}"], after: 50, .cached(age: 50)) {
            ($0.usesHeuristics, $0.status) = (true, 301)
        },
        CacheCase(
            "4.2.2",
            "no heuristics for 302",
            ["Last-Modified": "{-1000}", "Cache-Control": "private"],
            after: 50,
            .validated
        ) {
            ($0.usesHeuristics, $0.status, $0.second) = (true, 302, 304)
        },
        CacheCase(
            "4.2.2",
            "heuristics for any status with public",
            ["Last-Modified": "{-1000}", "Cache-Control": "public"],
            after: 50,
            .cached(age: 50)
        ) {
            ($0.usesHeuristics, $0.status) = (true, 403)
        },
        CacheCase("4.2.2", "a Last-Modified in the future", ["Last-Modified": "{1000}"], after: 1, .validated) {
            ($0.usesHeuristics, $0.second) = (true, 304)
        },
        CacheCase(
            "5.2.2.4",
            "no-cache is validated",
            ["Cache-Control": "no-cache, max-age=60", "ETag": "\"1\""],
            .validated
        ) { $0.second = 304 },
        CacheCase(
            "5.2.2.4",
            "no-cache with the names of fields is validated, too",
            ["Cache-Control": "no-cache=\"X-A\", max-age=60", "ETag": "\"1\""],
            .validated
        ) {
            $0.second = 304
        },
        CacheCase(
            "5.2.2.2",
            "must-revalidate does not matter while it is fresh",
            ["Cache-Control": "must-revalidate, max-age=60"],
            after: 9,
            .cached(age: 9)
        ),
        CacheCase(
            "5.2.2.8",
            "proxy-revalidate is ignored",
            ["Cache-Control": "proxy-revalidate, max-age=10"],
            after: 30,
            .stale
        ) {
            $0.fields = ["Cache-Control": "max-stale"]
        },
    ]

    /// Times 60 seconds after the first response, in forms that are not those of RFC 9110 §5.6.7: they have expired.
    static let invalidDates: [CacheCase] = [
        "Fri 15 Jan 2027 08:01:00 GMT", "Fri, 15  Jan  2027 08:01:00 GMT", "Fri, 15 Jan 27 08:01:00 GMT",
        "Fri, 15 Jan 2027 8:01:00 GMT", "Fri, 15-Jan-2027 08:01:00 GMT", "15 Jan 2027 08:01:00 GMT",
        "Fri, 15 Jan 2027 08.01.00 GMT", "Fri, 08:01:00 15 Jan 2027 GMT", "Fri, 15 January 2027 08:01:00 GMT",
        "Xyz, 15 Jan 2027 08:01:00 GMT", "Fri, 15 Jan 2027 08:01:00 +0000", "Fri, 15 Jan 2027 08:01:00",
        "Friday, 15-Jan-2027 08:01:00 GMT", "Fri Jan 15 08:01:00 2027 GMT",
    ].map { CacheCase("5.3", "Expires: \($0)", ["Expires": $0], .loaded) }
}
