// SPDX-License-Identifier: MIT
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// The value of a header field, whatever the case of its name.
    package func field(_ name: String) -> String? {
        #if canImport(FoundationNetworking)
        // A tenth of the time of `value(forHTTPHeaderField:)`.
        guard let fields = allHTTPHeaderFields, !fields.isEmpty else { return nil }
        return fields[name] ?? fields.first { $0.key.equalsIgnoringASCIICase(name) }?.value
        #else
        return value(forHTTPHeaderField: name)
        #endif
    }

    /// Sets or removes a header field, in the place of those whose names differ only in case.
    ///
    /// - Throws: An error for a value with a line break, which Foundation drops without an error.
    package mutating func setField(_ name: String, to value: String?) throws(InvalidRequest) {
        if let value, value.endsHeaderField { throw .invalidHeaderValue(name: name) }
        #if canImport(FoundationNetworking)
        // A fifth of the time of `setValue(_:forHTTPHeaderField:)`.
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
