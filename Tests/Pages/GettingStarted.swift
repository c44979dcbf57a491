// SPDX-License-Identifier: MIT
import TargetKit

enum Shop {
    static let baseURL = URL(string: "https://shop.example/v1") ?? URL(filePath: "/")
}

struct NewOrder: Encodable, Sendable { var product: String }

struct Order: Decodable, Sendable {
    var id: String
    var total: Double
}

func show(_ response: Response) {}
func show(_ error: TargetKitError) {}
func showRetry() {}
func showSignIn() {}
