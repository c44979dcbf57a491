// SPDX-License-Identifier: MIT
import TargetKit

extension CacheCase {
    /// RFC 9111 §3 and §4.1.
    static let storing: [CacheCase] = [
        CacheCase(
            "3",
            "a response with a lifetime is stored",
            ["Cache-Control": "max-age=60"],
            after: 1,
            .cached(age: 1)
        ),
        CacheCase("3", "a response without any caching field is stored, and loaded again", [:], after: 1, .loaded),
        CacheCase(
            "3",
            "a response with a validator only is stored, and validated",
            ["ETag": "\"1\""],
            after: 1,
            .validated
        ) {
            $0.second = 304
        },
        CacheCase("3", "the status 302 is not stored without a lifetime", ["ETag": "\"1\"", "X": "1"], .loaded) {
            $0.status = 302
        },
        CacheCase("3", "the status 302 is stored with a lifetime", ["Cache-Control": "max-age=60"], .cached(age: 0)) {
            $0.status = 302
        },
        CacheCase("3", "the status 307 is stored with Expires", ["Expires": "{60}"], .cached(age: 0)) {
            $0.status = 307
        },
        CacheCase("3", "the status 403 is not stored without a lifetime", ["ETag": "\"1\""], .loaded) {
            $0.status = 403
        },
        CacheCase(
            "3",
            "the status 403 is stored with private",
            ["Cache-Control": "private", "ETag": "\"1\""],
            .validated
        ) {
            ($0.status, $0.second) = (403, 304)
        },
        CacheCase(
            "3",
            "the status 403 is stored with public",
            ["Cache-Control": "public", "ETag": "\"1\""],
            .validated
        ) {
            ($0.status, $0.second) = (403, 304)
        },
        CacheCase("3", "the status 500 is not stored without a lifetime", ["ETag": "\"1\""], .loaded) {
            $0.status = 500
        },
        CacheCase("3", "the status 500 is stored with a lifetime", ["Cache-Control": "max-age=60"], .cached(age: 0)) {
            $0.status = 500
        },
        CacheCase(
            "3",
            "a status that is not known is stored with a lifetime",
            ["Cache-Control": "max-age=60"],
            .cached(age: 0)
        ) { $0.status = 299 },
        CacheCase(
            "3",
            "s-maxage alone does not make a private cache store a 403",
            ["Cache-Control": "s-maxage=60", "ETag": "\"1\""],
            .loaded
        ) {
            $0.status = 403
        },
        CacheCase(
            "3.3",
            "a partial response is not stored",
            ["Cache-Control": "max-age=60", "Content-Range": "bytes 0-4/10"],
            .loaded
        ) {
            $0.status = 206
        },
        CacheCase(
            "3.5",
            "a response to a request with Authorization is stored for the same",
            ["Cache-Control": "max-age=60"],
            .cached(age: 0)
        ) {
            $0.firstFields = ["Authorization": "Bearer a"]
            $0.fields = ["Authorization": "Bearer a"]
        },
        CacheCase(
            "3.5",
            "a response to a request with Authorization is not for another one",
            ["Cache-Control": "max-age=60"],
            .loaded
        ) {
            $0.firstFields = ["Authorization": "Bearer a"]
            $0.fields = ["Authorization": "Bearer b"]
        },
        CacheCase(
            "3.5",
            "a response to a request with Authorization is not for one without",
            ["Cache-Control": "max-age=60, public"],
            .loaded
        ) {
            $0.firstFields = ["Authorization": "Bearer a"]
        },
        CacheCase(
            "3.5",
            "a response to a request without Authorization is not for one with it",
            ["Cache-Control": "max-age=60"],
            .loaded
        ) {
            $0.fields = ["Authorization": "Bearer a"]
        },
        CacheCase("3.5", "responses are kept apart by the Cookie field", ["Cache-Control": "max-age=60"], .loaded) {
            $0.firstFields = ["Cookie": "id=1"]
            $0.fields = ["Cookie": "id=2"]
        },
        CacheCase("5.2.2.5", "no-store", ["Cache-Control": "no-store, max-age=60"], .loaded),
        CacheCase(
            "5.2.2.5",
            "no-store in a field of its own",
            ["Cache-Control": "max-age=60", "ETag": "\"1\""],
            .loaded
        ) {
            $0.first.add("Cache-Control", value: "no-store")
        },
        CacheCase("5.2.2.5", "no-store in any letter case", ["cache-control": "Max-Age=60, NO-STORE"], .loaded),
        CacheCase("5.2.2.5", "no-store with an argument", ["Cache-Control": "no-store=1, max-age=60"], .loaded),
        CacheCase(
            "5.2.2.5",
            "no-store in quotes is the argument of another directive",
            ["Cache-Control": "x=\"a, no-store\", max-age=60"],
            .cached(age: 0)
        ),
        CacheCase(
            "5.2.2.3",
            "must-understand and no-store with a known status",
            ["Cache-Control": "must-understand, no-store, max-age=60"],
            .cached(age: 0)
        ),
        CacheCase(
            "5.2.2.3",
            "must-understand with a status that is not known",
            ["Cache-Control": "must-understand, max-age=60"],
            .loaded
        ) {
            $0.status = 299
        },
        CacheCase("5.2.2.7", "private", ["Cache-Control": "private, max-age=60"], .cached(age: 0)),
        CacheCase(
            "5.2.2.7",
            "private with the names of fields",
            ["Cache-Control": "private=\"X-A, X-B\", max-age=60"],
            .cached(age: 0)
        ),
        CacheCase("5.2.2.9", "public", ["Cache-Control": "public, max-age=60"], .cached(age: 0)),
        CacheCase("5.2.1.5", "no-store of the first request", ["Cache-Control": "max-age=60"], .loaded) {
            $0.firstFields = ["Cache-Control": "no-store"]
        },
        CacheCase("5.2.1.5", "no-store of the second request", ["Cache-Control": "max-age=60"], .loaded) {
            $0.fields = ["Cache-Control": "no-store"]
        },
        CacheCase("4", "a response to GET is not for POST", ["Cache-Control": "max-age=60"], .loaded) {
            $0.method = .post
        },
        CacheCase("4", "a response to GET is not for OPTIONS", ["Cache-Control": "max-age=60"], .loaded) {
            $0.method = HTTPMethod(rawValue: "OPTIONS")
        },
        CacheCase("4", "a response to GET is for HEAD", ["Cache-Control": "max-age=60"], after: 3, .cached(age: 3)) {
            $0.method = .head
        },
        CacheCase("4", "a request with Range goes to the server", ["Cache-Control": "max-age=60"], .loaded) {
            $0.fields = ["Range": "bytes=0-1"]
        },
        CacheCase("4.3.2", "a request with If-Match goes to the server", ["Cache-Control": "max-age=60"], .loaded) {
            $0.fields = ["If-Match": "\"1\""]
        },
        CacheCase(
            "4.3.2",
            "a request with If-Unmodified-Since goes to the server",
            ["Cache-Control": "max-age=60"],
            .loaded
        ) {
            $0.fields = ["If-Unmodified-Since": "{0}"]
        },
        CacheCase("4.3.2", "a request with If-Range goes to the server", ["Cache-Control": "max-age=60"], .loaded) {
            $0.fields = ["If-Range": "\"1\""]
        },
    ]

    static let vary: [CacheCase] = [
        CacheCase("4.1", "the same value", ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], .cached(age: 0))
        {
            $0.firstFields = ["Accept-Language": "de"]
            $0.fields = ["Accept-Language": "de"]
        },
        CacheCase("4.1", "another value", ["Cache-Control": "max-age=60", "Vary": "Accept-Language"], .loaded) {
            $0.firstFields = ["Accept-Language": "de"]
            $0.fields = ["Accept-Language": "en"]
        },
        CacheCase(
            "4.1",
            "a value that is missing later",
            ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
            .loaded
        ) {
            $0.firstFields = ["Accept-Language": "de"]
        },
        CacheCase(
            "4.1",
            "a value that was missing",
            ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
            .loaded
        ) {
            $0.fields = ["Accept-Language": "de"]
        },
        CacheCase(
            "4.1",
            "a field that both do not have",
            ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
            .cached(age: 0)
        ),
        CacheCase("4.1", "an asterisk", ["Cache-Control": "max-age=60", "Vary": "*"], .loaded),
        CacheCase("4.1", "an asterisk in a list", ["Cache-Control": "max-age=60", "Vary": "Accept, *"], .loaded),
        CacheCase(
            "4.1",
            "a field that is not named",
            ["Cache-Control": "max-age=60", "Vary": "Accept"],
            .cached(age: 0)
        ) {
            $0.firstFields = ["X-A": "1"]
            $0.fields = ["X-A": "2"]
        },
        CacheCase(
            "4.1",
            "two fields, of which one differs",
            ["Cache-Control": "max-age=60", "Vary": "Accept, X-A"],
            .loaded
        ) {
            $0.firstFields = ["Accept": "a", "X-A": "1"]
            $0.fields = ["Accept": "a", "X-A": "2"]
        },
        CacheCase("4.1", "two fields in two lines", ["Cache-Control": "max-age=60", "Vary": "Accept"], .loaded) {
            $0.first.add("Vary", value: "X-A")
            $0.firstFields = ["Accept": "a", "X-A": "1"]
            $0.fields = ["Accept": "a", "X-A": "2"]
        },
        CacheCase("4.1", "names in another letter case", ["Cache-Control": "max-age=60", "vary": "ACCEPT"], .loaded) {
            $0.firstFields = ["accept": "a"]
            $0.fields = ["Accept": "b"]
        },
        CacheCase(
            "4.1",
            "white space around commas",
            ["Cache-Control": "max-age=60", "Vary": "Accept"],
            .cached(age: 0)
        ) {
            $0.firstFields = ["Accept": "a,b"]
            $0.fields = ["Accept": "a , b"]
        },
        CacheCase(
            "4.1",
            "values that join to the same text",
            ["Cache-Control": "max-age=60", "Vary": "X-A, X-B"],
            .loaded
        ) {
            $0.firstFields = ["X-A": "1", "X-B": "23"]
            $0.fields = ["X-A": "12", "X-B": "3"]
        },
        CacheCase(
            "4.1",
            "white space around a comma inside quotes",
            ["Cache-Control": "max-age=60", "Vary": "Accept"],
            .loaded
        ) {
            $0.firstFields = ["Accept": "a;b=\"c,d\""]
            $0.fields = ["Accept": "a;b=\"c, d\""]
        },
        CacheCase(
            "4.1",
            "white space around a comma after an escaped quote",
            ["Cache-Control": "max-age=60", "Vary": "Accept"],
            .loaded
        ) {
            $0.firstFields = ["Accept": "a;b=\"\\\",d\""]
            $0.fields = ["Accept": "a;b=\"\\\", d\""]
        },
        CacheCase(
            "4.1",
            "white space around a comma outside of quotes",
            ["Cache-Control": "max-age=60", "Vary": "Accept"],
            .cached(age: 0)
        ) {
            $0.firstFields = ["Accept": "a;b=\"c,d\",e"]
            $0.fields = ["Accept": "a;b=\"c,d\" , e"]
        },
        CacheCase("4.1", "a name in quotes", ["Cache-Control": "max-age=60", "Vary": "\"Accept, X-A\""], .loaded) {
            $0.firstFields = ["Accept": "a"]
            $0.fields = ["Accept": "b"]
        },
        CacheCase("4.1", "an empty Vary", ["Cache-Control": "max-age=60", "Vary": ""], .cached(age: 0)) {
            $0.fields = ["Accept": "b"]
        },
    ]
}
