// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit

/// A step whose result was not the expected one.
struct TourFailure: Error, CustomStringConvertible {
    let description: String
}

extension Tour {
    func check(_ isTrue: Bool, _ sentence: String) throws(TourFailure) {
        guard isTrue else { throw TourFailure(description: sentence) }
    }

    func checkSignedOut() throws(TourFailure) {
        try check(client.session.token == nil, "nobody should be signed in")
    }

    /// The result of a call of the orders, as a value.
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

    func describe(_ product: Product) -> Phrase {
        let price = euros(product.cents)
        let gap = String(repeating: " ", count: max(1, 32 - product.name.count - price.count))
        return Phrase(same: product.name + gap + price)
    }
}
