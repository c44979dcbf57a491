// SPDX-License-Identifier: MIT
import Foundation

extension JSONDecoder {
    /// Stands for the provider's decoder, where a ``DecodingTarget`` or an ``APIService`` says which; by itself a plain one.
    ///
    /// It is known by its identity and shared by everybody, so its strategies are to be left as they are.
    public static let ofProvider = JSONDecoder()

    /// This decoder; `nil` for the one that stands for another.
    fileprivate var own: JSONDecoder? { self === Self.ofProvider ? nil : self }

    /// The decoder of a call: its own, else the target's, else the service's, else the provider's.
    static func chosen(
        _ ofCall: JSONDecoder?,
        for target: (any TargetType)?,
        service: JSONDecoder? = nil,
        provider: JSONDecoder?
    ) -> JSONDecoder {
        if let own = ofCall?.own { return own }
        if let own = (target as? any DecodingTarget)?.decoder.own { return own }
        return service?.own ?? provider ?? .ofProvider
    }
}

extension Provider {
    /// The decoder of a call.
    func decoder(_ ofCall: JSONDecoder?, for target: Target, service: JSONDecoder? = nil) -> JSONDecoder {
        .chosen(ofCall, for: target.innermost, service: service, provider: decoder)
    }
}
