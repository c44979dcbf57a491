// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A stored response (RFC 9111 §3).
final class CachedResponse: Sendable {
    let key: CacheKey
    let variant: CacheVariant
    let statusCode: Int
    let httpVersion: String
    let headers: HTTPHeaders
    let body: Data
    let requestTime: Date
    let responseTime: Date
    let freshness: Freshness
    let recency: CacheRecency
    /// The approximate number of bytes in memory.
    let size: Int

    init(
        key: CacheKey,
        variant: CacheVariant,
        statusCode: Int,
        httpVersion: String,
        headers: HTTPHeaders,
        body: Data,
        requestTime: Date,
        responseTime: Date,
        usesHeuristics: Bool
    ) {
        self.key = key
        self.variant = variant
        self.statusCode = statusCode
        self.httpVersion = httpVersion
        self.headers = headers
        self.body = body
        self.requestTime = requestTime
        self.responseTime = responseTime
        freshness = Freshness(
            statusCode: statusCode,
            headers: headers,
            requestTime: requestTime,
            responseTime: responseTime,
            usesHeuristics: usesHeuristics
        )
        recency = CacheRecency(headers, requestTime: requestTime, responseTime: responseTime)
        let fields = headers.fields.reduce(0) { $0 + $1.name.rawValue.utf8.count + $1.value.utf8.count + 32 }
        size = body.count + fields + key.url.utf8.count + 256
    }

    /// The entity tag (RFC 9110 §8.8.3); `nil` if there is none.
    var entityTag: String? { headers[.eTag] }
    var lastModified: String? { headers["Last-Modified"] }

    /// Whether both have the same key and variant, so that only one of them is stored.
    func isSameVariant(as other: CachedResponse) -> Bool { key == other.key && variant == other.variant }

    /// Whether another response replaces this one.
    func isReplaced(by other: CachedResponse) -> Bool {
        isSameVariant(as: other) && other.recency.replaces(recency)
    }

    /// Whether this is a given response, or an older one with the same key and variant.
    func isSameOrOlder(than other: CachedResponse) -> Bool { isSameVariant(as: other) && recency <= other.recency }

    /// The description for ``ResponseCache/removeAll(where:)``.
    var entry: ResponseCache.Entry? {
        URL(string: key.url).map { ResponseCache.Entry(url: $0, date: responseTime, isPersonal: key.user != nil) }
    }

    /// The response to a request (RFC 9111 §4), with the age, and without a body for HEAD.
    func answer(origin: Response.Origin, age: Double?, isHead: Bool) -> TransportResponse {
        var headers = headers
        if let age { headers["Age"] = String(Int64(min(max(0, age), 0x8000_0000))) }
        let head = ResponseHead(statusCode: statusCode, headers: headers, httpVersion: httpVersion)
        var response = TransportResponse(head: head, body: .data(isHead ? Data() : body))
        response.origin = origin
        return response
    }

    /// This response, updated with the fields of a response that confirmed it (RFC 9111 §3.2).
    func updated(
        with newer: ResponseHead,
        requestTime: Date,
        responseTime: Date,
        usesHeuristics: Bool
    ) -> CachedResponse {
        var fields = newer.headers.storable
        fields.fields.removeAll { Self.fieldsOfContent.contains($0.name) }
        if let type = fields[.contentType] {
            let stored = headers[.contentType].map(ContentTypeText.init)
            fields[.contentType] = ContentTypeText(type).withCharset(of: stored)
        }
        return CachedResponse(
            key: key,
            variant: variant,
            statusCode: statusCode,
            httpVersion: httpVersion,
            // The age and date of the stored response are outdated.
            headers: HTTPHeaders(headers.fields.filter { $0.name != "Age" && $0.name != "Date" }).merging(fields),
            body: body,
            requestTime: requestTime,
            responseTime: responseTime,
            usesHeuristics: usesHeuristics
        )
    }

    /// The fields that describe the stored body, and `Vary`.
    private static let fieldsOfContent: Set<HTTPHeaderName> = [
        "Content-Length", "Content-Encoding", "Content-Range", "Vary",
    ]
}

/// The parts of a `Content-Type` field: the media type and its parameters (RFC 9110 §8.3.1).
private struct ContentTypeText {
    private let parts: [String]

    init(_ value: String) {
        parts = value.elements(separatedBy: ";").map { String($0) }
    }

    /// The field with the charset of another one, which the body that both describe is encoded in.
    func withCharset(of other: ContentTypeText?) -> String {
        let charset = other?.parts.first(where: Self.isCharset).map { [$0] } ?? []
        return (parts.filter { !Self.isCharset($0) } + charset).joined(separator: "; ")
    }

    private static func isCharset(_ part: String) -> Bool { part.lowercased().hasPrefix("charset=") }
}

extension HTTPHeaders {
    /// The fields to store, without the fields of the connection and of proxies (RFC 9111 §3.1), and without cookies,
    /// because a cached response must not set them again.
    var storable: HTTPHeaders {
        var names: Set<HTTPHeaderName> = [
            "Connection", "Keep-Alive", "Proxy-Connection", "Transfer-Encoding", "Upgrade", "TE", "Trailer",
            "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization", "Set-Cookie", "Set-Cookie2",
        ]
        for value in values(for: "Connection") {
            names.formUnion(value.listElements.map { HTTPHeaderName(rawValue: String($0)) })
        }
        return HTTPHeaders(fields.filter { !names.contains($0.name) })
    }

    /// Whether a status describes the resource or its absence, rather than an error of the server or the request.
    static func describesResource(_ statusCode: Int) -> Bool {
        (200...399).contains(statusCode) || [404, 405, 410, 414, 501].contains(statusCode)
    }

    /// Whether a private cache may store the response to a GET with these fields (RFC 9111 §3).
    func isStorable(statusCode: Int) -> Bool {
        guard statusCode >= 200, ![206, 304, 401, 407].contains(statusCode),
            // A part isn't the resource, whatever its status.
            ResponseHead(statusCode: statusCode, headers: self).reasonForPart() == nil
        else { return false }
        let control = CacheControl(self)
        // A cache that understands the status ignores `no-store` beside `must-understand` (RFC 9111 §5.2.2.3).
        if control.contains("must-understand") {
            guard Freshness.isHeuristic(statusCode) || [302, 303, 307].contains(statusCode) else { return false }
        } else if control.contains("no-store") {
            return false
        }
        if CacheVariant.names(in: self) == nil { return false }
        return Freshness.isHeuristic(statusCode) || control.contains("public") || control.contains("private")
            || control.contains("max-age") || contains("Expires")
    }
}

/// The validators of a response, compared as RFC 9110 §8.8.3.2 and RFC 9111 §4.3 specify.
struct Validators: Sendable {
    let entityTag: String?
    let lastModified: String?

    init(_ headers: HTTPHeaders) {
        entityTag = headers[.eTag]
        lastModified = headers["Last-Modified"]
    }

    init(_ response: CachedResponse) {
        entityTag = response.entityTag
        lastModified = response.lastModified
    }

    var isEmpty: Bool { entityTag == nil && lastModified == nil }

    /// Whether a 304 response with these validators confirms a stored response (RFC 9111 §4.3.4).
    ///
    /// Entity tags are compared weakly, as the server compares `If-None-Match` (RFC 9110 §13.1.2). For example, nginx
    /// adds `W/` to the tag of a response that it compresses, but not to the tag of a 304.
    func validates(_ stored: Validators) -> Bool {
        if let entityTag {
            guard let other = stored.entityTag else { return false }
            return Self.areWeaklyEqual(entityTag, other: other)
        }
        if let lastModified, let other = stored.lastModified { return lastModified == other }
        return lastModified == nil || stored.lastModified == nil
    }

    /// Whether the response to HEAD with these fields describes a stored response (RFC 9111 §4.3.5).
    static func describes(_ headers: HTTPHeaders, stored: CachedResponse) -> Bool {
        let new = Validators(headers)
        if let entityTag = new.entityTag, entityTag != stored.entityTag { return false }
        if let modified = new.lastModified, modified != stored.lastModified { return false }
        if let length = headers[.contentLength], let old = stored.headers[.contentLength], length != old {
            return false
        }
        return true
    }

    private static func isWeak(_ tag: String) -> Bool { tag.hasPrefix("W/") }

    private static func areWeaklyEqual(_ one: String, other: String) -> Bool {
        let opaque = { (tag: String) in isWeak(tag) ? tag.dropFirst(2) : tag[...] }
        return opaque(one) == opaque(other)
    }

    /// Whether these validators meet a request's own condition, `If-None-Match` or else `If-Modified-Since`, so that
    /// the response is 304 (RFC 9111 §4.3.2). `nil` if the condition can't be evaluated.
    func answersNotModified(noneMatch: String?, modifiedSince: String?, now: Date) -> Bool? {
        if let noneMatch {
            if noneMatch.trimmingCharacters(in: .whitespaces) == "*" { return true }
            guard let entityTag else { return false }
            return noneMatch.listElements.contains { Self.areWeaklyEqual(String($0), other: entityTag) }
        }
        guard let modifiedSince, let since = HTTPDate.parse(modifiedSince, now: now),
            let modified = lastModified.flatMap({ HTTPDate.parse($0, now: now) })
        else { return nil }
        return modified <= since
    }
}
