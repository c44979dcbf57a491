// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// The freshness of a stored response (RFC 9111 §4.2), computed once. Times are in seconds.
struct Freshness: Sendable {
    /// The freshness lifetime, from the response's creation (RFC 9111 §4.2.1).
    let lifetime: Double
    /// The age when the response arrived (RFC 9111 §4.2.3).
    let initialAge: Double
    let responseTime: Date
    /// Whether the response must be validated before each use: `no-cache`.
    let requiresValidation: Bool
    /// Whether a stale response must not be used: `must-revalidate`.
    let mustRevalidate: Bool
    /// The time for which a stale response may be used while it is validated (RFC 5861 §3).
    let staleWhileRevalidate: Double
    /// The time for which a stale response may be used if its validation fails (RFC 5861 §4).
    let staleIfError: Double

    /// - Parameter usesHeuristics: Whether a response without an explicit lifetime is fresh for a tenth of the time
    ///   since its last modification (RFC 9111 §4.2.2).
    init(statusCode: Int, headers: HTTPHeaders, requestTime: Date, responseTime: Date, usesHeuristics: Bool) {
        let control = CacheControl(headers)
        let date = headers.date("Date", now: responseTime) ?? responseTime
        self.responseTime = responseTime
        let apparentAge = max(0, responseTime.timeIntervalSince(date))
        let age =
            headers.values(for: "Age").first?.listElements.first.flatMap { CacheControl.deltaSeconds($0) } ?? 0
        let delay = max(0, responseTime.timeIntervalSince(requestTime))
        initialAge = max(apparentAge, Double(age) + delay)
        requiresValidation = control.contains("no-cache")
        mustRevalidate = control.contains("must-revalidate")
        staleWhileRevalidate = Double(control.seconds("stale-while-revalidate").value ?? 0)
        staleIfError = Double(control.seconds("stale-if-error").value ?? 0)
        lifetime =
            switch control.seconds("max-age") {
            case .seconds(let seconds): Double(seconds)
            case .unlimited, .invalid: 0
            case .absent:
                if headers.contains("Expires") {
                    Self.lifetime(headers, from: date, responseTime)
                } else if usesHeuristics, Self.isHeuristic(statusCode) || control.contains("public"),
                    let modified = headers.date("Last-Modified", now: responseTime)
                {
                    max(0, date.timeIntervalSince(modified) / 10)
                } else {
                    0
                }
            }
    }

    /// The lifetime of an `Expires` field. An invalid field, or one with different values, counts as expired (RFC 9111
    /// §5.3 and §4.2.1).
    private static func lifetime(_ headers: HTTPHeaders, from date: Date, _ now: Date) -> Double {
        let values = Set(headers.values(for: "Expires"))
        guard values.count == 1, let value = values.first,
            let expires = HTTPDate.parse(value, now: now, isExact: true)
        else { return 0 }
        return max(0, expires.timeIntervalSince(date))
    }

    /// Whether responses with a status may be stored without an explicit lifetime (RFC 9110 §15.1).
    static func isHeuristic(_ statusCode: Int) -> Bool {
        [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501].contains(statusCode)
    }

    /// The current age (RFC 9111 §4.2.3). `nil` if the clock was set back since the response arrived, because its age
    /// is then unknown.
    func age(at now: Date) -> Double? {
        let residentTime = now.timeIntervalSince(responseTime)
        return residentTime >= 0 ? initialAge + residentTime : nil
    }

    /// The way in which a stored response can be used for a request (RFC 9111 §4).
    enum Use: Sendable, Equatable {
        case fresh
        /// The response is stale, and the request or the server allows its use.
        case stale
        /// The response is stale, and the server allows its use during validation.
        case staleWhileRevalidating
        /// The response is stale, and must be validated before use.
        case mustValidate
    }

    func use(for request: RequestDirectives, at now: Date) -> Use {
        if requiresValidation || request.isRevalidating { return .mustValidate }
        guard let age = age(at: now) else { return .mustValidate }
        if let maxAge = request.maxAge, age > Double(maxAge) { return .mustValidate }
        if lifetime > age, lifetime - age >= Double(request.minFresh) { return .fresh }
        if request.minFresh > 0 || mustRevalidate { return .mustValidate }
        let staleness = age - lifetime
        // Without `max-stale`, `max-age` excludes stale responses (RFC 9111 §5.2.1.1).
        if request.maxAge != nil, request.maxStale == 0 { return .mustValidate }
        if request.maxStale > 0, staleness <= Double(request.maxStale) { return .stale }
        return staleness <= staleWhileRevalidate && staleWhileRevalidate > 0 ? .staleWhileRevalidating : .mustValidate
    }

    /// Whether the response may be used after a failed validation (RFC 5861 §4).
    func allowsStaleIfError(for request: RequestDirectives, at now: Date) -> Bool {
        guard !requiresValidation, !mustRevalidate, !request.isRevalidating, let age = age(at: now) else {
            return false
        }
        if let maxAge = request.maxAge, age > Double(maxAge) { return false }
        let limit = max(staleIfError, Double(request.staleIfError ?? 0))
        return limit > 0 && age - lifetime <= limit
    }

    /// Whether the response is fresh, regardless of the request's directives.
    func isFresh(at now: Date) -> Bool { age(at: now).map { lifetime > $0 } ?? false }
}

extension HTTPHeaders {
    /// The date of a field; `nil` if it is missing or invalid.
    func date(_ name: HTTPHeaderName, now: Date) -> Date? {
        values(for: name).first.flatMap { HTTPDate.parse($0, now: now) }
    }
}
