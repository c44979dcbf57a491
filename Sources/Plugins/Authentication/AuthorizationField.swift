// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Whether an `Authorization` field is there, in any letter case.
    var hasAuthorization: Bool {
        allHTTPHeaderFields?.keys.contains { $0.isAuthorization } == true
    }

    /// Sets `Authorization` (RFC 9110 §11.6.2) in the place of every field of that name, in any letter case.
    ///
    /// - Throws: `InvalidRequest` for a value that would end the field. Foundation would leave the field out without
    ///   a word, and the call would go out without credentials.
    mutating func setAuthorization(_ value: String) throws(InvalidRequest) {
        let name = HTTPHeaderName.authorization.rawValue
        guard !value.endsHeaderField else {
            throw .invalidHeaderValue(name: name)
        }
        for key in allHTTPHeaderFields?.keys.filter(\.isAuthorization) ?? [] {
            setValue(nil, forHTTPHeaderField: key)
        }
        setValue(value, forHTTPHeaderField: name)
    }
}

extension String {
    fileprivate var isAuthorization: Bool {
        equalsIgnoringASCIICase(HTTPHeaderName.authorization.rawValue)
    }
}
