// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit
import TargetKitOffline

/// A product, and ordering it. An order without a network waits in the outbox.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class DetailModel {
    /// What has become of the order.
    public enum OrderState: Equatable, Sendable {
        case none
        case sending
        case placed(number: Int)
        /// It is sent when there is a network.
        case waiting
        case failed(String)
    }

    /// The number of packets.
    public var count = 1
    /// What has become of the last order.
    public private(set) var order = OrderState.none
    /// How many packets are left; `nil` if unknown.
    public private(set) var left: Int?
    package let product: Product

    private let client: ShopClient
    private let outbox: OfflineOutbox<WaitingOrder>

    package init(_ product: Product, _ client: ShopClient, _ outbox: OfflineOutbox<WaitingOrder>) {
        self.product = product
        self.client = client
        self.outbox = outbox
    }

    /// Loads what is left. The screen is of use without it, so an error isn't shown.
    public func load() async {
        left = try? await client.catalog.request(.availability(id: product.id), as: Availability.self).left
    }

    /// Orders the product.
    public func placeOrder() async {
        guard order != .sending, count > 0 else { return }
        order = .sending
        let line = NewOrder.Line(product: product.id, count: count)
        do throws(TargetKitError) {
            switch try await outbox.send(WaitingOrder(order: NewOrder(lines: [line], note: nil))) {
            case .sent(let response): order = .placed(number: try response.decode(Order.self).number)
            case .kept: order = .waiting
            }
        } catch {
            order = error.stage == .cancelled ? .none : .failed(error.localizedDescription)
        }
    }
}
