// SPDX-License-Identifier: MIT
import TargetKit

/// The directives of a `Cache-Control` field (RFC 9111 §5.2), by their lowercase names.
struct CacheControl: Sendable {
    /// A number of seconds in a directive.
    enum Seconds: Sendable, Equatable {
        /// The directive doesn't occur.
        case absent
        /// It has no argument.
        case unlimited
        case seconds(Int64)
        /// The argument isn't a number, or the directive occurs with different arguments.
        case invalid

        /// The number; `nil` if it is absent or invalid.
        var value: Int64? { if case .seconds(let seconds) = self { seconds } else { nil } }
    }

    private var directives: [(name: String, argument: String?)] = []

    init(_ headers: HTTPHeaders) {
        for field in headers where field.name == .cacheControl { parse(field.value) }
    }

    init(_ value: String?) {
        if let value { parse(value) }
    }

    /// Whether the field has no directives.
    var isEmpty: Bool { directives.isEmpty }

    /// Whether a directive occurs, with any argument.
    func contains(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// The number of seconds in a directive (RFC 9111 §1.2.2), at most 2³¹.
    func seconds(_ name: String) -> Seconds {
        var result = Seconds.absent
        for directive in directives where directive.name == name {
            let value = directive.argument.map(Self.seconds(in:)) ?? .unlimited
            guard result == .absent || result == value else { return .invalid }
            result = value
        }
        return result
    }

    private static func seconds(in argument: String) -> Seconds {
        deltaSeconds(argument).map(Seconds.seconds) ?? .invalid
    }

    /// Parses a `delta-seconds` value (RFC 9111 §1.2.2), which has only digits. Greater numbers than 2³¹ count as 2³¹.
    static func deltaSeconds(_ text: some StringProtocol) -> Int64? {
        let digits = text.utf8
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return min(Int64(text) ?? .max, 1 << 31)
    }

    /// Parses `name`, `name=token` and `name="quoted"`, separated by commas. Other parts are ignored.
    private mutating func parse(_ value: String) {
        var parser = FieldParser(value)
        while !parser.isAtEnd {
            let name = Self.token(&parser)
            var argument: String?
            if parser.skip("=") { argument = parser.quotedString()?.text ?? Self.token(&parser) }
            if !name.isEmpty { directives.append((name.lowercased(), argument)) }
            _ = parser.text(before: ",")
            _ = parser.skip(",")
        }
    }

    private static func token(_ parser: inout FieldParser) -> String {
        parser.skipSpaces()
        return String(parser.text(before: ",= \t"))
    }
}

/// The cache directives of a request (RFC 9111 §5.2.1).
struct RequestDirectives: Sendable {
    /// Whether a stored response must be validated before use: `no-cache`.
    var isRevalidating = false
    /// Whether neither the request nor its response may be stored: `no-store`.
    var isUnstorable = false
    var isOnlyIfCached = false
    /// The maximum age, in seconds.
    var maxAge: Int64?
    /// How long the response must stay fresh, in seconds.
    var minFresh: Int64 = 0
    /// The time for which the response may have been stale, in seconds.
    var maxStale: Int64 = 0
    /// The time for which the response may have been stale if the request fails (RFC 5861 §4), in seconds.
    var staleIfError: Int64?
    /// Whether the request's fields restrict which stored responses may be used.
    var isRestricted = false

    init() {}

    /// - Parameter fields: The fields of the request.
    init(_ fields: [String: String]) {
        var pragma: String?
        var control: CacheControl?
        for (name, value) in fields {
            switch name.utf8.count {
            case 13 where name.equalsIgnoringASCIICase("Cache-Control"): control = CacheControl(value)
            case 6 where name.equalsIgnoringASCIICase("Pragma"): pragma = value
            default: break
            }
        }
        // `Pragma` applies only to requests without `Cache-Control` (RFC 9111 §5.4).
        if control == nil, let pragma { isRevalidating = CacheControl(pragma).contains("no-cache") }
        if let control { read(control) }
        isRestricted = isRevalidating || maxAge != nil || minFresh > 0
    }

    private mutating func read(_ control: CacheControl) {
        isRevalidating = control.contains("no-cache")
        isUnstorable = control.contains("no-store")
        isOnlyIfCached = control.contains("only-if-cached")
        // An invalid number counts as the most restrictive one.
        switch control.seconds("max-age") {
        case .absent: break
        case .seconds(let seconds): maxAge = seconds
        case .unlimited, .invalid: maxAge = 0
        }
        minFresh = control.seconds("min-fresh").value ?? 0
        switch control.seconds("max-stale") {
        case .absent, .invalid: break
        case .unlimited: maxStale = 1 << 31
        case .seconds(let seconds): maxStale = seconds
        }
        staleIfError = control.seconds("stale-if-error").value
    }
}
