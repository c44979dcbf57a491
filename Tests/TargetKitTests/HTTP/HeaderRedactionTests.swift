// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Secrets in header fields", .throttled)
struct HeaderRedactionTests {
    static let ordinary = """
        A-IM Accept Accept-Charset Accept-Datetime Accept-Encoding Accept-Language Accept-Ranges Age Allow Alt-Svc \
        Anthropic-Version Baggage B3 Cache-Control CDN-Cache-Control Connection Content-Digest Content-Disposition \
        Content-Encoding Content-Language Content-Length Content-Location Content-MD5 Content-Range Content-Type Date Depth \
        Destination DNT Early-Data ETag Expect Expires Forwarded From If If-Match If-Modified-Since If-None-Match If-Range \
        If-Unmodified-Since Idempotency-Key Keep-Alive Last-Event-ID Last-Modified Link Location Max-Forwards OpenAI-Beta \
        OpenAI-Organization OpenAI-Project Origin Overwrite Pragma Prefer Preference-Applied Priority Range Referer \
        Repr-Digest Retry-After Save-Data Sec-CH-UA Sec-CH-UA-Mobile Sec-CH-UA-Platform Sec-Fetch-Dest Sec-Fetch-Mode \
        Sec-Fetch-Site Sec-GPC Sec-WebSocket-Extensions Sec-WebSocket-Key Sec-WebSocket-Protocol Sec-WebSocket-Version \
        Server Server-Timing SOAPAction Strict-Transport-Security Stripe-Account Stripe-Version Surrogate-Key TE Timeout \
        Trailer Transfer-Encoding Tus-Resumable Upgrade Upgrade-Insecure-Requests Upload-Complete Upload-Length \
        Upload-Offset User-Agent Vary Via Want-Content-Digest Want-Repr-Digest Warning WWW-Authenticate X-Amz-ACL \
        X-Amz-Content-SHA256 X-Amz-Copy-Source X-Amz-Date X-Amz-Decoded-Content-Length X-Amz-Meta-Title X-Amz-Target \
        X-Amzn-Trace-Id X-App-Version X-Author X-B3-ParentSpanId X-B3-Sampled X-B3-SpanId X-B3-TraceId X-Cache-Key \
        X-Client-Version X-Cloud-Trace-Context X-Company-Id X-Content-Type-Options X-Correlation-ID X-Country-Code \
        X-Device-Id X-Error-Code X-Forwarded-For X-Forwarded-Host X-Forwarded-Proto X-Frame-Options X-GitHub-API-Version \
        X-GitHub-Media-Type X-Goog-Api-Client X-HTTP-Method-Override X-Idempotency-Key X-Language X-Locale \
        X-MS-Blob-Type X-MS-Client-Request-Id X-MS-Date X-MS-Version X-Organization-Id X-Original-Path X-Page \
        X-Passenger-Id X-Platform X-RateLimit-Limit X-RateLimit-Remaining X-Real-IP X-Request-ID X-Requested-With \
        X-Signal X-Task-Id X-Tenant-Id X-Time-Zone X-Trace-Id X-Zip-Code traceparent tracestate uber-trace-id
        """

    @Test("Ordinary fields are shown, and sent to another origin", arguments: ordinary.split(separator: " "))
    func shown(name: Substring) {
        let name = HTTPHeaderName(rawValue: String(name))
        #expect(HTTPHeaders.Field(name: name, value: "v1").description == "\(name): v1")
        #expect(!HeaderRedaction.standard.isForOneOrigin(name))
    }

    @Test(
        "Descriptions of header fields omit secret values, the queries of URLs, and pairs of a name and a value",
        arguments: [
            ("X-Session-Key", "s3cret", "X-Session-Key: <redacted>"),
            ("Location", "/cb?code=s3cret#s3cret", "Location: /cb"),
            ("Location", "//anna:s3cret@h.example/a?b", "Location: //h.example/a"),
            ("Link", "</a?token=s3cret>; rel=next", "Link: </a <redacted>"),
            ("Refresh", "5; url=https://h.example/?token=s3cret", "Refresh: 5; <redacted>"),
            (
                "X-Next", "https://anna:s3cret@h.example/a;jsessionid=s3cret/b",
                "X-Next: https://h.example/a;<redacted>"
            ),
            (
                "X-Next", "https://h.example/verify/eyJhbGciOiJub25lIn0.s3cret.s/b",
                "X-Next: https://h.example/verify/<redacted>/b"
            ),
            (
                "Upload-Metadata", "filename YS50eHQ,token czNjcmV0,is_public,note dG9rZW49czNjcmV0",
                "Upload-Metadata: <redacted>"
            ),
            ("Content-Type", "text/plain; charset=utf-8", "Content-Type: text/plain; <redacted>"),
            ("X-Debug", #"a, {"b":{"token":"s3cret"}}"#, "X-Debug: a, <redacted>"),
            ("X-Debug", "refused BEARER s3cret", "X-Debug: refused <redacted>"),
            ("Cache-Control", "no-store", "Cache-Control: no-store"),
            ("Date", "Tue, 15 Nov 1994 08:12:31 GMT", "Date: Tue, 15 Nov 1994 08:12:31 GMT"),
            ("X-Page", "monkey", "X-Page: monkey"), ("Server", "a\u{1B}\u{202E}b", #"Server: a\u{1B}\u{202E}b"#),
        ]
    )
    func headers(name: String, value: String, shown: String) {
        let field = HTTPHeaders.Field(name: HTTPHeaderName(rawValue: name), value: value)
        #expect(field.description == shown)
        #expect(HTTPHeaders([field]).description == shown)
    }

    @Test("The description of a decoding failure has the key path and no part of the body")
    func decoding() throws {
        struct Order: Decodable { var items: [Int] }
        let response = Response(statusCode: 200, data: Data(#"{"items":["hunter2"]}"#.utf8))
        let error = try #require(throws: TargetKitError.self) { try response.decode(Order.self) }
        #expect(error.description.contains(": expected Int at items[0], found a string; "))
    }
}
