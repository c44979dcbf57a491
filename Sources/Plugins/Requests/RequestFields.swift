// SPDX-License-Identifier: MIT
import TargetKit

extension URLRequest {
    /// The value of a header field, whose name is case-insensitive; `nil` if there is none.
    package func value(of name: HTTPHeaderName) -> String? {
        #if canImport(FoundationNetworking)
        // `value(forHTTPHeaderField:)` creates lowercase copies of all names.
        let name = name.rawValue
        return allHTTPHeaderFields?.first { $0.key.equalsIgnoringASCIICase(name) }?.value
        #else
        return value(forHTTPHeaderField: name.rawValue)
        #endif
    }

    /// Sets or removes a header field. Fields whose names differ only in case are removed.
    ///
    /// - Throws: An error for a value with a line break or NUL, which Foundation drops silently.
    package mutating func setField(_ name: HTTPHeaderName, to value: String?) throws(InvalidRequest) {
        if value == nil, self.value(of: name) == nil { return }
        let name = name.rawValue
        if let value, value.endsHeaderField { throw .invalidHeaderValue(name: name) }
        #if canImport(FoundationNetworking)
        // `setValue(_:forHTTPHeaderField:)` takes twice as long (1.4 µs instead of 0.7 µs).
        var fields = allHTTPHeaderFields ?? [:]
        for written in fields.keys where written != name && written.equalsIgnoringASCIICase(name) {
            fields[written] = nil
        }
        fields[name] = value
        allHTTPHeaderFields = fields
        #else
        setValue(value, forHTTPHeaderField: name)
        #endif
    }
}
