// SPDX-License-Identifier: MIT
import TargetKit

extension CacheCase {
    private static let minute: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"1\""]

    /// RFC 9111 §5.2.1 and §5.4.
    static let directives: [CacheCase] = [
        CacheCase("5.2.1.1", "max-age above the age", minute, after: 10, .cached(age: 10)) {
            $0.fields = ["Cache-Control": "max-age=10"]
        },
        CacheCase("5.2.1.1", "max-age below the age", minute, after: 10, .validated) {
            $0.fields = ["Cache-Control": "max-age=9"]
            $0.second = 304
        },
        CacheCase("5.2.1.1", "max-age=0", minute, after: 1, .validated) {
            $0.fields = ["Cache-Control": "max-age=0"]
            $0.second = 304
        },
        CacheCase("5.2.1.1", "max-age does not extend the lifetime", minute, after: 70, .validated) {
            $0.fields = ["Cache-Control": "max-age=600"]
            $0.second = 304
        },
        CacheCase(
            "5.2.1.1",
            "max-age excludes a stale response that the server allows",
            [
                "Cache-Control": "max-age=60, stale-while-revalidate=600", "ETag": "\"1\"",
            ],
            after: 70,
            .validated
        ) {
            $0.fields = ["Cache-Control": "max-age=1000"]
            $0.second = 304
        },
        CacheCase("5.2.1.1", "a max-age that is not a number", minute, after: 1, .validated) {
            $0.fields = ["Cache-Control": "max-age=x"]
            $0.second = 304
        },
        CacheCase("5.2.1.2", "max-stale without a value", minute, after: 6000, .stale) {
            $0.fields = ["Cache-Control": "max-stale"]
        },
        CacheCase("5.2.1.2", "max-stale above the staleness", minute, after: 70, .stale) {
            $0.fields = ["Cache-Control": "max-stale=10"]
        },
        CacheCase("5.2.1.2", "max-stale below the staleness", minute, after: 71, .validated) {
            $0.fields = ["Cache-Control": "max-stale=10"]
            $0.second = 304
        },
        CacheCase(
            "5.2.1.2",
            "max-stale and must-revalidate",
            ["Cache-Control": "max-age=60, must-revalidate", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.fields = ["Cache-Control": "max-stale"]
            $0.second = 304
        },
        CacheCase(
            "5.2.1.2",
            "max-stale and no-cache",
            ["Cache-Control": "no-cache", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.fields = ["Cache-Control": "max-stale"]
            $0.second = 304
        },
        CacheCase("5.2.1.2", "max-stale and max-age", minute, after: 70, .validated) {
            $0.fields = ["Cache-Control": "max-stale, max-age=65"]
            $0.second = 304
        },
        CacheCase("5.2.1.2", "a max-stale that is not a number", minute, after: 70, .validated) {
            $0.fields = ["Cache-Control": "max-stale=x"]
            $0.second = 304
        },
        CacheCase("5.2.1.3", "min-fresh below the rest of the lifetime", minute, after: 10, .cached(age: 10)) {
            $0.fields = ["Cache-Control": "min-fresh=50"]
        },
        CacheCase("5.2.1.3", "min-fresh above the rest of the lifetime", minute, after: 10, .validated) {
            $0.fields = ["Cache-Control": "min-fresh=51"]
            $0.second = 304
        },
        CacheCase("5.2.1.4", "no-cache", minute, .validated) {
            $0.fields = ["Cache-Control": "no-cache"]
            $0.second = 304
        },
        CacheCase("5.2.1.4", "no-cache and a new response", minute, .replaced) {
            $0.fields = ["Cache-Control": "no-cache"]
        },
        CacheCase("5.2.1.6", "no-transform does not matter", minute, .cached(age: 0)) {
            $0.fields = ["Cache-Control": "no-transform"]
        },
        CacheCase("5.2.1.7", "only-if-cached with a fresh response", minute, after: 9, .cached(age: 9)) {
            $0.fields = ["Cache-Control": "only-if-cached"]
        },
        CacheCase("5.2.1.7", "only-if-cached with a stale response", minute, after: 90, .gatewayTimeout) {
            $0.fields = ["Cache-Control": "only-if-cached"]
        },
        CacheCase("5.2.1.7", "only-if-cached and max-stale", minute, after: 90, .stale) {
            $0.fields = ["Cache-Control": "only-if-cached, max-stale"]
        },
        CacheCase("5.2.1.7", "only-if-cached without a response", ["Cache-Control": "no-store"], .gatewayTimeout) {
            $0.fields = ["Cache-Control": "only-if-cached"]
        },
        CacheCase("5.2.1.7", "only-if-cached and no-cache", minute, .gatewayTimeout) {
            $0.fields = ["Cache-Control": "only-if-cached, no-cache"]
        },
        CacheCase("5.4", "Pragma: no-cache", minute, .validated) {
            $0.fields = ["Pragma": "no-cache"]
            $0.second = 304
        },
        CacheCase("5.4", "Pragma beside Cache-Control", minute, .cached(age: 0)) {
            $0.fields = ["Pragma": "no-cache", "Cache-Control": "max-age=60"]
        },
        CacheCase(
            "5.4",
            "Pragma in a response",
            ["Pragma": "no-cache", "Cache-Control": "max-age=60"],
            .cached(age: 0)
        ),
    ]

    /// RFC 9111 §4.3.
    static let validation: [CacheCase] = [
        CacheCase("4.3.1", "ETag", ["ETag": "\"1\""], .validated) { $0.second = 304 },
        CacheCase("4.3.1", "Last-Modified", ["Last-Modified": "{-10}"], .validated) { $0.second = 304 },
        CacheCase("4.3.1", "both", ["ETag": "\"1\"", "Last-Modified": "{-10}"], .validated) { $0.second = 304 },
        CacheCase("4.3.1", "a weak ETag", ["ETag": "W/\"1\""], .validated) {
            ($0.second, $0.secondFields) = (304, ["ETag": "W/\"1\""])
        },
        CacheCase("4.3.4", "a weak ETag that the 304 has without W/", ["ETag": "W/\"1\""], .validated) {
            ($0.second, $0.secondFields) = (304, ["ETag": "\"1\""])
        },
        CacheCase("4.3.4", "an ETag that the 304 has with W/", ["ETag": "\"1\""], .validated) {
            ($0.second, $0.secondFields) = (304, ["ETag": "W/\"1\""])
        },
        CacheCase("4.3.1", "no validator", ["X": "1"], .loaded),
        CacheCase("4.3.2", "If-None-Match that matches", minute, .notModified) {
            $0.fields = ["If-None-Match": "\"1\""]
        },
        CacheCase("4.3.2", "If-None-Match that matches weakly", minute, .notModified) {
            $0.fields = ["If-None-Match": "W/\"1\""]
        },
        CacheCase("4.3.2", "If-None-Match with a list", minute, .notModified) {
            $0.fields = ["If-None-Match": "\"0\", \"1\""]
        },
        CacheCase("4.3.2", "If-None-Match: *", minute, .notModified) { $0.fields = ["If-None-Match": "*"] },
        CacheCase("4.3.2", "If-None-Match that does not match", minute, .cached(age: 0)) {
            $0.fields = ["If-None-Match": "\"2\""]
        },
        CacheCase(
            "4.3.2",
            "If-None-Match overrides If-Modified-Since",
            ["Cache-Control": "max-age=60", "ETag": "\"1\"", "Last-Modified": "{-10}"],
            .cached(age: 0)
        ) {
            $0.fields = ["If-None-Match": "\"2\"", "If-Modified-Since": "{0}"]
        },
        CacheCase(
            "4.3.2",
            "If-Modified-Since that is met",
            ["Cache-Control": "max-age=60", "Last-Modified": "{-10}"],
            .notModified
        ) {
            $0.fields = ["If-Modified-Since": "{-10}"]
        },
        CacheCase(
            "4.3.2",
            "If-Modified-Since that is not met",
            ["Cache-Control": "max-age=60", "Last-Modified": "{-10}"],
            .cached(age: 0)
        ) {
            $0.fields = ["If-Modified-Since": "{-11}"]
        },
        CacheCase(
            "4.3.2",
            "If-Modified-Since that is not a date",
            ["Cache-Control": "max-age=60", "Last-Modified": "{-10}"],
            .cached(age: 0)
        ) {
            $0.fields = ["If-Modified-Since": "yesterday"]
        },
        CacheCase("4.3.2", "the request's own condition is sent if the response is stale", minute, after: 70, .loaded) {
            $0.fields = ["If-None-Match": "\"2\""]
            $0.second = 304
        },
        CacheCase("4.3.3", "a new response replaces the stored one", ["ETag": "\"1\""], .replaced),
        CacheCase("4.3.3", "an error of the server is the response", ["ETag": "\"1\""], .replaced) { $0.second = 503 },
        CacheCase("4.3.3", "a 404 is the response", ["ETag": "\"1\""], .replaced) { $0.second = 404 },
        CacheCase("4.3.3", "a lost connection is an error", ["ETag": "\"1\""], .failed) { $0.second = 0 },
        CacheCase("4.2.4", "no stale response without permission", minute, after: 70, .failed) { $0.second = 0 },
        CacheCase(
            "5.2.2.2",
            "must-revalidate and a lost connection",
            ["Cache-Control": "max-age=1, must-revalidate, stale-if-error=600", "ETag": "\"1\""],
            after: 70,
            .failed
        ) {
            $0.second = 0
        },
        CacheCase("4.3.5", "HEAD is validated", ["ETag": "\"1\""], .validated) {
            ($0.method, $0.second) = (.head, 304)
        },
    ]

    /// RFC 5861.
    static let stale: [CacheCase] = [
        CacheCase(
            "5861-3",
            "stale-while-revalidate",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
            after: 90,
            .stale
        ) {
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "after stale-while-revalidate",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
            after: 91,
            .validated
        ) {
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "stale-while-revalidate and fresh",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30"],
            after: 9,
            .cached(age: 9)
        ),
        CacheCase(
            "5861-3",
            "stale-while-revalidate and must-revalidate",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30, must-revalidate", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "stale-while-revalidate and no-cache",
            ["Cache-Control": "no-cache, max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "stale-while-revalidate and a request with no-cache",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.fields = ["Cache-Control": "no-cache"]
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "stale-while-revalidate and a request with max-age",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.fields = ["Cache-Control": "max-age=65"]
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "stale-while-revalidate and a request with min-fresh",
            ["Cache-Control": "max-age=60, stale-while-revalidate=30", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.fields = ["Cache-Control": "min-fresh=1"]
            $0.second = 304
        },
        CacheCase(
            "5861-3",
            "a stale-while-revalidate that is not a number",
            ["Cache-Control": "max-age=60, stale-while-revalidate=x", "ETag": "\"1\""],
            after: 70,
            .validated
        ) {
            $0.second = 304
        },
        CacheCase(
            "5861-4",
            "stale-if-error and 500",
            ["Cache-Control": "max-age=60, stale-if-error=30"],
            after: 70,
            .stale
        ) { $0.second = 500 },
        CacheCase(
            "5861-4",
            "stale-if-error and 502",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .stale
        ) { $0.second = 502 },
        CacheCase(
            "5861-4",
            "stale-if-error and 503",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .stale
        ) { $0.second = 503 },
        CacheCase(
            "5861-4",
            "stale-if-error and 504",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .stale
        ) { $0.second = 504 },
        CacheCase(
            "5861-4",
            "stale-if-error and 404",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .replaced
        ) { $0.second = 404 },
        CacheCase(
            "5861-4",
            "stale-if-error and 501",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .replaced
        ) { $0.second = 501 },
        CacheCase(
            "5861-4",
            "stale-if-error and a lost connection",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .stale
        ) { $0.second = 0 },
        CacheCase(
            "5861-4",
            "stale-if-error without a validator and a lost connection",
            ["Cache-Control": "max-age=60, stale-if-error=30"],
            after: 70,
            .stale
        ) { $0.second = 0 },
        CacheCase(
            "5861-4",
            "after stale-if-error",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 91,
            .replaced
        ) { $0.second = 500 },
        CacheCase(
            "5861-4",
            "stale-if-error and must-revalidate",
            ["Cache-Control": "max-age=60, stale-if-error=30, must-revalidate", "ETag": "\"1\""],
            after: 70,
            .replaced
        ) {
            $0.second = 500
        },
        CacheCase(
            "5861-4",
            "stale-if-error and no-cache",
            ["Cache-Control": "no-cache, max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .replaced
        ) {
            $0.second = 500
        },
        CacheCase("5861-4", "stale-if-error of the request", minute, after: 70, .stale) {
            $0.fields = ["Cache-Control": "stale-if-error=30"]
            $0.second = 503
        },
        CacheCase("5861-4", "stale-if-error of the request that is exceeded", minute, after: 91, .replaced) {
            $0.fields = ["Cache-Control": "stale-if-error=30"]
            $0.second = 503
        },
        CacheCase(
            "5861-4",
            "stale-if-error and a new response",
            ["Cache-Control": "max-age=60, stale-if-error=30", "ETag": "\"1\""],
            after: 70,
            .replaced
        ),
    ]
}
