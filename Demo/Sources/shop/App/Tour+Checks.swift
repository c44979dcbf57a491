// SPDX-License-Identifier: MIT
import Foundation
import TargetKit

/// A step that went otherwise than told.
struct TourFailure: Error, CustomStringConvertible {
    let description: String
}

extension Tour {
    func check(_ isTrue: Bool, _ sentence: String) throws(TourFailure) {
        guard isTrue else { throw TourFailure(description: sentence) }
    }

    func checkSignedOut(times: Int) throws(TourFailure) {
        let signOuts = client.session.signOuts
        try check(signOuts == times, "the sign-out should have been called \(times) times by now, not \(signOuts)")
        try check(client.session.token == nil, "nobody should be signed in")
    }

    /// What a call of the orders comes to, as a value.
    func outcome(of target: Orders) async -> Result<Response, TargetKitError> {
        do throws(TargetKitError) {
            return .success(try await client.orders.request(target))
        } catch {
            return .failure(error)
        }
    }

    func failure(of result: Result<Response, TargetKitError>?, _ sentence: String) throws(TourFailure) -> TargetKitError
    {
        guard case .failure(let error)? = result else { throw TourFailure(description: sentence) }
        return error
    }

    func describe(_ product: Product) -> String {
        let price = euros(product.cents)
        let gap = String(repeating: " ", count: max(1, 28 - product.name.count - price.count))
        return product.name + gap + price
    }
}
