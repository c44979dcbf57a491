// SPDX-License-Identifier: MIT
import Foundation

/// A target that says what decodes the JSON of its responses, whatever its provider says.
///
/// ```swift
/// extension Reports: DecodingTarget {
///     var decoder: JSONDecoder {
///         switch self {
///         case .legacy: .snakeCase()
///         default: .ofProvider
///         }
///     }
/// }
/// ```
///
/// A call that names a decoder goes before its target, and the target before its ``APIService`` and its provider.
public protocol DecodingTarget: TargetType {
    /// Decodes the JSON of this target's responses; `.ofProvider` leaves it to the provider.
    var decoder: JSONDecoder { get }
}
